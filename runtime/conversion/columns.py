"""Tables → columns of checked values: Arrow tables and record batches, pandas data frames. The way out is runtime.conversion.arrow.

Each column is converted once, as a whole; a value is looked at alone only where its Arrow type does not decide that it fits.

Times: an instant (timestamp with a zone) keeps its instant and is seen in UTC; a timestamp without a zone is taken as UTC where an instant
or engine time is expected. A timestamp column for a ``long`` property, or as the time column, gives engine units since 1970, rounded down.
pandas: NaN, NaT and NA are null; a float column of whole numbers with gaps fits an integer property (pandas' usual way to write them).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventOf, EventType
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType
from runtime.conversion.arrow_layout import check_layout
from runtime.conversion.from_python import coercion

if TYPE_CHECKING:
    import pandas

BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
INSTANTS = ("Date", "Calendar", "ZonedDateTime", "OffsetDateTime")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)


Times = np.ndarray[Any, Any]


NOTHING: Mapping[str, Any] = {}


class WrongCell(Exception):
    """The value of one row does not fit; the caller adds the names."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(row, value)
        self.row = row
        self.value = value


@attrs.frozen
class Columns:
    """A table as columns by name: Arrow arrays, or lists of Python objects (pandas' object columns). ``pandas``: where it came from."""

    data: Mapping[str, pa.ChunkedArray[Any] | pa.Array[Any] | list[Any]]
    rows: int
    pandas: bool = False


def read_columns(table: Any, owner: str, unread: Mapping[str, Any] = NOTHING) -> Columns:
    """Return the columns of a pyarrow Table or RecordBatch, a pandas DataFrame, or whatever gives an Arrow stream. ``unread``: columns that
    are not looked at, and are nulls of these types."""
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        return _arrow_columns(table, owner, unread)
    if type(table).__module__.split(".")[0] == "pandas" and hasattr(table, "columns"):
        return _pandas_columns(table, owner, unread)
    if hasattr(table, "__arrow_c_stream__"):
        return _arrow_columns(pa.table(table), owner, unread)
    raise EplRuntimeError(
        f"Event type '{owner}' cannot be built from {type(table).__name__}",
        hint="give a pyarrow Table or RecordBatch, or a pandas DataFrame; send takes single events",
    )


def _arrow_columns(table: pa.Table | pa.RecordBatch, owner: str, unread: Mapping[str, Any]) -> Columns:
    names = table.schema.names
    _check_names(names, owner)
    data: dict[str, Any] = {}
    for position, name in enumerate(names):
        if name in unread:
            data[name] = pa.nulls(table.num_rows, unread[name])
            continue
        data[name] = _check_column(table.column(position), owner, name)
    return Columns(data, table.num_rows)


def _check_column(column: Any, owner: str, name: str) -> Any:
    """Return the column; raise EplRuntimeError where reading it would leave its buffers."""
    try:
        check_layout(column)
    except pa.ArrowInvalid as error:
        raise EplRuntimeError(f"Event type '{owner}', column '{name}' cannot be read: {error}") from error
    return column


def _pandas_columns(frame: pandas.DataFrame, owner: str, unread: Mapping[str, Any]) -> Columns:
    import pandas

    names = [str(name) for name in frame.columns]
    _check_names(names, owner)
    data: dict[str, Any] = {}
    for position, name in enumerate(names):
        if name in unread:
            data[name] = pa.nulls(len(frame), unread[name])
            continue
        column = frame.iloc[:, position]
        if column.dtype == object:
            data[name] = [None if v is pandas.NA or v is pandas.NaT or (isinstance(v, float) and v != v) else v for v in column.tolist()]
        else:
            data[name] = _check_column(pa.array(column, from_pandas=True), owner, name)
    return Columns(data, len(frame), pandas=True)


def _check_names(names: list[str], owner: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise EplRuntimeError(f"Event type '{owner}': the table has more than one column '{name}'")


# ------------------------------------------------------------------ property columns


def property_values(columns: Columns, name: str, value_type: ValueType, units_per_second: int) -> list[Any]:
    """Return a column's values, checked and converted for a property of that type; None stays None. Raise WrongCell for the first
    misfit."""
    column = columns.data[name]
    if isinstance(column, list):
        return _coerce_values(column, value_type)
    if column.null_count == len(column):
        return [None] * len(column)
    column = _normal(column, columns.pandas, isinstance(value_type, Scalar) and value_type.kind in BITS)
    kind = value_type.kind if isinstance(value_type, Scalar) else None
    if kinds.is_timestamp(column.type):
        if kind == "long":
            return _engine_times(column, units_per_second)
        if kind == "LocalDateTime":
            return _python(column.cast(pa.timestamp("us")))
    values = _python(column)
    if kind == "BigInteger" and kinds.is_decimal(column.type) and column.type.scale == 0:
        return [None if v is None else int(v) for v in values]
    return values if kind is not None and fits(column.type, kind) else _coerce_values(values, value_type)


def _normal(column: pa.ChunkedArray[Any] | pa.Array[Any], from_pandas: bool, whole: bool) -> pa.ChunkedArray[Any] | pa.Array[Any]:
    """Dictionaries decoded, timestamps in µs and UTC, pandas' floats with gaps as the whole numbers that were meant."""
    arrow = column.type
    if kinds.is_dictionary(arrow):
        return _normal(column.cast(arrow.value_type), from_pandas, whole)
    if kinds.is_timestamp(arrow):
        return column.cast(pa.timestamp("us", tz="UTC" if arrow.tz else None), safe=False)
    if kinds.is_time(arrow) and arrow.unit == "ns":
        return column.cast(pa.time64("us"), safe=False)
    if whole and from_pandas and kinds.is_floating(arrow) and column.null_count:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return column


def _python(column: pa.ChunkedArray[Any] | pa.Array[Any]) -> list[Any]:
    arrow = column.type
    if kinds.is_string(arrow) or (
        column.null_count == 0 and (kinds.is_integer(arrow) or kinds.is_floating(arrow) or kinds.is_boolean(arrow))
    ):
        # The same values as to_pylist gives, several times as fast.
        plain: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
        return plain
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    except KeyError as error:
        raise EplRuntimeError(f"A map holds the same key twice: {error.args[0]}") from error
    except ArithmeticError as error:  # of a date, time or decimal: Arrow's reach further than Python's
        raise pa.ArrowInvalid(str(error)) from error
    return values


def fits(arrow: pa.DataType, kind: str) -> bool:
    """Return whether every value of the Arrow type is a value of the kind as it is."""
    if kinds.is_signed_integer(arrow):
        return kind == "BigInteger" or arrow.bit_width <= BITS.get(kind, 0)
    if kinds.is_unsigned_integer(arrow):
        return kind == "BigInteger" or arrow.bit_width < BITS.get(kind, 0)
    if kinds.is_timestamp(arrow):
        return kind in INSTANTS and arrow.tz is not None
    fitting: dict[str, Callable[[pa.DataType], bool]] = {
        "double": kinds.is_floating,
        "float": kinds.is_float32,
        "boolean": kinds.is_boolean,
        "BigDecimal": kinds.is_decimal,
        "LocalDate": kinds.is_date32,
        "LocalTime": kinds.is_time,
    }
    if kind == "String":
        return bool(kinds.is_string(arrow) or kinds.is_large_string(arrow))
    return kind in fitting and bool(fitting[kind](arrow))


def _coerce_values(values: list[Any], value_type: ValueType) -> list[Any]:
    coerce = coercion(value_type)
    coerced = []
    for row, value in enumerate(values):
        try:
            coerced.append(None if value is None else coerce(value))
        except EplError:  # of an event within the event
            raise
        except Exception as error:
            raise WrongCell(row, value) from error
    return coerced


def may_hold(arrow: pa.DataType, value_type: ValueType) -> bool:
    """Return whether a column of that Arrow type can hold any value for the property: False is certain, True is to be seen by value.

    It is ``property_values`` that decides, over examples of what such columns hold: what it refuses for rows is refused here, and nothing
    else. A struct is taken apart where it becomes an event or a map, a list where it becomes an array, a map where its values have a type.
    """
    if kinds.is_null(arrow):
        return True
    if kinds.is_dictionary(arrow):
        return may_hold(arrow.value_type, value_type)
    if isinstance(value_type, EventOf) and kinds.is_struct(arrow):
        return _may_be_event(arrow, value_type.event_type)
    if isinstance(value_type, (ArrayType, CollectionType)) and (kinds.is_list(arrow) or kinds.is_large_list(arrow)):
        return may_hold(arrow.value_type, value_type.element)
    if isinstance(value_type, MapType) and kinds.is_map(arrow):
        return may_hold(arrow.item_type, value_type.value)
    if isinstance(value_type, MapType) and kinds.is_struct(arrow):
        return all(may_hold(arrow.field(n).type, value_type.value) for n in range(arrow.num_fields))
    examples = [*_examples(arrow), *(value_type.constants if isinstance(value_type, EnumType) and kinds.is_string(arrow) else ())]
    return any(_is_taken(pa.array([each], arrow), value_type) for each in examples)


def _may_be_event(arrow: pa.StructType, event_type: EventType) -> bool:
    properties = event_type.properties
    fields = [arrow.field(n) for n in range(arrow.num_fields)]
    if not all(may_hold(field.type, properties[field.name].whole_type) for field in fields if field.name in properties):
        return False
    return _is_taken(pa.array([dict.fromkeys(field.name for field in fields)], arrow), EventOf(event_type))


def _is_taken(column: pa.Array[Any], value_type: ValueType) -> bool:
    try:
        property_values(Columns({"": column}, len(column)), "", value_type, 1000)
    except (WrongCell, EplRuntimeError):
        return False
    return True


TEXTS = ("a", "2000-01-01", "2000-01-01T00:00:00", "00:00:00")
"""A character, a date, a date with time, a time of day: what text may stand for. (``NaN`` and ``Infinity`` do not make a column of text one
of numbers.)"""


SAMPLES: tuple[tuple[Callable[[pa.DataType], bool], Any], ...] = (
    (kinds.is_boolean, True), (kinds.is_integer, 0), (kinds.is_floating, 0.0), (kinds.is_decimal, Decimal(0)),
    (kinds.is_timestamp, datetime.datetime(2000, 1, 1)), (kinds.is_date, datetime.date(2000, 1, 1)), (kinds.is_time, datetime.time()),
    (kinds.is_duration, datetime.timedelta()), (kinds.is_binary, b""), (kinds.is_large_binary, b""), (kinds.is_list, []),
    (kinds.is_large_list, []), (kinds.is_map, []),
)


def _examples(arrow: pa.DataType) -> tuple[Any, ...]:
    """Values of the Arrow type, at least one of which fits wherever any value of such a column does; null for types not known here."""
    if kinds.is_string(arrow) or kinds.is_large_string(arrow):
        return TEXTS
    if kinds.is_struct(arrow):
        return (dict.fromkeys(arrow.field(n).name for n in range(arrow.num_fields)),)
    return (next((value for is_kind, value in SAMPLES if is_kind(arrow)), None),)


# ------------------------------------------------------------------ the time and sequence columns


def time_values(columns: Columns, name: str, units_per_second: int) -> tuple[Times, Times | None]:
    """Return engine time by row, and whether there is one (None: everywhere): integers as they are, timestamps in engine units. Raise
    WrongCell for anything else."""
    column = columns.data[name]
    if isinstance(column, list):
        read = [_one_time(row, value, units_per_second) for row, value in enumerate(column)]
        column = pa.chunked_array([pa.array(read, pa.int64())])
    column = _normal(column, columns.pandas, whole=True)
    step = 1
    if kinds.is_timestamp(column.type):
        step = 1_000_000 // units_per_second
    elif not (kinds.is_integer(column.type) or kinds.is_null(column.type)):
        for row, value in enumerate(_python(column)):
            if value is not None:
                raise WrongCell(row, value)
    whole: Any = column if column.type == pa.int64() else column.cast(pa.int64())
    there = np.asarray(whole.is_valid().to_numpy(zero_copy_only=False), np.bool_) if whole.null_count else None
    times = np.asarray((whole if there is None else whole.fill_null(0)).to_numpy(zero_copy_only=False), np.int64)
    return times if step == 1 else times // step, there


def _engine_times(column: pa.ChunkedArray[Any] | pa.Array[Any], units_per_second: int) -> list[int | None]:
    step = 1_000_000 // units_per_second
    return [None if v is None else v // step for v in column.cast(pa.int64()).to_pylist()]


def _one_time(row: int, value: Any, units_per_second: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        instant = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return (instant - EPOCH) // MICROSECOND // (1_000_000 // units_per_second)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise WrongCell(row, value)
    return int(value.__index__())


def sequence_values(columns: Columns, name: str) -> list[Any]:
    """Return the values that order rows of equal time: one comparable kind, never null. Raise WrongCell for a null."""
    column = columns.data[name]
    values = column if isinstance(column, list) else _python(_normal(column, columns.pandas, whole=True))
    for row, value in enumerate(values):
        if value is None:
            raise WrongCell(row, value)
    return values
