"""Output rate limiting of groups in a kernel, and the choice of the printer of an output clause."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from epl.plan.result_set import OutputPlan
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.batch.output_rate.all_groups import AllGroupEventsPrinter, AllGroupsPrinter
from runtime.batch.output_rate.base import (
    AllRowsPrinter,
    FirstPrinter,
    HeldState,
    LastFullyAggregatedPrinter,
    LastRowPrinter,
    Rate,
    SnapshotPrinter,
    check_keys,
    check_streams_alike,
)
from runtime.batch.output_rate.conditions import LISTED, STAMP, EveryEventsPrinter
from runtime.batch.output_rate.held_deltas import DeltasPrinter
from runtime.batch.output_rate.lagging_deltas import LaggingDeltas
from runtime.batch.output_rate.waiting_rows import WaitingRow, batch_out, batch_rows
from runtime.batch.printing.expressions import ScalarPrinter
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.result_set.late_rows import may_change
from windows.protocol import Damaged, State

UNASKED = -(2**63)
"""When a group that never had a row may have its next one."""


class OfGroups(Rate):
    """Base: the groups that were touched since the last output."""

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), ArrayField("r_mark", np.int64, GROUP, -1), ArrayField("r_list", np.int64, GROUP)]

    @contextmanager
    def first_touch(self, code: Code) -> Iterator[None]:
        """Print what is done where the group ``g`` is touched for the first time since the last output."""
        with code.block("if r_mark[g] != stamp"):
            code.add("r_mark[g] = stamp", "r_list[listed] = g", "listed += 1")
            yield

    def capacity(self) -> str:
        return f"listed + 3 * {super().capacity()}"

    def mark(self, held: HeldState, slots: Sequence[int]) -> None:
        """Mark these slots as touched since the last output, which is number 0."""
        arrays, count = held.arrays, len(slots)
        if len(set(slots)) != count:
            raise Damaged("a group is twice among those that wait for output")
        arrays["r_list"][:count] = slots
        arrays["r_mark"][list(slots)] = 0
        arrays["r_registers"][LISTED] = count
        if "g_gone" in arrays.arrays:
            assert held.groups is not None
            there = set(held.groups.present())
            arrays["g_gone"][[slot for slot in slots if slot not in there]] = True

    def flush(self, code: Code) -> None:
        assert self.of.groups is not None
        self.of.groups.release(code, "r_list", "listed")
        code.add("listed = 0", "stamp += 1")


class LastOfGroupsPrinter(OfGroups):
    """last, of a row per group: the groups touched since the last output, as they are and as they were before."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_keys(of)

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), *([ArrayField("r_before", np.int64, GROUP, -1)] if self.of.needs_old else [])]

    def take(self, code: Code) -> None:
        for low, high in self.parts():
            with self.events(code, low, high), self.first_touch(code):
                if self.of.needs_old:
                    code.add("r_before[g] = -1")
                    self.emit(code, None, False)
        self.apply(code)

    def place(self, code: Code, new: bool) -> None:
        if not new:
            code.add("r_before[g] = out - sent")
        super().place(code, new)

    def gather_state(self, held: HeldState) -> State:
        assert held.groups is not None
        rows, entries = held.waiting.rows(), []
        for slot in _list_slots(held):
            before: State = None
            if self.of.needs_old:
                at = int(held.arrays["r_before"][slot])
                before = batch_out([] if at < 0 else [rows[at]])
            entries.append([key_to_state(held.groups.key(slot)), [held.groups.event(slot), before, True]])
        return [entries]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered[0]]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        entries = list(gathered[0])
        slots = [held.slot(key) for key, _ in entries]
        self.mark(held, slots)
        rows: list[WaitingRow] = []
        for slot, (_, (_, before, _)) in zip(slots, entries):
            if before is not None and before[0]:
                held.arrays["r_before"][slot] = len(rows)
                rows += batch_rows(before, False)
        held.waiting.put(rows)

    def flush(self, code: Code) -> None:
        if self.of.needs_new:
            with code.block("for t in range(listed)"):
                code.add("g = r_list[t]")
                self.emit(code, None, True)
        super().flush(code)


class LastOfGroupEventsPrinter(OfGroups):
    """last, grouped aggregated: each group's last row of each stream."""

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), *(ArrayField(f"r_{name}", np.int64, GROUP, -1) for name in ("new", "new_at", "old", "old_at"))]

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_keys(of)
        check_streams_alike(of)

    def gather_state(self, held: HeldState) -> State:
        return [self._rows_in_stream(held, name) for name in ("new", "old")]

    def _rows_in_stream(self, held: HeldState, name: str) -> State:
        """[last row, its output] of each group that has put one into the stream, in the order of the first."""
        assert held.groups is not None
        arrays, rows = held.arrays, held.waiting.rows()
        marks, places, stamp = arrays[f"r_{name}"], arrays[f"r_{name}_at"], arrays["r_registers"][STAMP]
        touched = sorted((int(places[slot]), slot) for slot in _list_slots(held) if marks[slot] == stamp)
        return [[held.groups.event(slot), batch_out([rows[at]])] for at, slot in touched]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        assert held.groups is not None
        return held.groups.event_keys([row for kept in gathered for row, _ in kept])

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        assert held.groups is not None
        rows: list[WaitingRow] = []
        marked: list[int] = []
        for name, kept in zip(("new", "old"), gathered):
            keys = held.groups.event_keys([row for row, _ in kept])
            for key, (_, batch) in zip(keys, kept):
                if len(batch_rows(batch, name == "new")) != 1:
                    raise Damaged("a group waits with more or fewer rows than its last one")
                slot = held.slots[held.groups.words_of_key(key)]
                held.arrays[f"r_{name}"][slot], held.arrays[f"r_{name}_at"][slot] = 0, len(rows)
                rows += batch_rows(batch, name == "new")
                marked.append(slot)
        self.mark(held, list(dict.fromkeys(marked)))
        held.waiting.put(rows)

    def take(self, code: Code) -> None:
        self.row_per_event(code)

    def place(self, code: Code, new: bool) -> None:
        name = "new" if new else "old"
        with self.first_touch(code):
            pass
        with code.block(f"if r_{name}[g] != stamp"):
            code.add(f"r_{name}[g] = stamp", f"r_{name}_at[g] = out - sent", "out += 1")
        code.add(f"o = sent + r_{name}_at[g]")


class FirstOf(Rate):
    """Base of first with groups: each group has its own condition. Its first row meets it, then the first one a period later, or the
    ``every``-th of either stream since."""

    waits = False
    conditioned = False

    def fields(self) -> list[ArrayField]:
        kept = [ArrayField("p_next", np.int64, GROUP, UNASKED)]
        if not self.timed:
            kept = [ArrayField("p_came", np.int64, GROUP), ArrayField("p_gone", np.int64, GROUP), ArrayField("p_begun", np.bool_, GROUP)]
        return [*super().fields(), ArrayField("r_list", np.int64, GROUP), *kept]

    def polls(self, held: HeldState) -> State:
        """Return [key, condition] of the groups that have been asked."""
        assert held.groups is not None
        arrays, polls = held.arrays, []
        for slot in range(held.groups.top):
            if self.timed and arrays["p_next"][slot] != UNASKED:
                polls.append([key_to_state(held.groups.key(slot)), int(arrays["p_next"][slot])])
            elif not self.timed and arrays["p_begun"][slot]:
                counts = [int(arrays["p_came"][slot]), int(arrays["p_gone"][slot]), False]
                polls.append([key_to_state(held.groups.key(slot)), counts])
        return polls

    def restore_polls(self, polls: State, held: HeldState) -> None:
        arrays = held.arrays
        for key, saved in polls:
            slot = held.slot(key)
            if self.timed:
                arrays["p_next"][slot] = UNASKED if saved is None else saved
            else:
                arrays["p_came"][slot], arrays["p_gone"][slot] = saved[:2]
                arrays["p_begun"][slot] = not saved[2]

    @contextmanager
    def print_condition(self, code: Code, new: bool) -> Iterator[None]:
        """Print what is done where the group ``g`` meets its condition with an event that comes (``new``) or goes."""
        if self.timed:
            with code.block("if now >= p_next[g]"):
                code.add("p_next[g] = now + period[0]")
                yield
            return
        assert isinstance(self.condition, EveryEventsPrinter)
        every = self.condition.number(code)
        code.add(f"{'p_came' if new else 'p_gone'}[g] += 1")
        with code.block(f"if not p_begun[g] or p_came[g] >= {every} or p_gone[g] >= {every}"):
            code.add("p_begun[g] = True", "p_came[g] = 0", "p_gone[g] = 0")
            yield


class FirstOfGroupsPrinter(FirstOf):
    """first, of a row per group: the groups of a delta that meet their conditions, after it and before it; with having, both streams have
    the row after it."""

    def take(self, code: Code) -> None:
        having = self.of.rows.having
        if having is not None:
            self.apply(code)
        code.add("listed = 0")
        for (low, high), new in zip(self.parts(), (True, False)):
            with self.events(code, low, high):
                test = "True" if having is None else self.of.at(None, code, new=True).test(having)
                with code.block(f"if {test}"), self.print_condition(code, new), code.block("if g_seen[g] != delta"):
                    code.add("g_seen[g] = delta", "r_list[listed] = g", "listed += 1")
        if having is None:
            self._list_slots(code, False)
            self.apply(code)
            self._list_slots(code, True)
        else:
            self._list_slots(code, True)
            self._list_slots(code, False)

    def gather_state(self, held: HeldState) -> State:
        return [self.polls(held)]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered[0]]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        self.restore_polls(gathered[0], held)

    def _list_slots(self, code: Code, new: bool) -> None:
        if self.of.needs_new if new else self.of.needs_old:
            with code.block("for t in range(listed)"):
                code.add("g = r_list[t]")
                self.emit(code, None, new)


class FirstOfGroupEventsPrinter(FirstOf):
    """first, grouped aggregated: the events of a delta whose groups meet their conditions, those that leave among them, all in the insert
    stream."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        if not of.needs_new:
            raise NotCompilable("output first of the remove stream of events in groups")
        check_streams_alike(of)
        self._new = True

    def gather_state(self, held: HeldState) -> State:
        return self.polls(held)

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        self.restore_polls(gathered, held)

    def streams(self) -> tuple[bool, ...]:
        return (True,)

    def take(self, code: Code) -> None:
        self.apply(code)
        for new, (low, high) in zip((True, False), self.parts()):
            self._new = new
            with self.events(code, low, high):
                self.emit(code, "q", True)

    def row(self, code: Code, printer: ScalarPrinter, place: str | None, new: bool) -> None:
        with self.print_condition(code, self._new):
            super().row(code, printer, place, new)

    def place(self, code: Code, new: bool) -> None:
        with code.block("if g_seen[g] != delta"):
            code.add("g_seen[g] = delta", "r_list[g] = out", "out += 1")
        code.add("o = r_list[g]")


def _list_slots(held: HeldState) -> list[int]:
    """Return the slots that were touched since the last output."""
    listed: list[int] = held.arrays["r_list"][: int(held.arrays["r_registers"][LISTED])].tolist()
    return listed


KINDS: dict[tuple[str, str], type[Rate]] = {
    ("all", "un-aggregated"): AllRowsPrinter, ("all", "fully aggregated"): AllRowsPrinter, ("all", "aggregated"): AllRowsPrinter,
    ("all", "grouped fully aggregated"): AllGroupsPrinter, ("all", "grouped aggregated"): AllGroupEventsPrinter,
    ("last", "un-aggregated"): LastRowPrinter, ("last", "fully aggregated"): LastFullyAggregatedPrinter,
    ("last", "aggregated"): LastRowPrinter,
    ("last", "grouped fully aggregated"): LastOfGroupsPrinter, ("last", "grouped aggregated"): LastOfGroupEventsPrinter,
    ("first", "un-aggregated"): FirstPrinter, ("first", "fully aggregated"): FirstPrinter, ("first", "aggregated"): FirstPrinter,
    ("first", "grouped fully aggregated"): FirstOfGroupsPrinter, ("first", "grouped aggregated"): FirstOfGroupEventsPrinter,
}
"""By selector and shape; default and snapshot are for all."""


def rate_printer(of: SelectEvents, plan: OutputPlan) -> Rate:
    """Return the printer of an output clause; raise NotCompilable."""
    kind: type[Rate] | None
    if plan.selector in ("all", "last"):
        if of.rows.shape != "un-aggregated" and not plan.optimized:
            raise NotCompilable(f"output {plan.selector} of aggregations with order by (or not optimized) is not computed in columns")
        if of.rows.shape == "un-aggregated" and may_change(of.rows):
            raise NotCompilable(f"output {plan.selector} of values that may change until the output is not computed in columns")
    if plan.selector == "default":
        kind = LaggingDeltas if of.leaves else DeltasPrinter
    else:
        kind = SnapshotPrinter if plan.selector == "snapshot" and of.rows.shape != "rollup" else KINDS.get((plan.selector, of.rows.shape))
    if kind is None:
        raise NotCompilable(f"output {plan.selector} of the shape {of.rows.shape} is not computed in columns")
    _check_looked_up(of, plan)
    return kind(of, plan)


def _check_looked_up(of: SelectEvents, plan: OutputPlan) -> None:
    """Refuse what looks at groups between the events of a delta, or at rows until one does not meet having, and some orders."""
    having = of.rows.having is not None
    one_row = of.rows.shape == "fully aggregated"
    ordered = plan.selector in ("default", "all") if one_row else (plan.selector, of.rows.shape) == ("last", "grouped fully aggregated")
    if of.rows.order_by and ordered:
        raise NotCompilable(f"order by of output {plan.selector} of the shape {of.rows.shape} is not computed in columns")
    if having and of.leaves and of.rows.shape == "grouped aggregated" and plan.selector == "last":
        raise NotCompilable("output last of a row an event with group by and having is not computed in columns")
    if not of.needs_old:
        return
    if having and (plan.selector, of.rows.shape) in (("all", "grouped fully aggregated"), ("last", "fully aggregated")):
        raise NotCompilable(f"the remove stream of output {plan.selector} with having is not computed in columns")
    if not of.leaves or of.rows.shape != "grouped fully aggregated":
        return
    if plan.selector == "all" and any(a.ever for a in of.rows.aggregations):
        raise NotCompilable("the remove stream of output all of groups, where rows leave no …ever aggregation, is not computed in columns")
    if plan.selector == "first" and not having:
        raise NotCompilable("the remove stream of output first of groups is not computed in columns")


__all__ = ["rate_printer"]
