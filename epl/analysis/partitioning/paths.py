"""Which property of an earlier row a value is: what a key may be carried by from operator to operator."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from epl.analysis.partitioning.verdicts import HashedKey, Key, Path
from epl.event_types import EventType
from epl.plan.expressions import Convert, PropertyOf, StreamProperty, TypedExpression
from epl.value_types import EnumType, Scalar, ValueType

KEY_KINDS = {
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "String", "BigInteger", "BigDecimal", "Date", "LocalDateTime",
    "LocalDate", "LocalTime",
}
"""Values that Spark can hash so that keys that are equal in EPL are equal there."""

KEEPS_APART = {
    ("byte", "short"), ("byte", "int"), ("byte", "long"), ("short", "int"), ("short", "long"), ("int", "long"), ("byte", "float"),
    ("byte", "double"), ("short", "float"), ("short", "double"), ("int", "double"), ("float", "double"),
}
"""Widenings after which different values are still different; a long may lose its last digits as a double."""


def may_be_key(value_type: ValueType) -> bool:
    return isinstance(value_type, EnumType) or (isinstance(value_type, Scalar) and value_type.kind in KEY_KINDS)


def keeps_apart(before: ValueType, after: ValueType) -> bool:
    """Return whether values that are equal once converted were equal before."""
    if before.boxed == after.boxed:
        return True
    return isinstance(before, Scalar) and isinstance(after, Scalar) and (before.kind, after.kind) in KEEPS_APART


def expression_path(expression: TypedExpression, stream: int = 0) -> Path | None:
    """Return the property of the stream's event that the expression is, None where it is anything else. Widening does not count."""
    if isinstance(expression, StreamProperty):
        return (expression.name,) if expression.stream == stream else None
    if isinstance(expression, PropertyOf):
        before = expression_path(expression.operand, stream)
        return None if before is None else (*before, expression.name)
    if isinstance(expression, Convert) and keeps_apart(expression.operand.type, expression.type):
        return expression_path(expression.operand, stream)
    return None


def key_paths(expressions: Iterable[TypedExpression]) -> tuple[Path, ...]:
    """Return those of the expressions that are properties a row can be split by."""
    paths = (expression_path(e) for e in expressions if may_be_key(e.type))
    return tuple(dict.fromkeys(p for p in paths if p is not None))


@attrs.frozen
class Carrying:
    """From the rows downstream of an operator to those upstream of it.

    ``names``: which of their properties each property still is; None: the rows are the same.
    """

    names: Mapping[str, Path] | None = None

    def back(self, path: Path) -> Path | None:
        if self.names is None:
            return path
        before = self.names.get(path[0])
        return None if before is None else (*before, *path[1:])


def carry_columns(row_type: EventType, columns: Iterable[TypedExpression], stream: int = 0) -> Carrying:
    """Return rows of ``row_type`` built from ``columns``."""
    paths = ((name, expression_path(column, stream)) for name, column in zip(row_type.names, columns))
    return Carrying({name: path for name, path in paths if path is not None})


def trace_path(stages: tuple[Carrying, ...], path: Path | None) -> Path | None:
    """Follow a path from downstream of the last stage to upstream of the first."""
    for stage in reversed(stages):
        if path is None:
            return None
        path = stage.back(path)
    return path


def trace_key(stages: tuple[Carrying, ...], key: Key) -> Key | None:
    """Follow a key: each property that it reads."""
    if not isinstance(key, HashedKey):
        return trace_path(stages, key)
    paths = [trace_path(stages, path) for path in key.paths]
    known = tuple(path for path in paths if path is not None)
    return attrs.evolve(key, paths=known) if len(known) == len(paths) else None


__all__ = ["Carrying", "carry_columns", "expression_path", "keeps_apart", "key_paths", "may_be_key", "trace_key", "trace_path"]
