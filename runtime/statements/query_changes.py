"""insert, update and delete as queries. All is evaluated before anything changes: where an expression raises, the window stays as it
was."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.queries import DeleteQueryPlan, InsertQueryPlan, NewRowPlan, UpdateQueryPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_row
from runtime.operators.changes import compile_changes
from runtime.operators.insert_into import converter
from runtime.statements.query_rows import Stores, StreamRows, store_in
from windows.event import NO_EVENTS, Event, event_class


class InsertQuery:
    """The result is what has been inserted."""

    def __init__(self, plan: InsertQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores

    def run(self, environment: Environment) -> Sequence[Event]:
        rows = [_new_row(each, environment) for each in self._plan.new_rows]
        store_in(self._stores, self._plan.window).change(rows, NO_EVENTS)
        return rows


def _new_row(plan: NewRowPlan, environment: Environment) -> Event:
    values = compile_row(plan.columns, environment, 0)(True, None)
    return converter(plan.insert)(event_class(plan.row_type)(*values))


class UpdateQuery:
    """Changed copies take the rows' places; they are the result."""

    def __init__(self, plan: UpdateQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores
        self._rows = StreamRows(plan.window, (), plan.rows, stores, prepared=prepared)

    def run(self, environment: Environment) -> Sequence[Event]:
        plan = self._plan
        rows = self._rows.rows(environment)
        changed_of = compile_changes(plan.assignments, plan.window.event_type, environment, 2, in_turn=True)
        changed = [changed_of(row, row) for row in rows]
        if rows:
            store_in(self._stores, plan.window).change(changed, rows)
        return changed


class DeleteQuery:
    """The result is what has been deleted."""

    def __init__(self, plan: DeleteQueryPlan, stores: Stores, *, prepared: bool) -> None:
        self._plan, self._stores = plan, stores
        self._rows = StreamRows(plan.window, (), plan.rows, stores, prepared=prepared)

    def run(self, environment: Environment) -> Sequence[Event]:
        rows = self._rows.rows(environment)
        if rows:
            store_in(self._stores, self._plan.window).change(NO_EVENTS, rows)
        return rows


__all__ = ["DeleteQuery", "InsertQuery", "UpdateQuery"]
