"""``T[key].column``, ``T.column``, ``T[key]``, ``T.keys()``: what a statement reads of a table."""
from __future__ import annotations

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.scope import Scope
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.plan.expressions import TypedExpression
from epl.plan.stores.tables import Table, TableKeys, TableValue
from epl.syntax.expressions import Call, Chain, Expression, Index, Name
from epl.unparse import expression_text, quote_expression
from epl.value_types import NULL, OBJECT, ArrayType, ValueType

EVENT_AGGREGATIONS = ("first", "last", "window", "sorted", "minby", "maxby", "minbyever", "maxbyever")
"""Aggregations that keep events."""


def bind_table(table: Table, node: Chain, scope: Scope) -> tuple[TypedExpression, int] | None:
    """Return what is read and how many links say so; None where the name is not the table's but a property's."""
    links, keys = node.links, table.keys
    at = 1
    written: tuple[Expression, ...] = ()
    first = links[1] if len(links) > 1 else None
    if isinstance(first, Index):
        at, written = 2, first.arguments
    elif keys and isinstance(first, Call):
        return _keys(table, first), 2
    elif keys and first is not None:
        return None
    bound = _bind_keys(table, written, scope)
    if at == len(links):
        return TableValue(type=EventOf(table.event_type), table=table, keys=bound), at
    column = links[at]
    if isinstance(column, Call) and at == 1:
        return _keys(table, column), 2
    if not isinstance(column, Name):
        raise EplUnsupportedError(f"this use of table '{table.name}' is not supported", span=node.span)
    place = table.position(column.name)
    if place is None:
        raise EplValidationError(f"A column '{column.name}' could not be found for table '{table.name}'", span=column.span)
    return TableValue(type=table.columns[place].type.boxed, table=table, keys=bound, column=place), at + 1


def refuse_tables(typed: TypedExpression, written: Expression, clause: str) -> None:
    """Refuse an expression of that clause that reads a table itself; its sub-queries may."""
    table = next((node.table for node in typed.walk() if isinstance(node, (TableValue, TableKeys))), None)
    if table is not None:
        refusal = f"Invalid use of table access expression, expression '{table.name}' is not allowed here"
        raise EplValidationError(f"Failed to validate {clause} expression {quote_expression(written)}: {refusal}", span=written.span)


def refuse_unreadable(value: TypedExpression, node: Chain) -> None:
    """Refuse a sketch by itself: it is read by its methods."""
    if isinstance(value, TableValue) and value.column is not None and value.table.columns[value.column].type == NULL:
        raise EplValidationError(
            f"Invalid null return type of '{expression_text(node)}', a sketch has no value", span=node.span,
            hint="use countMinSketchFrequency(value) or countMinSketchTopk()",
        )


def _keys(table: Table, call: Call) -> TypedExpression:
    if call.name.lower() != "keys" or not table.keys:
        raise StatementRefusal(
            f"Invalid use of table '{table.name}', unrecognized use of function '{call.name}', expected 'keys()'", span=call.span
        )
    several = len(table.keys) > 1
    return TableKeys(type=ArrayType(OBJECT if several else table.keys[0].type.boxed), table=table)


def _bind_keys(table: Table, written: tuple[Expression, ...], scope: Scope) -> tuple[TypedExpression, ...]:
    check_count(table, len(written), "key")
    bound = tuple(bind(each, scope) for each in written)
    check_types(table, bound, ",".join(map(expression_text, written)), "key")
    return bound


def check_count(table: Table, written: int, word: str) -> None:
    """Refuse another number of key or group-by expressions than the table has keys."""
    expected = len(table.keys)
    if written != expected:
        raise EplValidationError(
            f"Incompatible number of {word} expressions for use with table '{table.name}', the table expects {expected or 'no'} {word} "
            f"expressions and provided are {written or 'no'} {word} expressions"
        )


def check_types(table: Table, written: tuple[TypedExpression, ...], text: str, word: str) -> None:
    """Refuse key or group-by expressions, written ``text``, of other types than the table's keys."""
    for column, expression in zip(table.keys, written):
        if not _fits(expression.type.boxed, column.type.boxed):
            raise EplValidationError(
                f"Incompatible type returned by a {word} expression for use with table '{table.name}', the {word} expression '{text}' "
                f"returns '{type_name(expression.type.boxed)}' but the table expects '{type_name(column.type.boxed)}'"
            )


def _fits(value: ValueType, key: ValueType) -> bool:
    return value == key or key == OBJECT


__all__ = ["EVENT_AGGREGATIONS", "bind_table", "check_count", "check_types"]
