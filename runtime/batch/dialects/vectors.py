"""Columns as arrays with a mask of nulls, and SQL's operators over them.

What would fail for some row (a division by zero, a number out of range) is not computed here: the row may never be asked for.
"""
from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.types import SqlType
from runtime.dialects.tables import arrow_type, in_microseconds

Array = np.ndarray[Any, Any]
MICROSECOND = datetime.timedelta(microseconds=1)
DAY_MICROSECONDS = 86_400_000_000
NUMBERS = (*k.INTEGERS, "double", "real")
INSTANTS = ("timestamp", "date", k.DAY_TIME.name)


class NotColumnar(Exception):
    """An expression, a type or a clause that is run row by row."""


@attrs.frozen(eq=False)
class Vector:
    """``values``: int64, float64 or bool; instants in microseconds, texts as places in ``words``, which are sorted. ``nulls``: None if
    there are none. One value (``is_constant``) stands for all rows."""

    kind: SqlType
    values: Array
    nulls: Array | None = None
    words: tuple[str, ...] | None = None
    is_constant: bool = False


def vector_of(column: Any, kind: SqlType) -> Vector:
    """Return an Arrow column as a vector."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    nulls = np.asarray(pc.is_null(column)) if column.null_count else None
    if kind.name in ("varchar", "char"):
        return _texts(column, kind, nulls)
    if kind.name == "boolean":
        return Vector(kind, np.asarray(pc.fill_null(column, False)), nulls)
    if kind.name in k.INTEGERS:
        if pa.types.is_uint64(column.type):
            raise NotColumnar("unsigned numbers of 64 bits")
        return Vector(kind, _filled(column.cast(pa.int64())), nulls)
    if kind.name in ("double", "real"):
        return Vector(kind, _filled(column.cast(pa.float64())), nulls)
    if kind.name == "timestamp":
        return Vector(kind, _filled(in_microseconds(column).cast(pa.int64())), nulls)
    if kind.name == "date":
        return Vector(kind, _filled(column.cast(pa.timestamp("us")).cast(pa.int64())), nulls)
    raise NotColumnar(f"columns of type {kind}")


def _filled(column: Any) -> Array:
    return np.asarray(pc.fill_null(column, 0) if column.null_count else column)


def _texts(column: Any, kind: SqlType, nulls: Array | None) -> Vector:
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words) + 1, np.int64)
    rank[order] = np.arange(len(words))
    codes = _filled(encoded.indices.cast(pa.int64()))
    return Vector(kind, rank[codes] if words else codes, nulls, tuple(words[place] for place in order))


def constant(kind: SqlType, value: Any) -> Vector:
    """Return one value for all rows."""
    if value is None:
        return Vector(kind, np.zeros(1, np.int64), np.ones(1, bool), is_constant=True)
    if isinstance(value, bool):
        return Vector(kind, np.array([value]), is_constant=True)
    if isinstance(value, datetime.datetime):
        return Vector(kind, np.array([(value - v.EPOCH) // MICROSECOND]), is_constant=True)
    if isinstance(value, datetime.date):
        return Vector(kind, np.array([(value - v.EPOCH.date()).days * DAY_MICROSECONDS]), is_constant=True)
    if isinstance(value, datetime.timedelta):
        return Vector(kind, np.array([value // MICROSECOND]), is_constant=True)
    if isinstance(value, str):
        return Vector(kind, np.zeros(1, np.int64), None, (value,), is_constant=True)
    if isinstance(value, float) or (isinstance(value, int) and kind.name in k.INTEGERS):
        return Vector(kind, np.array([value]), is_constant=True)
    raise NotColumnar(f"a constant of type {kind}")


def either_null(left: Vector, right: Vector) -> Array | None:
    """Return the rows where one of the two is null."""
    if left.nulls is None or right.nulls is None:
        return left.nulls if right.nulls is None else right.nulls
    return left.nulls | right.nulls


# operators

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def compared(sign: str, left: Vector, right: Vector) -> Vector:
    """Return ``left sign right``."""
    nulls = either_null(left, right)
    both = left.is_constant and right.is_constant
    if left.words is not None or right.words is not None:
        return _compared_texts(sign, left, right, nulls, both)
    if not _comparable(left.kind, right.kind):
        raise NotColumnar(f"{left.kind} {sign} {right.kind}")
    return Vector(k.BOOLEAN, COMPARE[sign](left.values, right.values), nulls, is_constant=both)


def _comparable(left: SqlType, right: SqlType) -> bool:
    """Return whether the arrays of both compare as the values do. A whole number beside a double is not: it may have more digits."""
    if left.name in INSTANTS and right.name in INSTANTS:
        return (left.name == k.DAY_TIME.name) == (right.name == k.DAY_TIME.name)
    return (left.name in NUMBERS and right.name in NUMBERS) or left.name == right.name == "boolean" or "unknown" in (left.name, right.name)


def _compared_texts(sign: str, left: Vector, right: Vector, nulls: Array | None, both: bool) -> Vector:
    if left.words is None or right.words is None:
        raise NotColumnar("a text beside something else")
    if left.words == right.words:
        return Vector(k.BOOLEAN, COMPARE[sign](left.values, right.values), nulls, is_constant=both)
    words = sorted({*left.words, *right.words})
    places = {word: place for place, word in enumerate(words)}
    mine, other = (np.array([places[word] for word in side.words or ()] or [0], np.int64)[side.values] for side in (left, right))
    return Vector(k.BOOLEAN, COMPARE[sign](mine, other), nulls, is_constant=both)


def arithmetic(sign: str, kind: SqlType, left: Vector, right: Vector) -> Vector:
    """Return ``left sign right`` of this type."""
    nulls = either_null(left, right)
    both = left.is_constant and right.is_constant
    if left.words is not None or right.words is not None:
        raise NotColumnar("arithmetic with texts")
    if kind.name in ("double", "real"):
        return Vector(kind, _doubles(sign, left.values.astype(np.float64), right.values.astype(np.float64)), nulls, is_constant=both)
    if kind.name in k.INTEGERS and left.kind.name in k.INTEGERS and right.kind.name in k.INTEGERS:
        return Vector(kind, _integers(sign, kind, left.values, right.values), nulls, is_constant=both)
    instants = left.kind.name in INSTANTS and right.kind.name in INSTANTS and "date" not in (left.kind.name, right.kind.name)
    if instants and sign in "+-" and kind.name in INSTANTS:
        return Vector(kind, left.values + right.values if sign == "+" else left.values - right.values, nulls, is_constant=both)
    raise NotColumnar(f"{left.kind} {sign} {right.kind}")


def _doubles(sign: str, left: Array, right: Array) -> Array:
    operations: dict[str, Any] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod}
    with np.errstate(all="ignore"):
        result: Array = operations[sign](left, right)
    return result


def _integers(sign: str, kind: SqlType, left: Array, right: Array) -> Array:
    limit = 1 << (k.BITS[kind.name] - 1)
    if sign in "/%":
        if not np.all(right):
            raise NotColumnar("a division by zero")
        quotient = np.abs(left) // np.abs(right) * np.sign(left) * np.sign(right)
        return quotient if sign == "/" else left - right * quotient
    estimate = _doubles(sign, left.astype(np.float64), right.astype(np.float64))
    if estimate.size and float(np.max(np.abs(estimate))) >= min(limit, 1 << 62):
        raise NotColumnar("a number that may be out of range")
    result: Array = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](left, right)
    return result


def negated(operand: Vector) -> Vector:
    """Return ``not operand``."""
    return attrs.evolve(operand, values=~operand.values.astype(bool))


def junction(operands: list[Vector], is_all: bool) -> Vector:
    """Return all of, or any of, in three-valued logic."""
    decided: Any = False
    unknown: Any = False
    for each in operands:
        value = each.values.astype(bool)
        ends = ~value if is_all else value
        if each.nulls is not None:
            ends = ends & ~each.nulls
            unknown = unknown | each.nulls
        decided = decided | ends
    nulls = None if unknown is False else unknown & ~decided
    return Vector(k.BOOLEAN, ~decided if is_all else decided, nulls, is_constant=all(each.is_constant for each in operands))


def as_instant(operand: Vector, kind: SqlType) -> Vector:
    """Return a date as a timestamp, a number as a double."""
    if kind.name == "timestamp" and operand.kind.name in ("date", "timestamp"):
        return attrs.evolve(operand, kind=kind)
    if kind.name in ("double", "real") and operand.kind.name in NUMBERS:
        return attrs.evolve(operand, kind=kind, values=operand.values.astype(np.float64))
    if kind.name in k.INTEGERS and operand.kind.name in k.INTEGERS and k.BITS[kind.name] >= k.BITS[operand.kind.name]:
        return attrs.evolve(operand, kind=kind)
    raise NotColumnar(f"a cast of {operand.kind} to {kind}")


def places(values: Array, nulls: Array | None = None) -> Any:
    """Return places of rows as Arrow takes them: null where there is none."""
    return pa.array(np.ascontiguousarray(values), pa.int64(), mask=nulls)


def filled_up(operand: Vector, count: int) -> tuple[Array, Array | None]:
    """Return values and nulls with one entry for each of the rows."""
    if not operand.is_constant and operand.values.shape[0] == count:
        return operand.values, operand.nulls
    values = np.broadcast_to(operand.values, (count,))
    return values, None if operand.nulls is None else np.broadcast_to(operand.nulls, (count,))


def arrow_of(operand: Vector, kind: SqlType, count: int) -> Any:
    """Return a vector as an Arrow column of so many rows."""
    values, nulls = filled_up(operand, count)
    if operand.words is not None:
        return pa.array(operand.words, pa.string()).take(places(values, nulls))
    if kind.name in ("unknown", "any"):
        raise NotColumnar(f"a column of type {kind}")
    if kind.name in ("timestamp", "date"):
        return pa.array(values, pa.timestamp("us"), mask=nulls).cast(arrow_type(kind, ()), safe=False)
    if kind.name == k.DAY_TIME.name:
        return pa.array(values, pa.duration("us"), mask=nulls)
    return pa.array(np.ascontiguousarray(values), mask=nulls).cast(arrow_type(kind, ()))


__all__ = [
    "Array", "NotColumnar", "Vector", "arithmetic", "arrow_of", "as_instant", "compared", "constant", "filled_up", "junction", "negated",
    "places", "vector_of",
]  # fmt: skip
