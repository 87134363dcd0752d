"""create variable: the statement's rows are the variable's values, emitted whenever they change."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epl.errors import EplRuntimeError
from epl.plan.statements import CreateVariablePlan
from runtime.operators.operator_context import OperatorContext
from runtime.stores.by_partition import PartitionedVariable
from runtime.stores.variables import VariableCell
from windows.event import Event, event_class
from windows.protocol import Damaged, State


class RunningCreateVariable:
    """Listeners get the new value as insert stream and the one before as remove stream; the iterator gives the current one."""

    def __init__(self, plan: CreateVariablePlan, context: OperatorContext) -> None:
        cell = context.environment.variables[plan.name]
        assert isinstance(cell, VariableCell) and plan.output_type is not None
        self._cell = cell
        self._made = event_class(plan.output_type)
        self._context = context
        self._all = context.statement.environment.variables[plan.name]
        self._is_partitioned = isinstance(self._all, PartitionedVariable)

    def _on_change(self, before: Any, now: Any) -> None:
        if self._is_partitioned:
            self._context.note_changed()
        self._context.output.update((self._made(now),), (self._made(before),))

    def start(self) -> None:
        self._cell.observers.append(self._on_change)

    def close(self) -> None:
        if self._on_change in self._cell.observers:
            self._cell.observers.remove(self._on_change)
        if isinstance(self._all, PartitionedVariable):
            self._all.leave(self._context.partition)

    def iterate(self) -> Iterable[Event]:
        return (self._made(self._cell.value),)

    def state(self) -> State:
        """Return the value of a partition's variable; all others are kept with the runtime."""
        return [self._cell.value] if self._is_partitioned else None

    def restore(self, state: State) -> None:
        if not self._is_partitioned:
            return
        if not isinstance(state, (list, tuple)) or len(state) != 1:
            raise Damaged("the value of a variable of a context partition")
        try:
            self._cell.value = self._cell.coerce(state[0])
        except EplRuntimeError as error:
            raise Damaged(error.message) from error


__all__ = ["RunningCreateVariable"]
