"""A select without from clause: its row is computed whenever it is asked for."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.statements import SelectRowPlan
from runtime.expressions.compiled import compile_row
from runtime.operators.operator_context import OperatorContext
from windows.event import Event, event_class
from windows.protocol import State


class RunningSelectRow:
    """Emits nothing; the iterator gives the row."""

    def __init__(self, plan: SelectRowPlan, context: OperatorContext) -> None:
        assert plan.output_type is not None
        self._made = event_class(plan.output_type)
        self._row = compile_row(plan.columns, context.environment, 0)

    def start(self) -> None:
        pass

    def close(self) -> None:
        pass

    def iterate(self) -> Iterable[Event]:
        return (self._made(*self._row(True, None)),)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing: nothing is kept."""


__all__ = ["RunningSelectRow"]
