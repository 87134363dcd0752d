"""insert, update and delete as queries. All is evaluated before anything changes: where an expression raises, the window or table stays
as it was."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, NewRowPlan, UpdateQueryPlan
from epl.plan.stores.tables import Table
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_row
from runtime.operators.changes import compile_changes
from runtime.operators.insert_into import converter
from runtime.statements.queries.rows import Store, Stores, StreamRows
from runtime.stores.table import TableStore
from windows.event import NO_EVENTS, Event, event_class


@attrs.frozen(eq=False)
class StoreChange:
    """Rows that come into and leave a named window or table."""

    store: Store
    new: Sequence[Event]
    old: Sequence[Event]


@attrs.frozen(eq=False)
class Change:
    """What a query does, in one or several partitions. ``result``: its rows; those of a table are not among it, as in Esper."""

    parts: Sequence[StoreChange]
    result: Sequence[Event]

    def make(self, core: EventLoop) -> Sequence[Event]:
        """Do it: consumers and listeners have had it when this returns; ``begun`` of the event loop says whether there were effects."""
        parts = [part for part in self.parts if part.new or part.old]
        if not parts:
            return self.result
        for part in parts:
            part.store.check(part.new, part.old)
        outer, core.busy = core.busy, True
        core.begun += 1
        try:
            for part in parts:
                part.store.change(part.new, part.old)
            core.flush()
            core.work()
        finally:
            core.busy = outer
        return self.result


def together(changes: Sequence[Change]) -> Change:
    """Return several changes as one."""
    return Change([part for each in changes for part in each.parts], [row for each in changes for row in each.result])


class InsertQuery:
    """The result is what has been inserted."""

    def __init__(self, plan: InsertQueryPlan, *, prepared: bool) -> None:
        self._plan = plan

    def change(self, environment: Environment, stores: Stores) -> Change:
        rows = [_new_row(each, environment) for each in self._plan.new_rows]
        return insertion(stores[self._plan.store], rows)


def insertion(store: Store, rows: Sequence[Event]) -> Change:
    """Return the change that inserts events of the window's type, of a table's plain type."""
    if isinstance(store, TableStore):
        return Change([StoreChange(store, [store.build_row(row) for row in rows], NO_EVENTS)], NO_EVENTS)
    return Change([StoreChange(store, rows, NO_EVENTS)], rows)


def _new_row(plan: NewRowPlan, environment: Environment) -> Event:
    values = compile_row(plan.columns, environment, 0)(True, None)
    return converter(plan.insert)(event_class(plan.row_type)(*values))


class UpdateQuery:
    """Changed copies take the rows' places; they are the result."""

    def __init__(self, plan: UpdateQueryPlan, *, prepared: bool) -> None:
        self._plan = plan
        self._rows = StreamRows(plan.store, (), plan.rows, prepared=prepared)

    def change(self, environment: Environment, stores: Stores) -> Change:
        plan = self._plan
        rows = self._rows.rows(environment, stores)
        changed_of = compile_changes(plan.assignments, plan.store.event_type, environment, 2, in_turn=True)
        changed = [changed_of(row, row) for row in rows]
        return Change([StoreChange(stores[plan.store], changed, rows)], NO_EVENTS if isinstance(plan.store, Table) else changed)


class DeleteQuery:
    """The result is what has been deleted."""

    def __init__(self, plan: DeleteQueryPlan, *, prepared: bool) -> None:
        self._plan = plan
        self._rows = StreamRows(plan.store, (), plan.rows, prepared=prepared)

    def change(self, environment: Environment, stores: Stores) -> Change:
        rows = self._rows.rows(environment, stores)
        store = self._plan.store
        return Change([StoreChange(stores[store], NO_EVENTS, rows)], NO_EVENTS if isinstance(store, Table) else rows)


__all__ = ["Change", "DeleteQuery", "InsertQuery", "UpdateQuery", "insertion", "together"]
