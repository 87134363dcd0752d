"""Chunks of an event file in columns → ``send_batch``: the rows are processed as if they were sent one by one, several times as fast."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from epl.errors import EplRuntimeError
from epl.value_types import Scalar, ValueType
from runtime.api.runtime import Runtime, internal_engine
from runtime.connectors.cells import INSTANTS
from runtime.connectors.event_files import Chunk, FileFault
from runtime.connectors.row_reader import RowReader
from runtime.conversion.batch_order import unread_types

TIME, SEQUENCE = "--time", "--sequence"
"""Columns beside the properties; no property can be named so."""
NUMBERS: dict[str, Any] = {
    "byte": pa.int8(), "short": pa.int16(), "int": pa.int32(), "long": pa.int64(), "double": pa.float64(), "float": pa.float64(),
    "boolean": pa.bool_(),
}  # fmt: skip
TEXTS = ("String", "char", "LocalDate", "LocalTime", "LocalDateTime")
"""Kinds whose values may be given as text."""


class NoColumn(Exception):
    """Values that have to be looked at one by one."""


class Batches:
    """Sends whole chunks, in the order of their rows."""

    def __init__(self, runtime: Runtime, reader: RowReader) -> None:
        self.runtime = runtime
        self.reader = reader

    def json_schema(self, row: dict[str, Any]) -> pa.Schema | None:
        """Return the columns of JSON rows like this one, where they have plain values; None where they have others, or are not of one
        type."""
        reader = self.reader
        name = reader.type_name or (None if reader.type_column in row else reader.row_type_name(row))
        if name is None:
            return None
        fields: dict[str, Any] = {}
        for prop in self.runtime.event_type(name).properties.values():
            kind = _kind(prop.whole_type)
            is_instant = kind in INSTANTS or (kind == "long" and isinstance(row.get(prop.name), str))
            fields[prop.name] = pa.string() if is_instant or kind in TEXTS else NUMBERS.get(kind)
        time = reader.time_column
        if time is not None and time not in fields:
            fields[time] = {int: pa.int64(), str: pa.string()}.get(type(row.get(time)))
        return None if None in fields.values() else pa.schema(list(fields.items()))

    def feed(self, chunk: Chunk) -> int | None:
        """Process the chunk's rows and say how many they are; None, nothing having been done, where they have to be sent one by one: a
        value does not fit, time goes back, or a column has no place in a table."""
        columns = chunk.columns()
        if columns is None or not len(columns):
            return None
        begun = internal_engine(self.runtime).batches_begun
        try:
            tables = self._tables(columns, chunk.is_text)
            several = SEQUENCE if len(tables) > 1 else None
            time = TIME if self.reader.time_column is not None else None
            self.runtime.send_batch(tables, time=time, sequence=several, max_stops=sys.maxsize)
        except NoColumn:
            return None
        except (EplRuntimeError, FileFault, ValueError, OverflowError, pa.ArrowException):
            if internal_engine(self.runtime).batches_begun != begun:
                raise
            return None  # sent one by one, the row that is wrong is found
        return len(columns)

    def _tables(self, batch: pa.RecordBatch, is_text: bool) -> dict[str, pa.Table]:
        columns = dict(zip(batch.schema.names, batch.columns))
        times = self._times(columns, is_text)
        parts = self._parts(columns, len(batch))
        tables = {}
        for name, places in parts.items():
            event_type = self.reader.row_type(name)
            if self.reader.keeps_more(name, columns):
                raise NoColumn
            taken: dict[str, Any] = {}
            unread: Any = unread_types(event_type, internal_engine(self.runtime).properties_read.of(event_type))
            for prop in event_type.properties.values():
                if prop.name in unread:
                    taken[prop.name] = pa.nulls(len(batch) if places is None else len(places), unread[prop.name])
                    continue
                column = columns.get(prop.name)
                part = pa.nulls(len(batch)) if column is None else column
                taken[prop.name] = _convert_column(part if places is None else part.take(places), prop.whole_type, is_text)
            if times is not None:
                taken[TIME] = times if places is None else times.take(places)
            if places is not None:
                taken[SEQUENCE] = places
            tables[name] = pa.table(taken)
        return tables

    def _parts(self, columns: dict[str, Any], rows: int) -> dict[str, Any]:
        """Type name → places of its rows, None where all rows are of it."""
        reader = self.reader
        said = None if reader.type_name is not None else columns.get(reader.type_column)
        if said is None:
            name = reader.row_type_name({})
            if name is None:
                raise NoColumn
            return {name: None}
        if not kinds.is_string(said.type) or said.null_count:
            raise NoColumn
        names = pc.unique(said).to_pylist()
        if len(names) == 1:
            return {names[0]: None}
        return {name: pc.indices_nonzero(pc.equal(said, name)).cast(pa.int64()) for name in names}

    def _times(self, columns: dict[str, Any], is_text: bool) -> Any:
        """Engine time by row, which never goes back."""
        if self.reader.time_column is None:
            return None
        column = columns[self.reader.time_column]
        if kinds.is_string(column.type):
            column = _moments(column, is_text)
        if kinds.is_timestamp(column.type):
            times = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64()).to_numpy(zero_copy_only=False) // 1000
        elif kinds.is_integer(column.type) and not column.null_count:
            times = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
        else:
            raise NoColumn
        if column.null_count or times[0] < self.runtime.now or bool((times[1:] < times[:-1]).any()):
            raise NoColumn
        return pa.array(np.asarray(times, np.int64))


def _kind(value_type: ValueType) -> str:
    return value_type.kind if isinstance(value_type, Scalar) else ""


def _convert_column(column: Any, value_type: ValueType, is_text: bool) -> Any:
    """Return the column as ``send_batch`` takes it for a property of the type."""
    if not kinds.is_string(column.type):
        return column
    kind = _kind(value_type)
    if kind in TEXTS:
        return column
    if kind == "long" or kind in INSTANTS:
        return _moments(column, is_text)
    if not is_text or kind not in NUMBERS:
        raise NoColumn
    return _numbers(column, NUMBERS[kind])


def _numbers(column: Any, arrow_type: Any) -> Any:
    if kinds.is_integer(arrow_type) and pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
        raise NoColumn  # pyarrow reads 0x1f as a number
    try:
        return column.cast(arrow_type)
    except pa.ArrowInvalid:
        raise NoColumn from None


def _moments(column: Any, is_text: bool) -> Any:
    """Texts as ms, or as instants: with a zone, or all without one."""
    if is_text:
        try:
            return _numbers(column, pa.int64())
        except NoColumn:
            pass
    for zone in ("UTC", None):
        try:
            return column.cast(pa.timestamp("us", tz=zone))
        except pa.ArrowInvalid:
            continue
    raise NoColumn


__all__ = ["Batches"]
