"""A select without from clause: its row is computed whenever it is asked for, and once for each partition of a context."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.statements import SelectRowPlan
from runtime.expressions.compiled import compile_row
from runtime.operators.operator_context import OperatorContext
from runtime.result_set.output_rate.terminated import NoOther, WhenTerminated
from windows.event import NO_EVENTS, Event, event_class
from windows.protocol import State


class RunningSelectRow:
    """The iterator gives the row. Without a context nothing is emitted."""

    def __init__(self, plan: SelectRowPlan, context: OperatorContext) -> None:
        assert plan.output_type is not None
        self._made = event_class(plan.output_type)
        self._row = compile_row(plan.columns, context.environment, 0)
        self._output = context.output
        self._emits = context.plan.context is not None and plan.terminated is None and not context.restoring
        if plan.terminated is not None:
            WhenTerminated(plan.terminated, context, NoOther(), lambda force: self._emit(), force=True)

    def _emit(self) -> None:
        self._output.update(tuple(self.iterate()), NO_EVENTS)

    def start(self) -> None:
        if self._emits:
            self._emit()

    def close(self) -> None:
        pass

    def iterate(self) -> Iterable[Event]:
        return (self._made(*self._row(True, None)),)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing: nothing is kept."""


__all__ = ["RunningSelectRow"]
