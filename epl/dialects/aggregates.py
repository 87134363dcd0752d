"""Aggregate functions: which types they take and give, and how they count one more row.

A state is a plain immutable value, so that a matcher can go back to an earlier one.
"""
from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import attrs

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.errors import QueryFailed
from epl.dialects.functions.sizes import join_texts
from epl.dialects.types import SqlType

Kinds = Sequence[SqlType]
State = Any


@attrs.frozen
class Aggregate:
    """``start``: the state of no rows; ``add(state, arguments)``: with one more row; ``result(state)``. ``counts_null``: rows whose first
    argument is null are counted too. ``result_type``: of the values; ``name``: of the function, "" with DISTINCT."""

    result_type: SqlType
    start: State
    add: Callable[[State, tuple[Any, ...]], State]
    result: Callable[[State], Any]
    counts_null: bool = False
    name: str = ""


Factory = Callable[[Kinds, str], "Aggregate | None"]


def _count(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) > 1:
        return None
    return Aggregate(k.BIGINT, 0, lambda state, _: state + 1, lambda state: state)


def _count_if(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1 or kinds[0].name not in ("boolean", "any"):
        return None
    return Aggregate(k.BIGINT, 0, lambda state, row: state + (row[0] is True), lambda state: state)


def _sum(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1 or not (k.is_number(kinds[0]) or kinds[0].name.startswith("interval")):
        return None
    kind = kinds[0]
    if kind.name in k.INTEGERS:
        kind = kind if dialect in ("flink", "alibaba") else k.BIGINT
    elif kind.name == "decimal":
        kind = k.decimal(38, k.precision_and_scale(kind)[1])
    limit = 1 << 63

    def add(state: State, row: tuple[Any, ...]) -> State:
        if isinstance(row[0], Decimal):
            return _within(row[0] if state is None else v.EXACT.add(state, row[0]))
        total = row[0] if state is None else state + row[0]
        if kind.name == "bigint" and not -limit <= total < limit:
            raise QueryFailed("NUMERIC_VALUE_OUT_OF_RANGE", f"bigint addition overflow: {state} + {row[0]}")
        return total

    return Aggregate(kind, None, add, lambda state: state)


def _within(total: Decimal) -> Decimal:
    """Refuse a total of more digits than a decimal has."""
    if len(total.as_tuple().digits) > k.MAX_DIGITS:
        raise QueryFailed("NUMERIC_VALUE_OUT_OF_RANGE", "Decimal overflow")
    return total


def _avg(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1 or not k.is_number(kinds[0]):
        return None
    whole = kinds[0].name in k.INTEGERS
    kind = kinds[0] if kinds[0].name in ("decimal", "real") or (whole and dialect in ("flink", "alibaba")) else k.DOUBLE

    def result(state: State) -> Any:
        count, total = state
        if not count:
            return None
        if kind.name in k.INTEGERS:
            return int(math.copysign(abs(total) // count, total))
        if kind.name == "decimal":
            return v.EXACT.divide(Decimal(total), Decimal(count)).quantize(Decimal(1).scaleb(-k.precision_and_scale(kind)[1]),
                ROUND_HALF_UP, v.EXACT)
        return float(total) / count

    def add(state: State, row: tuple[Any, ...]) -> State:
        count, total = state
        return count + 1, v.EXACT.add(total, row[0]) if isinstance(row[0], Decimal) else total + row[0]

    return Aggregate(kind, (0, 0), add, result)


def _extreme(sign: int) -> Factory:
    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) == 2 and kinds[1].name in (*k.INTEGERS, "any"):
            return _several(kinds[0], sign)
        if len(kinds) != 1 or not k.is_orderable(kinds[0]):
            return None

        def add(state: State, row: tuple[Any, ...]) -> State:
            if state is None:
                return row[0]
            return row[0] if (row[0] > state if sign > 0 else row[0] < state) else state

        return Aggregate(kinds[0], None, add, lambda state: state)

    return factory


def _several(kind: SqlType, sign: int) -> Aggregate:
    """Return the greatest or least n values."""

    def add(state: State, row: tuple[Any, ...]) -> State:
        return tuple(sorted((*state, row[0]), reverse=sign > 0)[: row[1]])

    return Aggregate(k.array(kind), (), add, lambda state: list(state) or None)


def _extreme_factory(sign: int) -> Factory:
    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) not in (2, 3) or not k.is_orderable(kinds[1]):
            return None
        many = len(kinds) == 3

        def add(state: State, row: tuple[Any, ...]) -> State:
            if row[1] is None:
                return state
            if many:
                return tuple(sorted((*state, (row[1], row[0])), key=lambda pair: pair[0], reverse=sign > 0)[: row[2]])
            if state == () or (row[1] > state[0][0] if sign > 0 else row[1] < state[0][0]):
                return ((row[1], row[0]),)
            return state

        def result(state: State) -> Any:
            if not state:
                return None
            return [value for _, value in state] if many else state[0][1]

        return Aggregate(k.array(kinds[0]) if many else kinds[0], (), add, result, counts_null=True)

    return factory


def _arbitrary(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None
    return Aggregate(kinds[0], (), lambda state, row: state or (row[0],), lambda state: state[0] if state else None)


def _last_value(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None
    return Aggregate(kinds[0], None, lambda state, row: row[0], lambda state: state)


def _array_agg(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None
    return Aggregate(k.array(kinds[0]), (), lambda state, row: (*state, row[0]), lambda state: list(state) or None, counts_null=True)


def _list(kinds: Kinds, dialect: str) -> Aggregate | None:
    """YDB's aggregate_list: of no rows, the empty list; nulls are dropped."""
    if len(kinds) != 1:
        return None
    return Aggregate(k.array(kinds[0]), (), lambda state, row: (*state, row[0]), list)


def _list_distinct(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None
    return Aggregate(k.array(kinds[0]), (), lambda state, row: state if row[0] in state else (*state, row[0]), list)


def _map_agg(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 2:
        return None

    def add(state: State, row: tuple[Any, ...]) -> State:
        key = v.hashable(row[0])
        return state if key is None or key in dict(state) else (*state, (key, row[1]))

    return Aggregate(SqlType("map", (kinds[0], kinds[1])), (), add, lambda state: dict(state) or None, counts_null=True)


def _multimap_agg(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 2:
        return None

    def result(state: State) -> Any:
        grouped: dict[Any, list[Any]] = {}
        for key, value in state:
            grouped.setdefault(key, []).append(value)
        return grouped or None

    def add(state: State, row: tuple[Any, ...]) -> State:
        return state if row[0] is None else (*state, (v.hashable(row[0]), row[1]))

    return Aggregate(SqlType("map", (kinds[0], k.array(kinds[1]))), (), add, result, counts_null=True)


def _all_or_any(is_all: bool) -> Factory:
    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) != 1 or kinds[0].name not in ("boolean", "any"):
            return None

        def add(state: State, row: tuple[Any, ...]) -> State:
            return row[0] if state is None else (state and row[0]) if is_all else (state or row[0])

        return Aggregate(k.BOOLEAN, None, add, lambda state: state)

    return factory


def _spread(of_sample: bool, is_variance: bool) -> Factory:
    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) != 1 or not k.is_number(kinds[0]):
            return None

        def add(state: State, row: tuple[Any, ...]) -> State:
            count, mean, squares = state
            value = float(row[0])
            count += 1
            before = value - mean
            mean += before / count
            return count, mean, squares + before * (value - mean)

        def result(state: State) -> Any:
            count, _, squares = state
            divisor = count - 1 if of_sample else count
            if divisor <= 0:
                return None
            value = squares / divisor if is_variance else math.sqrt(squares / divisor)
            return int(value) if whole else value

        whole = kinds[0].name in k.INTEGERS and dialect in ("flink", "alibaba")
        return Aggregate(kinds[0] if whole else k.DOUBLE, (0, 0.0, 0.0), add, result)

    return factory


def _as_real(value: float) -> float:
    """Return the nearest number of 32 bits."""
    try:
        real: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return real


def total(values: Iterable[float]) -> float:
    """Return the sum: NaN of both infinities, infinite beyond the doubles."""
    listed = list(values)
    try:
        return math.fsum(listed)
    except (ValueError, OverflowError):
        return sum(listed)


def _power(value: float, power: float) -> float:
    try:
        return float(value**power)
    except OverflowError:
        return math.inf if value > 0 or power % 2 == 0 else -math.inf


def _moments(result: Callable[[int, float, float, float], float | None]) -> Factory:
    """Return the factory of sums of powers of the deviations from the mean."""

    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) != 1 or not k.is_number(kinds[0]):
            return None

        def compute(state: State) -> Any:
            if not state:
                return None
            mean = total(state) / len(state)
            second, third, fourth = (total(_power(value - mean, power) for value in state) for power in (2, 3, 4))
            return result(len(state), second, third, fourth)

        return Aggregate(k.DOUBLE, (), lambda state, row: (*state, float(row[0])), compute)

    return factory


def _skewness(count: int, second: float, third: float, fourth: float) -> float | None:
    return None if count < 3 or not second else math.sqrt(count) * third / _power(second, 1.5)


def _kurtosis(count: int, second: float, third: float, fourth: float) -> float | None:
    if count < 4 or not second:
        return None
    n = float(count)
    return n * (n + 1) * (n - 1) / ((n - 2) * (n - 3)) * fourth / _power(second, 2) - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))


def _pairs(result: Callable[[int, float, float, float, float, float], float | None]) -> Factory:
    """Return the factory over two columns: count, means of both, sums of products of the deviations (x x, y y, x y); y is the first
    argument."""

    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) != 2 or not all(k.is_number(kind) for kind in kinds):
            return None
        kind = k.DOUBLE if any(each.name in ("double", "bigint") for each in kinds) else k.REAL

        def compute(state: State) -> Any:
            if not state:
                return None
            mean_y, mean_x = (total(pair[place] for pair in state) / len(state) for place in (0, 1))
            xx = total(_power(x - mean_x, 2) for _, x in state)
            yy = total(_power(y - mean_y, 2) for y, _ in state)
            xy = total((x - mean_x) * (y - mean_y) for y, x in state)
            value = result(len(state), mean_y, mean_x, xx, yy, xy)
            return value if value is None or kind == k.DOUBLE else _as_real(value)

        return Aggregate(kind, (), lambda state, row: (*state, (float(row[0]), float(row[1]))), compute)

    return factory


def _bits(combine: Callable[[int, int], int]) -> Factory:
    def factory(kinds: Kinds, dialect: str) -> Aggregate | None:
        if len(kinds) != 1 or kinds[0].name not in k.INTEGERS:
            return None
        return Aggregate(
            k.BIGINT, None, lambda state, row: row[0] if state is None else combine(state, row[0]), lambda state: state
        )

    return factory


def _geometric_mean(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1 or not k.is_number(kinds[0]):
        return None

    def add(state: State, row: tuple[Any, ...]) -> State:
        value = float(row[0])
        return state[0] + 1, state[1] + (math.log(value) if value > 0 else -math.inf if value == 0 else math.nan)

    return Aggregate(k.DOUBLE, (0, 0.0), add, lambda state: _power(math.e, state[1] / state[0]) if state[0] else None)


def _histogram(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None

    def add(state: State, row: tuple[Any, ...]) -> State:
        counts, key = dict(state), v.hashable(row[0])
        counts[key] = counts.get(key, 0) + 1
        return tuple(counts.items())

    return Aggregate(SqlType("map", (kinds[0], k.BIGINT)), (), add, lambda state: dict(state) or None)


def _approx_distinct(kinds: Kinds, dialect: str) -> Aggregate | None:
    """Return the exact number: it is within any error that a sketch may have."""
    if len(kinds) not in (1, 2) or not k.is_comparable(kinds[0]):
        return None
    return Aggregate(k.BIGINT, frozenset(), lambda state, row: state | {repr(row[0])}, len)


def _approx_percentile(kinds: Kinds, dialect: str) -> Aggregate | None:
    """Return the exact value at the rank: it is within any error that a sketch may have."""
    if len(kinds) != 2 or not k.is_number(kinds[0]) or not k.is_number(kinds[1]):
        return None
    kind = kinds[0] if kinds[0].name in ("double", "real") else k.BIGINT if kinds[0].name in k.INTEGERS else k.REAL

    def result(state: State) -> Any:
        values = sorted(value for value, _ in state)
        if not values:
            return None
        value = values[min(len(values) - 1, max(0, math.floor(float(state[0][1]) * len(values))))]
        return _as_real(float(value)) if isinstance(value, Decimal) else value

    return Aggregate(kind, (), lambda state, row: (*state, row), result)


def _text_aggregate(kinds: Kinds, dialect: str) -> Aggregate | None:
    if not 1 <= len(kinds) <= 2 or not all(k.is_text(kind) for kind in kinds):
        return None
    default = "," if dialect in ("flink", "alibaba") else ""

    def add(state: State, row: tuple[Any, ...]) -> State:
        return row[0] if state is None else join_texts(row[1] if len(row) > 1 else default, (state, row[0]))

    return Aggregate(k.VARCHAR, None, add, lambda state: state)


def _approx_set(kinds: Kinds, dialect: str) -> Aggregate | None:
    if len(kinds) != 1:
        return None
    return Aggregate(k.SKETCH, frozenset(), lambda state, row: state | {v.hashable(row[0])}, lambda state: state)


AGGREGATES: dict[str, Factory] = {
    "count": _count, "count_if": _count_if, "sum": _sum, "avg": _avg, "min": _extreme(-1), "max": _extreme(1),
    "min_by": _extreme_factory(-1),
    "max_by": _extreme_factory(1), "arbitrary": _arbitrary, "any_value": _arbitrary, "array_agg": _array_agg, "map_agg": _map_agg,
    "multimap_agg": _multimap_agg, "bool_and": _all_or_any(True), "every": _all_or_any(True), "bool_or": _all_or_any(False),
    "stddev": _spread(True, False), "stddev_samp": _spread(True, False), "stddev_pop": _spread(False, False),
    "variance": _spread(True, True), "var_samp": _spread(True, True), "var_pop": _spread(False, True), "listagg": _text_aggregate,
    "approx_set": _approx_set, "approx_distinct": _approx_distinct, "approx_percentile": _approx_percentile, "histogram": _histogram,
    "geometric_mean": _geometric_mean, "skewness": _moments(_skewness), "kurtosis": _moments(_kurtosis),
    "bitwise_and_agg": _bits(lambda a, b: a & b), "bitwise_or_agg": _bits(lambda a, b: a | b), "bitwise_xor_agg": _bits(lambda a, b: a ^ b),
    "covar_pop": _pairs(lambda count, y, x, xx, yy, xy: xy / count),
    "covar_samp": _pairs(lambda count, y, x, xx, yy, xy: xy / (count - 1) if count > 1 else None),
    "corr": _pairs(lambda count, y, x, xx, yy, xy: xy / math.sqrt(xx * yy) if xx and yy else math.nan if count > 1 else None),
    "regr_slope": _pairs(lambda count, y, x, xx, yy, xy: xy / xx if xx else math.nan if count > 1 else None),
    "regr_intercept": _pairs(lambda count, y, x, xx, yy, xy: y - xy / xx * x if xx else math.nan if count > 1 else None),
}  # fmt: skip
"""Aggregates of all dialects by their names in lower case."""
YDB_AGGREGATES: dict[str, Factory] = {
    "aggregate_list": _list, "agg_list": _list, "aggregate_list_distinct": _list_distinct, "agg_list_distinct": _list_distinct,
    "some": _arbitrary,
}  # fmt: skip


FLINK_AGGREGATES: dict[str, Factory] = {"first_value": _arbitrary, "last_value": _last_value}
OWN: dict[str, dict[str, Factory]] = {"ydb": YDB_AGGREGATES, "flink": FLINK_AGGREGATES, "alibaba": FLINK_AGGREGATES}
"""Dialect → its own aggregates."""


def distinct(aggregate: Aggregate) -> Aggregate:
    """Return the aggregate that counts equal arguments once."""

    def add(state: State, row: tuple[Any, ...]) -> State:
        seen, inner = state
        key = v.hashable(row)
        return state if key in seen else (seen | {key}, aggregate.add(inner, row))

    return Aggregate(
        aggregate.result_type, (frozenset(), aggregate.start), add, lambda state: aggregate.result(state[1]), aggregate.counts_null
    )


def find_aggregate(name: str, kinds: Kinds, dialect: str) -> Aggregate | None:
    """Return the aggregate of this name over arguments of these types; None where it does not take them."""
    factory = AGGREGATES.get(name) or OWN.get(dialect, {}).get(name)
    aggregate = None if factory is None else factory(kinds, dialect)
    return None if aggregate is None else attrs.evolve(aggregate, name=name)


def is_aggregate(name: str, dialect: str) -> bool:
    """Return whether the name is an aggregate's."""
    return name in AGGREGATES or name in OWN.get(dialect, {})


__all__ = ["Aggregate", "distinct", "find_aggregate", "is_aggregate"]
