"""Keys of unique, firstunique, groupwin and rank: hashable values, and the order in which a Java hash map would iterate them.

Esper keeps the events of ``unique`` in a hash map, so that an iterator sees them in the order of hash buckets. That order is part of what
a statement prints, and for plain values it is well defined, so it is kept here (``bucket_order``).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, DecimalTuple
from math import copysign
from typing import Any, TypeVar

from epl.event_types import EventOf
from epl.java_hash import in_hash_order
from epl.plan.expressions import CurrentTime, Invoke, SubqueryValue, TypedExpression, VariableValue
from epl.plan.stores.tables import TableKeys, TableValue
from epl.value_types import Scalar, ValueType
from epl.zeros import NEGATIVE_ZERO
from windows.event import Event
from windows.protocol import BuildContext

__all__ = ["Key", "bucket_order", "freeze", "key_evaluator", "key_of_values", "may_change", "thaw", "values_of_key"]

Key = Any
"""A single key's value, or a tuple of several; arrays as tuples."""

CHANGING = (CurrentTime, Invoke, SubqueryValue, TableKeys, TableValue, VariableValue)
"""Expressions that may have another value for an event when it leaves than when it came."""

V = TypeVar("V")
TEXTS = ("char", "String")
PLAIN_KINDS = ("boolean", "byte", "short", "int", "long", "char", "String", "BigInteger")


def key_evaluator(keys: Sequence[TypedExpression], context: BuildContext) -> Callable[[Event], Key]:
    """Return key(event) for expressions over the event; no expression: the event itself (``unique(*)``)."""
    parts = [_part(k, context) for k in keys]
    if not parts:
        return lambda event: event
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda event: (first(event), second(event))
    return lambda event: tuple([part(event) for part in parts])


def may_change(keys: Sequence[TypedExpression]) -> bool:
    """Return whether the key of an event may be another one when it leaves: a window then has to keep it."""
    return any(isinstance(node, CHANGING) for key in keys for node in key.walk())


def key_of_values(values: Sequence[Any], types: Sequence[ValueType]) -> Key:
    """Return the key that ``key_evaluator`` makes of these values. Raise TypeError where they are not values of these types."""
    parts = [_plain(value, each) if _is_plain(each) else freeze(value) for value, each in zip(values, types, strict=True)]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _plain(value: Any, value_type: ValueType) -> Any:
    if value is None or not isinstance(value_type, Scalar) or isinstance(value, str if value_type.kind in TEXTS else int):
        return value
    raise TypeError(f"a value of type {type(value).__name__} where a key of type {value_type} is expected")


def values_of_key(key: Key, count: int) -> list[Any]:
    """Return the plain values of a key of ``count`` expressions: ``key_of_values`` undone. Without expressions the key is the event."""
    return [thaw(key)] if count < 2 else [thaw(part) for part in key]


def _is_plain(value_type: ValueType) -> bool:
    return isinstance(value_type, EventOf) or (isinstance(value_type, Scalar) and value_type.kind in PLAIN_KINDS)


def _part(key: TypedExpression, context: BuildContext) -> Callable[[Event], Key]:
    evaluate = context.evaluator(key)
    if _is_plain(key.type):
        return evaluate
    return lambda event: freeze(evaluate(event))


NAN = float("nan")


class FrozenList(tuple[Any, ...]):
    """A list used as a key: a class of its own, so that it can be given back as a list."""

    __slots__ = ()


class FrozenMap(tuple[Any, ...]):
    """A dict used as a key: its pairs in order of their text."""

    __slots__ = ()


def freeze(value: Any) -> Key:
    """Return a key that finds another one in a dict or set just when Java's values are equal: NaN finds NaN (one object stands for all),
    0.0 and -0.0 differ, and so do a BigDecimal's scales; lists and dicts go by content.

    >>> freeze(Decimal("1.0")) in {freeze(Decimal("1.00"))}, freeze(float("nan")) in {freeze(float("nan"))}, freeze(0.0) in {freeze(-0.0)}
    (False, True, False)
    """
    if isinstance(value, float):
        if value == 0 and copysign(1.0, value) < 0:
            return NEGATIVE_ZERO
        return value if value == value else NAN
    if isinstance(value, Decimal):
        return value.as_tuple()
    if isinstance(value, list):
        return FrozenList([freeze(v) for v in value])
    if isinstance(value, dict):
        return FrozenMap(sorted(((k, freeze(v)) for k, v in value.items()), key=lambda pair: str(pair[0])))
    if value.__class__ is tuple:
        return tuple([freeze(v) for v in value])
    return ByIdentity.wrap(value)


def thaw(key: Key) -> Any:
    """Return what ``freeze`` was given."""
    if key is NEGATIVE_ZERO:
        return -0.0
    if isinstance(key, DecimalTuple):
        return Decimal(key)  # type: ignore[arg-type]  # the stubs ask for a plain tuple
    if isinstance(key, FrozenList):
        return [thaw(v) for v in key]
    if isinstance(key, FrozenMap):
        return {k: thaw(v) for k, v in key}
    if isinstance(key, ByIdentity):
        return key.value
    return set(key) if isinstance(key, SetKey) else key


class ByIdentity:
    """The key of an object that has no hash (an array of numpy, a bytearray): the object itself, as in Java; sets go by their elements."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def wrap(cls, value: Any) -> Any:
        """Return the value where it can be hashed, else what stands for it."""
        if type(value).__hash__ is not None:
            return value
        return SetKey(value) if isinstance(value, set) else cls(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class SetKey(frozenset[Any]):
    """A set used as a key: not equal to a frozenset, so that it can be given back as a set."""

    __slots__ = ()


# ------------------------------------------------------------------ order


def bucket_order(items: Mapping[Key, V], hash_of: Callable[[Key], int] | None, peak: int) -> Iterable[V]:
    """Return the values in the order of a Java hash map that held at most ``peak`` keys at once; the mapping's own order if there is no
    hash."""
    if hash_of is None:
        return items.values()
    values = list(items.values())
    return [values[position] for position in in_hash_order(map(hash_of, items), peak)]
