"""``output after``: nothing is emitted before a number of events or a time."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from epl.plan.result_set import OutputPlan
from runtime.aggregation.factory import Row
from runtime.expressions import compile_expression
from runtime.result_set.output_rate.conditions import TimeContext
from runtime.result_set.shapes import ResultSet, Stage
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver, State
from windows.shape import ANYTHING, BOOLEAN, COUNT, DUE, takes


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
        """Return whether the delta that brings ``new`` rows may be emitted."""
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

    @takes((COUNT, BOOLEAN, DUE))
    def restore(self, state: State) -> None:
        self._count, self._open, self._time = state


class AfterStage(Stage):
    """``output after`` without a rate: a result set whose rows are emitted as they come, once output may begin.

    What counts is the rows of the insert stream that come out of it, as Esper has it (of those that having and limit let through), also
    where only the remove stream is selected: ``inner`` then gives both, of which ``removes_only`` lets the other one through.
    """

    def __init__(self, inner: ResultSet, plan: OutputPlan, context: TimeContext, *, removes_only: bool = False) -> None:
        self.inner = inner
        self.plan = inner.plan
        self.after = After(plan, context)
        self._gate = _Gate(self.after, removes_only=removes_only)
        inner.child = self._gate

    @property
    def child(self) -> RowReceiver:
        return self._gate.child

    @child.setter
    def child(self, sink: RowReceiver) -> None:
        self._gate.child = sink

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.update(new, old)

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.keep(new, old)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self.inner.iterate(contents)

    def close(self) -> None:
        self.inner.close()

    def state(self) -> State:
        return [self.inner.state(), self.after.state()]

    @takes((ANYTHING, ANYTHING))
    def restore(self, state: State) -> None:
        inner, after = state
        self.inner.restore(inner)
        self.after.restore(after)


class _Gate:
    """Between a result set and its child. ``removes_only``: the child gets the remove stream's rows, as its new ones."""

    child: RowReceiver

    def __init__(self, after: After, *, removes_only: bool) -> None:
        self._after = after
        self._removes_only = removes_only

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if not self._after.admits(len(new)):
            return
        if not self._removes_only:
            self.child.update(new, old)
        elif old or not new:  # neither: a window with FORCE_UPDATE released nothing
            self.child.update(old, NO_EVENTS)


__all__ = ["After", "AfterStage"]
