"""Several DataFrames → one, and back: each row carries its type, its time, its sequence and, in a column a property, its event.

One query over one merged DataFrame means that one micro-batch carries the rows of all types. Only the columns that events need are read.
They are side by side, not in a struct a type, which Spark would take to Python as one more level of structs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type

from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.event_types import EventType
from runtime.conversion.arrow import value_arrow_type
from runtime.conversion.columns import may_hold
from runtime.historical.static_table import to_arrow

TYPE, TIME, SEQUENCE, ROW = "epl:type", "epl:time", "epl:sequence", "epl:row"
"""Columns of a merged DataFrame next to those of properties: the place of the row's type among the sources (null: the row has the time
alone), engine time (bigint), order within a time, place in the source."""

ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_type).parameters else {}
"""Spark 4.2 and later ask for the time zone of instants; 4.1 knows no such argument."""

SPOKEN = str.maketrans({"%": "%25", ".": "%2E", "`": "%60"})
"""What has a meaning to Spark within a column's name, and how it is written in merged ones."""

ALL_READ: Mapping[str, Collection[str]] = {}

Choice = str | Mapping[str, str] | None
"""A column name for all sources, or one a type name; None: no such column."""


@attrs.frozen
class Sources:
    """Which types a merged DataFrame holds, in order. ``times``, ``sequences``: each type's column for them; None where there are none.
    ``forms``: by type, the Spark types of the columns that travel as they are; a type whose DataFrame is not known is not there."""

    types: tuple[EventType, ...]
    times: Mapping[str, str] | None
    sequences: Mapping[str, str] | None
    forms: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, types: tuple[EventType, ...], time: Choice, sequence: Choice, frames: Mapping[str, DataFrame] | None = None) -> Sources:
        """Return the sources; ``time``, ``sequence``: as users give them; EplRuntimeError where a type has no column."""
        times, sequences = _columns_by_type(types, time, "time"), _columns_by_type(types, sequence, "sequence")
        forms = {}
        for event_type in types:
            frame = (frames or {}).get(event_type.name)
            if frame is not None:
                names = {*event_type.properties, *(() if sequences is None else (sequences[event_type.name],))}
                forms[event_type.name] = {f.name: f.dataType.simpleString() for f in frame.schema.fields if f.name in names}
        return cls(types, times, sequences, forms)

    @property
    def layout(self) -> list[Any]:
        """What distinguishes the merged rows of other sources: type names, time columns, sequence columns, Spark types of columns."""
        times, sequences = (None if c is None else dict(c) for c in (self.times, self.sequences))
        return [[t.name for t in self.types], times, sequences, {name: dict(columns) for name, columns in self.forms.items()}]

    @classmethod
    def of_layout(cls, layout: list[Any], type_of: Callable[[str], EventType]) -> Sources:
        """Return the sources of a layout."""
        names, times, sequences, forms = layout
        return cls(tuple(type_of(name) for name in names), times, sequences, forms)

    def is_continued(self, before: Sources) -> bool:
        """Return whether rows of these sources go together with those that came ``before``."""
        return self.layout[:3] == before.layout[:3] and next(self._form_changes(before), None) is None

    def check_forms(self, before: Sources) -> None:
        """Raise EplRuntimeError for a column that has another Spark type than it had ``before`` while its property is declared as it was:
        rows that wait, and those of the log, are of the one, and rows to come of the other."""
        declared_before = {t.name: t for t in before.types}
        declared = {t.name: t for t in self.types}
        for name, column, then, now in self._form_changes(before):
            types = {str(t[name].properties[column].type) for t in (declared, declared_before) if column in t[name].properties}
            if len(types) <= 1:
                raise EplRuntimeError(
                    f"Event type '{name}': the column '{column}' of the source is {now}, and was {then} when the checkpoint was made",
                    hint=f"cast it back: .withColumn({column!r}, F.col({column!r}).cast({then!r})); or change the property's type with it, "
                    "or begin with an empty checkpoint folder",
                )

    def _form_changes(self, before: Sources) -> Iterator[tuple[str, str, str, str]]:
        """Type, column, its Spark type before and now."""
        for name, columns in self.forms.items():
            then = before.forms.get(name, {})
            for column, now in columns.items():
                if then.get(column, now) != now:
                    yield name, column, then[column], now

    def row_event_type(self, merged: pa.Table, row: int) -> EventType:
        """Return the type of one of the merged rows."""
        place: int = merged.column(TYPE)[row].as_py()
        return self.types[place]

    def tables(self, merged: pa.Table) -> dict[str, pa.Table]:
        """Return the rows of each type as a table of its properties, with time and sequence beside them; in the order of the merged
        rows."""
        return {event_type.name: self._table(position, merged) for position, event_type in enumerate(self.types)}

    def columns(self, position: int) -> dict[str, str]:
        """Return the columns of a type's rows, properties and beside them time and sequence → those of the merged rows."""
        event_type = self.types[position]
        chosen = {name: merged_column(position, name) for name in event_type.properties}
        for merged_name, names in ((TIME, self.times), (SEQUENCE, self.sequences)):
            if names is not None:
                chosen.setdefault(names[event_type.name], merged_name)
        return chosen

    def _table(self, position: int, merged: pa.Table) -> pa.Table:
        chosen = self.columns(position)
        kinds = merged.column(TYPE)
        there = {name: place for name, place in chosen.items() if place in merged.column_names}
        rows = merged.select(list(there.values())).rename_columns(list(there))
        for name in chosen.keys() - there.keys():  # no statement reads it: it was not brought
            arrow: Any = value_arrow_type(self.types[position].properties[name].whole_type)
            rows = rows.append_column(name, pa.nulls(rows.num_rows, arrow))
        if len(self.types) == 1 and not kinds.null_count:
            return rows
        return rows.filter(pc.equal(kinds, pa.scalar(position, pa.int32())))

    def merge_tables(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Merge tables of properties, times and sequences, one a type → merged rows, those of a type after the other."""
        return pa.concat_tables([self._part(at, each, tables[each.name]) for at, each in enumerate(self.types)], promote_options="default")

    def _part(self, position: int, event_type: EventType, table: pa.Table) -> pa.Table:
        columns: dict[str, Any] = {TYPE: pa.repeat(pa.scalar(position, pa.int32()), table.num_rows)}
        columns.update({merged_column(position, name): table.column(name) for name in event_type.properties})
        for merged_name, chosen in ((TIME, self.times), (SEQUENCE, self.sequences)):
            if chosen is not None:
                columns[merged_name] = table.column(chosen[event_type.name])
        return pa.table(columns)


def merged_column(position: int, name: str) -> str:
    """Return the column of a merged DataFrame for a property of the type at ``position``; no character in it has a meaning to Spark, which
    reads a column's own name as a path in places (``mapInArrow``)."""
    return f"{position}:{name.translate(SPOKEN)}"


def _columns_by_type(types: tuple[EventType, ...], choice: Choice, what: str) -> Mapping[str, str] | None:
    if choice is None:
        return None
    chosen = {t.name: choice for t in types} if isinstance(choice, str) else choice
    for event_type in types:
        if event_type.name not in chosen:
            raise EplRuntimeError(f"Event type '{event_type.name}' has no {what} column", hint="name one for every source")
    return chosen


def merge(
    frames: Mapping[str, DataFrame], sources: Sources, microseconds: bool, number_rows: bool, read: Mapping[str, Collection[str]] = ALL_READ
) -> DataFrame:
    """Return one DataFrame of all rows. ``number_rows``: with ROW, which keeps the order that rows of one source have. ``read``: by type,
    the properties whose columns are brought; all of a type that is not there."""
    parts = []
    for position, (event_type, frame) in enumerate(zip(sources.types, frames.values())):
        order = [columns[event_type.name] for columns in (sources.times, sources.sequences) if columns is not None]
        names = [name for name in event_type.properties if name in order or name in read.get(event_type.name, event_type.properties)]
        check_columns(event_type, frame, names)
        columns = [F.lit(position).alias(TYPE), *_event(position, names, frame)]
        if sources.times is not None:
            columns.append(_engine_time(event_type.name, frame, sources.times[event_type.name], microseconds).alias(TIME))
        if sources.sequences is not None:
            name = sources.sequences[event_type.name]
            _require(event_type.name, frame, name)
            columns.append(_column(name).alias(SEQUENCE))
        if number_rows:
            columns.append(F.monotonically_increasing_id().alias(ROW))
        parts.append(frame.select(*columns))
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def observe(merged: DataFrame) -> DataFrame:
    """Return the same rows; Spark's listeners get for each micro-batch how many there were and the newest time, as the metric ``epl``."""
    newest = [F.max(f"`{TIME}`").alias("newest")] if TIME in merged.columns else []
    return merged.observe("epl", F.count(F.lit(1)).alias("rows"), *newest)


def fetch(merged: DataFrame, sources: Sources) -> pa.Table:
    """Return the rows as one table, as ``merge_tables`` has them. What other columns imply is not sent: the type where there is one source,
    and the time where it is a property in engine units."""
    data_types = {field.name: field.dataType for field in merged.schema.fields}
    dropped: dict[str, str | None] = {}
    if len(sources.types) == 1 and len(data_types) > 1:
        dropped[TYPE] = None
        event_type = sources.types[0]
        time = "" if sources.times is None else sources.times[event_type.name]
        if time in event_type.properties and data_types.get(merged_column(0, time)) == spark.LongType():
            dropped[TIME] = merged_column(0, time)
    rows = collect(merged.drop(*dropped))
    columns: dict[str, Any] = {name: rows.column(name) for name in rows.column_names}
    for name, place in dropped.items():
        columns[name] = pa.repeat(pa.scalar(0, pa.int32()), rows.num_rows) if place is None else columns[place]
    return pa.table({name: columns[name] for name in data_types})


def collect(frame: DataFrame) -> pa.Table:
    """Return the rows of a DataFrame. PySpark 3.5 has no ``toArrow``, but what that consists of."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    older: Any = frame
    batches = older._collect_as_arrow()
    return pa.Table.from_batches(batches) if batches else to_arrow_schema(frame.schema).empty_table()


def to_arrow_table(frame: Any, name: str) -> pa.Table:
    """Return a frame of any kind as one of pyarrow."""
    return collect(frame) if isinstance(frame, DataFrame) else to_arrow(frame, name)


CLASSIC = (
    "use a session whose driver is this process: runtime.spark.session(), or a classic session of a cluster; "
    "Runtime.send_batch(…, frame.toArrow()) runs statements over such a frame without Spark"
)


def check_frames(frames: Mapping[str, DataFrame]) -> None:
    """Raise EplRuntimeError where there is no source, or one that is not a DataFrame of Spark's; EplUnsupportedError for Spark Connect."""
    if not frames:
        raise EplRuntimeError("There is no source: give {event type name: DataFrame}")
    for name, frame in frames.items():
        if ".connect." in type(frame).__module__:
            raise EplUnsupportedError(
                f"Source '{name}': Spark Connect is not supported, and serverless compute has no other sessions", hint=CLASSIC
            )
        if type(frame).__module__.startswith("pyspark.pandas."):
            raise EplRuntimeError(
                f"Source '{name}' is a pandas-on-Spark {type(frame).__name__}, not a Spark DataFrame",
                hint=".to_spark() returns its DataFrame",
            )
        if not isinstance(frame, DataFrame):
            raise EplRuntimeError(
                f"Source '{name}' is a {type(frame).__module__.partition('.')[0]} {type(frame).__name__}, not a Spark DataFrame",
                hint="spark.createDataFrame(…) makes one of pandas and Arrow data; Runtime.send_batch takes these without Spark",
            )


def check_streaming(frames: Mapping[str, DataFrame]) -> None:
    """Raise EplRuntimeError for a source that is not a stream."""
    for name, frame in frames.items():
        if not frame.isStreaming:
            raise EplRuntimeError(
                f"Source '{name}' is not a streaming DataFrame", hint="read it with spark.readStream, or use transform for batch DataFrames"
            )


def check_columns(event_type: EventType, frame: DataFrame, read: Collection[str]) -> None:
    """Check that every property has a column of its own, and each that is ``read`` one whose Spark type may hold its values;
    EplRuntimeError naming type and column otherwise."""
    if frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true":
        _check_cases(event_type, frame.columns)
    for name, prop in event_type.properties.items():
        _require(event_type.name, frame, name)
        if name not in read:
            continue
        data_type = frame.schema[name].dataType
        if not may_hold(to_arrow_type(data_type, **ZONE), prop.whole_type):
            raise EplRuntimeError(
                f"Event type '{event_type.name}': property '{name}' is declared {prop.whole_type} "
                f"and cannot hold a column of Spark type {data_type.simpleString()}",
                hint="cast the column",
            )


def _check_cases(event_type: EventType, columns: list[str]) -> None:
    for name in event_type.properties:
        alike = [each for each in columns if each.lower() == name.lower()]
        if len(alike) > 1:
            raise EplRuntimeError(
                f"Event type '{event_type.name}': Spark does not distinguish the columns '{alike[0]}' and '{alike[1]}'",
                hint="rename one of them, or set spark.sql.caseSensitive",
            )


def _require(type_name: str, frame: DataFrame, column: str) -> None:
    if column not in frame.columns:
        raise EplRuntimeError(f"Event type '{type_name}': the source has no column '{column}'", hint=f"it has {', '.join(frame.columns)}")


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")


def _event(position: int, names: Collection[str], frame: DataFrame) -> Iterator[Column]:
    """Yield the properties, fields inside of them nullable: Arrow refuses a null struct of fields that are not."""
    for name in names:
        yield _column(name).cast(_nullable(frame.schema[name].dataType)).alias(merged_column(position, name))


def _nullable(data_type: spark.DataType) -> spark.DataType:
    if isinstance(data_type, spark.StructType):
        return spark.StructType([spark.StructField(f.name, _nullable(f.dataType), True) for f in data_type.fields])
    if isinstance(data_type, spark.ArrayType):
        return spark.ArrayType(_nullable(data_type.elementType), True)
    if isinstance(data_type, spark.MapType):
        return spark.MapType(_nullable(data_type.keyType), _nullable(data_type.valueType), True)
    return data_type


def _engine_time(type_name: str, frame: DataFrame, name: str, microseconds: bool) -> Column:
    """Return the time column in engine units: integers as they are, timestamps since 1970, those without a zone as UTC."""
    _require(type_name, frame, name)
    data_type, column = frame.schema[name].dataType, _column(name)
    if isinstance(data_type, (spark.IntegralType, spark.NullType)):
        return column.cast("bigint")
    if isinstance(data_type, spark.TimestampNTZType):
        # Spark would read the wall clock in the session's zone; text with a zone is read as what it says.
        column = F.concat(column.cast("string"), F.lit("Z")).cast("timestamp")
    elif not isinstance(data_type, spark.TimestampType):
        raise EplRuntimeError(
            f"Event type '{type_name}': the time column '{name}' is of Spark type {data_type.simpleString()}",
            hint="times are integers in engine time or timestamps",
        )
    return F.unix_micros(column) if microseconds else F.unix_millis(column)
