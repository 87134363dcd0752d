"""The text of a fused on-delete, on-update or on-merge: one look-up, the conditions and assignments of its branches, one delta."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epl.plan.stores.on_statements import MergeActionPlan, MergeBranchPlan, OnDeletePlan, OnMergePlan, OnUpdatePlan, OnWindowPlan
from epl.plan.streams import stream_filter
from runtime.expressions.function_factory import FunctionFactory
from runtime.expressions.printer import Printer
from runtime.expressions.source_lines import indent_lines, under
from runtime.operators.changes import CHANGING, change_lines
from runtime.operators.stream_entry import StreamEntry
from runtime.statements.on_merge import is_own, row_builder
from runtime.statements.on_window import RunningOnWindow
from runtime.stores.lookup import PrintedLookup
from runtime.stores.table import TableStore, events_of
from windows.event import NO_EVENTS

ROW, EVENT, INITIAL = "e0", "e1", "e2"
"""The row as it is by then, the event, and the row as it was."""


def fuse_changes(running: RunningOnWindow, plan: OnWindowPlan) -> None:
    """Let a generated function stand for a statement that changes a window or table, if the plan is one of those it is made for.

    All is evaluated before anything changes, so that nothing needs to be left to the operators where an expression raises.
    """
    matches = running.matches
    if plan.subqueries or matches.store.rows.counts is not None or matches.scans:
        return
    context = running.context
    factory = context.environment.printed("fused change", (plan,), lambda: _factory(running, plan))
    if factory is None:
        return
    take = factory(_objects(running, plan), context.environment)["take"]
    running.trigger = take  # type: ignore[method-assign]
    entry, stream = running.entry, plan.trigger
    if isinstance(entry, StreamEntry) and stream.contained is None and not stream_filter(stream).repeats:
        entry.receiver.receive = take  # type: ignore[method-assign]


def _factory(running: RunningOnWindow, plan: OnWindowPlan) -> FunctionFactory | None:
    """Return what all instances have in common; None where the plan is none of those."""
    if isinstance(plan, OnMergePlan) and not _is_simple(plan):
        return None
    text = _Text(running, plan)
    lines, own = text.lines(), _objects(running, plan)
    shared = {"NO_EVENTS": NO_EVENTS, "events_of": events_of, **CHANGING}
    return FunctionFactory(["take"], lines, shared, list(own), text.printer)


def _is_simple(plan: OnMergePlan) -> bool:
    """Return whether each branch does one thing: it updates or deletes a row that matches, or inserts one into the window or table
    itself."""
    return not plan.always and all(
        len(branch.actions) == 1 and (branch.actions[0].kind != "insert" if branch.matched else _inserts(plan, branch.actions[0]))
        for branch in plan.branches)


def _inserts(plan: OnMergePlan, action: MergeActionPlan) -> bool:
    return action.insert is not None and is_own(action.insert, plan)


def _objects(running: RunningOnWindow, plan: OnWindowPlan) -> dict[str, Any]:
    """Return the objects of an instance that the lines name."""
    matches = running.matches
    store, lent = matches.store, matches.rows
    objects: dict[str, Any] = {"store": store, "change": store.change, "emit": running.context.output.update, "lent": lent}
    if lent is not None:
        objects |= {f"i{n}": index for n, index in enumerate(lent.asked)}
    if isinstance(plan, OnMergePlan):
        actions = [branch.actions[0] for branch in plan.branches if not branch.matched]
        objects |= {
            f"insert{n}": row_builder(action, action.insert, plan, 1, running.context)
            for n, action in enumerate(actions) if action.insert is not None}
    return objects


class _Text:
    """Prints one statement's function ``take(event)``."""

    def __init__(self, running: RunningOnWindow, plan: OnWindowPlan) -> None:
        self._plan = plan
        self._lookup = running.matches.lookup
        self._in_table = isinstance(running.matches.store, TableStore)
        self._type = plan.match.store.event_type
        self.printer = Printer(running.context.environment, 3)
        self._insertions = 0

    def lines(self) -> list[str]:
        plan = self._plan
        lookup = PrintedLookup(self._lookup, self.printer, 0, "break", counted=False)
        candidates = lookup.rows("store" if self._lookup.index is None else "lent")
        tests = lookup.tests() + ([] if plan.match.where is None else [self.printer.test(plan.match.where)])
        rows = f"[{ROW} for {ROW} in {candidates} if {' and '.join(tests)}]" if tests else f"[*{candidates}]"
        lines = ["rows = NO_EVENTS", "while True:", *indent_lines([*lookup.lines, f"rows = {rows}", "break"])]
        lines += self._changes(plan)
        return [*lookup.prepared, f"def take({EVENT}):", *indent_lines(lines)]

    def _changes(self, plan: OnWindowPlan) -> list[str]:
        if isinstance(plan, OnDeletePlan):
            changed = [f"change(NO_EVENTS, rows, silent={plan.silent})", f"emit({self._events('rows')}, NO_EVENTS)"]
            return under("if rows:", changed)
        if isinstance(plan, OnUpdatePlan):
            each = [*self._copy_lines(plan.assignments), "entering.append(r)"]
            return under("if rows:", ["entering = []", *self._over_rows(each), *self._change("rows")])
        assert isinstance(plan, OnMergePlan)
        lines = ["entering, leaving = [], []", "if rows:", *indent_lines(self._over_rows(self._branches(plan, matched=True)) or ["pass"])]
        others = self._branches(plan, matched=False)
        return [*lines, *under("else:", others), "if entering or leaving:", *indent_lines(self._change("leaving"))]

    def _change(self, old: str) -> list[str]:
        """Lines that change the store, and emit."""
        if not self._in_table:
            return [f"change(entering, {old})", f"emit(entering, {old})"]
        return [f"before = events_of({old})", f"change(entering, {old})", "emit(events_of(entering), before)"]

    def _events(self, rows: str) -> str:
        return f"events_of({rows})" if self._in_table else rows

    def _over_rows(self, lines: Sequence[str]) -> list[str]:
        return under(f"for {ROW} in rows:", [f"{INITIAL} = {ROW}", *lines]) if lines else []

    def _copy_lines(self, assignments: Sequence[Any]) -> list[str]:
        return change_lines(assignments, self._type, self.printer, in_turn=True)

    # ------------------------------------------------------------------ merge

    def _branches(self, plan: OnMergePlan, *, matched: bool) -> list[str]:
        """Lines that let the first branch act that holds."""
        self.printer.streams = {0: ROW, 1: EVENT, 2: INITIAL} if matched else {0: EVENT}
        lines: list[str] = []
        for branch in plan.branches:
            if branch.matched is not matched:
                continue
            lines += self._branch(branch, "elif" if lines else "if")
        return lines

    def _branch(self, branch: MergeBranchPlan, word: str) -> list[str]:
        (action,) = branch.actions
        test = "True" if branch.condition is None else self.printer.test(branch.condition)
        lines = self._act(action)
        if action.where is not None:
            lines = under(f"if {self.printer.test(action.where)}:", lines)
        return under(f"{word} {test}:", lines)

    def _act(self, action: MergeActionPlan) -> list[str]:
        if action.kind == "delete":
            return [f"leaving.append({INITIAL})"]
        if action.kind == "update":
            return [*self._copy_lines(action.assignments), f"leaving.append({INITIAL})", "entering.append(r)"]
        self._insertions += 1
        return [f"entering.append(insert{self._insertions - 1}({EVENT}))"]


__all__ = ["fuse_changes"]
