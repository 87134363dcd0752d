"""create table: the statement's rows are the table's; nothing is emitted when they change, as in Esper."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.statements import CreateTablePlan
from runtime.operators.operator_context import OperatorContext
from runtime.stores.by_partition import PartitionedTable
from runtime.stores.table import table_store
from windows.event import Event
from windows.protocol import State
from windows.shape import ANYTHING, COUNT, takes


class RunningCreateTable:
    """Has the table's state; those who read and write find the store itself by the table."""

    def __init__(self, plan: CreateTablePlan, context: OperatorContext) -> None:
        self._store, self._context = table_store(plan.table, context.environment), context
        self._all = context.statement.environment.tables[plan.table]

    def start(self) -> None:
        self._store.changed = self._context.note_changed

    def close(self) -> None:
        """Leave the rows, which go with the deployment; those of a partition go now."""
        if isinstance(self._all, PartitionedTable):
            self._all.leave(self._context.partition)

    def iterate(self) -> Iterable[Event]:
        return [row.as_event() for _, row in self._store.in_order()]

    def state(self) -> State:
        return self._store.state()

    @takes(([(ANYTHING, [ANYTHING])], COUNT))
    def restore(self, state: State) -> None:
        self._store.restore(state)


__all__ = ["RunningCreateTable"]
