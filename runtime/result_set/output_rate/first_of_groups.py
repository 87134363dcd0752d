"""output first with groups: each group has its own condition, and emits at once the first row that meets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.expressions import Constant, VariableValue
from epl.plan.result_set import OutputPlan
from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.clock.crontab import Crontab
from runtime.expressions import compile_expression
from runtime.result_set.output_rate.conditions import LastRate, OutputCounts, TimeContext, Trigger
from runtime.result_set.projection import OutputRows
from windows.failures import Failures
from windows.paging import Paged
from windows.protocol import State
from windows.shape import ANYTHING, BOOLEAN, COUNT, DUE, INTEGER, TIME, compile_check, takes

NEVER = 1 << 63


class Poll:
    """A group's condition: its first row meets it, then the ``every``-th row of either stream since."""

    __slots__ = ("every", "new", "old", "first")

    def __init__(self, every: Callable[[], int]) -> None:
        self.every = every
        self.new = self.old = 0
        self.first = True

    def is_met(self, new: int, old: int) -> bool:
        self.new += new
        self.old += old
        every = self.every()
        if self.first or self.new >= every or self.old >= every:
            self.first = False
            self.new = self.old = 0
            return True
        return False

    def state(self) -> State:
        return [self.new, self.old, self.first]

    @takes((COUNT, COUNT, BOOLEAN))
    def restore(self, state: State) -> None:
        self.new, self.old, self.first = state


class VariablePoll(Poll):
    """The same of a variable, which may be null."""

    __slots__ = ("rate",)

    def __init__(self, every: Callable[[], int | None]) -> None:
        self.rate = LastRate(every)
        super().__init__(self.rate)

    def state(self) -> State:
        return [self.new, self.old, self.first, self.rate.last]

    @takes((COUNT, COUNT, BOOLEAN, INTEGER))
    def restore(self, state: State) -> None:
        self.new, self.old, self.first, self.rate.last = state


class TimePoll:
    """A group's condition: its first row meets it, then the first row a period after the last that did."""

    __slots__ = ("now", "add_period", "next")

    def __init__(self, now: Callable[[], int], add_period: Callable[[int], int]) -> None:
        self.now = now
        self.add_period = add_period
        self.next: int | None = None

    def is_met(self, new: int, old: int) -> bool:
        now = self.now()
        if self.next is not None and now < self.next:
            return False
        self.next = self.add_period(now)
        return True

    def state(self) -> State:
        return self.next

    @takes(DUE)
    def restore(self, state: State) -> None:
        self.next = state


class VariableTimePoll:
    """The same of a period that reads variables: it is that of the moment at which it is asked whether it has passed, as in Esper.

    ``due``: of a state that was stored when the period counted as it was at the output.
    """

    __slots__ = ("now", "add_period", "last", "due")

    def __init__(self, now: Callable[[], int], add_period: Callable[[int], int]) -> None:
        self.now = now
        self.add_period = add_period
        self.last: int | None = None
        self.due: int | None = None

    def is_met(self, new: int, old: int) -> bool:
        now = self.now()
        end_of_period = self.add_period(now if self.last is None else self.last)
        due = self.due if self.last is None else end_of_period
        if due is not None and now < due:
            return False
        self.last = now
        return True

    def state(self) -> State:
        return self.due if self.last is None else [self.last]

    def restore(self, state: State) -> None:
        if isinstance(state, (list, tuple)):
            compile_check((TIME,))(state)
            (self.last,) = state
        else:
            compile_check(DUE)(state)
            self.due = state


class WhenPoll:
    """A group's condition: an expression over what the group has counted. Counts are reset before variables are set."""

    __slots__ = ("trigger", "now", "counts")

    def __init__(self, trigger: Trigger, now: Callable[[], int]) -> None:
        self.trigger = trigger
        self.now = now
        self.counts = OutputCounts(now())

    def is_met(self, new: int, old: int) -> bool:
        self.counts.add(new, old)
        if not self.trigger.is_met(self.counts):
            return False
        self.counts.flush(self.now())
        self.trigger.then(self.counts)
        return True

    def state(self) -> State:
        return list(self.counts.values())

    def restore(self, state: State) -> None:
        self.counts.restore(state)


AnyPoll = Poll | TimePoll | VariableTimePoll | WhenPoll


def poll_maker(plan: OutputPlan, context: TimeContext) -> Callable[[], AnyPoll]:
    """Return what makes the condition of a new group."""
    if plan.condition is not None:
        trigger = Trigger(plan, context)
        return lambda: WhenPoll(trigger, context.now)
    if plan.crontab is not None:
        crontab = Crontab(plan.crontab, context.constant, context.environment.settings)
        return lambda: TimePoll(context.now, lambda now: _or_never(crontab.next_due(now)))
    if plan.every is not None and plan.unit == "time":
        period = plan.every
        poll_of_time = VariableTimePoll if any(isinstance(node, VariableValue) for node in period.walk()) else TimePoll
        return lambda: poll_of_time(context.now, lambda start: context.add_time(start, period))
    if plan.every is None:
        return lambda: Poll(lambda: 1)
    every = compile_expression(plan.every, context.environment, 0)
    poll = Poll if isinstance(plan.every, Constant) else VariablePoll
    return lambda: poll(every)


def _or_never(due: int | None) -> int:
    return NEVER if due is None else due


class Polls:
    """The conditions of all groups there ever were."""

    def __init__(self, plan: OutputPlan, context: TimeContext) -> None:
        self._polls: dict[Any, AnyPoll] = {}
        self._pages = Paged("first", lambda: self._polls, key_to_state, lambda key, poll: poll.state())
        self._make = poll_maker(plan, context)

    def is_met(self, key: Any, new: int, old: int) -> bool:
        self._pages.touch(key)
        poll = self._polls.get(key)
        if poll is None:
            poll = self._polls[key] = self._make()
        return poll.is_met(new, old)

    def state(self) -> State:
        return self._pages

    @takes([(ANYTHING, ANYTHING)])
    def restore(self, state: State) -> None:
        saved_polls, self._polls = list(state), {}
        for key, saved in saved_polls:
            poll = self._polls[key_from_state(key)] = self._make()
            poll.restore(saved)


class FirstOfGroups:
    """first, of a row per group: the groups of a delta that meet their conditions, as they are after it.

    Their old rows are as the groups were before the event that met the condition; with having, as recorded, both streams have the row
    after the delta.
    """

    def __init__(self, inner: Any, plan: OutputPlan, context: Any) -> None:
        self.inner = inner
        self._levels = getattr(inner, "levels", [inner])
        self._polls = [Polls(plan, context) for _ in self._levels]
        self._by_event = inner.needs_old and inner.plan.having is None

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        new_rows, old_rows = OutputRows(), OutputRows()
        if self._by_event:
            self._take_by_event(new, old, new_rows, old_rows)
        else:
            self.inner.apply(new, old)
            for level, polls in zip(self._levels, self._polls):
                self._flush_level(level, polls, (new, old), new_rows, old_rows)
        if new_rows.events or old_rows.events:
            self.inner.emit(self.inner.finish(new_rows), self.inner.finish(old_rows))
        return False

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    keep = skip
    counts_failures = False

    def _take_by_event(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        """Apply the events one by one: before each, look which groups' conditions it meets."""
        met: list[dict[Any, tuple[Row, OutputRows]]] = [{} for _ in self._levels]
        failures = Failures()
        for rows, entered in ((new, True), (old, False)):
            for row in rows:
                for level, polls, first in zip(self._levels, self._polls, met):
                    failures.attempt(self._look, level, polls, first, row, entered)
                failures.attempt(self.inner.apply, (row,) if entered else (), () if entered else (row,))
        failures.settle()
        for level, first in zip(self._levels, met):
            for key, (row, before) in first.items():
                if self.inner.needs_new:
                    level.rows(((key, row),), True, new_rows)
                old_rows.add(before)

    def _look(self, level: Any, polls: Polls, first: dict[Any, tuple[Row, OutputRows]], row: Row, entered: bool) -> None:
        key = level.key(row)
        if polls.is_met(key, int(entered), int(not entered)) and key not in first:
            batch = OutputRows()
            level.rows(((key, row),), entered, batch)
            first[key] = row, batch

    def _flush_level(
        self, level: Any, polls: Polls, delta: tuple[Sequence[Row], Sequence[Row]], new_rows: OutputRows, old_rows: OutputRows
    ) -> None:
        done: set[Any] = set()
        for rows, entered in zip(delta, (True, False)):
            for row in rows:
                key = level.key(row)
                batch = OutputRows()
                level.rows(((key, row),), True, batch)
                if not batch.events or not polls.is_met(key, int(entered), int(not entered)) or key in done:
                    continue
                done.add(key)
                if self.inner.needs_new:
                    new_rows.add(batch)
                if self.inner.needs_old:
                    level.rows(((key, row),), entered, old_rows)

    def flush(self, force: bool) -> None:
        """Do nothing: the groups' own conditions decide."""

    def state(self) -> State:
        return [polls.state() for polls in self._polls]

    @takes([ANYTHING])
    def restore(self, state: State) -> None:
        for polls, saved in zip(self._polls, state, strict=True):
            polls.restore(saved)


class FirstOfGroupEvents:
    """first, grouped aggregated: the events of a delta whose groups meet their conditions, those that leave among them, all in the insert
    stream. As in Esper they see what rows see that leave: istream() is false."""

    def __init__(self, inner: Any, plan: OutputPlan, context: Any) -> None:
        self.inner = inner
        self._polls = Polls(plan, context)

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        self.inner.apply(new, old)
        first: dict[Any, OutputRows] = {}
        for rows, entered in ((new, True), (old, False)):
            for row in rows:
                batch = OutputRows()
                self.inner.rows((row,), False, batch)
                key = self.inner.statement_key(row)
                if batch.events and self._polls.is_met(key, int(entered), int(not entered)):
                    first[key] = batch
        new_rows = OutputRows()
        for batch in first.values():
            new_rows.add(batch)
        if new_rows.events and self.inner.needs_new:
            self.inner.emit(self.inner.finish(new_rows), ())
        return False

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    keep = skip
    counts_failures = False

    def flush(self, force: bool) -> None:
        """Do nothing: the groups' own conditions decide."""

    def state(self) -> State:
        return self._polls.state()

    def restore(self, state: State) -> None:
        self._polls.restore(state)
