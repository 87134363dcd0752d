"""What generated code calls: the cases that are too long to print inline. All take and give plain values; None is null."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from epl import java
from epl.errors import EplRuntimeError
from epl.zeros import NEGATIVE_ZERO
from windows.event import Event

# ------------------------------------------------------------------ equality


def same_double(left: float, right: float) -> bool:
    """Implement ``Double.equals``: NaN equals itself, 0.0 does not equal -0.0."""
    if left == right:
        return left != 0 or math.copysign(1.0, left) == math.copysign(1.0, right)
    return left != left and right != right


NAN = float("nan")


def double_key(value: float | None) -> float | None:
    """Return what stands for a double in a hash table, so that keys are equal where ``same_double`` says so; null for null."""
    if value is None or value == value:
        return NEGATIVE_ZERO if value == 0 and math.copysign(1.0, value) < 0 else value
    return NAN  # this one object: tables look for the same object first


def decimal_key(value: Decimal | None) -> tuple[Decimal, int] | None:
    """Return what stands for a BigDecimal in a hash table, so that keys are equal where ``same_decimal`` says so; null for null."""
    return None if value is None else (value, java.decimal_scale(value))


def same_decimal(left: Decimal, right: Decimal) -> bool:
    """Implement ``BigDecimal.equals``: 2.0 does not equal 2.00."""
    return left == right and java.decimal_scale(left) == java.decimal_scale(right)


def same_object(left: Any, right: Any) -> bool:
    """Implement ``Object.equals`` of values whose types are only known now: a boolean is not a number, an Integer is not a Double;
    events are compared by their values.
    """
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if type(left) is float:
        return same_double(left, right)
    if isinstance(left, Event):
        return left.type is right.type and all(map(same_object, left.values(), right.values()))
    return bool(left == right)


def object_key(value: Any) -> Any:
    """Return what stands for a value in a hash table whose type is only known now: keys are equal where ``same_object`` says so or lists
    have equal elements, and may be equal for others. Null for null."""
    if value is None:
        return None
    kind = type(value)
    if kind is float:
        return kind, double_key(value)
    if kind in (str, int, bool, bytes):
        return kind, value
    if kind in (list, tuple):
        return kind, tuple([each if type(each) in (str, int, bool, float, Decimal) else type(each) for each in value])
    return kind, len(value) if kind is dict else None


# ------------------------------------------------------------------ in, any, all


def equal_to(value: Any) -> Callable[[Any], bool]:
    """Return Java's ``equals`` with a value for which Python's ``==`` does not do: a zero, NaN, a BigDecimal."""
    if type(value) is float:
        return lambda item: type(item) in (float, int) and same_double(float(item), value)
    return lambda item: type(item) is Decimal and same_decimal(item, value)


def _contains(values: Iterable[Any], value: Any) -> bool:
    if type(value) is Decimal or (type(value) is float and (not value or value != value)):
        return any(map(equal_to(value), values))
    return value in values


def _contains_object(values: Iterable[Any], value: Any) -> bool:
    return any(same_object(value, element) for element in values)


def member(
    value: Any, plain: Sequence[Any], arrays: Sequence[Any], collections: Sequence[Any],
    contains: Callable[[Any, Any], bool] = _contains,
) -> bool | None:
    """Implement ``value in (…)``. Null if the value is null and there is anything to compare with, or if it is not found and an item or an
    array's element is null. ``contains``: whether values contain one.
    """
    null = False
    for item in plain:
        if item is None:
            null = True
        elif value is None:
            return None
        elif contains((item,), value):
            return True
    for array in arrays:
        if array is None:
            continue
        if value is None:
            return None
        if contains(array, value):
            return True
        null = null or None in array
    for collection in collections:
        if collection is None:
            continue
        if value is None:
            return None
        if contains(keys_of(collection), value):
            return True
    return None if null else False


def member_object(value: Any, plain: Sequence[Any], arrays: Sequence[Any], collections: Sequence[Any]) -> bool | None:
    """Do as ``member`` of values that are compared as ``same_object`` does."""
    return member(value, plain, arrays, collections, _contains_object)


def keys_of(collection: Any) -> Any:
    """Return what ``in`` looks through: a map's keys, an event's property names, or the elements."""
    return collection.type.names if isinstance(collection, Event) else collection


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "is": operator.eq, "is not": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


COMPARE_OBJECTS: dict[str, Callable[[Any, Any], bool]] = {
    **COMPARE, "=": same_object, "is": same_object, **dict.fromkeys(("!=", "is not"), lambda a, b: not same_object(a, b)),
}


def quantified(
    comparator: str, value: Any, items: Sequence[Any], spread: Sequence[bool], every: bool, by_object: bool = False
) -> bool | None:
    """Implement ``value op any|all (items)``. Equality: three-valued. Order: any passes over nulls (null if there are only nulls), all is
    null at the first null. ``by_object``: equality is ``same_object``.
    """
    ordered = comparator[0] in "<>"
    if not items:
        return every
    if value is None:
        return None
    compare = COMPARE_OBJECTS[comparator] if by_object else _comparison(comparator, value)
    compared = null = False
    for candidate in spread_out(items, spread):
        if candidate is None or (ordered and isinstance(candidate, str) is not isinstance(value, str)):
            if ordered and every:
                return None
            null = True
            continue
        compared = True
        if compare(value, candidate) is not every:
            return not every
    if not compared or (ordered and not every):
        return False if compared else None
    return None if null else every


def _comparison(comparator: str, value: Any) -> Callable[[Any, Any], bool]:
    if comparator[0] not in "<>" and type(value) in (float, Decimal):
        equal, negated = equal_to(value), comparator in ("!=", "is not")
        return lambda _, item: equal(item) is not negated
    return COMPARE[comparator]


def spread_out(items: Sequence[Any], spread: Sequence[bool]) -> Iterable[Any]:
    """Yield the items, collections by their elements (a null collection counts as one null)."""
    for item, spreads in zip(items, spread):
        if spreads and item is not None:
            yield from keys_of(item)
        else:
            yield item


# ------------------------------------------------------------------ values inside values


def element_at(values: Sequence[Any] | None, index: int | None) -> Any:
    """Implement ``values[index]``: null of null and beyond the end; a negative index is an error, as in Java."""
    if values is None or index is None or index >= len(values):
        return None
    if index < 0:
        raise EplRuntimeError(f"Index {index} out of bounds for length {len(values)}")
    return values[index]


def dynamic_value(owner: Any, name: str) -> Any:
    """Implement ``owner.name?``: of an event or a map; None where there is no such property."""
    if isinstance(owner, (Event, dict)):
        return owner.get(name)
    return None


def dynamic_exists(owner: Any, name: str) -> bool:
    if isinstance(owner, Event):
        return owner.has(name)
    return isinstance(owner, dict) and name in owner


def dynamic_index(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, (list, tuple)) and 0 <= index < len(value) else None


def index_exists(value: Any, index: int) -> bool:
    return isinstance(value, (list, tuple)) and 0 <= index < len(value)


def dynamic_key(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, (dict, Event)) else None


def sized_array(sizes: Sequence[int | None], depth: int, default: Any) -> list[Any]:
    """Implement ``new T[n][m]``; dimensions without a size are null."""
    size = sizes[0]
    if size is None:
        raise EplRuntimeError("new-array received a null value for dimension")
    if math.prod(max(s, 1) for s in sizes if s is not None) > java.MAX_ARRAY:
        raise EplRuntimeError(f"new-array of dimensions {list(sizes)}: {java.MAX_ARRAY} elements are the most")
    if size < 0:
        raise EplRuntimeError(f"java.lang.NegativeArraySizeException: {size}")
    if len(sizes) > 1:
        return [sized_array(sizes[1:], depth - 1, default) for _ in range(size)]
    return [None if depth > 1 else default] * size


def without_nulls(values: list[Any]) -> list[Any]:
    """Return the values that are not null."""
    return [value for value in values if value is not None]


def no_nulls(values: list[Any]) -> list[Any]:
    """Return the elements of an array of primitives."""
    if None in values:
        raise EplRuntimeError("new-array received a null value as an array element of an array of primitives")
    return values


def same_event(left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else left is right


def each(value: Callable[[Event], Any], events: Iterable[Event] | None) -> list[Any] | None:
    """Return a value of every event, for prevwindow."""
    return None if events is None else [value(event) for event in events]
