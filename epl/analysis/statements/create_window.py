"""create window: the type of its rows, its data windows, what it begins with."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.from_clause.streams import analyse_windows, check_windows
from epl.analysis.clauses.selection import NEW_TYPE, analyse_selection
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.partitions import for_rows, partition_filter
from epl.analysis.names.type_names import find_event_type
from epl.analysis.statements.hints import read_hints
from epl.analysis.statements.schemas import analyse_schema
from epl.analysis.statements.subquery_numbers import has_subqueries
from epl.catalog import Catalog
from epl.errors import AlreadyDeclaredError, EplUnsupportedError, EplValidationError
from epl.event_types import OBJECT_CLASS, EventType
from epl.plan.expressions import Constant, Previous, Prior, TypedExpression
from epl.plan.stores.named_windows import CreateWindowPlan, FillPlan
from epl.plan.streams import FilterPlan, NamedWindow, StreamPlan, unique_properties
from epl.syntax import CreateSchema, CreateWindow, Expression, SelectItem, Statement, Stream, TypeFilter, Wildcard
from epl.value_types import Scalar

NO_WINDOW = "Named windows require one or more child views that are data window views"


def analyse_create_window(statement: Statement, catalog: Catalog, name: str) -> CreateWindowPlan:
    """Return the plan; the event type of its rows has the window's name."""
    body = statement.body
    assert isinstance(body, CreateWindow)
    _check_name(body, catalog)
    event_type, columns = _row_type(body, statement, catalog)
    windows, last = analyse_windows(body.views, event_type, catalog, statement.declarations)
    hints = read_hints(statement)
    windows = tuple(window.with_hints(hints) for window in windows)
    check_windows(windows, Stream(TypeFilter(body.name), views=body.views, retain=body.retain, span=body.span))
    if not any(window.is_data_window and not window.groups for window in windows):
        raise EplValidationError(NO_WINDOW, span=body.span)
    if last is not event_type:
        raise EplUnsupportedError("Named windows with views that compute derived values are not supported", span=body.span)
    stream = StreamPlan(_rows_filter(body, event_type, catalog), event_type, windows, body.retain)
    shares = "enable_window_subquery_indexshare" in hints
    window = NamedWindow(
        body.name, event_type, shares, context=catalog.statement_context, source=_source(body, catalog), unique=unique_properties(stream))
    fill = _fill(body, columns, statement, catalog)
    return CreateWindowPlan(output_type=event_type, window=window, stream=stream, fill=fill)


def _rows_filter(body: CreateWindow, event_type: EventType, catalog: Catalog) -> FilterPlan:
    """Return the filter of what is inserted: of a partition's window the rows with the keys that the type has by which they are
    declared."""
    context = catalog.statement_context
    if context is None:
        return FilterPlan(event_type)
    levels = for_rows(context.levels, _source(body, catalog), event_type)
    return FilterPlan(event_type, partitioned=partition_filter(event_type, (), levels))


def _check_name(body: CreateWindow, catalog: Catalog) -> None:
    if body.name in catalog.named_windows:
        raise AlreadyDeclaredError(f"Named window named '{body.name}' has already been declared", "named_window", body.name, span=body.span)
    if body.name in catalog.event_types:
        raise EplValidationError(f"Error starting statement: An event type or schema by name '{body.name}' already exists", span=body.span)


def _source(body: CreateWindow, catalog: Catalog) -> EventType | None:
    name = body.from_type
    return None if name is None else catalog.event_types.get(name) or find_event_type(name, catalog.event_types)


def _row_type(body: CreateWindow, statement: Statement, catalog: Catalog) -> tuple[EventType, tuple[TypedExpression, ...]]:
    """Return the type of the window's rows; the columns that are selected of another type, none where they are that type's own."""
    if body.from_type is None:
        return analyse_schema(CreateSchema(body.name, columns=body.columns, span=body.span), statement, catalog), ()
    source = _source(body, catalog)
    if source is None:
        raise EplValidationError(
            f"Failed to resolve event type, named window or table by name '{body.from_type}'", span=body.span)
    if all(_is_whole(item) for item in body.items):
        if source.any_type:
            raise EplUnsupportedError(
                f"Named windows of whole events of '{source.name}', a variant stream of any type, are not supported", span=body.span,
                hint="select the columns: create window … as select a, b from …")
        kind = "map" if source.kind == "variant" else source.kind
        return EventType(
            body.name, kind, source.properties, (), source.start_timestamp, source.end_timestamp, open=source.open,
            property_resolution=source.property_resolution, underlying=OBJECT_CLASS if source.kind == "variant" else None), ()
    scope = Scope(
        catalog, (ScopeStream(None, source),), declarations=statement.declarations, allow_previous=False,
        aggregation_refusal="Aggregation functions may not be used within create-window")
    selection = analyse_selection(body.items, scope, body.name, NEW_TYPE).accepted()
    properties = dict(selection.output_type.properties)
    for name, column in zip(list(properties), selection.columns):
        if isinstance(column, Constant) and isinstance(column.type, Scalar):  # a row may be without it
            properties[name] = attrs.evolve(properties[name], type=column.type.boxed)
    return EventType(body.name, "map", properties), selection.columns


def _is_whole(item: SelectItem) -> bool:
    return isinstance(item.expression, Wildcard) and item.alias is None


def _fill(
    body: CreateWindow, columns: tuple[TypedExpression, ...], statement: Statement, catalog: Catalog
) -> FillPlan | None:
    """``insert [where …]``: the rows of another window that this one begins with."""
    if not body.insert:
        return None
    source = catalog.named_windows.get(body.from_type or "")
    if source is None:
        raise EplValidationError(
            f"A named window by name '{body.from_type}' could not be located, the insert-keyword requires an existing named window",
            span=body.span)
    where = None if body.insert_where is None else _first_rows(body.insert_where, source.event_type, statement, catalog)
    return FillPlan(source=source, columns=columns, where=where)


def _first_rows(where: Expression, event_type: EventType, statement: Statement, catalog: Catalog) -> TypedExpression:
    """Bind the condition of the rows that a window begins with."""
    if has_subqueries(where):
        raise EplValidationError("Create window where-clause may not have a subselect", span=where.span)
    scope = Scope(
        catalog, (ScopeStream(None, event_type, has_window=True),), clause="create-window filter", declarations=statement.declarations,
        aggregation_refusal="Create window where-clause may not have an aggregation function")
    condition = bind_in_clause(where, scope)
    if any(isinstance(node, (Previous, Prior)) for node in condition.walk()):
        raise EplValidationError(
            "Create window where-clause may not have a function that requires view resources (prior, prev)", span=where.span)
    return condition


__all__ = ["analyse_create_window"]
