"""on T set …: an event assigns variables."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from epl.plan.stores.on_statements import OnSetPlan
from runtime.expressions import compile_expression
from runtime.expressions.compiled import compile_row
from runtime.operators.operator_context import OperatorContext
from runtime.statements.on_event import OnEvent
from runtime.stores.assignments import Assignments
from windows.event import NO_EVENTS, Event, event_class


class RunningOnSet(OnEvent):
    """All assignments of one event or none: where one fails, the variables are what they were. They are kept with the runtime."""

    def __init__(self, plan: OnSetPlan, context: OperatorContext) -> None:
        super().__init__(plan.stream, context, self)
        environment = context.environment
        self._assign = Assignments(plan.assignments, environment, lambda e: compile_expression(e, environment, 1))
        assert plan.output_type is not None
        self._made = event_class(plan.output_type)
        self._row = compile_row(plan.outputs, environment, 0)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Let the last event assign (a contained-event selection may give several); listeners get one row."""
        if new:
            self._assign(new[-1])
            self.context.output.update((self._now(),), NO_EVENTS)

    def _now(self) -> Event:
        return self._made(*self._row(True, None))

    def iterate(self) -> Iterable[Event]:
        """Return the variables' current values."""
        return (self._now(),)


__all__ = ["RunningOnSet"]
