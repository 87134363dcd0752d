"""Output rate limiting: a stage around a result set that gathers deltas and puts rows out when its condition says so.

What is gathered depends on the selector and the shape (runtime.result_set.gathering); when it is put out is decided here: after a number
of events,
or at times counted from the first event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from epl.plan.expressions import TypedExpression
from epl.plan.result_set import OutputPlan
from runtime.aggregation.factory import Row
from runtime.evaluate import Environment, compile_expression
from runtime.result_set.gathering import Gathers, build_gathering
from runtime.result_set.shapes import ResultSet
from windows.event import Event
from windows.protocol import Sink, State, Timer


class TimeContext(Protocol):
    """What the stage asks of its statement; windows.protocol.BuildContext has it."""

    environment: Environment

    def now(self) -> int: ...

    def timer(self, callback: Callable[[], None]) -> Timer: ...

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int: ...


class Condition:
    """When to put out. ``fire`` is called then; ``add`` tells it what has come in."""

    def add(self, new: int, old: int) -> None:
        raise NotImplementedError

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


class EveryEvents(Condition):
    """As soon as ``every`` rows have come in, or as many have left, since the last time."""

    def __init__(self, every: Callable[[], int | None], fire: Callable[[bool], None]) -> None:
        self._every = every
        self._fire = fire
        self._new = self._old = 0

    def add(self, new: int, old: int) -> None:
        self._new += new
        self._old += old
        every = self._every()
        if every is not None and (self._new >= every or self._old >= every):
            self._new = self._old = 0
            self._fire(False)

    def state(self) -> State:
        return [self._new, self._old]

    def restore(self, state: State) -> None:
        self._new, self._old = state


class EveryTime(Condition):
    """Every period, counted from the first event on; a clock that jumps over several due times fires once."""

    def __init__(self, context: TimeContext, period: TypedExpression, fire: Callable[[bool], None]) -> None:
        self._context = context
        self._period = period
        self._fire = fire
        self._timer = context.timer(self._due)
        self._next: int | None = None

    def add(self, new: int, old: int) -> None:
        if self._next is None:
            self._next = self._context.add_time(self._context.now(), self._period)
            self._timer.set(self._next)

    def _due(self) -> None:
        assert self._next is not None
        now = self._context.now()
        while self._next <= now:
            self._next = max(self._context.add_time(self._next, self._period), self._next + 1)
        self._timer.set(self._next)
        self._fire(True)

    def state(self) -> State:
        return self._next

    def restore(self, state: State) -> None:
        self._next = state
        if self._next is not None:
            self._timer.set(self._next)


class Always(Condition):
    """``output after … `` alone: every delta, once the time has come."""

    def __init__(self, fire: Callable[[bool], None]) -> None:
        self._fire = fire

    def add(self, new: int, old: int) -> None:
        self._fire(False)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        pass


class After:
    """``after n events`` or ``after time``: whether output may begin. Time counts from the building of the statement."""

    def __init__(self, plan: OutputPlan, context: TimeContext) -> None:
        assert plan.after is not None
        self._context = context
        self._events: int | None = None
        self._time: int | None = None
        if plan.after_unit == "events":
            self._events = compile_expression(plan.after, context.environment, 0)()
        else:
            self._time = context.add_time(context.now(), plan.after)
        self._count = 0
        self._open = False

    def admits(self, new: int) -> bool:
        """Whether the delta that brings ``new`` rows may be put out."""
        if self._open:
            return True
        if self._events is not None:
            self._count += new
            self._open = self._count > self._events
        else:
            assert self._time is not None
            self._open = self._context.now() >= self._time
        return self._open

    def state(self) -> State:
        return [self._count, self._open, self._time]

    def restore(self, state: State) -> None:
        self._count, self._open, self._time = state


class OutputStage(ResultSet):
    """A result set whose output is limited."""

    def __init__(self, inner: ResultSet, plan: OutputPlan, context: TimeContext) -> None:
        self.inner = inner
        self.plan = inner.plan
        self._gathering: Gathers = build_gathering(plan, inner, context)
        self._after = None if plan.after is None else After(plan, context)
        self._condition = self._make_condition(plan, context)

    def _make_condition(self, plan: OutputPlan, context: TimeContext) -> Condition:
        if plan.every is None:
            return Always(self._put_out)
        if plan.unit == "events":
            return EveryEvents(compile_expression(plan.every, context.environment, 0), self._put_out)
        return EveryTime(context, plan.every, self._put_out)

    @property
    def child(self) -> Sink:
        return self.inner.child

    @child.setter
    def child(self, sink: Sink) -> None:
        self.inner.child = sink

    @property
    def contents(self) -> Callable[[], Iterable[Row]]:
        return self.inner.contents

    @contents.setter
    def contents(self, contents: Callable[[], Iterable[Row]]) -> None:
        self.inner.contents = contents

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if self._after is not None and not self._after.admits(len(new)):
            self._gathering.skip(new, old)
            return
        if self._gathering.take(new, old):
            self._condition.add(len(new), len(old))

    def _put_out(self, force: bool) -> None:
        self._gathering.put_out(force)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self.inner.iterate(self._gathering.contents(contents))

    def state(self) -> State:
        after = None if self._after is None else self._after.state()
        return [self.inner.state(), self._gathering.state(), self._condition.state(), after]

    def restore(self, state: State) -> None:
        inner, gathering, condition, after = state
        self.inner.restore(inner)
        self._gathering.restore(gathering)
        self._condition.restore(condition)
        if self._after is not None:
            self._after.restore(after)
