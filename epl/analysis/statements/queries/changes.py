"""insert, update and delete as queries."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from epl.analysis.clauses.assignments import set_scope
from epl.analysis.clauses.inserts import insert_columns, plan_insert
from epl.analysis.clauses.property_assignments import analyse_property_assignment
from epl.analysis.clauses.selection import InsertTarget, analyse_selection
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.statements.queries.parts import bind_where, plan_rows, refuse_wildcard, store_indexes, store_named
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, NewRowPlan, RowsPlan, UpdateQueryPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.syntax import (
    Expression,
    FafDelete,
    FafUpdate,
    InsertInto,
    InsertValues,
    Select,
    SelectItem,
    Statement,
)
from epl.unparse import expression_text


def analyse_insert_query(statement: Statement, body: InsertValues | Select, catalog: Catalog) -> InsertQueryPlan:
    """Return the plan of ``insert into W values …`` or ``insert into W select …``."""
    clause = body.insert_into
    assert clause is not None
    if isinstance(body, Select):
        _check_select(body)
    if clause.target not in catalog.named_windows and clause.target not in catalog.tables:
        raise EplValidationError(f"Failed to find named window or table '{clause.target}'", span=clause.span)
    if clause.precedence is not None:
        raise EplValidationError("Fire-and-forget insert-queries do not allow event-precedence", span=clause.span)
    store = store_named(clause.target, catalog, clause.span)
    if isinstance(body, Select):
        rows: Iterable[NewRowPlan] = (_new_row(clause, body.items, statement, catalog),)
    else:
        rows = _rows_of_values(body, clause, store, statement, catalog)
    return InsertQueryPlan(output_type=store.event_type, store=store, new_rows=tuple(rows))


def _check_select(select: Select) -> None:
    """Check that there are only insert into and select; group by and distinct have no effect on one row."""
    rest = (
        select.from_, select.where, select.having, select.output, select.order_by, select.limit, select.match_recognize, select.delivery)
    if any(part for part in rest):
        raise EplValidationError(
            "Insert-into fire-and-forget query can only consist of an insert-into clause and a select-clause", span=select.span)
    refuse_wildcard(select)


MOST_ROWS = 1000
"""How many rows ``insert into W values`` may have, as in Esper."""


def _rows_of_values(
    body: InsertValues, clause: InsertInto, store: NamedWindow | Table, statement: Statement, catalog: Catalog
) -> Iterator[NewRowPlan]:
    """Yield the rows; without columns, the values are those of the first properties."""
    names = store.event_type.names
    if len(body.rows) > MOST_ROWS:
        raise EplValidationError(
            f"Insert-into number-of-rows exceeds the maximum of {MOST_ROWS} rows as the query provides {len(body.rows)} rows",
            span=clause.span)
    for number, values in enumerate(body.rows, 1):
        columns = clause.columns or names[: len(values)]
        items = tuple(SelectItem(value, span=value.span) for value in values)
        try:
            if not clause.columns and len(values) > len(names):
                raise _too_many(values[len(names)], store)
            if len(columns) != len(values):
                raise EplValidationError(
                    "Number of supplied values in the select or values clause does not match insert-into clause", span=clause.span)
            yield _new_row(attrs.evolve(clause, columns=columns), items, statement, catalog)
        except EplValidationError as error:
            if len(body.rows) > 1:
                error.message = f"Failed to validate multi-row insert at row {number} of {len(body.rows)}: {error.message}"
            raise


def _too_many(value: Expression, store: NamedWindow | Table) -> EplValidationError:
    """Return the refusal of a value beside those of all properties."""
    text = expression_text(value)
    if isinstance(store, Table):
        return EplValidationError(
            f"Column '{text}' could not be assigned to any of the properties of the underlying type (missing column names, event property, "
            "setter method or constructor?)", span=value.span)
    return EplValidationError(
        f"Event type named '{store.name}' has already been declared with differing column name or type information: Type by name "
        f"'{store.name}' in property '{text}' property name not found in target", span=value.span)


def _new_row(clause: InsertInto, items: tuple[SelectItem, ...], statement: Statement, catalog: Catalog) -> NewRowPlan:
    scope = Scope(
        catalog, (), declarations=statement.declarations, allow_previous=False,
        aggregation_refusal="Aggregation functions may not be used in an insert-into fire-and-forget query")
    selection = analyse_selection(items, scope, "query_out", InsertTarget.of(clause, catalog)).accepted()
    columns = insert_columns(Select(items, insert_into=clause, span=clause.span), selection.output_type, False)
    insert = plan_insert(
        attrs.evolve(clause, stream="istream"), selection.output_type, columns, catalog, own_event=False, expressions=selection.columns)
    return NewRowPlan(row_type=selection.output_type, columns=selection.columns, insert=insert)


def analyse_update_query(statement: Statement, body: FafUpdate, catalog: Catalog) -> UpdateQueryPlan:
    """Return the plan; assignments also see the row as it was, as ``initial``."""
    store = store_named(body.target, catalog, body.span)
    row = ScopeStream(body.alias, store.event_type, has_window=True)
    before = ScopeStream("initial", store.event_type, outer=True)
    scope = attrs.evolve(set_scope(catalog, row, statement.declarations), streams=(row, before), prefers_first=True)
    names = {name for name in (store.name, body.alias) if name is not None}
    assignments = tuple(analyse_property_assignment(each, row.event_type, scope, names) for each in body.assignments)
    rows = _rows(body.where, row, store, statement, catalog)
    return UpdateQueryPlan(output_type=store.event_type, store=store, rows=rows, assignments=assignments)


def analyse_delete_query(statement: Statement, body: FafDelete, catalog: Catalog) -> DeleteQueryPlan:
    """Return the plan."""
    store = store_named(body.target, catalog, body.span)
    rows = _rows(body.where, ScopeStream(body.alias, store.event_type, has_window=True), store, statement, catalog)
    return DeleteQueryPlan(output_type=store.event_type, store=store, rows=rows)


def _rows(
    where: Expression | None, row: ScopeStream, store: NamedWindow | Table, statement: Statement, catalog: Catalog
) -> RowsPlan:
    condition = None if where is None else bind_where(where, (row,), statement, catalog)
    return plan_rows(condition, store_indexes(store, statement, catalog))


__all__ = ["analyse_delete_query", "analyse_insert_query", "analyse_update_query"]
