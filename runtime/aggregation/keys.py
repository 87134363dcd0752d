"""Keys of groups: values that are frozen (``windows.keys``) where their types need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.value_types import ArrayType, CollectionType, MapType, Scalar, ValueType
from windows.keys import freeze

NEEDS_FREEZING = ("float", "double", "BigDecimal", "Object", "Number")


def needs_freezing(value_type: ValueType) -> bool:
    """Return whether values of the type may be unhashable, unequal to themselves, or equal where Java's are not."""
    if isinstance(value_type, Scalar):
        return value_type.kind in NEEDS_FREEZING
    return isinstance(value_type, (ArrayType, CollectionType, MapType))


def key_evaluator(types: Sequence[ValueType], evaluate: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """Return evaluate(row) → tuple, as a key: the value alone for one expression, else the tuple; frozen where the types need it."""
    frozen = any(needs_freezing(t) for t in types)
    if len(types) == 1:
        if frozen:
            return lambda *row: freeze(evaluate(*row)[0])
        return lambda *row: evaluate(*row)[0]
    if frozen:
        return lambda *row: tuple([freeze(v) for v in evaluate(*row)])
    return lambda *row: tuple(evaluate(*row))
