"""create variable: the statement's rows are the variable's values, emitted whenever they change."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epl.plan.statements import CreateVariablePlan
from runtime.operators.operator_context import OperatorContext
from runtime.stores.variables import VariableCell
from windows.event import Event, event_class
from windows.protocol import State


class RunningCreateVariable:
    """Listeners get the new value as insert stream and the one before as remove stream; the iterator gives the current one."""

    def __init__(self, plan: CreateVariablePlan, context: OperatorContext) -> None:
        cell = context.environment.variables[plan.name]
        assert isinstance(cell, VariableCell) and plan.output_type is not None
        self._cell = cell
        self._made = event_class(plan.output_type)
        self._context = context

    def _on_change(self, before: Any, now: Any) -> None:
        self._context.output.update((self._made(now),), (self._made(before),))

    def start(self) -> None:
        self._cell.observers.append(self._on_change)

    def close(self) -> None:
        if self._on_change in self._cell.observers:
            self._cell.observers.remove(self._on_change)

    def iterate(self) -> Iterable[Event]:
        return (self._made(self._cell.value),)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing: variables are kept with the runtime."""


__all__ = ["RunningCreateVariable"]
