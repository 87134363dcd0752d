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
TIMESTAMP_NTZ                 LocalDateTime; where an instant or engine time is expected it is taken as UTC
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

from epl.event_types import EventType
from runtime.arguments import check_arguments
from runtime.conversion.arrow import BIG_INTEGER, DECIMAL, INSTANT, arrow_schema
from runtime.conversion.spark_types import event_type_of_spark


@check_arguments
def spark_schema(event_type: EventType) -> spark.StructType:
    """Return the schema of a DataFrame with an event type's properties.

    Args:
        event_type: Of ``Runtime.event_type``.

    Raises:
        EplUnsupportedError: A property has a type that Spark does not have.

    Examples:
        ```python
        from runtime import Runtime
        from runtime.spark import spark_schema

        assert spark_schema(Runtime().register("A", {"x": int})).simpleString() == "struct<x:bigint>"
        ```
    """
    return spark.StructType([spark.StructField(f.name, _from_arrow(f.type), True) for f in arrow_schema(event_type)])


def arrow_for_spark(event_type: EventType) -> pa.Schema:
    """Return what record batches of the type's events must be cast to before Spark takes them: times of day become text."""
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


__all__ = ["arrow_for_spark", "event_type_of_spark", "spark_schema"]
