"""Values as dictionary keys: equal where Esper sees equal values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from epl.value_types import ArrayType, CollectionType, MapType, Scalar, ValueType
from epl.zeros import NEGATIVE_ZERO
from windows.keys import ByIdentity, SetKey

NAN = float("nan")


class FrozenList(tuple[Any, ...]):
    """A list used as a key: told from a tuple, so that it can be given back as a list."""

    __slots__ = ()


class FrozenMap(tuple[Any, ...]):
    """A dict used as a key: its pairs in order of their text."""

    __slots__ = ()


def freeze(value: Any) -> Any:
    """A hashable stand-in: lists and dicts by content, every NaN the same, -0.0 another than 0.0, anything else itself."""
    if isinstance(value, float):
        if value == 0 and copysign(1.0, value) < 0:
            return NEGATIVE_ZERO
        return value if value == value else NAN
    if isinstance(value, list):
        return FrozenList([freeze(v) for v in value])
    if isinstance(value, dict):
        return FrozenMap(sorted(((k, freeze(v)) for k, v in value.items()), key=lambda pair: str(pair[0])))
    if value.__class__ is tuple:
        return tuple([freeze(v) for v in value])
    return ByIdentity.wrap(value)


def thaw(value: Any) -> Any:
    """What ``freeze`` was given."""
    if value is NEGATIVE_ZERO:
        return -0.0
    if isinstance(value, FrozenList):
        return [thaw(v) for v in value]
    if isinstance(value, FrozenMap):
        return {k: thaw(v) for k, v in value}
    if isinstance(value, ByIdentity):
        return value.value
    return set(value) if isinstance(value, SetKey) else value


NEEDS_FREEZING = ("float", "double", "Object", "Number")


def needs_freezing(value_type: ValueType) -> bool:
    """Whether values of the type may be unhashable or unequal to themselves."""
    if isinstance(value_type, Scalar):
        return value_type.kind in NEEDS_FREEZING
    return isinstance(value_type, (ArrayType, CollectionType, MapType))


def key_of(types: Sequence[ValueType], evaluate: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """evaluate(row) → tuple, as a key: the value alone for one expression, else the tuple; frozen where the types need it."""
    frozen = any(needs_freezing(t) for t in types)
    if len(types) == 1:
        if frozen:
            return lambda *row: freeze(evaluate(*row)[0])
        return lambda *row: evaluate(*row)[0]
    if frozen:
        return lambda *row: tuple([freeze(v) for v in evaluate(*row)])
    return lambda *row: tuple(evaluate(*row))
