"""Output rate limiting: a stage around a result set that gathers deltas and puts rows out when its condition says so.

What is gathered depends on the selector and the shape (runtime.result_set.output_rate.gathering); when it is emitted is decided here:
after a number of events, at times, or when an expression is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from epl.attribute_text import name_attributes
from epl.plan.expressions import Constant, TimeSpan, TypedExpression, VariableValue
from epl.plan.result_set import OutputPlan
from runtime.aggregation.factory import Row
from runtime.clock.crontab import Crontab
from runtime.clock.periods import MONTHS
from runtime.expressions import compile_expression
from runtime.expressions.generated_steps import GeneratedSteps
from runtime.result_set.late_rows import may_change
from runtime.result_set.output_rate.after import After
from runtime.result_set.output_rate.conditions import LastRate, OutputCondition, TimeContext, When
from runtime.result_set.output_rate.first_of_groups import FirstOfGroupEvents, FirstOfGroups
from runtime.result_set.output_rate.gathering import BufferBase, OutputBuffer
from runtime.result_set.output_rate.group_rows import OneLevel
from runtime.result_set.output_rate.groups import AllGroupEvents, AllGroups, LastOfGroupEvents, LastOfGroups
from runtime.result_set.output_rate.rows import (
    AllRows,
    DelayedRows,
    Deltas,
    First,
    LastAggregatedRow,
    LastFullyAggregated,
    LastLateRow,
    LastRow,
    Snapshot,
    Withheld,
)
from runtime.result_set.output_rate.terminated import NoOther, WhenTerminated
from runtime.result_set.rollup import Rollup
from runtime.result_set.shapes import FullyAggregated, ResultSet, RowPerEvent, RowPerGroup, Stage, Unaggregated
from windows.event import Event
from windows.protocol import State
from windows.shape import ANYTHING, COUNT, DUE, INTEGER, NOTHING, takes


class EveryEvents(OutputCondition):
    """As soon as ``every`` rows have come in, or as many have left, since the last time."""

    def __init__(self, every: Callable[[], int], fire: Callable[[bool], None]) -> None:
        self._every = every
        self._fire = fire
        self._new = self._old = 0

    def add(self, new: int, old: int) -> None:
        self._new += new
        self._old += old
        every = self._every()
        if self._new >= every or self._old >= every:
            self._new = self._old = 0
            self._fire(False)

    def state(self) -> State:
        return [self._new, self._old]

    @takes((COUNT, COUNT))
    def restore(self, state: State) -> None:
        self._new, self._old = state


class EveryVariable(EveryEvents):
    """The same of a variable, which may be null."""

    def __init__(self, every: Callable[[], int | None], fire: Callable[[bool], None]) -> None:
        self._rate = LastRate(every)
        super().__init__(self._rate, fire)

    def state(self) -> State:
        return [self._new, self._old, self._rate.last]

    @takes((COUNT, COUNT, INTEGER))
    def restore(self, state: State) -> None:
        self._new, self._old, self._rate.last = state


class AtTimes(OutputCondition):
    """Each time that is due, from the first rows on; a clock that jumps over several due times fires once.

    ``following(due, now)`` gives the time that comes next: the first one where ``due`` is None; None where none ever comes. ``once``: a
    time that is due is the last one until rows come again.
    """

    def __init__(
        self, context: TimeContext, following: Callable[[int | None, int], int | None], fire: Callable[[bool], None], *, once: bool = False
    ) -> None:
        self._once = once
        self._context = context
        self._following = following
        self._fire = fire
        self._timer = context.last_timer(self._due)
        self.next: int | None = None

    def add(self, new: int, old: int) -> None:
        if self.next is None:
            self._schedule()

    def steps(self) -> GeneratedSteps:
        """Return the steps; once the first time is known nothing is to be done."""
        condition = name_attributes("condition", self)
        return GeneratedSteps([], [f"if {condition.next} is None: {condition.add}(1, 0)"], self.objects())

    def _due(self) -> None:
        if self._once:
            self.next = None
        else:
            self._schedule()
        self._fire(True)

    def _schedule(self) -> None:
        self.next = self._following(self.next, self._context.now())
        if self.next is not None:
            self._timer.set(self.next)

    def close(self) -> None:
        self._timer.cancel()

    def state(self) -> State:
        return self.next

    @takes(DUE)
    def restore(self, state: State) -> None:
        self.next = state
        if self.next is not None:
            self._timer.set(self.next)


class AtChangingTimes(AtTimes):
    """Every period of a length that variables give: rows that come after it has changed are emitted at the next multiple of the new length
    since the first rows."""

    def __init__(self, context: TimeContext, period: TypedExpression, fire: Callable[[bool], None], *, once: bool = False) -> None:
        super().__init__(context, self._multiple, fire, once=once)
        self._period = period
        self._steps = periods(context, period)
        self._since = self._length = None

    _since: int | None
    _length: int | None

    def add(self, new: int, old: int) -> None:
        if self.next is None:
            self._since = self._context.now()
            self._schedule()
        elif self._context.add_time(0, self._period) != self._length:
            self._schedule()

    def steps(self) -> GeneratedSteps:
        return OutputCondition.steps(self)

    def _multiple(self, due: int | None, now: int) -> int | None:
        self._length = self._context.add_time(0, self._period)
        return self._steps(due if self._since is None else self._since, now)

    def state(self) -> State:
        return [self.next, self._since, self._length]

    def restore(self, state: State) -> None:
        if state is None or state.__class__ is int:  # of a version that did not keep the other two
            super().restore(state)
            self._since, self._length = self.next, self._context.add_time(0, self._period)
        else:
            self._restore(state)

    @takes((DUE, DUE, DUE))
    def _restore(self, state: State) -> None:
        due, self._since, self._length = state
        super().restore(due)


def periods(context: TimeContext, period: TypedExpression) -> Callable[[int | None, int], int | None]:
    """Return every period, counted from the first rows on."""

    months = isinstance(period, TimeSpan) and any(unit in MONTHS for unit, _ in period.parts)

    def following(due: int | None, now: int) -> int:
        if due is None:
            return context.add_time(now, period)
        if due <= now and not months:  # time may have jumped over any number of them
            step = max(context.add_time(due, period) - due, 1)
            return due + step * ((now - due) // step + 1)
        while due <= now:
            later = context.add_time(due, period)
            if later <= due:  # no period at all
                return now + 1
            due = later
        return due

    return following


class Always(OutputCondition):
    """Every delta: the groups of ``output first`` have their own conditions."""

    def __init__(self, fire: Callable[[bool], None]) -> None:
        self._fire = fire

    def add(self, new: int, old: int) -> None:
        self._fire(False)

    def state(self) -> State:
        return None

    @takes(NOTHING)
    def restore(self, state: State) -> None:
        pass


GATHERINGS: Mapping[tuple[str, type[ResultSet]], Callable[..., BufferBase]] = {
    ("all", Unaggregated): AllRows,
    ("all", FullyAggregated): AllRows,
    ("all", RowPerEvent): AllRows,
    ("all", RowPerGroup): AllGroups,
    ("all", Rollup): AllGroups,
    ("last", Unaggregated): LastRow,
    ("last", FullyAggregated): LastFullyAggregated,
    ("last", RowPerEvent): LastAggregatedRow,
    ("last", RowPerGroup): LastOfGroups,
    ("last", Rollup): LastOfGroups,
    ("first", Unaggregated): First,
    ("first", FullyAggregated): First,
    ("first", RowPerEvent): First,
}
"""The selectors that depend on the shape, where rows have no groups or are groups; rows of events with groups are below."""
LATE: Mapping[str, Callable[..., BufferBase]] = {"all": DelayedRows, "last": LastLateRow}
"""Of rows without aggregations that may change until the output, where its clause is optimized."""


def build_gathering(plan: OutputPlan, inner: ResultSet, context: Any) -> OutputBuffer:
    """Return what gathers for a selector and a result set."""
    at_end = plan.terminated is not None and isinstance(inner, Unaggregated)  # rows may read what the end brings: they are made then
    if plan.selector == "default" or (plan.selector == "all" and at_end):
        return Deltas(inner)
    if plan.selector == "snapshot":
        return Snapshot(inner)
    grouped_events = isinstance(inner, RowPerEvent) and inner.plan.shape == "grouped aggregated"
    if grouped_events and plan.selector == "first":
        return FirstOfGroupEvents(inner, plan, context)
    if grouped_events:
        kept = AllGroupEvents(inner) if plan.selector == "all" else LastOfGroupEvents(inner)
        return kept if plan.optimized else Withheld(kept)
    if plan.selector == "first" and isinstance(inner, (RowPerGroup, Rollup)):
        return FirstOfGroups(inner, plan, context)
    waits = not plan.optimized and plan.selector != "first"
    if isinstance(inner, Unaggregated) and plan.selector in LATE:
        if plan.optimized and may_change(inner.plan):
            return LATE[plan.selector](inner)
        waits = waits and may_change(inner.plan)
    gathering = GATHERINGS[plan.selector, type(inner)](inner)
    if isinstance(gathering, AllRows) and isinstance(inner, Unaggregated):
        gathering.skips = not plan.optimized
    return Withheld(gathering) if waits else gathering


def build_condition(plan: OutputPlan, context: TimeContext, flush: Callable[[bool], None], *, once: bool = False) -> OutputCondition:
    """Return what calls ``flush`` when rows are to be emitted; not at the end of a partition. ``once``: see AtTimes."""
    if plan.only_terminated:
        return NoOther()
    if plan.crontab is not None:
        crontab = Crontab(plan.crontab, context.constant, context.environment.settings)
        return AtTimes(context, lambda due, now: crontab.next_due(now), flush)
    if plan.condition is not None:
        return When(plan, context, flush)
    assert plan.every is not None
    if plan.unit == "events":
        counts = EveryEvents if isinstance(plan.every, Constant) else EveryVariable
        return counts(compile_expression(plan.every, context.environment, 0), flush)
    if any(isinstance(node, VariableValue) for node in plan.every.walk()):
        return AtChangingTimes(context, plan.every, flush, once=once)
    return AtTimes(context, periods(context, plan.every), flush, once=once)


def _calls_for_none(plan: OutputPlan, inner: ResultSet, context: TimeContext) -> bool:
    """Return whether in a context, as in Esper, listeners are called at an output without rows; without a context they are at every
    time."""
    if plan.selector == "snapshot" or inner.plan.selector == "rstream" or getattr(context.plan.body, "insert", None) is not None:
        return True
    if plan.selector == "last":
        return isinstance(inner, FullyAggregated) and not inner.plan.order_by
    return plan.selector in ("default", "all") and isinstance(inner, Unaggregated)


class OutputStage(Stage):
    """A result set whose output is limited."""

    def __init__(self, inner: ResultSet, plan: OutputPlan, context: TimeContext) -> None:
        self.inner = inner
        self.plan = inner.plan
        self.gathering: OutputBuffer = build_gathering(plan, inner, context)
        self.after = None if plan.after is None else After(plan, context)
        calls_for_none = _calls_for_none(plan, inner, context)
        self._quiet = context.plan.context is not None and not calls_for_none
        gathers = self.gathering.gathers if isinstance(self.gathering, Withheld) else self.gathering
        if self._quiet and plan.unit != "events" and isinstance(gathers, (LastRow, LastLateRow)) and isinstance(inner, Unaggregated):
            gathers.call_for_omitted()
        self._terminated: WhenTerminated | None = None
        if plan.condition is not None and isinstance(self.gathering, (FirstOfGroups, FirstOfGroupEvents)):  # which have it themselves
            self.condition: OutputCondition = Always(self._flush)
        else:
            once = plan.selector == "snapshot" and self.plan.unidirectional
            self.condition = build_condition(plan, context, self._flush, once=once)
        if plan.terminated is not None:
            self.condition = self._terminated = WhenTerminated(
                plan.terminated, context, self.condition, self._flush, force=calls_for_none)

    def close(self) -> None:
        self.condition.close()

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if self.after is not None and not self.after.admits(len(new)):
            self.gathering.skip(new, old)
            return
        try:
            counts = self.gathering.take(new, old)
        except Exception:
            if self.gathering.counts_failures:
                self.condition.add(len(new), len(old))
            raise
        if counts:
            self.condition.add(len(new), len(old))

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.gathering.keep(new, old)

    def begin(self) -> None:
        """Go on as if what the statement begins with, which was kept, had been its first output."""
        if isinstance(self.gathering, First):
            self.gathering.begin()

    def last_rows(self) -> OneLevel | None:
        """Return, where all that is done with an event is to note it as the last one of its group, what keeps these; else None."""
        gathering = self.gathering
        if type(gathering) not in (LastOfGroups, AllGroups) or type(self.inner) is not RowPerGroup or self.inner.needs_old:
            return None
        if self.after is not None or self.plan.unidirectional:
            return None
        assert isinstance(gathering, AllGroups)
        level: OneLevel = gathering.levels[0]
        return level

    def _flush(self, force: bool) -> None:
        self.gathering.flush(force and not self._quiet)
        if self._terminated is not None:
            self._terminated.note_emission()

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self.inner.iterate(self.gathering.contents(contents))

    def state(self) -> State:
        after = None if self.after is None else self.after.state()
        return [self.inner.state(), self.gathering.state(), self.condition.state(), after]

    @takes((ANYTHING, ANYTHING, ANYTHING, ANYTHING))
    def restore(self, state: State) -> None:
        inner, gathering, condition, after = state
        self.inner.restore(inner)
        self.gathering.restore(gathering)
        self.condition.restore(condition)
        if self.after is not None:
            self.after.restore(after)
