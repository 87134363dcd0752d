"""Expressions that have no operation over whole columns: their row functions are called once for each combination of values.

What fails for some row is not computed here: the row may never be asked for.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from epl.dialects import typed as y
from epl.errors import EplError
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.vectors import Array, Leaf, NotColumnar, Vector
from runtime.dialects.expressions import ExpressionCompiler, Function
from runtime.dialects.tables import arrow_type, read_rows

LEAVES = (y.ColumnValue, y.Navigated, y.AggregateValue, y.MatchNumber)
NOT_OF_ROWS = (y.QueryValue, y.Outer, y.RowLabel, y.MatchTime)
SCALARS = frozenset({
    "boolean", "tinyint", "smallint", "integer", "bigint", "double", "real", "varchar", "char", "date", "timestamp", "decimal",
    "interval day to second",
})  # fmt: skip
"""Types of values that are computed here: none that an expression makes long."""
DENSE = 4
"""Codes are counted in an array of so many entries for each row, and sorted where there are more."""


class _OverLeaves(ExpressionCompiler):
    """Compiles an expression over the tuple of its leaves' values."""

    def __init__(self, leaves: Sequence[y.Typed]) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # it runs no query
        self.places = {leaf: place for place, leaf in enumerate(leaves)}

    def field(self, typed: y.ColumnValue) -> Function:
        return self.leaf(typed)

    def leaf(self, typed: y.Typed) -> Function:
        place = self.places[typed]
        return lambda values: values[place]


def vector(typed: y.Typed, leaf: Leaf) -> Vector:
    """Return the expression's values for all rows; raise NotColumnar where one fails."""
    if not _leaves(typed):
        return x.constant(typed.type, _value(typed))
    return x.read_vector(column(typed, leaf), typed.type)


def _value(typed: y.Typed) -> Any:
    """Return the one value of an expression that reads nothing."""
    try:
        return _OverLeaves(()).compile_expression(typed)(())
    except (ArithmeticError, ValueError, TypeError, LookupError, EplError) as error:
        raise NotColumnar("a value that fails") from error


def column(typed: y.Typed, leaf: Leaf) -> Any:
    """Return the expression's values for all rows as an Arrow column; raise NotColumnar where one fails."""
    leaves = list(dict.fromkeys(_leaves(typed)))
    if typed.type.name not in SCALARS or not leaves:
        raise NotColumnar(type(typed).__name__)
    vectors = [leaf(each) for each in leaves]
    count = max(len(each.values) for each in vectors)
    first, place = _combinations(vectors, count)
    columns = [x.write_arrow(each, node.type, count).take(x.places(first)) for each, node in zip(vectors, leaves)]
    rows = read_rows(pa.Table.from_arrays(columns, names=[str(number) for number in range(len(columns))]))
    function = _OverLeaves(leaves).compile_expression(typed)
    try:
        return pa.array([function(row) for row in rows], arrow_type(typed.type, ())).take(x.places(place))
    except (ArithmeticError, ValueError, TypeError, LookupError, EplError) as error:
        raise NotColumnar("a value that fails") from error


def _leaves(typed: y.Typed) -> list[y.Typed]:
    """Return what the expression reads of rows and matches."""
    if isinstance(typed, LEAVES):
        return [typed]
    if isinstance(typed, NOT_OF_ROWS):
        raise NotColumnar(type(typed).__name__)
    return [leaf for part in y.parts(typed) for leaf in _leaves(part)]


def _combinations(vectors: Sequence[Vector], count: int) -> tuple[Array, Array]:
    """Return a row of each combination of values, and for each row the place of its combination."""
    codes, many = np.zeros(count, np.int64), 1
    for each in vectors:
        own, size = _codes(each, count)
        codes, many = _numbered(codes * size + own, many * size)
    first = np.empty(many, np.int64)
    first[codes[::-1]] = np.arange(count - 1, -1, -1)
    return first, codes


def _codes(operand: Vector, count: int) -> tuple[Array, int]:
    """Return a code for each row, 0 for null, and one more than the largest."""
    values, nulls = x.broadcast(operand, count)
    values = np.ascontiguousarray(values)
    known = values.view(np.int64) if values.dtype == np.float64 else values.astype(np.int64)
    low, high = (int(known.min()), int(known.max())) if count else (0, 0)
    codes, many = (known - low, high - low + 1) if high - low < DENSE * count else _numbered(known, None)
    codes = codes + 1
    if nulls is not None:
        codes[nulls] = 0
    return codes, many + 1


def _numbered(codes: Array, below: int | None) -> tuple[Array, int]:
    """Return the codes numbered without a gap, and how many there are. ``below``: what all codes are less than."""
    if below is None or below > DENSE * len(codes):
        distinct, numbered = np.unique(codes, return_inverse=True)
        return numbered.reshape(-1), len(distinct)
    number = np.zeros(below, np.int64)
    number[codes] = 1
    many = int(number.sum())
    np.cumsum(number, out=number)
    return number[codes] - 1, many


__all__ = ["column", "vector"]
