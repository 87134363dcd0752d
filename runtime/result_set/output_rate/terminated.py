"""``when terminated``: what is held is emitted when the context partition ends."""
from __future__ import annotations

from collections.abc import Callable

from epl.plan.result_set import TerminatedOutput
from runtime.result_set.output_rate.conditions import OutputCondition, OutputCounts, TimeContext, over_counts
from runtime.stores.assignments import Assignments
from windows.protocol import State
from windows.shape import ANYTHING, takes


class NoOther(OutputCondition):
    """In place of a condition where rows are emitted at no other time."""

    def add(self, new: int, old: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing."""


class WhenTerminated(OutputCondition):
    """Around the condition for the other times: ``fire(force)`` is called at the end of the partition, if the clause's own condition holds;
    its assignments are made in any case. ``force``: listeners are called also where there is nothing to emit."""

    def __init__(
        self, plan: TerminatedOutput, context: TimeContext, inner: OutputCondition, fire: Callable[[bool], None], *, force: bool
    ) -> None:
        environment = context.environment
        self._inner = inner
        self._fire = fire
        self._force = force
        self._context = context
        self._counts = OutputCounts(context.now())
        self._holds = None if plan.condition is None else over_counts(plan.condition, environment)
        self._assign: Assignments | None = None
        if plan.assignments:
            self._assign = Assignments(plan.assignments, environment, lambda e: over_counts(e, environment))
        context.on_end(self._end)

    def add(self, new: int, old: int) -> None:
        self._counts.add(new, old)
        self._inner.add(new, old)

    def note_emission(self) -> None:
        """Note that rows are emitted now."""
        self._counts.flush(self._context.now())

    def _end(self) -> None:
        values = self._counts.values()
        if self._holds is None or self._holds(*values) is True:
            self._fire(self._force)
        if self._assign is not None:
            self._assign(*values)

    def close(self) -> None:
        self._inner.close()

    def state(self) -> State:
        return [self._inner.state(), self._counts.values()]

    @takes((ANYTHING, ANYTHING))
    def restore(self, state: State) -> None:
        inner, counts = state
        self._inner.restore(inner)
        self._counts.restore(tuple(counts))


__all__ = ["NoOther", "WhenTerminated"]
