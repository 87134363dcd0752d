"""``into table``: which aggregation of a select clause feeds which column of the table."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.context_values import check_store
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.table_access import check_count, check_types
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.expression_text import expression_text as typed_text
from epl.plan.expressions import Aggregated, Constant, TimeSpan, TypedExpression
from epl.plan.stores.tables import IntoColumn, IntoTable, Table, TableColumn, TableKeys, TableValue
from epl.plan.walk import plan_expressions
from epl.syntax import Call, Chain, Expression, GroupElement, Name, Select
from epl.unparse import expression_text
from epl.value_types import ArrayType, Scalar, ValueType

FAMILIES = {
    **dict.fromkeys(("min", "max", "fmin", "fmax", "minever", "maxever", "fminever", "fmaxever"), "extreme"),
    **dict.fromkeys(("firstever", "lastever"), "ever"),
    **dict.fromkeys(("countminsketch", "countminsketchadd"), "sketch"),
    **dict.fromkeys(("sorted", "minby", "maxby", "minbyever", "maxbyever"), "sorted"),
}
"""Aggregations of which Esper says more than that they are different."""

MILLISECONDS = {"week": 604_800_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000, "millisecond": 1}


def target_table(select: Select, catalog: Catalog) -> Table | None:
    """Return the table that the statement writes; None without ``into table``."""
    if select.into_table is None:
        return None
    table = catalog.tables.get(select.into_table)
    if table is None:
        raise EplValidationError(f"Invalid into-table clause: Failed to find table by name '{select.into_table}'", span=select.span)
    check_store(table, catalog, select.span)
    return table


def _single_name(expression: Expression) -> str | None:
    """Return the name that the expression is: that of an alias of an expression names its column, too."""
    if isinstance(expression, Chain) and expression.root is None and len(expression.links) == 1 and isinstance(expression.links[0], Name):
        return expression.links[0].name
    return None


def plan_into_table(
    table: Table, select: Select, columns: Mapping[str, TypedExpression], group_by: Sequence[TypedExpression],
    collector: Collector,
) -> IntoTable:
    """Return what of the select clause goes where. ``columns``: by name; ``collector``: has the aggregations."""
    if not collector.plans:
        raise StatementRefusal("Into-table requires at least one aggregation function", span=select.span)
    try:
        check_count(table, len(group_by), "group-by")
        check_types(table, tuple(group_by), ",".join(dict.fromkeys(t for each in select.group_by for t in _element_texts(each))),
            "group-by")
    except EplValidationError as error:
        raise StatementRefusal(error.message, span=select.span) from error
    named = {item.alias or _single_name(item.expression) for item in select.items}
    into = {name: column for name, column in columns.items() if isinstance(column, Aggregated) and name in named}
    selected = {column.slot for column in into.values()}
    for slot, call in enumerate(collector.calls):
        if slot not in selected:
            raise StatementRefusal(
                f"Failed to find an expression among the select-clause expressions for expression '{_call_text(call)}'", span=call.span
            )
    return IntoTable(table, tuple(_column(table, name, column, collector.calls[column.slot], select) for name, column in into.items()))


def _call_text(call: Call) -> str:
    return expression_text(Chain(links=(call,), span=call.span))


def _element_texts(element: GroupElement) -> Iterator[str]:
    for each in element.items:
        if isinstance(each, GroupElement):
            yield from _element_texts(each)
        else:
            yield expression_text(each)


def _column(table: Table, name: str, value: Aggregated, call: Call, select: Select) -> IntoColumn:
    place = table.position(name)
    if place is None:
        raise StatementRefusal(f"Failed to find name '{name}' among the columns for table '{table.name}'", span=select.span)
    column = table.columns[place]
    if column.aggregation is None:
        raise StatementRefusal(f"The column '{name}' of table '{table.name}' is not an aggregation", span=select.span)
    reason = _difference(column, column.aggregation, value.plan, call)
    if reason is not None:
        raise StatementRefusal(
            f"Incompatible aggregation function for table '{table.name}' column '{name}', expecting '{column.text}' and received "
            f"'{_call_text(call)}': {reason}",
            span=call.span,
        )
    fed = value.plan
    if fed.function == "count" and not column.filtered:
        fed = attrs.evolve(fed, filter=None)  # Esper counts each row in a column that does not declare a filter
    return IntoColumn(place, value.slot, fed)


def _difference(column: TableColumn, declared: AggregationPlan, provided: AggregationPlan, call: Call) -> str | None:
    """Return what Esper says of an aggregation that does not fit its column; None where it fits."""
    name, own = call.name.lower(), column.text.split("(")[0].lower()
    family = FAMILIES.get(name, name)
    if family != FAMILIES.get(own, own):
        return f"The table declares '{column.text}' and provided is '{_call_text(call)}'"
    if family == "sorted" and name != own:
        return f"The required aggregation function name is '{own}' and provided is '{name}'"
    if family == "sketch":
        return _of_sketch(column, provided)
    if declared.distinct != provided.distinct:
        return f"The aggregation declares {_a(declared.distinct, 'distinct')} and provided is {_a(provided.distinct, 'distinct')}"
    if column.event_type is not None:
        return _of_events(column.event_type, provided)
    if family in ("count", "countever"):
        types = _of_types(column, provided) if provided.distinct else None
        return _of_nulls(column, provided) or (_of_filter(column, provided) if column.filtered else None) or types
    return (
        _of_extremes(declared, provided, family) or _of_filter(column, provided) or _of_nulls(column, provided)
        or _of_types(column, provided) or _of_constants(declared, provided)
    )


def _of_sketch(column: TableColumn, provided: AggregationPlan) -> str | None:
    counted, value = column.takes[0], provided.arguments[0].type
    if counted == value:
        return None
    return f"Mismatching parameter return type, expected any of [class java.lang.{counted}] but received {type_name(value.boxed)}"


def _of_events(event_type: EventType, provided: AggregationPlan) -> str | None:
    value = provided.type.element if isinstance(provided.type, ArrayType) else provided.type
    if isinstance(value, EventOf) and value.event_type.is_a(event_type):
        return None
    return f"The required event type is '{event_type.name}' and provided is '{value}'"


def _of_extremes(declared: AggregationPlan, provided: AggregationPlan, family: str) -> str | None:
    if family in ("extreme", "ever") and declared.function != provided.function:
        return f"The aggregation declares {declared.function} and provided is {provided.function}"
    if family == "extreme" and declared.ever != provided.ever:
        words = {False: "use with data windows", True: "unbound"}
        return f"The table declares {words[declared.ever]} and provided is {words[provided.ever]}"
    return None


def _of_filter(column: TableColumn, provided: AggregationPlan) -> str | None:
    filtered = provided.filter is not None
    if column.filtered == filtered:
        return None
    return f"The aggregation declares {_a(column.filtered, 'filter expression')} and provided is {_a(filtered, 'filter expression')}"


def _of_nulls(column: TableColumn, provided: AggregationPlan) -> str | None:
    if len(column.takes) == len(provided.arguments):
        return None
    return f"The aggregation declares {_none(bool(column.takes))}ignore nulls and provided is {_none(bool(provided.arguments))}ignore nulls"


def _of_types(column: TableColumn, provided: AggregationPlan) -> str | None:
    for expected, argument in zip(column.takes, provided.arguments):
        if expected.boxed != argument.type.boxed and not _holds(expected, argument):
            return f"The required parameter type is {type_name(expected.boxed)} and provided is {type_name(argument.type.boxed)}"
    return None


def _holds(expected: ValueType, argument: TypedExpression) -> bool:
    """Return whether a value of another type is one of the expected type, too."""
    if isinstance(expected, EventOf) and isinstance(argument.type, EventOf):
        return argument.type.event_type.is_a(expected.event_type)
    return isinstance(expected, Scalar) and expected.kind == "Object"


def _of_constants(declared: AggregationPlan, provided: AggregationPlan) -> str | None:
    word = "interval-time" if declared.function == "rate" else "size"
    own, other = (_milliseconds(each) if declared.function == "rate" else each.constants for each in (declared, provided))
    if own == other:
        return None
    return f"The {word} is {_show_constants(own)} and provided is {_show_constants(other)}"


def _show_constants(constants: tuple[Any, ...]) -> str:
    return ", ".join(typed_text(each) if isinstance(each, TypedExpression) else str(each) for each in constants)


def _milliseconds(rate: AggregationPlan) -> tuple[Any, ...]:
    """Return the interval of ``rate(10)`` or ``rate(10 sec)``; -1 where it is by timestamps; what is written where it is not constant."""
    interval = rate.constants[0] if rate.function == "rate" else -1
    if isinstance(interval, Constant):
        return (round(interval.value * 1000),)
    if isinstance(interval, TimeSpan) and all(isinstance(value, Constant) and unit in MILLISECONDS for unit, value in interval.parts):
        return (round(sum(value.value * MILLISECONDS[unit] for unit, value in interval.parts if isinstance(value, Constant))),)
    return (interval,)


def _a(there: bool, word: str) -> str:
    return f"a {word}" if there else f"no {word}"


def _none(there: bool) -> str:
    return "" if there else "no "


def refuse_reading(table: Table, plans: object, select: Select) -> None:
    """Refuse a statement that reads the table it writes."""
    for expression in plan_expressions(plans):
        for node in expression.walk():
            if isinstance(node, (TableValue, TableKeys)) and node.table is table:
                raise StatementRefusal(
                    f"Invalid use of table '{table.name}', aggregate-into requires write-only, the expression '{typed_text(node)}' is not "
                    "allowed",
                    span=select.span,
                )


__all__ = ["plan_into_table", "refuse_reading", "target_table"]
