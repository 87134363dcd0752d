"""Arrow columns → arrays as kernels take them: values in the kind's storage, and where they are not null."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from runtime.batch.arrays import Array
from runtime.batch.refusals import Declined
from runtime.batch.scalars import DTYPES, INSTANTS, TEXTS
from runtime.batch.strings import StringPool
from runtime.columns import Columns


class Intake:
    """The columns of one batch of one type, each converted at most once a pool."""

    def __init__(self, columns: Columns) -> None:
        self.rows = columns.rows
        self._data = columns.data
        self._made: dict[tuple[str, str, int], tuple[Array, Array]] = {}
        self._all_there: Array | None = None

    def column(self, name: str, kind: str, pool: StringPool) -> tuple[Array, Array]:
        """(values, valid); raises Declined where the Arrow type does not decide that every value fits."""
        key = (name, kind, id(pool) if kind in TEXTS else 0)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._convert(one_array(self._data[name], name), kind, pool)
        return found

    def arrow(self, name: str) -> Any:
        """The column as it came."""
        return one_array(self._data[name], name)

    def _valid(self, column: pa.Array[Any]) -> Array:
        if column.null_count:
            return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        if self._all_there is None:
            self._all_there = np.ones(self.rows, np.bool_)
        return self._all_there

    def _convert(self, column: pa.Array[Any], kind: str, pool: StringPool) -> tuple[Array, Array]:
        arrow = column.type
        if kind in TEXTS:
            inner = arrow.value_type if kinds.is_dictionary(arrow) else arrow
            if not (kinds.is_string(inner) or kinds.is_large_string(inner)):
                raise Declined(f"a column of type {arrow} for a {kind}")
            return pool.encode(column), self._valid(column)
        if kind in INSTANTS:
            if not kinds.is_timestamp(arrow) or (arrow.tz is None) is not (kind == "LocalDateTime"):
                raise Declined(f"a column of type {arrow} for a {kind}")
            column = column.cast(pa.timestamp("us", tz=arrow.tz), safe=False).view(pa.int64())
        elif not _holds(arrow, kind):
            raise Declined(f"a column of type {arrow} for a {kind}")
        valid = self._valid(column)
        if column.null_count:
            column = pc.fill_null(column, pa.scalar(0).cast(arrow))
        return np.asarray(column.to_numpy(zero_copy_only=False), DTYPES[kind]), valid


def _holds(arrow: pa.DataType, kind: str) -> bool:
    """Whether every value of the Arrow type is one of the kind, as it is."""
    if kind == "boolean":
        return bool(kinds.is_boolean(arrow))
    if kind == "double":
        return bool(kinds.is_floating(arrow))
    if kind == "float":
        return bool(kinds.is_float32(arrow))
    bits = {"byte": 8, "short": 16, "int": 32, "long": 64}[kind]
    return bool(kinds.is_signed_integer(arrow)) and arrow.bit_width <= bits


def one_array(column: Any, name: str) -> Any:
    """The column as one Arrow array; raises Declined for Python objects."""
    if isinstance(column, list):
        raise Declined(f"column '{name}' holds Python objects")
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column
