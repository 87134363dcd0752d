"""Columns as arrays with a mask of nulls, and SQL's operators over them.

What would fail for some row (a division by zero, a number out of range) is not computed here: the row may never be asked for.
"""
from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.types import SqlType
from runtime.dialects.tables import arrow_type, in_microseconds

Array = np.ndarray[Any, Any]
MOST_WHOLE = 1 << 62
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


Leaf = Callable[[y.Typed], Vector]
"""Gives the values of what an expression reads of rows and matches; raises NotColumnar."""


def read_vector(column: Any, kind: SqlType) -> Vector:
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
        return Vector(kind, _fill_nulls(column.cast(pa.int64())), nulls)
    if kind.name in ("double", "real"):
        return Vector(kind, _fill_nulls(column.cast(pa.float64())), nulls)
    if kind.name == "timestamp":
        return Vector(kind, _fill_nulls(in_microseconds(column).cast(pa.int64())), nulls)
    if kind.name == "date":
        return Vector(kind, _fill_nulls(column.cast(pa.timestamp("us")).cast(pa.int64())), nulls)
    if kind.name == "decimal":
        return Vector(kind, _whole(column), nulls)
    if kind.name == k.DAY_TIME.name:
        return Vector(kind, _fill_nulls(in_microseconds(column).cast(pa.int64())), nulls)
    raise NotColumnar(f"columns of type {kind}")


def _whole(column: Any) -> Array:
    """Return decimals as whole numbers of their last digit."""
    if column.type.bit_width != 128:
        raise NotColumnar("decimals of another width")
    halves = np.frombuffer(column.buffers()[1] or b"", np.int64)[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    low, high = halves[:, 0], halves[:, 1]
    valid = np.ones(len(column), bool) if not column.null_count else np.asarray(pc.is_valid(column))
    if np.any((high != low >> 63) & valid):
        raise NotColumnar("decimals of many digits")
    return np.where(valid, low, 0)


def _decimals(values: Array, nulls: Array | None, kind: SqlType) -> Any:
    """Return whole numbers of their last digit as an Arrow column of decimals."""
    halves = np.stack([values, values >> 63], 1).astype(np.int64)
    mask = None if nulls is None else pa.array(~nulls).buffers()[1]
    return pa.Array.from_buffers(arrow_type(kind, ()), len(values), [mask, pa.py_buffer(halves.tobytes())])


def _fill_nulls(column: Any) -> Array:
    return np.asarray(pc.fill_null(column, 0) if column.null_count else column)


def _texts(column: Any, kind: SqlType, nulls: Array | None) -> Vector:
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words) + 1, np.int64)
    rank[order] = np.arange(len(words))
    codes = _fill_nulls(encoded.indices.cast(pa.int64()))
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
    if isinstance(value, decimal.Decimal) and kind.name == "decimal":
        return Vector(kind, np.array([_scaled(value, k.precision_and_scale(kind)[1])]), is_constant=True)
    raise NotColumnar(f"a constant of type {kind}")


def _scaled(value: decimal.Decimal, scale: int) -> int:
    """Return a decimal as a whole number of its last digit."""
    whole = int(value.scaleb(scale, v.EXACT))
    if abs(whole) >= MOST_WHOLE:
        raise NotColumnar("decimals of many digits")
    return whole


def with_scale(operand: Vector, scale: int) -> Array:
    """Return a decimal, or a whole number, as whole numbers of its last digit of so many digits."""
    own = k.precision_and_scale(operand.kind)[1] if operand.kind.name == "decimal" else 0
    if scale < own or scale - own > 18:
        raise NotColumnar("decimals of many digits")
    factor = 10 ** (scale - own)
    if operand.values.size and float(np.max(np.abs(operand.values))) * factor >= MOST_WHOLE:
        raise NotColumnar("decimals of many digits")
    scaled: Array = operand.values * factor
    return scaled


def _are_exact(*operands: Vector) -> bool:
    """Return whether one of the values is a decimal, and all are decimals or whole numbers."""
    names = {each.kind.name for each in operands}
    return "decimal" in names and names <= {"decimal", *k.INTEGERS}


def either_null(left: Vector, right: Vector) -> Array | None:
    """Return the rows where one of the two is null."""
    if left.nulls is None or right.nulls is None:
        return left.nulls if right.nulls is None else right.nulls
    return left.nulls | right.nulls


# operators

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def compare_vectors(sign: str, left: Vector, right: Vector) -> Vector:
    """Return ``left sign right``."""
    nulls = either_null(left, right)
    both = left.is_constant and right.is_constant
    if left.words is not None or right.words is not None:
        return _compare_texts(sign, left, right, nulls, both)
    if _are_exact(left, right):
        scale = max(k.precision_and_scale(each.kind)[1] for each in (left, right) if each.kind.name == "decimal")
        return Vector(k.BOOLEAN, COMPARE[sign](with_scale(left, scale), with_scale(right, scale)), nulls, is_constant=both)
    if not _comparable(left.kind, right.kind):
        raise NotColumnar(f"{left.kind} {sign} {right.kind}")
    return Vector(k.BOOLEAN, COMPARE[sign](left.values, right.values), nulls, is_constant=both)


def _comparable(left: SqlType, right: SqlType) -> bool:
    """Return whether the arrays of both compare as the values do. A whole number beside a double is not: it may have more digits."""
    if left.name in INSTANTS and right.name in INSTANTS:
        return (left.name == k.DAY_TIME.name) == (right.name == k.DAY_TIME.name)
    return (left.name in NUMBERS and right.name in NUMBERS) or left.name == right.name == "boolean" or "unknown" in (left.name, right.name)


def _compare_texts(sign: str, left: Vector, right: Vector, nulls: Array | None, both: bool) -> Vector:
    if left.words is None or right.words is None:
        raise NotColumnar("a text beside something else")
    return Vector(k.BOOLEAN, COMPARE[sign](*among_words(left, right)), nulls, is_constant=both)


def among_words(left: Vector, right: Vector) -> tuple[Array, Array]:
    """Return the places of the texts of both among the words of both."""
    if left.words == right.words:
        return left.values, right.values
    places = {word: place for place, word in enumerate(sorted({*(left.words or ()), *(right.words or ())}))}
    mine, other = (np.array([places[word] for word in side.words or ()] or [0], np.int64)[side.values] for side in (left, right))
    return mine, other


def arithmetic(sign: str, kind: SqlType, left: Vector, right: Vector) -> Vector:
    """Return ``left sign right`` of this type."""
    nulls = either_null(left, right)
    both = left.is_constant and right.is_constant
    if left.words is not None or right.words is not None:
        raise NotColumnar("arithmetic with texts")
    if kind.name in ("double", "real"):
        one, other = (as_instant(each, k.DOUBLE).values if each.kind.name == "decimal" else each.values for each in (left, right))
        return Vector(kind, _doubles(sign, one.astype(np.float64), other.astype(np.float64)), nulls, is_constant=both)
    if kind.name in k.INTEGERS and left.kind.name in k.INTEGERS and right.kind.name in k.INTEGERS:
        return Vector(kind, _integers(sign, kind, left.values, right.values), nulls, is_constant=both)
    if kind.name == "decimal" and _are_exact(left, right) and sign in "+-*":
        return Vector(kind, _exactly(sign, kind, left, right), nulls, is_constant=both)
    instants = left.kind.name in INSTANTS and right.kind.name in INSTANTS and "date" not in (left.kind.name, right.kind.name)
    if instants and sign in "+-" and kind.name in INSTANTS:
        return Vector(kind, left.values + right.values if sign == "+" else left.values - right.values, nulls, is_constant=both)
    raise NotColumnar(f"{left.kind} {sign} {right.kind}")


def _exactly(sign: str, kind: SqlType, left: Vector, right: Vector) -> Array:
    """Return a sum, a difference or a product of decimals, of which no digit is lost."""
    precision, scale = k.precision_and_scale(kind)
    if sign == "*":
        scales = [k.precision_and_scale(each.kind)[1] if each.kind.name == "decimal" else 0 for each in (left, right)]
        if sum(scales) != scale:
            raise NotColumnar("a product of decimals that is rounded")
        one, other = left.values, right.values
    else:
        one, other = with_scale(left, scale), with_scale(right, scale)
    estimate = _doubles(sign, one.astype(np.float64), other.astype(np.float64))
    if estimate.size and float(np.max(np.abs(estimate))) >= min(10.0**precision, MOST_WHOLE):
        raise NotColumnar("decimals of many digits")
    result: Array = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](one, other)
    return result


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


def spans(unit: int, start: Vector, end: Vector) -> Vector:
    """Return how many times a unit, in microseconds, fits between two moments: as a quotient of doubles, cut."""
    if not {start.kind.name, end.kind.name} <= {"timestamp", "date"}:
        raise NotColumnar("other moments")
    distance = end.values - start.values
    if distance.size and float(np.max(np.abs(distance))) >= 2**53:
        raise NotColumnar("moments far apart")
    both = start.is_constant and end.is_constant
    return Vector(k.BIGINT, np.trunc(distance / unit).astype(np.int64), either_null(start, end), is_constant=both)


def same(left: Vector, right: Vector, negated: bool) -> Vector:
    """Return ``left is [not] distinct from right``."""
    equal = compare_vectors("=", left, right)
    one, other = _absent(left), _absent(right)
    values = np.where(one | other, one & other, equal.values)
    return Vector(k.BOOLEAN, ~values if negated else values, None, is_constant=equal.is_constant)


def chosen(conditions: list[Vector], values: list[Vector], kind: SqlType) -> Vector:
    """Return the value of the first condition that holds, the last value where none does."""
    if any(each.words is not None or _family(each.kind) != _family(kind) for each in values) or kind.name == "decimal":
        raise NotColumnar("a choice of other values")
    result, absent = values[-1].values, _absent(values[-1])
    for condition, value in zip(reversed(conditions), reversed(values[:-1])):
        holds = condition.values.astype(bool) & ~_absent(condition)
        result, absent = np.where(holds, value.values, result), np.where(holds, _absent(value), absent)
    return Vector(kind, result, absent if absent.any() else None, is_constant=all(each.is_constant for each in (*conditions, *values)))


def present(operand: Vector) -> Vector:
    """Return ``operand is not null``."""
    return Vector(k.BOOLEAN, ~_absent(operand), None, is_constant=operand.is_constant)


def _family(kind: SqlType) -> str:
    return "bigint" if kind.name in k.INTEGERS else kind.name


def _absent(operand: Vector) -> Array:
    return np.zeros(operand.values.shape, bool) if operand.nulls is None else operand.nulls


def negate_vector(operand: Vector) -> Vector:
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
    if kind.name == "double" and operand.kind.name == "decimal":
        digits = k.precision_and_scale(operand.kind)[1]
        if digits > 22 or (operand.values.size and float(np.max(np.abs(operand.values))) >= 2**53):
            raise NotColumnar("decimals with more digits than a double has")
        return attrs.evolve(operand, kind=kind, values=operand.values.astype(np.float64) / 10.0**digits)
    if kind.name in ("double", "real") and operand.kind.name in NUMBERS:
        return attrs.evolve(operand, kind=kind, values=operand.values.astype(np.float64))
    if kind.name in k.INTEGERS and operand.kind.name in k.INTEGERS and k.BITS[kind.name] >= k.BITS[operand.kind.name]:
        return attrs.evolve(operand, kind=kind)
    raise NotColumnar(f"a cast of {operand.kind} to {kind}")


def places(values: Array, nulls: Array | None = None) -> Any:
    """Return places of rows as Arrow takes them: null where there is none."""
    return pa.array(np.ascontiguousarray(values), pa.int64(), mask=nulls)


def broadcast(operand: Vector, count: int) -> tuple[Array, Array | None]:
    """Return values and nulls with one entry for each of the rows."""
    if not operand.is_constant and operand.values.shape[0] == count:
        return operand.values, operand.nulls
    values = np.broadcast_to(operand.values, (count,))
    return values, None if operand.nulls is None else np.broadcast_to(operand.nulls, (count,))


def write_arrow(operand: Vector, kind: SqlType, count: int) -> Any:
    """Return a vector as an Arrow column of so many rows."""
    values, nulls = broadcast(operand, count)
    if operand.words is not None:
        return pa.array(operand.words, pa.string()).take(places(values, nulls))
    if kind.name in ("unknown", "any"):
        raise NotColumnar(f"a column of type {kind}")
    if kind.name == "decimal":
        return _decimals(values, nulls, kind)
    if kind.name in ("timestamp", "date"):
        return pa.array(values, pa.timestamp("us"), mask=nulls).cast(arrow_type(kind, ()), safe=False)
    if kind.name == k.DAY_TIME.name:
        return pa.array(values, pa.duration("us"), mask=nulls)
    return pa.array(np.ascontiguousarray(values), mask=nulls).cast(arrow_type(kind, ()))


__all__ = [
    "Array",
    "Leaf",
    "NotColumnar",
    "Vector",
    "among_words",
    "arithmetic",
    "as_instant",
    "broadcast",
    "chosen",
    "compare_vectors",
    "constant",
    "junction",
    "negate_vector",
    "places",
    "present",
    "read_vector",
    "same",
    "spans",
    "with_scale",
    "write_arrow",
]  # fmt: skip
