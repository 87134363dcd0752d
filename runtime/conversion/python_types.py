"""Python's ways to describe data → event types: dicts of types, dataclasses, attrs and pydantic classes, TypedDicts, NamedTuples,
pyarrow and Spark schemas; enums.
"""
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from epl.analysis.names.type_names import resolve_type_name
from epl.errors import EplDeploymentError
from epl.event_types import EventOf, EventType, Property
from epl.foreign_words import TYPES, word_hint
from epl.parse import parse_expression
from epl.reprs import brief
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
    EnumType,
    MapType,
    ValueType,
)
from runtime.conversion.spark_types import event_type_of_spark

PLAIN: dict[Any, ValueType] = {
    str: STRING, int: BOXED_LONG, float: BOXED_DOUBLE, bool: BOXED_BOOLEAN, decimal.Decimal: BIG_DECIMAL, object: OBJECT, Any: OBJECT,
    datetime.datetime: ZONED_DATE_TIME, datetime.date: LOCAL_DATE, datetime.time: LOCAL_TIME, list: ArrayType(OBJECT),
    dict: MapType(OBJECT, OBJECT),
}
"""Python's int is Java's long, float is double; every value may be None."""


@attrs.frozen
class Known:
    """What names and classes may stand for: ``event_types`` and ``enums`` by name, ``classes``: event types of registered classes."""

    event_types: Mapping[str, EventType] = attrs.field(factory=dict)
    enums: Mapping[str, EnumType] = attrs.field(factory=dict)
    classes: Mapping[type, EventType] = attrs.field(factory=dict)


def describe_event_type(name: str, schema: Any, known: Known) -> EventType:
    """Return the event type that ``schema`` describes; raise EplDeploymentError for what it cannot be read from."""
    if isinstance(schema, EventType):
        return schema
    if isinstance(schema, Mapping):
        return _build_type(name, "map", schema, known)
    fields = class_fields(schema)
    if fields is not None:
        return _build_type(name, "map" if typing.is_typeddict(schema) else "bean", fields, known)
    module = type(schema).__module__.split(".")[0]
    if module == "pyarrow":
        return _build_type(name, "map", {f.name: arrow_type(f.type, f"{name}.{f.name}") for f in schema}, known)
    if module == "pyspark":
        return event_type_of_spark(name, schema)
    if hasattr(schema, "columns"):
        raise EplDeploymentError(
            f"Event type '{name}' cannot be built from the rows of a {type(schema).__name__}",
            hint="give their types: pyarrow.Table.from_pandas(frame).schema, or a dict of types")
    raise EplDeploymentError(
        f"Event type '{name}' cannot be built from {brief(schema)}",
        hint="give a dict of types, a dataclass, an attrs or pydantic class, a TypedDict, a NamedTuple, a pyarrow or Spark schema"
    )


def class_fields(schema: Any) -> dict[str, Any] | None:
    """Return the fields of a class that declares them, with their type hints; None for anything else."""
    if not isinstance(schema, type):
        return None
    if dataclasses.is_dataclass(schema):
        names = [field.name for field in dataclasses.fields(schema)]
    elif hasattr(schema, "__attrs_attrs__"):
        names = [field.name for field in schema.__attrs_attrs__]
    elif issubclass(schema, tuple) and hasattr(schema, "_fields"):
        names = list(schema._fields)
    elif isinstance(fields := getattr(schema, "model_fields", None), Mapping):  # pydantic
        names = list(fields)
    elif typing.is_typeddict(schema):
        return typing.get_type_hints(schema)
    else:
        return None
    hints = typing.get_type_hints(schema)
    return {name: hints.get(name, object) for name in names}


def _build_type(name: str, kind: str, fields: Mapping[str, Any], known: Known) -> EventType:
    properties = {n: Property(n, value_type(t, f"{name}.{n}", known)) for n, t in fields.items()}
    return EventType(name, kind, properties, open=kind == "map")


def enum_type(made_of: type[enum.Enum]) -> EnumType:
    """Return a Python enum as EPL's: its members' names are the constants."""
    return EnumType(made_of.__name__, tuple(made_of.__members__))


def find_enums(schema: Any) -> Iterator[type[enum.Enum]]:
    """Yield the Python enums that a schema's annotations name, also those within lists, options and nested classes."""
    if isinstance(schema, type) and issubclass(schema, enum.Enum):
        yield schema
        return
    fields = schema if isinstance(schema, Mapping) else class_fields(schema)
    for inner in typing.get_args(schema) if fields is None else fields.values():
        yield from find_enums(inner)


def value_type(annotation: Any, where: str, known: Known) -> ValueType:
    """Return one annotation → value type: Python types, enums, Optional, list[T], dict[K, V], nested dicts and classes, EPL type names as
    text."""
    if isinstance(annotation, ValueType):
        return annotation
    if isinstance(annotation, str):
        return _parse_type_name(annotation, where, known)
    if isinstance(annotation, EventType):
        return EventOf(annotation)
    if isinstance(annotation, type):
        if issubclass(annotation, enum.Enum):
            return enum_type(annotation)
        if annotation in known.classes:
            return EventOf(known.classes[annotation])
    try:
        plain = PLAIN.get(annotation)
    except TypeError:
        plain = None
    if plain is not None:
        return plain
    if isinstance(annotation, Mapping) or class_fields(annotation) is not None:
        return EventOf(describe_event_type(getattr(annotation, "__name__", where), annotation, known))
    return _generic(annotation, where, known)


def _generic(annotation: Any, where: str, known: Known) -> ValueType:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        return value_type(inner[0], where, known) if len(inner) == 1 else OBJECT
    if origin in (typing.Annotated, *WRAPPERS):
        return value_type(arguments[0], where, known)
    if origin is typing.Literal:
        kinds = {type(a) for a in arguments if a is not None}
        return value_type(kinds.pop(), where, known) if len(kinds) == 1 else OBJECT
    if origin in (list, tuple, set, frozenset):
        return ArrayType(value_type(arguments[0], where, known))
    if origin is dict:
        return MapType(value_type(arguments[0], where, known), value_type(arguments[1], where, known))
    raise EplDeploymentError(
        f"{where}: no property type can be built from {annotation!r}",
        hint="use a Python type, an enum, an EPL type name such as 'long', or a nested dict"
    )


WRAPPERS = tuple(getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(typing, name))
"""What a TypedDict says of a key beside its type."""


def _parse_type_name(text: str, where: str, known: Known) -> ValueType:
    cast = parse_expression(f"cast(x, {text})")
    value_type = resolve_type_name(cast.type_name, known.event_types, enums=known.enums) if isinstance(cast, Cast) else None
    if value_type is None:
        raise EplDeploymentError(f"{where}: no type is named '{text}'", hint=word_hint(TYPES, text))
    return value_type


def arrow_type(arrow: Any, where: str) -> ValueType:
    """Return a pyarrow data type → value type. Timestamps are aware instants (naive ones are UTC)."""
    import pyarrow.types as kinds

    tests = (
        (kinds.is_boolean, BOXED_BOOLEAN), (kinds.is_int8, BOXED_BYTE), (kinds.is_int16, BOXED_SHORT), (kinds.is_int32, BOXED_INT),
        (kinds.is_integer, BOXED_LONG), (kinds.is_float32, BOXED_FLOAT), (kinds.is_floating, BOXED_DOUBLE), (kinds.is_decimal, BIG_DECIMAL),
        (kinds.is_string, STRING), (kinds.is_large_string, STRING), (kinds.is_timestamp, ZONED_DATE_TIME), (kinds.is_date, LOCAL_DATE),
        (kinds.is_time, LOCAL_TIME), (kinds.is_null, OBJECT),
    )
    for test, value_type in tests:
        if test(arrow):
            return value_type
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
