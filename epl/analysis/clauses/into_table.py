"""``into table``: which aggregation of a select clause feeds which column of the table."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.table_access import check_count, check_types
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.plan.expression_text import expression_text as typed_text
from epl.plan.expressions import Aggregated, Constant, TypedExpression
from epl.plan.result_set import AggregationPlan
from epl.plan.tables import IntoColumn, IntoTable, Table, TableColumn, TableKeys, TableValue
from epl.plan.walk import expressions_of
from epl.syntax import Call, Chain, GroupElement, Select
from epl.unparse import expression_text
from epl.value_types import Scalar, ValueType

FAMILIES = {
    **dict.fromkeys(("min", "max", "fmin", "fmax", "minever", "maxever", "fminever", "fmaxever"), "extreme"),
    **dict.fromkeys(("firstever", "lastever"), "ever"),
    **dict.fromkeys(("sorted", "minby", "maxby", "minbyever", "maxbyever"), "sorted"),
}
"""Aggregations of which Esper says more than that they are different."""


def table_of(select: Select, catalog: Catalog) -> Table | None:
    """Return the table that the statement writes; None without ``into table``."""
    if select.into_table is None:
        return None
    table = catalog.tables.get(select.into_table)
    if table is None:
        raise EplValidationError(f"Invalid into-table clause: Failed to find table by name '{select.into_table}'", span=select.span)
    return table


def plan_into(
    table: Table, select: Select, columns: Mapping[str, TypedExpression], group_by: Sequence[TypedExpression],
    having: TypedExpression | None, collector: Collector,
) -> IntoTable:
    """Return what of the select clause goes where. ``columns``: by name; ``collector``: has the aggregations."""
    if not collector.plans:
        raise StatementRefusal("Into-table requires at least one aggregation function", span=select.span)
    try:
        check_count(table, len(group_by), "group-by")
        check_types(table, tuple(group_by), ",".join(map(_text_of, select.group_by)), "group-by")
    except EplValidationError as error:
        raise StatementRefusal(error.message, span=select.span) from error
    if any(element.kind != "expression" for element in select.group_by):
        raise EplUnsupportedError("rollup, cube and grouping sets into a table are not supported", span=select.span)
    into: list[IntoColumn] = []
    aliases = {item.alias for item in select.items}
    for name, column in columns.items():
        if isinstance(column, Aggregated) and name in aliases:
            into.append(_column(table, name, column, collector.calls[column.slot], select))
    fed = {each.slot for each in into} - {n.slot for n in (having.walk() if having is not None else ()) if isinstance(n, Aggregated)}
    for slot, call in enumerate(collector.calls):
        if slot not in fed:
            raise StatementRefusal(
                f"Failed to find an expression among the select-clause expressions for expression '{_call_text(call)}'", span=call.span
            )
    return IntoTable(table, tuple(into))


def _call_text(call: Call) -> str:
    return expression_text(Chain(links=(call,), span=call.span))


def _text_of(element: GroupElement) -> str:
    return ",".join(_text_of(each) if isinstance(each, GroupElement) else expression_text(each) for each in element.items)


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
    if value.plan.function == "nth":
        raise EplUnsupportedError("nth in a table is not supported", span=call.span)
    return IntoColumn(place, value.slot, value.plan)


def _difference(column: TableColumn, declared: AggregationPlan, provided: AggregationPlan, call: Call) -> str | None:
    """What Esper says of an aggregation that does not fit its column; None where it fits."""
    name, own = call.name.lower(), column.text.split("(")[0].lower()
    family = FAMILIES.get(name, name)
    if family != FAMILIES.get(own, own):
        return f"The table declares '{column.text}' and provided is '{_call_text(call)}'"
    if family == "sorted" and name != own:
        return f"The required aggregation function name is '{own}' and provided is '{name}'"
    if declared.distinct != provided.distinct:
        return f"The aggregation declares {_a(declared.distinct, 'distinct')} and provided is {_a(provided.distinct, 'distinct')}"
    return _of_family(declared, provided, family) or _of_values(column, declared, provided)


def _of_family(declared: AggregationPlan, provided: AggregationPlan, family: str) -> str | None:
    if family in ("extreme", "ever") and declared.function != provided.function:
        return f"The aggregation declares {declared.function} and provided is {provided.function}"
    if family == "extreme" and declared.ever != provided.ever:
        words = {False: "use with data windows", True: "unbound"}
        return f"The table declares {words[declared.ever]} and provided is {words[provided.ever].removeprefix('use ')}"
    return None


def _of_values(column: TableColumn, declared: AggregationPlan, provided: AggregationPlan) -> str | None:
    if column.event_type is not None:
        event_type = provided.type.element if hasattr(provided.type, "element") else provided.type
        provided_type = getattr(event_type, "event_type", None)
        if provided_type is None or not provided_type.is_a(column.event_type):
            return f"The required event type is '{column.event_type.name}' and provided is '{event_type}'"
        return None
    if column.filtered != (provided.filter is not None):
        return (f"The aggregation declares {_a(column.filtered, 'filter expression')} and provided is "
                f"{_a(provided.filter is not None, 'filter expression')}")
    if len(column.takes) != len(provided.arguments):
        return (f"The aggregation declares {_none(bool(column.takes))}ignore nulls and provided is "
                f"{_none(bool(provided.arguments))}ignore nulls")
    for expected, argument in zip(column.takes, provided.arguments):
        if expected.boxed != argument.type.boxed and not _holds(expected, argument):
            return f"The required parameter type is {type_name(expected.boxed)} and provided is {type_name(argument.type.boxed)}"
    return _of_constants(declared, provided)


def _holds(expected: ValueType, argument: TypedExpression) -> bool:
    """Whether a value of another type is one of the expected type, too."""
    if isinstance(expected, EventOf) and isinstance(argument.type, EventOf):
        return argument.type.event_type.is_a(expected.event_type)
    return isinstance(expected, Scalar) and expected.kind == "Object"


def _of_constants(declared: AggregationPlan, provided: AggregationPlan) -> str | None:
    if declared.constants == provided.constants:
        return None
    texts = [typed_text(c) if isinstance(c, Constant) else c for c in (*declared.constants[:1], *provided.constants[:1])]
    word = "size" if declared.function == "nth" else "interval-time"
    return f"The {word} is {texts[0]} and provided is {texts[-1]}"


def _a(there: bool, word: str) -> str:
    return f"a {word}" if there else f"no {word}"


def _none(there: bool) -> str:
    return "" if there else "no "


def refuse_reading(table: Table, plans: object, select: Select) -> None:
    """Refuse a statement that reads the table it writes."""
    for expression in expressions_of(plans):
        for node in expression.walk():
            if isinstance(node, (TableValue, TableKeys)) and node.table is table:
                raise StatementRefusal(
                    f"Invalid use of table '{table.name}', aggregate-into requires write-only, the expression '{typed_text(node)}' is not "
                    "allowed",
                    span=select.span,
                )


__all__ = ["plan_into", "refuse_reading", "table_of"]
