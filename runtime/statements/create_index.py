"""create index: the statement keeps an index over the rows of a named window or table."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.tables import Table
from runtime.operators.operator_context import OperatorContext
from runtime.operators.store_entry import store_of_window
from runtime.stores.named_window import NamedWindowStore
from runtime.stores.table import TableStore, table_store
from windows.event import NO_EVENTS, Event
from windows.protocol import State
from windows.shape import NOTHING, takes


class RunningCreateIndex:
    """Look-ups share the index; it has no state of its own, since it is built again from the rows."""

    def __init__(self, plan: CreateIndexPlan, context: OperatorContext) -> None:
        self._index = plan.index
        declared = plan.index.store
        store: NamedWindowStore | TableStore = (
            table_store(declared, context.environment) if isinstance(declared, Table) else store_of_window(context, declared))
        store.create_index(plan.index, context.environment)
        self._rows = store.rows

    def start(self) -> None:
        """Do nothing: the rows are indexed by now."""

    def close(self) -> None:
        self._rows.drop(self._index)

    def iterate(self) -> Iterable[Event]:
        return NO_EVENTS

    def state(self) -> State:
        return None

    @takes(NOTHING)
    def restore(self, state: State) -> None:
        """Do nothing: the window or table has been restored before."""


__all__ = ["RunningCreateIndex"]
