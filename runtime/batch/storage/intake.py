"""One batch of one event type: its Arrow columns as arrays that kernels take, as columns of the declared types, and as events."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.value_types import Scalar, ValueType
from runtime.batch.refusals import Declined
from runtime.batch.storage.arrays import Array, read_only
from runtime.batch.storage.kinds import DTYPES, INSTANTS, TEXTS
from runtime.batch.storage.strings import StringPool
from runtime.conversion.arrow import to_arrow_column, to_batch, value_arrow_type
from runtime.conversion.columns import Columns, fits, read_columns
from runtime.conversion.from_columns import property_column, read_events
from runtime.expressions.structs import PRIMITIVE_DEFAULTS
from windows.event import Event


class BatchIntake:
    """The columns of one batch, each converted at most once a pool. ``events``: the rows as objects, the same one for the same row."""

    def __init__(self, event_type: EventType, columns: Columns, units_per_second: int = 1000, events: Sequence[Event] = ()) -> None:
        self.event_type = event_type
        self.rows = columns.rows
        self._columns = columns
        self._units = units_per_second
        self._made: dict[tuple[str, str, int], tuple[Array, Array]] = {}
        self._through: dict[str, Any] = {}
        self._events: dict[int, Event] = dict(enumerate(events))

    @classmethod
    def of(cls, event_type: EventType, events: Sequence[Event], units_per_second: int = 1000) -> BatchIntake:
        """Return events that are there already, as a batch; raise Declined where a column cannot hold its values."""
        for name, prop in event_type.properties.items():
            if _is_zoned(prop.whole_type) and not _all_in_utc([event.get(name) for event in events]):
                raise Declined(f"times of '{name}' that are not in UTC, whose zone a column does not hold")
        try:
            batch = to_batch(events, event_type)
        except EplRuntimeError as error:
            raise Declined(str(error)) from error
        return cls(event_type, read_columns(batch, event_type.name), units_per_second, events)

    @classmethod
    def join_batches(cls, parts: Sequence[BatchIntake]) -> BatchIntake:
        """Return batches one after the other, without dictionaries; events that have been made stay the same objects."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        data: dict[str, Any] = {}
        for name in first._columns.data:
            columns: list[Any] = _of_one_type([_plain(part._columns.data[name]) for part in parts])
            alike = all(not isinstance(c, list) and c.type == columns[0].type for c in columns)
            data[name] = pa.concat_arrays(columns) if alike else [v for c in columns for v in (c if isinstance(c, list) else c.to_pylist())]
        joined = cls(first.event_type, Columns(data, sum(p.rows for p in parts), first._columns.pandas), first._units)
        begin = 0
        for part in parts:
            joined._events.update({begin + place: event for place, event in part._events.items()})
            begin += part.rows
        return joined

    @cached_property
    def has_dictionaries(self) -> bool:
        """Whether a column of strings came with a dictionary: then those of the output have one."""
        return any(not isinstance(c, list) and kinds.is_dictionary(c.type) for c in self._columns.data.values())

    # ------------------------------------------------------------------ columns

    def check(self) -> None:
        """Check that every property's values fit it. What their Arrow type does not decide is looked at, and put into the declared one;
        raise EplRuntimeError naming type, column, row and value. What Arrow cannot hold stays Python objects, which kernels decline."""
        changed: dict[str, Any] = {}
        for name, prop in self.event_type.properties.items():
            column, declared = self._columns.data[name], prop.whole_type
            if not isinstance(column, list) and isinstance(declared, Scalar) and fits(_decode_type(column.type), declared.kind):
                continue
            if not isinstance(column, list) and _is_null(column) and column.type == value_arrow_type(declared):
                continue
            values = property_column(self.event_type, name, self._columns, self._units)
            changed[name] = _array(values, declared)
        if changed:
            self._columns = attrs.evolve(self._columns, data={**self._columns.data, **changed})

    def select_rows(self, rows: Array) -> BatchIntake:
        """Return some of the rows, as a batch of their own."""
        places = pa.array(rows, pa.int64())
        data = {
            name: [column[row] for row in rows] if isinstance(column, list) else column.take(places)
            for name, column in self._columns.data.items()
        }
        columns = attrs.evolve(self._columns, data=data, rows=len(rows))
        selection = BatchIntake(self.event_type, columns, self._units)
        selection._events = {place: self._events[row] for place, row in enumerate(rows.tolist()) if row in self._events}
        return selection

    # ------------------------------------------------------------------ arrays

    def column(self, name: str, kind: str, pool: StringPool) -> tuple[Array, Array]:
        """Return (values, valid); raise Declined where the Arrow type does not decide that every value fits."""
        key = (name, kind, id(pool) if kind in TEXTS else 0)
        arrays = self._made.get(key)
        if arrays is None:
            values, valid = self._convert(_within_python(one_array(self._columns.data[name], name)), kind, pool)
            arrays = self._made[key] = read_only(values), read_only(valid)
        return arrays

    def arrow(self, name: str) -> Any:
        """Return the column in its declared Arrow type, string columns as they came (perhaps with a dictionary); raise Declined."""
        array = self._through.get(name)
        if array is None:
            array = self._through[name] = self._typed_column(name)
        return array

    def _typed_column(self, name: str) -> Any:
        column, declared = _within_python(one_array(self._columns.data[name], name)), self.event_type.properties[name].whole_type
        arrow_type = value_arrow_type(declared)
        if isinstance(declared, Scalar) and declared.primitive and column.null_count:
            column = pc.fill_null(column, pa.scalar(PRIMITIVE_DEFAULTS[declared.kind], column.type))
        if column.type == arrow_type or (kinds.is_dictionary(column.type) and column.type.value_type == arrow_type == pa.string()):
            return column
        if isinstance(declared, Scalar) and declared.kind in DTYPES and _holds(column.type, declared.kind):
            return column.cast(arrow_type)
        raise Declined(f"a column of type {column.type} for {declared}")

    def _valid(self, column: pa.Array[Any]) -> Array:
        if column.null_count:
            return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        return _all_there(1 << self.rows.bit_length())[: self.rows]

    def _convert(self, column: pa.Array[Any], kind: str, pool: StringPool) -> tuple[Array, Array]:
        arrow = column.type
        if not _holds(arrow, kind):
            raise Declined(f"a column of type {arrow} for a {kind}")
        if kind in TEXTS:
            return pool.encode(column), self._valid(column)
        if kind in INSTANTS:
            column = column.cast(pa.timestamp("us", tz=arrow.tz), safe=False).view(pa.int64())
        valid = self._valid(column)
        if column.null_count:
            column = pc.fill_null(column, pa.scalar(0).cast(column.type))
        return np.asarray(column.to_numpy(zero_copy_only=False), DTYPES[kind]), valid

    # ------------------------------------------------------------------ events

    def events(self, rows: Iterable[int]) -> list[Event]:
        """Return the rows as events; raise EplRuntimeError naming type, column, row and value where one does not fit."""
        asked = list(rows)
        missing = [row for row in dict.fromkeys(asked) if row not in self._events]
        if missing:
            places = pa.array(missing, pa.int64())
            data = {
                name: [column[row] for row in missing] if isinstance(column, list) else column.take(places)
                for name, column in self._columns.data.items() if name in self.event_type.properties
            }
            events = read_events(self.event_type, Columns(data, len(missing), self._columns.pandas), self._units)
            self._events.update(zip(missing, events))
        return [self._events[row] for row in asked]

    def take_rows(self, rows: Array) -> BatchIntake:
        """Return these rows alone, in this order: what others of the batch held can go. Rows that were asked for as events stay these
        events."""
        places = rows.tolist()
        chosen = pa.array(rows, pa.int64())
        data = {
            name: [column[row] for row in places] if isinstance(column, list) else _compact(one_array(column, name).take(chosen))
            for name, column in self._columns.data.items() if name in self.event_type.properties
        }
        taken = BatchIntake(self.event_type, Columns(data, len(places), self._columns.pandas), self._units)
        if self._events:
            taken._events = {place: self._events[row] for place, row in enumerate(places) if row in self._events}
        return taken


@lru_cache(maxsize=4)
def _all_there(rows: int) -> Array:
    return read_only(np.ones(rows, np.bool_))


def _plain(column: Any) -> Any:
    """Return one array without a dictionary, or Python objects."""
    if isinstance(column, list):
        return column
    array = one_array(column, "")
    return array.cast(array.type.value_type) if kinds.is_dictionary(array.type) else array


def _is_null(column: Any) -> bool:
    """Return whether it is an Arrow column without a value, as one that no statement reads."""
    return not isinstance(column, list) and column.null_count == len(column)


def _of_one_type(columns: list[Any]) -> list[Any]:
    """Return the columns, those without a value in the type of the others, if these have one."""
    others = {None if isinstance(column, list) else column.type for column in columns if not _is_null(column)}
    arrow = others.pop() if len(others) == 1 else None
    return columns if arrow is None else [pa.nulls(len(column), arrow) if _is_null(column) else column for column in columns]


def _compact(column: Any) -> Any:
    """Return the column without the values of its dictionary that no row has any more."""
    if not kinds.is_dictionary(column.type) or len(column.dictionary) <= 2 * len(column):
        return column
    encoded = pc.dictionary_encode(column.cast(column.type.value_type))
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(column.type.index_type), encoded.dictionary)


def _holds(arrow: pa.DataType, kind: str) -> bool:
    """Return whether every value of the Arrow type is one of the kind, as it is."""
    if kind in TEXTS:
        inner = arrow.value_type if kinds.is_dictionary(arrow) else arrow
        return bool(kinds.is_string(inner) or kinds.is_large_string(inner))
    if kind in INSTANTS:
        return isinstance(arrow, pa.TimestampType) and (arrow.tz is None) is (kind == "LocalDateTime")
    if kind == "boolean":
        return bool(kinds.is_boolean(arrow))
    if kind == "double":
        return bool(kinds.is_floating(arrow))
    if kind == "float":
        return bool(kinds.is_float32(arrow))
    bits = {"byte": 8, "short": 16, "int": 32, "long": 64}[kind]
    return bool(kinds.is_signed_integer(arrow)) and arrow.bit_width <= bits


def _decode_type(arrow: pa.DataType) -> pa.DataType:
    return arrow.value_type if kinds.is_dictionary(arrow) else arrow


def _is_zoned(value_type: ValueType) -> bool:
    """Return whether values have a zone of their own; a Date is an instant."""
    return isinstance(value_type, Scalar) and value_type.kind in ("Calendar", "ZonedDateTime", "OffsetDateTime")


def _all_in_utc(values: list[Any]) -> bool:
    return all(str(value.tzinfo) == "UTC" for value in values if value is not None)


def _array(values: list[Any], value_type: ValueType) -> Any:
    if _is_zoned(value_type) and not _all_in_utc(values):
        return values
    try:
        return to_arrow_column(values, value_type)
    except (pa.ArrowException, OverflowError, ValueError):
        return values  # a decimal beyond Arrow's, say: events can hold it


def one_array(column: Any, name: str) -> Any:
    """Return the column as one Arrow array; raise Declined for Python objects."""
    if isinstance(column, list):
        raise Declined(f"column '{name}' holds Python objects")
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def _within_python(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return the column; raise Declined for dates and times beyond Python's, which rows and listeners could not be given."""
    arrow = column.type
    if kinds.is_temporal(arrow):
        try:
            pc.min_max(column.cast(pa.timestamp(arrow.unit, "UTC")) if kinds.is_timestamp(arrow) else column).as_py()
        except ArithmeticError:
            raise Declined(f"a column of type {arrow} with values beyond Python's") from None
    return column


__all__ = ["BatchIntake", "one_array"]
