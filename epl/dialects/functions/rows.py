"""Row values: their fields, and how they and arrays compare."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.dialects import typed as y
from epl.dialects.errors import DialectError, QueryFailed
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.written import write_expression
from epl.dialects.types import SqlType


def bind_field(base: y.Typed, node: t.Path, dialect: str) -> y.Typed:
    """Return ``base.field``."""
    if base.type.name == "any":
        return y.ConstantValue(base.type, None)
    if base.type.name != "row":
        raise DialectError("TYPE_MISMATCH", f"Expression {write_expression(node.base)} is not of type ROW", node.base.at)
    name = node.field.written
    folded = [each.upper() if each is not None and dialect in ("sql",) else each for each in base.type.fields]
    asked = name.upper() if dialect == "sql" else name
    if folded.count(asked) > 1:
        raise DialectError("AMBIGUOUS_NAME", f"Ambiguous row field reference: {name}", node.at)
    if asked not in folded:
        raise DialectError("COLUMN_NOT_FOUND", f"Column '{write_expression(node).lower()}' cannot be resolved", node.at)
    return _at(base, folded.index(asked))


def bind_index(base: y.Typed, index: y.Typed, at: int) -> y.Typed:
    """Return ``base[index]``; the index of a row's field stands in the text."""
    if not isinstance(index, y.ConstantValue) or not isinstance(index.value, int):
        raise DialectError("EXPRESSION_NOT_CONSTANT", "Subscript expression on ROW requires a constant integer index", at)
    if not 1 <= index.value <= len(base.type.arguments):
        message = f"ROW index out of bounds: max {len(base.type.arguments)}"
        if index.value <= 0:
            message = f"Invalid subscript index: {index.value}. ROW indices start at 1"
        raise DialectError("INVALID_FUNCTION_ARGUMENT", message, at)
    return _at(base, index.value - 1)


def _at(base: y.Typed, place: int) -> y.Typed:
    kind = base.type.arguments[place]
    assert isinstance(kind, SqlType)
    return y.Apply(kind, lambda value: value[place], (base,))


def equal(left: Any, right: Any) -> bool | None:
    """Return whether two rows or arrays are equal: null where that depends on a null."""
    if len(left) != len(right):
        return False
    unknown = False
    for a, b in zip(left, right):
        if a is None or b is None:
            unknown = True
            continue
        same = equal(a, b) if isinstance(a, (tuple, list)) else a == b
        if same is False:
            return False
        unknown = unknown or same is None
    return None if unknown else True


def comparison(sign: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool | None]:
    """Return the comparison of rows or arrays."""
    if sign == "=":
        return equal
    if sign == "<>":
        return lambda left, right: None if (same := equal(left, right)) is None else not same

    def compare_order(left: Any, right: Any) -> bool:
        if None in left or None in right:
            what = "ARRAY" if isinstance(left, list) else "ROW"
            parts = "arrays with null elements" if what == "ARRAY" else "fields with null elements"
            raise QueryFailed("NOT_SUPPORTED", f"{what} comparison not supported for {parts}")
        return compare(left, right)

    return compare_order


__all__ = ["bind_field", "bind_index", "comparison", "equal"]
