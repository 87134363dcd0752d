"""Spark schemas ↔ event types.

============================  =============================================================
Spark                         event type
============================  =============================================================
BYTE SHORT INT BIGINT         byte short int long (boxed: every column may be null)
FLOAT DOUBLE                  float double
DECIMAL(p, s)                 BigDecimal; back: DECIMAL(38, 18). BigInteger goes to DECIMAL(38, 0)
STRING CHAR VARCHAR           String; back also from char, enums, LocalTime (ISO text) and Object (text as it is, anything else as JSON)
BOOLEAN                       boolean
TIMESTAMP                     ZonedDateTime: an instant, seen in UTC whatever the session's time zone is; a property declared ``long``
                              takes a TIMESTAMP column as engine time (ms since 1970, µs by configuration), rounded down
TIMESTAMP_NTZ                 LocalDateTime; where an instant or engine time is wanted it is taken as UTC
DATE                          LocalDate
TIME                          LocalTime
ARRAY, MAP                    array, Map
STRUCT                        a nested event
VOID                          Object
============================  =============================================================

Other columns (BINARY, intervals, VARIANT, user-defined types) are refused by name: cast them, or leave them out.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark

from epl.errors import EplDeploymentError
from epl.event_types import EventType, Property
from epl.value_types import (
    BIG_DECIMAL,
    BOXED_BOOLEAN,
    BOXED_BYTE,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    BOXED_SHORT,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ArrayType,
    EventOf,
    MapType,
    ValueType,
)
from runtime.arrow import BIG_INTEGER, DECIMAL, INSTANT, arrow_schema

TO_VALUE: dict[type[spark.DataType], ValueType] = {
    spark.ByteType: BOXED_BYTE,
    spark.ShortType: BOXED_SHORT,
    spark.IntegerType: BOXED_INT,
    spark.LongType: BOXED_LONG,
    spark.FloatType: BOXED_FLOAT,
    spark.DoubleType: BOXED_DOUBLE,
    spark.DecimalType: BIG_DECIMAL,
    spark.StringType: STRING,
    spark.CharType: STRING,
    spark.VarcharType: STRING,
    spark.BooleanType: BOXED_BOOLEAN,
    spark.TimestampType: ZONED_DATE_TIME,
    spark.TimestampNTZType: LOCAL_DATE_TIME,
    spark.DateType: LOCAL_DATE,
    spark.NullType: OBJECT,
}
if hasattr(spark, "TimeType"):
    TO_VALUE[spark.TimeType] = LOCAL_TIME


def event_type_of_spark(name: str, schema: spark.StructType) -> EventType:
    """The event type of a DataFrame's rows: a map type with a property a column.

    Raises EplDeploymentError naming type, column and Spark type for a column that no property can hold.
    """
    return EventType(
        name, "map", {f.name: Property(f.name, value_type_of(f.dataType, f"{name}.{f.name}")) for f in schema.fields}, open=True
    )


def value_type_of(data_type: spark.DataType, where: str) -> ValueType:
    """A Spark type → value type. ``where``: the column's path, for the error, and the name of a nested event's type."""
    found = TO_VALUE.get(type(data_type))
    if found is not None:
        return found
    if isinstance(data_type, spark.ArrayType):
        return ArrayType(value_type_of(data_type.elementType, where))
    if isinstance(data_type, spark.MapType):
        return MapType(value_type_of(data_type.keyType, where), value_type_of(data_type.valueType, where))
    if isinstance(data_type, spark.StructType):
        return EventOf(event_type_of_spark(where, data_type))
    raise EplDeploymentError(
        f"{where}: columns of Spark type {data_type.simpleString()} are not supported",
        hint="cast the column, or leave it out of the DataFrame",
    )


# ------------------------------------------------------------------ the way back


def spark_schema(event_type: EventType) -> spark.StructType:
    """The schema of a DataFrame of the type's events; ``arrow_for_spark`` is the same in Arrow's types."""
    return spark.StructType([spark.StructField(f.name, _from_arrow(f.type), True) for f in arrow_schema(event_type)])


def arrow_for_spark(event_type: EventType) -> pa.Schema:
    """What record batches of the type's events must be cast to before Spark takes them: times of day become text."""
    return pa.schema([pa.field(f.name, _without_times(f.type)) for f in arrow_schema(event_type)])


FROM_ARROW: dict[pa.DataType, spark.DataType] = {
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.float32(): spark.FloatType(),
    pa.float64(): spark.DoubleType(),
    pa.bool_(): spark.BooleanType(),
    pa.string(): spark.StringType(),
    DECIMAL: spark.DecimalType(38, 18),
    BIG_INTEGER: spark.DecimalType(38, 0),
    INSTANT: spark.TimestampType(),
    pa.timestamp("us"): spark.TimestampNTZType(),
    pa.date32(): spark.DateType(),
    pa.time64("us"): spark.StringType(),
    pa.null(): spark.NullType(),
}


def _from_arrow(arrow: pa.DataType) -> spark.DataType:
    if isinstance(arrow, pa.ListType):
        return spark.ArrayType(_from_arrow(arrow.value_type), True)
    if isinstance(arrow, pa.MapType):
        return spark.MapType(_from_arrow(arrow.key_type), _from_arrow(arrow.item_type), True)
    if isinstance(arrow, pa.StructType):
        return spark.StructType([spark.StructField(f.name, _from_arrow(f.type), True) for f in arrow])
    return FROM_ARROW[arrow]


def _without_times(arrow: pa.DataType) -> pa.DataType:
    if isinstance(arrow, pa.ListType):
        return pa.list_(_without_times(arrow.value_type))
    if isinstance(arrow, pa.MapType):
        return pa.map_(_without_times(arrow.key_type), _without_times(arrow.item_type))
    if isinstance(arrow, pa.StructType):
        return pa.struct([pa.field(f.name, _without_times(f.type)) for f in arrow])
    return pa.string() if arrow == pa.time64("us") else arrow
