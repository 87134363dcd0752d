"""create table: columns, keys, and the aggregations that writers feed."""
from __future__ import annotations

import attrs

from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import bind, introduced
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.expressions.table_access import EVENT_AGGREGATIONS
from epl.analysis.expressions.type_names import find_event_type, resolve_type_name
from epl.analysis.statements.schemas import column_name, column_type
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.functions.aggregations import AggregationCall
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.result_set import AggregationPlan
from epl.plan.statements import CreateTablePlan
from epl.plan.tables import Table, TableColumn
from epl.syntax import Call, Chain, Column, CreateTable, EnumConstant, Expression, Name, NamedArgument, TypeName, Wildcard
from epl.unparse import expression_text
from epl.value_types import ValueType

NO_WINDOW = ("first", "last", "minby", "maxby")
"""Aggregations of events that a table keeps as ``window`` or ``sorted``."""


def analyse_create_table(body: CreateTable, catalog: Catalog) -> CreateTablePlan:
    """Return the plan of the table; raise EplValidationError in Esper's words."""
    if body.name in catalog.event_types:
        raise EplValidationError(f"An event type by name '{body.name}' has already been declared", span=body.span)
    if body.name in catalog.variables:
        raise EplValidationError(f"A variable by name '{body.name}' has already been declared", span=body.span)
    columns: list[TableColumn] = []
    for written in body.columns:
        name = column_name(written)
        if any(column.name == name for column in columns):
            raise EplValidationError(f"Column '{name}' is listed more than once", span=written.span)
        columns.append(_plain(name, written, body, catalog) if written.expression is None else _aggregation(name, written, catalog))
    properties = {column.name: Property(column.name, column.type) for column in columns}
    row_type = EventType(f"table_{body.name}", "row", properties, is_bus=False)
    return CreateTablePlan(row_type, Table(body.name, tuple(columns), row_type))


def _plain(name: str, written: Column, body: CreateTable, catalog: Catalog) -> TableColumn:
    assert written.type_name is not None
    try:
        declared = column_type(name, written.type_name, catalog)
    except EplValidationError as error:
        raise EplValidationError(f"Unexpected exception creating table '{body.name}': {error.message}", span=error.span) from error
    if written.primary_key and isinstance(declared, EventOf):
        raise EplValidationError(
            f"Column '{name}' may not be tagged as primary key, received unexpected event type '{declared}'", span=written.span
        )
    return TableColumn(name=name, type=declared, is_key=written.primary_key)


def _aggregation(name: str, written: Column, catalog: Catalog) -> TableColumn:
    expression = written.expression
    assert expression is not None
    if written.primary_key:
        raise EplValidationError(
            f"Column '{name}' may not be tagged as primary key, an expression cannot become a primary key column", span=written.span
        )
    call = expression.links[0] if isinstance(expression, Chain) and len(expression.links) == 1 else None
    if not isinstance(call, Call) or call.name.lower() not in catalog.aggregations or call.name.lower().startswith("grouping"):
        raise EplValidationError(f"Expression '{expression_text(expression)}' is not an aggregation", span=written.span)
    if call.name.lower().startswith("countminsketch"):
        raise EplUnsupportedError("countMinSketch is not supported", span=call.span)
    event_type = _event_type(name, written, catalog)
    try:
        if any(isinstance(argument, NamedArgument) for argument in call.arguments):
            raise EplValidationError("The 'group_by' and 'filter' parameter is not allowed in create-table statements", span=call.span)
        takes_events = call.name.lower() in EVENT_AGGREGATIONS
        plan, takes = _of_events(call, event_type, catalog) if takes_events else _of_values(call, event_type, catalog)
    except StatementRefusal:
        raise
    except EplValidationError as error:
        raise introduced(error, expression, "table-column") from error
    return TableColumn(
        name=name, type=plan.type, aggregation=attrs.evolve(plan, filter=None), takes=takes, filtered=plan.filter is not None,
        event_type=event_type if takes_events else None, text=expression_text(expression),
    )


def _event_type(name: str, written: Column, catalog: Catalog) -> EventType | None:
    """The event type of ``@type``."""
    annotation = next((each for each in written.annotations if each.name.lower() == "type"), None)
    if annotation is None:
        return None
    value = annotation.get()
    text = value.name if isinstance(value, EnumConstant) else str(value)
    event_type = find_event_type(text, catalog.event_types)
    if event_type is None:
        raise EplValidationError(f"For column '{name}' failed to find event type '{text}'", span=written.span)
    return event_type


def _of_events(call: Call, event_type: EventType | None, catalog: Catalog) -> tuple[AggregationPlan, tuple[ValueType, ...]]:
    name = call.name.lower()
    wildcard = len(call.arguments) == 1 and isinstance(call.arguments[0], Wildcard)
    if name in ("first", "last") or (name == "window" and not wildcard):
        raise EplValidationError(
            f"For tables columns, the {name} aggregation function requires the 'window(*)' declaration", span=call.span
        )
    if name in NO_WINDOW:
        raise EplValidationError("For tables columns, the aggregation function requires the 'sorted(*)' declaration", span=call.span)
    if event_type is None:
        raise EplValidationError(f"The '{name}' aggregation function requires that the event type is provided", span=call.span)
    scope = Scope(catalog, (ScopeStream(None, event_type, has_window=True),), clause="table-column", allow_previous=False)
    collector = Collector(has_remove_stream=True)
    collector.bind_call(call, attrs.evolve(scope, aggregations=collector))
    return collector.plans[0], ()


def _of_values(call: Call, event_type: EventType | None, catalog: Catalog) -> tuple[AggregationPlan, tuple[ValueType, ...]]:
    arguments = tuple(None if isinstance(each, Wildcard) else _argument(each, place, catalog) for place, each in enumerate(call.arguments))
    units = catalog.settings.units_per_second
    streams = () if event_type is None else (event_type,)
    typed = AggregationCall(call.name.lower(), arguments, streams, call.distinct, has_remove_stream=True, units_per_second=units)
    plan: AggregationPlan = catalog.aggregations[call.name.lower()].bind(typed)
    return plan, tuple(each.type for each in plan.arguments)


def _argument(written: Expression, place: int, catalog: Catalog) -> TypedExpression:
    """A type stands for a value of it; anything else is a constant parameter."""
    names = [link.name for link in written.links if isinstance(link, Name)] if isinstance(written, Chain) and written.root is None else []
    if isinstance(written, Chain) and names and len(names) == len(written.links):
        name = ".".join(names)
        resolved = resolve_type_name(TypeName(name), catalog.event_types, enums=catalog.enums)
        if resolved is None or isinstance(resolved, EventOf):
            raise StatementRefusal(
                f"Failed to resolve type '{name}': Could not load class by name '{name}', please check imports", span=written.span
            )
        return StreamProperty(type=resolved, stream=0, name=f"value{place}")
    return bind(written, Scope(catalog, (), clause="table-column", allow_previous=False))


__all__ = ["analyse_create_table"]
