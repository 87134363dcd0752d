"""Spark schemas → event types, read from the JSON that a schema gives of itself: Spark is not imported. See runtime.spark.schemas."""
from __future__ import annotations

from typing import Any, Protocol

from epl.errors import EplDeploymentError
from epl.event_types import EventOf, EventType, Property
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
    MapType,
    ValueType,
)

TO_VALUE: dict[str, ValueType] = {
    "byte": BOXED_BYTE, "short": BOXED_SHORT, "integer": BOXED_INT, "long": BOXED_LONG, "float": BOXED_FLOAT, "double": BOXED_DOUBLE,
    "decimal": BIG_DECIMAL, "string": STRING, "char": STRING, "varchar": STRING, "boolean": BOXED_BOOLEAN, "timestamp": ZONED_DATE_TIME,
    "timestamp_ntz": LOCAL_DATE_TIME, "date": LOCAL_DATE, "time": LOCAL_TIME, "void": OBJECT,
}
"""By the type's name in JSON, without precision, length and collation."""


class SparkSchema(Protocol):
    """A ``pyspark.sql.types.StructType``."""

    def jsonValue(self) -> dict[str, Any]: ...


def event_type_of_spark(name: str, schema: SparkSchema) -> EventType:
    """Return an event type with the columns of a Spark schema.

    Args:
        name: The type's name.
        schema: A StructType, or its JSON value.

    Raises:
        EplUnsupportedError: A column has a type that EPL does not have: cast or drop it.

    Examples:
        ```python
        from runtime.spark import event_type_of_spark, session

        frame = session().sql("select 1 as x, 'a' as k")
        assert list(event_type_of_spark("A", frame.schema).properties) == ["x", "k"]
        ```
    """
    return _event_type(name, schema.jsonValue())


def _event_type(name: str, struct: dict[str, Any]) -> EventType:
    properties = {f["name"]: Property(f["name"], _value_type(f["type"], f"{name}.{f['name']}")) for f in struct["fields"]}
    return EventType(name, "map", properties, open=True)


def _value_type(data_type: str | dict[str, Any], where: str) -> ValueType:
    """Return the type of a column. ``where``: its path, for the error, and the name of a nested event's type."""
    if isinstance(data_type, str):
        value_type = TO_VALUE.get(data_type.partition("(")[0].partition(" collate ")[0])
        if value_type is not None:
            return value_type
    elif data_type["type"] == "array":
        return ArrayType(_value_type(data_type["elementType"], where))
    elif data_type["type"] == "map":
        return MapType(_value_type(data_type["keyType"], where), _value_type(data_type["valueType"], where))
    elif data_type["type"] == "struct":
        return EventOf(_event_type(where, data_type))
    raise EplDeploymentError(
        f"{where}: columns of Spark type {data_type if isinstance(data_type, str) else data_type['type']} are not supported",
        hint="cast the column, or leave it out of the DataFrame",
    )


__all__ = ["SparkSchema", "event_type_of_spark"]
