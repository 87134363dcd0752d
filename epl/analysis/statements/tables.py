"""create table: columns, keys, and the aggregations that writers feed."""
from __future__ import annotations

from typing import Any

import attrs

from epl.aggregations.functions import AggregationCall, AggregationSpec
from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import bind, introduce
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.expressions.table_access import EVENT_AGGREGATIONS
from epl.analysis.names.type_names import find_event_type, resolve_type_name
from epl.analysis.statements.schemas import column_name, column_type
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.foreign_words import TYPES, word_hint
from epl.functions.sketches import sketch_settings
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Constant, StreamProperty, TypedExpression
from epl.plan.statements import CreateTablePlan
from epl.plan.stores.tables import Table, TableColumn
from epl.syntax import (
    ArrayLiteral,
    Call,
    Chain,
    Column,
    CreateTable,
    EnumConstant,
    Expression,
    JsonObject,
    Link,
    Literal,
    Name,
    NamedArgument,
    TypeName,
    Wildcard,
)
from epl.unparse import expression_text
from epl.value_types import BOXED_NAMES, OBJECT, ValueType, find_type, is_numeric

NO_WINDOW = ("first", "last", "minby", "maxby")
"""Aggregations of events that a table keeps as ``window`` or ``sorted``."""

OF_EXPRESSIONS = ("coalesce", "prev", "prior")
"""Functions whose names in parameters stand for types, though they are no aggregations."""

IN_A_TABLE = {"count": "count in a table"}
"""Aggregations that a table keeps in another way: there count and countever count each row, null or not, until it leaves."""


def analyse_create_table(body: CreateTable, catalog: Catalog) -> CreateTablePlan:
    """Return the plan of the table; raise EplValidationError in Esper's words."""
    if body.name in catalog.event_types:
        raise EplValidationError(f"An event type by name '{body.name}' has already been declared", span=body.span)
    if body.name in catalog.variables:
        raise EplValidationError(f"A variable by name '{body.name}' has already been declared", span=body.span)
    aggregations = _check_columns(body, catalog)
    columns = [
        attrs.evolve(aggregations.get(name) or _plain(name, written, body, catalog), place=place)
        for place, (name, written) in enumerate((column_name(each), each) for each in body.columns)]
    properties = {c.name: Property(c.name, c.type, computed=c if c.aggregation is not None else None) for c in columns}
    event_type = EventType(body.name, "table", properties, is_bus=False)
    plain_type = EventType(body.name, "objectarray", {n: p for n, p in properties.items() if p.computed is None}, is_bus=False)
    return CreateTablePlan(event_type, Table(body.name, tuple(columns), event_type, plain_type, context=catalog.statement_context))


def _check_columns(body: CreateTable, catalog: Catalog) -> dict[str, TableColumn]:
    """Return the columns that are aggregations. Refuse what is wrong with any column, but for types that are not known."""
    aggregations: dict[str, TableColumn] = {}
    names: set[str] = set()
    for written in body.columns:
        name = column_name(written)
        if name in names:
            raise EplValidationError(f"Column '{name}' is listed more than once", span=written.span)
        names.add(name)
        if written.expression is None:
            _check_plain(name, written, catalog)
        else:
            aggregations[name] = _aggregation(name, written, catalog)
    return aggregations


def _check_plain(name: str, written: Column, catalog: Catalog) -> None:
    type_name = written.type_name
    assert type_name is not None
    _event_type(name, written, catalog)
    if not written.primary_key or type_name.primitive or type_name.dimensions > 1:
        return
    resolved = resolve_type_name(attrs.evolve(type_name, dimensions=0), catalog.event_types, enums=catalog.enums)
    if resolved is None or isinstance(resolved, EventOf):
        shown = type_name.name + "[][]" * type_name.dimensions
        raise EplValidationError(
            f"Column '{name}' may not be tagged as primary key, received unexpected event type '{shown}'", span=written.span)


def _plain(name: str, written: Column, body: CreateTable, catalog: Catalog) -> TableColumn:
    assert written.type_name is not None
    try:
        declared = column_type(name, written.type_name, catalog)
    except EplValidationError as error:
        raise EplValidationError(f"Unexpected exception creating table '{body.name}': {error.message}", span=error.span) from error
    return TableColumn(name=name, type=declared, is_key=written.primary_key)


def _aggregation(name: str, written: Column, catalog: Catalog) -> TableColumn:
    expression = written.expression
    assert isinstance(expression, Chain)
    if written.primary_key:
        raise EplValidationError(
            f"Column '{name}' may not be tagged as primary key, an expression cannot become a primary key column", span=written.span
        )
    call = expression.links[0]
    if not isinstance(call, Call) or len(expression.links) > 1 or call.name.lower() not in catalog.aggregations:
        raise _not_an_aggregation(expression, catalog)
    event_type = _event_type(name, written, catalog)
    try:
        if any(isinstance(argument, NamedArgument) for argument in call.arguments):
            raise EplValidationError("The 'group_by' and 'filter' parameter is not allowed in create-table statements", span=call.span)
        takes_events = call.name.lower() in EVENT_AGGREGATIONS
        plan, takes = _of_events(call, event_type, catalog) if takes_events else _of_values(call, event_type, catalog)
    except StatementRefusal:
        raise
    except EplValidationError as error:
        raise introduce(error, expression, "table-column") from error
    kept = attrs.evolve(plan, filter=None, function=IN_A_TABLE.get(plan.function, plan.function))
    return TableColumn(
        name=name, type=plan.type, aggregation=kept, takes=takes, filtered=plan.filter is not None,
        event_type=event_type if takes_events else None, text=expression_text(expression),
    )


def _not_an_aggregation(written: Chain, catalog: Catalog) -> EplValidationError:
    """Return what Esper says first: of a name that is not a type, where functions of its own take expressions; then what is wrong with the
    expression, which reads no event."""
    call = written.links[0]
    if isinstance(call, Call) and call.name.lower() in OF_EXPRESSIONS and len(call.arguments) > 1:
        for place, argument in enumerate(call.arguments):
            if isinstance(argument, Chain):
                _argument(argument, place, None, catalog)
    collector = Collector(has_remove_stream=True)
    try:
        bind(written, Scope(catalog, (), clause="table-column", allow_previous=False, aggregations=collector))
    except EplValidationError as error:
        refusal = introduce(error, written, "table-column")
        refusal.hint = _hint(call) or refusal.hint
        return refusal
    return EplValidationError(f"Expression '{expression_text(written)}' is not an aggregation", span=written.span, hint=_hint(call))


def _hint(call: Link) -> str | None:
    name = getattr(call, "name", "").lower()
    return word_hint(TYPES, name) if find_type(name) is None else f"a type has no length: write {name}"


def _check_annotations(name: str, written: Column) -> None:
    """Refuse an annotation other than ``@type``, and a second one."""
    for annotation in written.annotations:
        if annotation.name.lower() != "type":
            raise EplValidationError(f"For column '{name}' unrecognized annotation '{annotation.name}'", span=annotation.span)
    if len(written.annotations) > 1:
        raise EplValidationError(f"For column '{name}' multiple annotations provided named 'type'", span=written.span)


def _event_type(name: str, written: Column, catalog: Catalog) -> EventType | None:
    """Return the event type of ``@type``."""
    _check_annotations(name, written)
    annotation = written.annotations[0] if written.annotations else None
    if annotation is None:
        return None
    value = annotation.get()
    if value is None:
        raise EplValidationError(f"For column '{name}' no value provided for annotation 'type', expected a value", span=annotation.span)
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
        for place, argument in enumerate(call.arguments):
            if isinstance(argument, Chain):
                _argument(argument, place, None, catalog)
        raise EplValidationError(f"The '{name}' aggregation function requires that the event type is provided", span=call.span)
    scope = Scope(catalog, (ScopeStream(None, event_type, has_window=True),), clause="table-column", allow_previous=False)
    collector = Collector(has_remove_stream=True)
    collector.bind_call(call, attrs.evolve(scope, aggregations=collector))
    return collector.plans[0], ()


def _of_values(call: Call, event_type: EventType | None, catalog: Catalog) -> tuple[AggregationPlan, tuple[ValueType, ...]]:
    spec: AggregationSpec = catalog.aggregations[call.name.lower()]
    spec.refuse_elsewhere("in create-table statements")
    arguments = tuple(
        None if isinstance(each, Wildcard)
        else _settings(each) if isinstance(each, JsonObject) and spec.name == "countminsketch"
        else _argument(each, place, event_type, catalog)
        for place, each in enumerate(call.arguments)
    )
    units = catalog.settings.units_per_second
    streams = () if event_type is None else (event_type,)
    typed = AggregationCall(call.name.lower(), arguments, streams, call.distinct, has_remove_stream=True, units_per_second=units)
    if call.name.lower() in ("min", "max") and len(arguments) > 1:
        if all(each is not None and is_numeric(each.type) for each in arguments):  # the least or greatest of them, as of a row
            raise StatementRefusal(f"Expression '{expression_text(Chain((call,)))}' is not an aggregation", span=call.span)
        raise EplValidationError("Implicit conversion from datatype 'Boolean' to numeric is not allowed", span=call.span)
    plan = spec.bind(typed)
    if plan.function == "rate by timestamp":
        raise EplValidationError(
            "The rate aggregation function in the timestamp-property notation requires data windows", span=call.span,
            hint="a table keeps rate(seconds)",
        )
    return plan, tuple(each.type for each in plan.arguments)


def _argument(written: Expression, place: int, event_type: EventType | None, catalog: Catalog) -> TypedExpression:
    """Return a type stands for a value of it; anything else is a constant parameter, or an expression over an event of ``@type``."""
    names = [link.name for link in written.links if isinstance(link, Name)] if isinstance(written, Chain) and written.root is None else []
    if isinstance(written, Chain) and names and len(names) == len(written.links):
        name = ".".join(names)
        resolved = resolve_type_name(TypeName(name), catalog.event_types, enums=catalog.enums)
        if resolved is not None and not isinstance(resolved, EventOf):
            return StreamProperty(type=resolved, stream=0, name=f"value{place}")
        if event_type is None:
            raise StatementRefusal(
                f"Failed to resolve type '{name}': Could not load class by name '{name}', please check imports", span=written.span
            )
    streams = () if event_type is None else (ScopeStream(None, event_type, has_window=True),)
    return bind(written, Scope(catalog, streams, clause="table-column", allow_previous=False))


def _settings(written: JsonObject) -> TypedExpression:
    return Constant(type=OBJECT, value=sketch_settings({name: _constant(value) for name, value in written.fields}))


def _constant(written: Expression) -> tuple[Any, str]:
    """Return a value of a JSON object, and the name of its Java class."""
    if isinstance(written, Literal):
        return written.value, BOXED_NAMES.get(written.kind, "String" if written.kind == "string" else written.kind)
    return written, "java.util.ArrayList" if isinstance(written, ArrayLiteral) else "java.util.LinkedHashMap"


__all__ = ["analyse_create_table"]
