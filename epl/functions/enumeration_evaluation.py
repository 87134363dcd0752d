"""What enumeration methods do with evaluated collections.

Each function takes ``counts``, the number of parameters that each lambda argument was written with, and gives a callable over (elements or
None, arguments…).
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import reduce
from itertools import count, repeat
from typing import Any

from epl.errors import EplRuntimeError
from epl.functions.java_values import equality_key, map_key
from epl.java import decimal_add, decimal_divide, to_double, wrap_int, wrap_long
from epl.java import math_context as context_of
from epl.zeros import sort_value

Counts = tuple[int, ...]
Items = list[Any]
Body = Callable[..., Any]
Call = Callable[..., Any]


def results(parameters: int, body: Body, items: Items) -> Iterator[Any]:
    """Return the lambda's results, in order: ``body(v)``, ``body(v, i)`` or ``body(v, i, size)``."""
    if parameters == 1:
        return map(body, items)
    if parameters == 2:
        return map(body, items, count())
    return map(body, items, count(), repeat(len(items)))


def _with_results(counts: Counts, function: Callable[[Items, Iterable[Any]], Any]) -> Call:
    """Return a method with an optional lambda: ``function(elements, values)``, the values being the elements themselves without a
    lambda."""
    if not counts:
        return lambda items: None if items is None else function(items, items)
    parameters = counts[0]
    if parameters == 1:
        return lambda items, body: None if items is None else function(items, map(body, items))
    return lambda items, body: None if items is None else function(items, results(parameters, body, items))


# ------------------------------------------------------------------ predicates


def where(counts: Counts) -> Call:
    return _with_results(counts, lambda items, passes: [x for x, p in zip(items, passes) if p is not False])


def any_of(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, passes: any(p is True for p in passes))


def all_of(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, passes: all(p is True for p in passes))


def count_of(counts: Counts) -> Call:
    if not counts:
        return lambda items: None if items is None else len(items)
    return _with_results(counts, lambda _items, passes: sum(p is not False for p in passes))


def first_of(counts: Counts) -> Call:
    if not counts:
        return lambda items: items[0] if items else None
    return _with_results(counts, lambda items, passes: next((x for x, p in zip(items, passes) if p is not False), None))


def last_of(counts: Counts) -> Call:
    if not counts:
        return lambda items: items[-1] if items else None

    def last(items: Items, passes: Iterable[Any]) -> Any:
        last_item = None
        for item, passed in zip(items, passes):
            if passed is not False:
                last_item = item
        return last_item

    return _with_results(counts, last)


def take(_counts: Counts) -> Call:
    return lambda items, number: None if items is None or number is None else list(items[: max(int(number), 0)])


def take_last(_counts: Counts) -> Call:
    return lambda items, number: None if items is None or number is None else list(items[max(len(items) - max(int(number), 0), 0):])


def take_while(counts: Counts) -> Call:
    return _with_results(counts, _while_not_false)


def _while_not_false(items: Items, passes: Iterable[Any]) -> Items:
    taken: Items = []
    for item, passed in zip(items, passes):
        if passed is False:
            break
        taken.append(item)
    return taken


def take_while_last(counts: Counts) -> Call:
    parameters = counts[0]

    def call(items: Items | None, body: Body) -> Items | None:
        if items is None:
            return None
        backwards = list(reversed(items))
        return _while_not_false(backwards, results(parameters, body, backwards))[::-1]

    return call


# ------------------------------------------------------------------ numbers


def sum_of(counts: Counts, kind: str) -> Call:
    """Return the function for sums; ``kind``: of the result; integers wrap."""
    finish: Callable[[Any], Any] = {"int": wrap_int, "long": wrap_long, "double": to_double}.get(kind, lambda total: total)
    add: Callable[[Any, Any], Any] = decimal_add if kind == "BigDecimal" else operator.add

    def total(_items: Items, values: Iterable[Any]) -> Any:
        present = [v for v in values if v is not None]
        return finish(reduce(add, present)) if present else None

    return _with_results(counts, total)


def average(counts: Counts, kind: str, math_context: tuple[int, str] | None = None) -> Call:
    """Return the function for averages; ``kind``: of the values. An average of big numbers that has no end is 0 without a math context, as
    in Esper."""
    if kind not in ("BigDecimal", "BigInteger"):
        return _with_results(counts, _double_average)
    context = context_of(*math_context) if math_context else None

    def big_average(_items: Items, values: Iterable[Any]) -> Decimal | None:
        present = [Decimal(v) for v in values if v is not None]
        if not present:
            return None
        try:
            return decimal_divide(reduce(decimal_add, present), Decimal(len(present)), context)
        except EplRuntimeError:
            return Decimal(0)

    return _with_results(counts, big_average)


def _double_average(_items: Items, values: Iterable[Any]) -> float | None:
    total, number = 0.0, 0
    for value in values:
        if value is not None:
            total += value
            number += 1
    return total / number if number else None


def aggregate(counts: Counts) -> Call:
    """Return the function of aggregate; ``counts[1]``: 2 to 4 parameters, (state, element, index, size)."""
    parameters = counts[1]

    def call(items: Items | None, state: Any, body: Body) -> Any:
        if items is None:
            return None
        size = len(items)
        for index, item in enumerate(items):
            state = body(state, item, index, size) if parameters == 4 else body(state, item, index) if parameters == 3 else body(state,
                item)
        return state

    return call


# ------------------------------------------------------------------ order


def minimum(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: _extreme(values, min))


def maximum(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: _extreme(values, max))


def _extreme(values: Iterable[Any], choose: Callable[..., Any]) -> Any:
    """Return the value that is chosen of those that are not null."""
    known = [v for v in values if v is not None]
    return choose(known, key=_rank if _needs_ranks(known) else None, default=None)


def _needs_ranks(known: Items) -> bool:
    """Return whether Python's order of the values, none of them null, may be another than Java's: there are zeros or NaN among floats."""
    return bool(known) and isinstance(known[0], float) and any(v == 0 or v != v for v in known)


def _rank(value: Any) -> Any:
    """NaN is greater than every number, -0.0 less than 0.0."""
    return (value != value, value or sort_value(value))


def min_by(counts: Counts) -> Call:
    return _extreme_item(counts, min)


def max_by(counts: Counts) -> Call:
    return _extreme_item(counts, max)


def _extreme_item(counts: Counts, choose: Callable[..., Any]) -> Call:
    def extreme(items: Items, values: Iterable[Any]) -> Any:
        pairs = [(v, x) for v, x in zip(values, items) if v is not None]
        if not pairs:
            return None
        ranked = _needs_ranks([v for v, _ in pairs])
        return choose(pairs, key=(lambda pair: _rank(pair[0])) if ranked else operator.itemgetter(0))[1]

    return _with_results(counts, extreme)


def order_by(counts: Counts) -> Call:
    return _with_results(counts, lambda items, values: _sort(items, list(values), False))


def order_by_descending(counts: Counts) -> Call:
    return _with_results(counts, lambda items, values: _sort(items, list(values), True))


def _sort(items: Items, values: Items, descending: bool) -> Items:
    if _needs_ranks([v for v in values if v is not None]):
        values = [v if v is None else _rank(v) for v in values]
    keys = [(v is not None, v) for v in values] if any(v is None for v in values) else values
    return [items[i] for i in sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)]


def most_frequent(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: _by_frequency(values, max))


def least_frequent(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: _by_frequency(values, min))


def _by_frequency(values: Iterable[Any], choose: Callable[..., Any]) -> Any:
    counts: dict[Any, list[Any]] = {}
    for value in values:
        counts.setdefault(equality_key(value), [value, 0])[1] += 1
    return choose(counts.values(), key=operator.itemgetter(1))[0] if counts else None


# ------------------------------------------------------------------ sets and sequences


def except_(_counts: Counts) -> Call:
    return lambda items, other: _members(items, other, False)


def intersect(_counts: Counts) -> Call:
    return lambda items, other: _members(items, other or items, True)  # as in Esper, all items are in a collection that has none


def _members(items: Items | None, other: Items | None, contained: bool) -> Items | None:
    if items is None or other is None:
        return None if items is None else list(items)
    keys = set(map(equality_key, other))
    return [x for x in items if (equality_key(x) in keys) is contained]


def union(_counts: Counts) -> Call:
    return lambda items, other: None if items is None else [*items, *(other or ())]


def sequence_equal(_counts: Counts) -> Call:
    def call(items: Items | None, other: Any) -> bool | None:
        if items is None:
            return None
        return isinstance(other, (list, tuple)) and len(items) == len(other) and all(map(_equal, items, other))

    return call


def _equal(left: Any, right: Any) -> bool:
    return bool(equality_key(left) == equality_key(right))


def reverse(_counts: Counts) -> Call:
    return lambda items: None if items is None else list(reversed(items))


# ------------------------------------------------------------------ results and maps


def select_from(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: [v for v in values if v is not None])


def array_of(counts: Counts) -> Call:
    return _with_results(counts, lambda _items, values: list(values))


def distinct_of(counts: Counts) -> Call:
    def distinct(items: Items, values: Iterable[Any]) -> Items:
        by_key: dict[Any, Any] = {}
        for item, value in zip(items, values):
            by_key.setdefault(equality_key(value), item)
        return list(by_key.values())

    return _with_results(counts, distinct)


def group_by(counts: Counts) -> Call:
    def call(items: Items | None, key: Body, value: Body | None = None) -> dict[Any, Items] | None:
        if items is None:
            return None
        groups: dict[Any, Items] = {}
        values: Iterable[Any] = items if value is None else results(counts[1], value, items)
        for k, v in zip(results(counts[0], key, items), values):
            groups.setdefault(map_key(k), []).append(v)
        return groups

    return call


def to_map(counts: Counts) -> Call:
    def call(items: Items | None, key: Body, value: Body) -> dict[Any, Any] | None:
        if items is None:
            return None
        return {map_key(k): v for k, v in zip(results(counts[0], key, items), results(counts[1], value, items))}

    return call
