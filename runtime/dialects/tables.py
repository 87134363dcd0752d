"""Arrow tables, pandas and Polars frames → columns and rows, and rows → an Arrow table."""
from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from epl.dialects import types as k
from epl.dialects.errors import DialectError, QueryFailed
from epl.dialects.scopes import SqlColumn
from epl.dialects.types import SqlType
from epl.dialects.values import Months
from runtime.conversion.arrow_layout import check_layout

Row = tuple[Any, ...]
MOST_BIGINT = 2**63 - 1
REFUSED = b"epl:refused"
"""Metadata of a field: why the frame's column is not there."""
OTHERS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str, PathLike), "read the file first: pandas.read_csv(path), pyarrow.parquet.read_table(path)"),
    ((dict,), "write pandas.DataFrame(columns)"),
    ((list, tuple), "write pandas.DataFrame(rows)"),
)
"""What is no table, and what to write."""
CAST = "cast it before the query, or leave it out of it"
SIMPLE: dict[str, Any] = {
    "boolean": pa.bool_(), "tinyint": pa.int8(), "smallint": pa.int16(), "integer": pa.int32(), "bigint": pa.int64(), "real": pa.float32(),
    "double": pa.float64(), "varchar": pa.string(), "char": pa.string(), "date": pa.date32(), "unknown": pa.null(),
    "varbinary": pa.binary(), "interval day to second": pa.duration("us"), "interval year to month": pa.int32(),
}  # fmt: skip


def arrow_tables(frames: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Return the frames as Arrow tables. Raise QueryFailed where the name of a column is not UTF-8."""
    tables = {name: arrow_table(frame) for name, frame in frames.items()}
    for name, table in tables.items():
        try:
            table.schema.names  # noqa: B018 - decoded now
        except UnicodeError as error:
            raise QueryFailed("INVALID_TABLE", f"the name of a column of '{name}' cannot be read: {error}") from error
    return tables


def arrow_table(frame: Any) -> pa.Table:
    """Return any of the frames as an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if hasattr(frame, "to_arrow"):
        return arrow_table(frame.to_arrow())
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        return _pandas_table(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    message = f"a table is an Arrow table, or a pandas or Polars frame, not {type(frame).__name__}"
    raise QueryFailed("INVALID_TABLE", message, hint=next((hint for kinds, hint in OTHERS if isinstance(frame, kinds)), None))


def _pandas_table(frame: Any) -> pa.Table:
    """Convert a pandas frame. A column that Arrow cannot hold is null, and its field says why: ``only_read`` refuses to read it."""
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        fields, columns = [], []
    for place, name in enumerate(frame.columns):
        try:
            columns.append(pa.array(frame.iloc[:, place], from_pandas=True))
            fields.append(pa.field(str(name), columns[-1].type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
            columns.append(pa.nulls(len(frame)))
            fields.append(pa.field(str(name), pa.null(), metadata={REFUSED: str(error).encode()}))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


@contextmanager
def index_hints(frames: Mapping[str, Any]) -> Iterator[None]:
    """Say of a column that is not there that it is the index of a pandas frame, which is no column."""
    try:
        yield
    except DialectError as error:
        if error.sql_code == "COLUMN_NOT_FOUND":
            for name, frame in frames.items():
                for index in getattr(getattr(frame, "index", None), "names", None) or ():
                    if index is not None and f"'{index}'".lower() in error.message.lower():
                        error.hint = f"'{index}' is the index of '{name}', which is no column: give frame.reset_index()"
        raise


def table_columns(table: pa.Table) -> tuple[SqlColumn, ...]:
    """Return names and types of the columns; a type that SQL has not here is ANY, and ``only_read`` refuses it where it is read."""
    return tuple(SqlColumn(field.name, k.ANY if _is_foreign(field) else to_sql_type(field.type)) for field in table.schema)


def _is_foreign(field: pa.Field[Any]) -> bool:
    try:
        to_sql_type(field.type)
    except QueryFailed:
        return True
    return REFUSED in (field.metadata or {})


def only_read(tables: Mapping[str, pa.Table], places: Mapping[str, Collection[int]] | None) -> dict[str, pa.Table]:
    """Return the tables with nulls in place of columns that are not read. ``places``: of those that are, by table; None: all. Raise
    QueryFailed for a column that is read and has a type, or values, that SQL has not."""
    read: dict[str, pa.Table] = {}
    for name, table in tables.items():
        chosen = range(table.num_columns) if places is None else places.get(name, ())
        for place in chosen:
            _check_column(name, table.schema.field(place), table.column(place))
        columns = [column if place in chosen else pa.nulls(table.num_rows) for place, column in enumerate(table.columns)]
        read[name] = table if places is None else pa.Table.from_arrays(columns, names=table.schema.names)
    return read


@contextmanager
def naming_unreadable(tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Raise QueryFailed with the name of a column whose values the block cannot read, such as text that is not UTF-8: texts are looked at
    once one of them has failed."""
    try:
        yield
    except (UnicodeError, pa.ArrowException):
        for table, frame in tables.items():
            for name, column in zip(frame.schema.names, frame.columns):
                try:
                    column.validate(full=True)
                except pa.ArrowInvalid as error:
                    raise QueryFailed("INVALID_TABLE", f"column '{name}' of '{table}' cannot be read: {error}", hint=CAST) from error
        raise


def check_named(text: str, tables: Mapping[str, pa.Table]) -> None:
    """Raise QueryFailed for a column that a text names and whose type SQL has not."""
    words = {word.lower() for word in re.findall(r"\w+", text)}
    for name, table in tables.items():
        for field in table.schema:
            if field.name.lower() in words and _is_foreign(field):
                _check_column(name, field, pa.nulls(0, field.type))


def _check_column(table: str, field: pa.Field[Any], column: Any) -> None:
    name, refused = field.name, (field.metadata or {}).get(REFUSED)
    if refused is not None:
        raise QueryFailed("INVALID_TABLE", f"column '{name}' of '{table}' cannot be read: {refused.decode()}", hint=CAST)
    if _is_foreign(field):
        raise QueryFailed("INVALID_TABLE", f"columns of type {column.type} are not supported: column '{name}' of '{table}'", hint=CAST)
    try:
        check_layout(column)
    except pa.ArrowInvalid as error:
        raise QueryFailed("INVALID_TABLE", f"column '{name}' of '{table}' cannot be read: {error}") from error
    if kinds.is_uint64(column.type):
        largest = pc.max(column).as_py()
        if largest is not None and largest > MOST_BIGINT:
            message = f"Out of range for bigint: {largest}, in column '{name}' of '{table}'"
            raise QueryFailed("NUMERIC_VALUE_OUT_OF_RANGE", message, hint=CAST)


def to_sql_type(kind: Any) -> SqlType:
    """Return the SQL type of an Arrow type."""
    if kinds.is_dictionary(kind):
        return to_sql_type(kind.value_type)
    for test, result in (
        (kinds.is_boolean, k.BOOLEAN), (kinds.is_int8, k.TINYINT), (kinds.is_int16, k.SMALLINT), (kinds.is_uint8, k.SMALLINT),
        (kinds.is_int32, k.INTEGER), (kinds.is_uint16, k.INTEGER), (kinds.is_integer, k.BIGINT), (kinds.is_float32, k.REAL),
        (kinds.is_float16, k.REAL), (kinds.is_float64, k.DOUBLE), (kinds.is_string, k.VARCHAR), (kinds.is_large_string, k.VARCHAR),
        (kinds.is_date, k.DATE), (kinds.is_duration, k.DAY_TIME), (kinds.is_null, k.UNKNOWN),
    ):  # fmt: skip
        if test(kind):
            return result
    if kinds.is_timestamp(kind):
        return SqlType("timestamp", ({"s": 0, "ms": 3}.get(kind.unit, 6),))
    if kinds.is_decimal(kind) and kind.precision <= k.MAX_DIGITS:
        return SqlType("decimal", (kind.precision, kind.scale))
    if kinds.is_struct(kind):
        return k.row(tuple(to_sql_type(field.type) for field in kind), tuple(field.name for field in kind))
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        return k.array(to_sql_type(kind.value_type))
    if str(kind) == "string_view":
        return k.VARCHAR
    raise QueryFailed("INVALID_TABLE", f"columns of type {kind} are not supported")


def in_microseconds(column: Any) -> Any:
    """Return a column of times or of spans in microseconds, the unit of SQL values here; refuse what would be cut, since rows of one
    microsecond would lose their order."""
    kind = column.type
    try:
        return column.cast(pa.duration("us") if kinds.is_duration(kind) else pa.timestamp("us", tz=kind.tz))
    except pa.ArrowInvalid:
        what = "finer than a microsecond" if kind.unit == "ns" else "beyond what microseconds can count"
        raise QueryFailed("INVALID_TABLE", f"a column of type {kind} has values {what}: cast it to timestamp[us], or to int64") from None


def read_rows(table: pa.Table) -> list[Row]:
    """Return the rows as plain values: times without zone, in UTC, with microseconds."""
    columns = []
    for column in table.columns:
        kind = column.type
        if kinds.is_timestamp(kind):
            column = in_microseconds(column).cast(pa.timestamp("us"))
        elif kinds.is_duration(kind):
            column = in_microseconds(column)
        values = [None] * len(column) if kinds.is_null(kind) else column.to_pylist()
        columns.append([None if each is None else tuple(each.values()) for each in values] if kinds.is_struct(kind) else values)
    return list(zip(*columns)) if columns else [()] * table.num_rows


class RowsOfTables(Mapping[str, Sequence[Row]]):
    """The rows of tables; of one that is not asked for, none are made."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self.tables = tables
        self._known: dict[str, list[Row]] = {}

    def __getitem__(self, name: str) -> list[Row]:
        if name not in self._known:
            self._known[name] = read_rows(self.tables[name])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)


def arrow_type(kind: SqlType, values: Sequence[Any]) -> Any:
    """Return the Arrow type of a column."""
    if kind.name in SIMPLE:
        return SIMPLE[kind.name]
    if kind.name == "timestamp":
        digits = kind.arguments[0] if kind.arguments else 3
        assert isinstance(digits, int)
        return pa.timestamp("s" if digits == 0 else "ms" if digits <= 3 else "us")
    if kind.name == "decimal":
        precision, scale = k.precision_and_scale(kind)
        return pa.decimal128(precision, scale)
    if kind.name == "array":
        element = kind.arguments[0]
        assert isinstance(element, SqlType)
        return pa.list_(arrow_type(element, [each for value in values if value for each in value]))
    if kind.name == "row":
        names = kind.fields or (None,) * len(kind.arguments)
        parts = [each for each in kind.arguments if isinstance(each, SqlType)]
        return pa.struct([(name or f"field{place}", arrow_type(each, ())) for place, (name, each) in enumerate(zip(names, parts))])
    if kind.name == "map":
        key, value = kind.arguments
        assert isinstance(key, SqlType) and isinstance(value, SqlType)
        return pa.map_(arrow_type(key, ()), arrow_type(value, ()))
    return pa.array([value for value in values if value is not None]).type


def write_table(columns: Sequence[SqlColumn], rows: Sequence[Row]) -> pa.Table:
    """Return the Arrow table of the rows. Columns without a name are ``_col0``, ``_col1``, …, by their place."""
    names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(columns)]
    arrays = []
    for place, column in enumerate(columns):
        values = [_plain(row[place], column.type) for row in rows]
        kind = arrow_type(column.type, values)
        arrays.append(pa.array(values, kind, from_pandas=False))
    if not arrays:
        return pa.table({})
    return pa.Table.from_arrays(arrays, names=names)


def _plain(value: Any, kind: SqlType) -> Any:
    if isinstance(value, tuple) and kind.name == "row":
        names = kind.fields or (None,) * len(value)
        return {name or f"field{place}": each for place, (name, each) in enumerate(zip(names, value))}
    if isinstance(value, Months):
        return int(value)
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (datetime.datetime, Decimal, str, int, float, list)):
        return value
    return value


__all__ = [
    "RowsOfTables",
    "arrow_table",
    "arrow_type",
    "check_named",
    "in_microseconds",
    "naming_unreadable",
    "only_read",
    "read_rows",
    "table_columns",
    "write_table",
]
