"""Python's ways to describe data → event types: dicts of types, dataclasses, attrs classes, pyarrow and Spark schemas."""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import types
import typing
from collections.abc import Mapping
from typing import Any

from epl.analysis.type_names import resolve_type_name
from epl.errors import EplDeploymentError
from epl.event_types import EventType, Property
from epl.parse import parse_expression
from epl.syntax import Cast
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
    LOCAL_TIME,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ArrayType,
    EventOf,
    MapType,
    ValueType,
)

PLAIN: dict[Any, ValueType] = {
    str: STRING, int: BOXED_LONG, float: BOXED_DOUBLE, bool: BOXED_BOOLEAN, decimal.Decimal: BIG_DECIMAL, object: OBJECT, Any: OBJECT,
    datetime.datetime: ZONED_DATE_TIME, datetime.date: LOCAL_DATE, datetime.time: LOCAL_TIME, list: ArrayType(OBJECT),
    dict: MapType(OBJECT, OBJECT),
}
"""Python's int is Java's long, float is double; every value may be None."""


def event_type_of(name: str, schema: Any, event_types: Mapping[str, EventType]) -> EventType:
    """The event type that ``schema`` describes; raises EplDeploymentError for what it cannot be read from."""
    if isinstance(schema, EventType):
        return schema
    if isinstance(schema, Mapping):
        return _made(name, "map", schema, event_types)
    if dataclasses.is_dataclass(schema):
        hints = typing.get_type_hints(schema)
        return _made(name, "bean", {f.name: hints[f.name] for f in dataclasses.fields(schema)}, event_types)
    if hasattr(schema, "__attrs_attrs__"):
        hints = typing.get_type_hints(schema)
        return _made(name, "bean", {a.name: hints.get(a.name, object) for a in schema.__attrs_attrs__}, event_types)
    module = type(schema).__module__.split(".")[0]
    if module == "pyarrow":
        return _made(name, "map", {f.name: arrow_type(f.type, f"{name}.{f.name}") for f in schema}, event_types)
    if module == "pyspark":
        from runtime.spark.schemas import event_type_of_spark

        return event_type_of_spark(name, schema)
    raise EplDeploymentError(
        f"Event type '{name}' cannot be made of {schema!r}",
        hint="give a dict of types, a dataclass, an attrs class, a pyarrow or Spark schema"
    )


def _made(name: str, kind: str, fields: Mapping[str, Any], event_types: Mapping[str, EventType]) -> EventType:
    properties = {n: Property(n, value_type(t, f"{name}.{n}", event_types)) for n, t in fields.items()}
    return EventType(name, kind, properties, open=kind == "map")


def value_type(annotation: Any, where: str, event_types: Mapping[str, EventType]) -> ValueType:
    """One annotation → value type: Python types, Optional, list[T], dict[K, V], nested dicts and classes, EPL type names as text."""
    if isinstance(annotation, ValueType):
        return annotation
    if isinstance(annotation, str):
        return _named(annotation, where, event_types)
    if isinstance(annotation, EventType):
        return EventOf(annotation)
    try:
        plain = PLAIN.get(annotation)
    except TypeError:
        plain = None
    if plain is not None:
        return plain
    if isinstance(annotation, Mapping) or dataclasses.is_dataclass(annotation) or hasattr(annotation, "__attrs_attrs__"):
        return EventOf(event_type_of(getattr(annotation, "__name__", where), annotation, event_types))
    return _generic(annotation, where, event_types)


def _generic(annotation: Any, where: str, event_types: Mapping[str, EventType]) -> ValueType:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        return value_type(inner[0], where, event_types) if len(inner) == 1 else OBJECT
    if origin in (list, tuple, set, frozenset):
        return ArrayType(value_type(arguments[0], where, event_types))
    if origin is dict:
        return MapType(value_type(arguments[0], where, event_types), value_type(arguments[1], where, event_types))
    raise EplDeploymentError(
        f"{where}: no property type can be made of {annotation!r}",
        hint="use a Python type, an EPL type name such as 'long', or a nested dict"
    )


def _named(text: str, where: str, event_types: Mapping[str, EventType]) -> ValueType:
    cast = parse_expression(f"cast(x, {text})")
    found = resolve_type_name(cast.type_name, event_types) if isinstance(cast, Cast) else None
    if found is None:
        raise EplDeploymentError(f"{where}: no type is named '{text}'")
    return found


def arrow_type(arrow: Any, where: str) -> ValueType:
    """A pyarrow data type → value type. Timestamps are aware instants (naive ones are UTC)."""
    import pyarrow.types as kinds

    tests = (
        (kinds.is_boolean, BOXED_BOOLEAN), (kinds.is_int8, BOXED_BYTE), (kinds.is_int16, BOXED_SHORT), (kinds.is_int32, BOXED_INT),
        (kinds.is_integer, BOXED_LONG), (kinds.is_float32, BOXED_FLOAT), (kinds.is_floating, BOXED_DOUBLE), (kinds.is_decimal, BIG_DECIMAL),
        (kinds.is_string, STRING), (kinds.is_large_string, STRING), (kinds.is_timestamp, ZONED_DATE_TIME), (kinds.is_date, LOCAL_DATE),
        (kinds.is_time, LOCAL_TIME), (kinds.is_null, OBJECT),
    )
    for test, found in tests:
        if test(arrow):
            return found
    if kinds.is_dictionary(arrow):
        return arrow_type(arrow.value_type, where)
    if kinds.is_list(arrow) or kinds.is_large_list(arrow):
        return ArrayType(arrow_type(arrow.value_type, where))
    if kinds.is_struct(arrow):
        fields = {f.name: Property(f.name, arrow_type(f.type, f"{where}.{f.name}")) for f in arrow}
        return EventOf(EventType(where, "map", fields, open=True))
    if kinds.is_map(arrow):
        return MapType(arrow_type(arrow.key_type, where), arrow_type(arrow.item_type, where))
    raise EplDeploymentError(f"{where}: columns of type {arrow} are not supported")
