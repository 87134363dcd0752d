"""When a kernel puts limited output out: every so many events or every period, whenever an expression over counts is true, and after what.

Each prints what ``runtime.result_set.output_rate.stage`` and ``runtime.result_set.output_rate.conditions`` do; numbers are in
``r_registers``.
"""
from __future__ import annotations

import numpy as np

from epl.plan.expressions import Local, TimeSpan, TypedExpression, VariableValue
from epl.plan.result_set import OUTPUT_NAMES, OutputPlan
from epl.value_types import Scalar
from runtime.batch.printing.expressions import ScalarText, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import ONE, ArrayField, Arrays
from runtime.batch.storage.kinds import INTEGERS
from runtime.batch.storage.registers import Registers
from runtime.batch.windows import is_calendar
from runtime.batch.windows.base import NEVER
from windows.protocol import State
from windows.shape import BOOLEAN, COUNT, NOTHING, TIME, compile_check, optional, takes

REGISTERS = Registers(
    "sent", "fire", "output_due", "came", "gone", "done", "stamp", "listed", "new_at", "old_at", "came_all", "gone_all", "last_out",
    "after_count", "after_open",
)
"""Rows that are out; whether to emit now; when that is due next; events in and out since; whether something came first; the number of
the output to come; groups touched since the last; where the waiting row of each stream is, relative to ``sent`` (-1: there is none); events
in and out in all, and when the last output was; rows before output may begin, and whether it may."""
(SENT, DUE, CAME, GONE, DONE, STAMP, LISTED, NEW_AT, OLD_AT, CAME_ALL, GONE_ALL, LAST_OUT, AFTER_COUNT, AFTER_OPEN) = REGISTERS.places(
    "sent", "output_due", "came", "gone", "done", "stamp", "listed", "new_at", "old_at", "came_all", "gone_all", "last_out",
    "after_count", "after_open",
)
WHEN = dict(zip(OUTPUT_NAMES, ("came", "came_all", "gone", "gone_all", "last_out")))


def start_time(surroundings: RunContext) -> int:
    """Return engine time where the statement begins."""
    clock = surroundings.environment.clock
    return 0 if clock is None else clock.now


class AlwaysPrinter:
    """Every delta: only ``after`` is written. Base of the others."""

    timed = False
    forces = False
    """Whether listeners are called even where there is no row."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        self.of, self.plan = of, plan

    def fields(self) -> list[ArrayField]:
        return []

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        """Put parameters into a fresh state; raises NotCompilable."""

    def count(self, code: Code, news: str, olds: str) -> None:
        """Count a delta that has come: ``fire`` is 1 where it is to be emitted."""
        code.add("fire = 1")

    def note_emission(self, code: Code) -> None:
        """Note that what was there has been emitted."""

    def state(self, arrays: Arrays) -> State:
        return None

    @takes(NOTHING)
    def restore(self, arrays: Arrays, state: State) -> None:
        """Go on from there."""


class EveryPeriod(AlwaysPrinter):
    timed = forces = True

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        assert plan.every is not None
        self.every: TypedExpression = plan.every
        _check_fixed(self.every)

    def fields(self) -> list[ArrayField]:
        return [ArrayField("period", np.int64, ONE)]

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        arrays["period"][0] = surroundings.period(self.every)
        if arrays["period"][0] <= 0:
            raise NotCompilable("output every period of no length")

    def count(self, code: Code, news: str, olds: str) -> None:
        with code.block(f"if output_due == {NEVER}"):
            code.add("output_due = now + period[0]")

    def state(self, arrays: Arrays) -> State:
        due = int(arrays["r_registers"][DUE])
        return None if due == NEVER else due

    @takes(optional(TIME))
    def restore(self, arrays: Arrays, state: State) -> None:
        if state is not None:
            arrays["r_registers"][DUE] = state


class EveryEventsPrinter(AlwaysPrinter):
    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        assert plan.every is not None
        self.every: TypedExpression = plan.every
        _check_fixed(self.every)
        if column_kind(self.every.type) not in INTEGERS:
            raise NotCompilable("output every so many events that is not a whole number")

    def number(self, code: Code) -> str:
        """Return a text: how many events."""
        text = self.of.at(None, code).value(self.every)
        if text.valid is not None:
            raise NotCompilable("output every number of events that may be null")
        return text.value

    def count(self, code: Code, news: str, olds: str) -> None:
        every = self.number(code)
        code.add(f"came += {news}", f"gone += {olds}")
        with code.block(f"if came >= {every} or gone >= {every}"):
            code.add("came = 0", "gone = 0", "fire = 1")

    def state(self, arrays: Arrays) -> State:
        return arrays["r_registers"][[CAME, GONE]].tolist()

    @takes((COUNT, COUNT))
    def restore(self, arrays: Arrays, state: State) -> None:
        arrays["r_registers"][[CAME, GONE]] = state


class WhenPrinter(AlwaysPrinter):
    """Whenever an expression over what has come and gone is true; variables would make it true without a row."""

    forces = True

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        assert plan.condition is not None
        self.condition: TypedExpression = plan.condition
        if plan.assignments or any(isinstance(node, VariableValue) for node in self.condition.walk()):
            raise NotCompilable("output when with variables is not computed in columns")

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        arrays["r_registers"][LAST_OUT] = start_time(surroundings)

    def count(self, code: Code, news: str, olds: str) -> None:
        code.add(f"came += {news}", f"came_all += {news}", f"gone += {olds}", f"gone_all += {olds}")

        def leaf(node: TypedExpression) -> ScalarText | None:
            if not isinstance(node, Local):
                return None
            primitive = isinstance(node.type, Scalar) and node.type.primitive
            return ScalarText(WHEN[node.name], None if primitive else "True")

        with code.block(f"if {self.of.printer(leaf, code).test(self.condition)}"):
            code.add("fire = 1")

    def note_emission(self, code: Code) -> None:
        code.add("came = 0", "gone = 0", "last_out = now")

    def state(self, arrays: Arrays) -> State:
        return [arrays["r_registers"][[CAME, CAME_ALL, GONE, GONE_ALL, LAST_OUT]].tolist(), None]

    @takes(((COUNT, COUNT, COUNT, COUNT, TIME), NOTHING))
    def restore(self, arrays: Arrays, state: State) -> None:
        arrays["r_registers"][[CAME, CAME_ALL, GONE, GONE_ALL, LAST_OUT]] = state[0]


class AfterPrinter:
    """``after n events`` or ``after time``: whether output may begin. ``after_from``: that number, or that time."""

    def __init__(self, plan: OutputPlan) -> None:
        assert plan.after is not None
        self.after: TypedExpression = plan.after
        self.by_events = plan.after_unit == "events"
        _check_fixed(self.after)

    def fields(self) -> list[ArrayField]:
        return [ArrayField("after_from", np.int64, ONE)]

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        if self.by_events:
            arrays["after_from"][0] = surroundings.value(self.after)
        else:
            arrays["after_from"][0] = start_time(surroundings) + surroundings.period(self.after)

    def count(self, code: Code, news: str) -> None:
        """Count a delta that has come: ``after_open`` is 1 where it may be emitted."""
        with code.block("if after_open == 0"):
            if self.by_events:
                code.add(f"after_count += {news}")
            with code.block(f"if {'after_count >' if self.by_events else 'now >='} after_from[0]"):
                code.add("after_open = 1")

    def state(self, arrays: Arrays) -> State:
        count, begun = arrays["r_registers"][[AFTER_COUNT, AFTER_OPEN]].tolist()
        return [count, bool(begun), None if self.by_events else int(arrays["after_from"][0])]

    def restore(self, arrays: Arrays, state: State) -> None:
        compile_check((COUNT, BOOLEAN, NOTHING if self.by_events else TIME))(state)
        arrays["r_registers"][[AFTER_COUNT, AFTER_OPEN]] = state[:2]
        if not self.by_events:
            arrays["after_from"][0] = state[2]


def _check_fixed(node: TypedExpression) -> None:
    if any(isinstance(inner, VariableValue) for inner in node.walk()) or (isinstance(node, TimeSpan) and is_calendar(node)):
        raise NotCompilable("output every variable, month or year is not computed in columns")


def condition_printer(of: SelectEvents, plan: OutputPlan) -> AlwaysPrinter:
    """Return the printer of an output clause's condition; raise NotCompilable."""
    if plan.condition is not None:
        return WhenPrinter(of, plan)
    if plan.every is None:
        return AlwaysPrinter(of, plan)
    return EveryPeriod(of, plan) if plan.unit == "time" else EveryEventsPrinter(of, plan)


__all__ = [
    "DONE", "DUE", "LISTED", "NEW_AT", "OLD_AT", "REGISTERS", "SENT", "STAMP", "AfterPrinter", "AlwaysPrinter", "EveryEventsPrinter",
    "EveryPeriod",
    "condition_printer",
]
