"""Output rate limiting in a kernel: when rows are emitted, and which ones have come together until then.

Rows wait in the output arrays after those that are out (``sent``), so that they cross from batch to batch; each selector is printed as
``runtime.result_set`` does it (gathered_rows, gathered_groups, grouped_first). Rows that wait hold values, not places: their events may be
gone.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from epl.plan.expressions import IsInsertStream, StreamProperty
from epl.plan.result_set import OutputPlan
from epl.plan.walk import plan_expressions
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.batch.output_rate.conditions import (
    DONE,
    DUE,
    LISTED,
    NEW_AT,
    OLD_AT,
    REGISTERS,
    SENT,
    STAMP,
    AfterPrinter,
    EveryEventsPrinter,
    EveryPeriod,
    condition_printer,
)
from runtime.batch.output_rate.waiting_rows import WaitingStreams, batch_out, batch_rows
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.result_set.group_state import GroupState, Words
from runtime.batch.result_set.shapes import ResultSetPrinter
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import ArrayField, Arrays
from runtime.batch.storage.registers import Registers
from runtime.batch.windows.base import NEVER
from windows.protocol import State


@attrs.define
class HeldState:
    """What a run's state consists of; ``slots``: of the groups that have been restored."""

    arrays: Arrays
    ring: Ring
    waiting: WaitingStreams
    groups: GroupState | None
    slots: dict[Words, int] = attrs.field(factory=dict)

    def slot(self, key: Any) -> int:
        """Return the slot of a restored key as plain data."""
        assert self.groups is not None
        return self.slots[self.groups.words_of_key(key_from_state(key))]

    def batch(self, new: bool) -> State:
        """Return the waiting rows of a stream, as ``Batch`` gives them."""
        return batch_out(self.waiting.of_stream(new))


class Rate(ResultSetPrinter):
    """Base: the condition. ``take`` prints how a delta is taken, ``flush`` what is emitted when the condition is met."""

    waits = True
    """Whether rows wait for the condition; else they are out at once."""
    conditioned = True
    """Whether the condition holds for all; else each group has its own."""

    keeps_rows = True
    """Whether rows that wait are in the output arrays; else what is emitted is made then."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of)
        self.condition = condition_printer(of, plan)
        self.timed = self.condition.timed
        self.after = None if plan.after is None else AfterPrinter(plan)
        self.delayed = self.waits and self.keeps_rows
        if not self.conditioned and (self.after is not None or not isinstance(self.condition, (EveryPeriod, EveryEventsPrinter))):
            raise NotCompilable("output first of groups when or after is not computed in columns")
        self.only_after = plan.only_after
        rows = of.rows
        if plan.only_after and (rows.aggregations or rows.having is not None or rows.limit is not None or rows.distinct):
            raise NotCompilable("output after without a rate counts what is emitted: with aggregations, having, limit or distinct it is "
                                "not computed in columns")

    # ------------------------------------------------------------------ what is kept

    def fields(self) -> list[ArrayField]:
        after = [] if self.after is None else self.after.fields()
        return [*super().fields(), ArrayField("r_registers", np.int64, "registers"), *self.condition.fields(), *after]

    def registers(self) -> list[tuple[str, Registers]]:
        return [*super().registers(), ("r_registers", REGISTERS)]

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        """Put parameters into a fresh state; raises NotCompilable."""
        arrays["r_registers"][[DUE, NEW_AT, OLD_AT]] = NEVER, -1, -1
        self.condition.start(arrays, surroundings)
        if self.after is not None:
            self.after.start(arrays, surroundings)

    # ------------------------------------------------------------------ state

    def gather_state(self, held: HeldState) -> State:
        """Return the state as ``runtime.result_set`` has it."""
        raise NotImplementedError

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        """Return the keys of the groups that ``gather_state`` speaks of, in order."""
        return []

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        """Fill fresh arrays; the groups are there already."""
        self.condition.restore(held.arrays, condition)

    # ------------------------------------------------------------------ the loop

    def next_due(self, arrays: Arrays) -> int | None:
        """Return when output is due next."""
        due = int(arrays["r_registers"][DUE])
        return None if due == NEVER else due

    def timers(self, arrays: Arrays) -> list[Timers]:
        """Return what output may be due by."""
        return [Timers("always", int(arrays["period"][0]))] if self.timed else []

    def advance(self, code: Code, choose: Callable[[Code], None]) -> None:
        if not (self.timed and self.conditioned):
            super().advance(code, choose)
            return
        code.add("reach = times[i] if i < n else until")
        test, window = "output_due <= reach", self.of.window
        if window is not None and window.due is not None:
            code.add(f"due = {window.due}")
            test += " and output_due < due"
        with code.block(f"if {test}"):
            code.add("now = reach if jump else output_due", "timer = True", "fire = 1")
            code.add("output_due += period[0] * ((now - output_due) // period[0] + 1)")
        with code.block("else"):
            super().advance(code, choose)

    def deliver(self, code: Code) -> None:
        if not self.conditioned:
            self.count(code)
            self.begin(code)
            self.take(code)
            code.add("sent = out")
            return
        with code.block("if fire == 0"):
            self.arrive(code)
            self.count(code)
            self.begin(code)
            if self.after is not None:
                self.after.count(code, self.news)
            self.take(code)
            if not self.waits:
                code.add("sent = out")
            if self.after is not None:
                with code.block("if after_open == 0"):
                    self.skip(code)
                    code.add("continue")
            with code.block(f"if {self.counts()}"):
                self.condition.count(code, self.news, self.olds)
        with code.block("if fire != 0"):
            code.add("fire = 0")
            if self.of.groups is None:
                code.add("g = 0")
            self.flush(code)
            self._send(code)
            self.condition.note_emission(code)

    def skip(self, code: Code) -> None:
        """Print that the delta that has been taken is kept back by ``after``."""

    def arrive(self, code: Code) -> None:
        """Print that a delta comes, of which the where clause may let nothing through."""

    def counts(self) -> str:
        """Return whether the condition counts the delta."""
        return "True"

    def _send(self, code: Code) -> None:
        """Note that waiting rows are out. Where a timer, or ``output when``, emits nothing, row listeners are called without a row: that is
        in the output as a row whose delta is below 0."""
        with code.block("if causes"):
            with code.block("for o in range(sent, out)"):
                self.write_cause(code)
            if self.waits and self.condition.forces:
                with code.block("if out == sent"):
                    code.add("o = out")
                    self.write_cause(code)
                    code.add("o_delta[o] = -delta", "out += 1")
        code.add("sent = out")

    def cause(self, code: Code) -> None:
        if not self.waits:
            super().cause(code)

    def take(self, code: Code) -> None:
        raise NotImplementedError

    def flush(self, code: Code) -> None:
        raise NotImplementedError


def check_keys(of: SelectEvents) -> None:
    """Check that the last row of a group is known by its key; raise NotCompilable where that takes more than properties."""
    if not all(isinstance(part, StreamProperty) for part in of.rows.group_by):
        raise NotCompilable("an output clause of groups by an expression")


def check_streams_alike(of: SelectEvents) -> None:
    """Raise NotCompilable for rows that see, new or old, what rows see that leave, where they read it."""
    if any(isinstance(node, IsInsertStream) for e in plan_expressions(of.rows) for node in e.walk()):
        raise NotCompilable("istream() under output first or last of events in groups")


def check_limit(of: SelectEvents, selector: str) -> None:
    """Raise NotCompilable where the limit clause may leave no row."""
    if of.rows.limit is not None and of.rows.limit.may_leave_none():
        raise NotCompilable(f"output {selector} of rows of which limit may leave none is not computed in columns")


# ------------------------------------------------------------------ without groups


class AllRowsPrinter(Rate):
    """all: every row. Without a row, a fully aggregated select gives its current one."""

    def take(self, code: Code) -> None:
        self.print_delta(code)

    def place(self, code: Code, new: bool) -> None:
        super().place(code, new)
        code.add(f"{'new_at' if new else 'old_at'} = 0")

    def gather_state(self, held: HeldState) -> State:
        return [held.batch(True), held.batch(False)]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        new, old = (batch_rows(state, flag) for state, flag in zip(gathered, (True, False)))
        held.waiting.put([*new, *old])
        if new:
            held.arrays["r_registers"][NEW_AT] = 0
        if old:
            held.arrays["r_registers"][OLD_AT] = len(new)

    def flush(self, code: Code) -> None:
        if self.of.rows.shape == "fully aggregated":
            for needed, new, at in ((self.of.needs_new, True, "new_at"), (self.of.needs_old, False, "old_at")):
                if needed:
                    with code.block(f"if {at} < 0"):
                        self.emit(code, None, new)
        code.add("new_at = -1", "old_at = -1")


class LastRowPrinter(AllRowsPrinter):
    """last, of a row per event: the last row of each stream."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        if of.rows.aggregations:
            check_limit(of, "last")

    def place(self, code: Code, new: bool) -> None:
        at = "new_at" if new else "old_at"
        with code.block(f"if {at} < 0"):
            code.add(f"{at} = out - sent", "out += 1")
        code.add(f"o = sent + {at}")

    def flush(self, code: Code) -> None:
        code.add("new_at = -1", "old_at = -1")


class LastFullyAggregatedPrinter(AllRowsPrinter):
    """last: the aggregations as they are, and as they were before the first delta."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_limit(of, "last")

    def take(self, code: Code) -> None:
        with code.block("if done == 0"):
            code.add("done = 1")
            if self.of.needs_old:
                self.emit(code, None, False)
        self.apply(code)

    def flush(self, code: Code) -> None:
        super().flush(code)
        code.add("done = 0")

    def gather_state(self, held: HeldState) -> State:
        return held.batch(False) if held.arrays["r_registers"][DONE] else None

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore([[[], []], gathered or [[], []]], condition, held)
        held.arrays["r_registers"][DONE] = gathered is not None


class FirstPrinter(Rate):
    """first: the first delta that gives rows is emitted at once, the rest until the condition is met is taken silently."""

    waits = False

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_limit(of, "first")

    def take(self, code: Code) -> None:
        with code.block("if done != 0" if self.after is None else "if done != 0 or after_open == 0"):
            self.apply(code)
        with code.block("else"):
            code.add("first_row = out")
            self.print_delta(code)
            with code.block("if out > first_row"):
                code.add("done = 1")

    def counts(self) -> str:
        return "done != 0"

    def flush(self, code: Code) -> None:
        code.add("done = 0")

    def gather_state(self, held: HeldState) -> State:
        return bool(held.arrays["r_registers"][DONE])

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        held.arrays["r_registers"][DONE] = gathered


class SnapshotPrinter(Rate):
    """snapshot: what the statement's iterator gives. ``_empty``: rows of events, of a stream without a window."""

    keeps_rows = False

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        if not of.needs_new:
            raise NotCompilable("output snapshot of the remove stream")
        if plan.unit != "time" and of.window is not None and of.window.lets_all_go and of.rows.shape != "fully aggregated":
            raise NotCompilable("output snapshot of a batch as it is released")
        self._empty = not of.leaves and of.rows.shape not in ("fully aggregated", "grouped fully aggregated")
        if not of.leaves:
            check_keys(of)
        elif of.window is not None and of.window.contents is None:
            of.window.sort_contents()

    @contextmanager
    def _contents(self, code: Code) -> Iterator[None]:
        """Print a loop over the events that the window holds, in the order of an iterator."""
        window = self.of.window
        assert window is not None
        if window.contents is not None:
            with self.events(code, *window.contents):
                yield
        else:
            with window.print_contents(code), self.one(code):
                yield

    def gather_state(self, held: HeldState) -> State:
        if held.groups is None or self.of.leaves or self._empty:
            return []
        return [[key_to_state(held.groups.key(slot)), held.groups.event(slot)] for slot in held.groups.present()]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered]

    def streams(self) -> tuple[bool, ...]:
        return (True,)

    def capacity(self) -> str:
        if self.of.leaves:
            assert self.of.window is not None
            return f"{self.of.window.most} + 2"
        return "2" if self.of.groups is None else "gtop + 2"

    def take(self, code: Code) -> None:
        self.apply(code)

    def flush(self, code: Code) -> None:
        if self._empty:
            self.emit(Code(), "q", True)  # an unbound stream holds no event; this finds the columns
        elif self.of.rows.shape == "fully aggregated":
            self.emit(code, None, True)
        elif not self.of.leaves:
            with code.block("for g in range(gtop)"):
                self.emit(code, None, True)
        else:
            with self._contents(code):
                if self.of.rows.shape == "grouped fully aggregated":
                    with code.block("if g_seen[g] != delta"):
                        code.add("g_seen[g] = delta")
                        self.emit(code, "q", True)
                else:
                    self.emit(code, "q", True)


__all__ = ["LISTED", "SENT", "STAMP", "AllRowsPrinter", "FirstPrinter", "HeldState", "LastFullyAggregatedPrinter", "LastRowPrinter",
    "Rate", "SnapshotPrinter", "check_keys"]
