"""insert, update and delete as queries. All is evaluated before anything changes: where an expression raises, the window stays as it
was."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.plan.queries import DeleteQueryPlan, InsertQueryPlan, NewRowPlan, UpdateQueryPlan
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_row
from runtime.operators.changes import compile_changes
from runtime.operators.insert_into import converter
from runtime.statements.query_rows import Stores, StreamRows, store_in
from runtime.stores.named_window import NamedWindowStore
from windows.event import NO_EVENTS, Event, event_class


@attrs.frozen(eq=False)
class Change:
    """What a query does to a named window. ``result``: its rows."""

    store: NamedWindowStore
    new: Sequence[Event]
    old: Sequence[Event]
    result: Sequence[Event]

    def make(self, core: EventLoop) -> Sequence[Event]:
        """Do it: consumers and listeners have had it when this returns; ``begun`` of the event loop says whether there were effects."""
        if not (self.new or self.old):
            return self.result
        self.store.check(self.new, self.old)
        outer, core.busy = core.busy, True
        core.begun += 1
        try:
            self.store.change(self.new, self.old)
            core.flush()
            core.work()
        finally:
            core.busy = outer
        return self.result


class InsertQuery:
    """The result is what has been inserted."""

    def __init__(self, plan: InsertQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores

    def change(self, environment: Environment) -> Change:
        rows = [_new_row(each, environment) for each in self._plan.new_rows]
        return Change(store_in(self._stores, self._plan.window), rows, NO_EVENTS, rows)


def _new_row(plan: NewRowPlan, environment: Environment) -> Event:
    values = compile_row(plan.columns, environment, 0)(True, None)
    return converter(plan.insert)(event_class(plan.row_type)(*values))


class UpdateQuery:
    """Changed copies take the rows' places; they are the result."""

    def __init__(self, plan: UpdateQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores
        self._rows = StreamRows(plan.window, (), plan.rows, stores, prepared=prepared)

    def change(self, environment: Environment) -> Change:
        plan = self._plan
        rows = self._rows.rows(environment)
        changed_of = compile_changes(plan.assignments, plan.window.event_type, environment, 2, in_turn=True)
        changed = [changed_of(row, row) for row in rows]
        return Change(store_in(self._stores, plan.window), changed, rows, changed)


class DeleteQuery:
    """The result is what has been deleted."""

    def __init__(self, plan: DeleteQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores
        self._rows = StreamRows(plan.window, (), plan.rows, stores, prepared=prepared)

    def change(self, environment: Environment) -> Change:
        rows = self._rows.rows(environment)
        return Change(store_in(self._stores, self._plan.window), NO_EVENTS, rows, rows)


__all__ = ["Change", "DeleteQuery", "InsertQuery", "UpdateQuery"]
