"""Values as the JSON of traces and test cases has them: dates by their declared type, NaN as text, a float's shortest digits."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from epl.event_types import EventOf
from epl.functions.java_values import zone_name
from epl.java import float_text
from epl.value_types import ArrayType, CollectionType, MapType, Scalar, ValueType
from runtime.conversion.rows import Row
from windows.event import Event

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def json_row(row: Row) -> dict[str, Any]:
    """Return a row as an object of its type's properties: undeclared ones are not columns."""
    return _event_values(row.event)


def _event_values(event: Event) -> dict[str, Any]:
    if event.type.kind == "row" and event.type.name == "pattern":  # tags are events there, and not objects of a declared class
        return {name: json_value(event.get(name), None) for name in event.type.properties}
    return {name: json_value(event.get(name), prop.type) for name, prop in event.type.properties.items()}


def json_value(value: Any, declared: ValueType | None) -> Any:
    """Return one value. ``declared``: its type, None where it is not known (a date is then taken for java.util.Date)."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (Event, Row)):
        event = value.event if isinstance(value, Row) else value
        if event.origin is not None and event.origin.type.kind != "bean":  # traces show a bean by the properties of the variant stream
            event = event.origin
        if isinstance(declared, EventOf) and declared.event_type.kind == event.type.kind == "bean" and not declared.event_type.any_type:
            return {name: json_value(event.get(name), prop.type) for name, prop in declared.event_type.properties.items()}
        return _event_values(event) | {name: json_value(v, None) for name, v in (event.extra or {}).items()}
    if isinstance(value, float):
        return _json_float(value, declared)
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return _json_temporal(value, declared)
    if isinstance(value, Mapping):
        inner = declared.value if isinstance(declared, MapType) else None
        return {_key(k): json_value(v, inner) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        element = declared.element if isinstance(declared, (ArrayType, CollectionType)) else None
        if _is_raw(declared) and isinstance(element, EventOf) and element.event_type.kind in ("table", "objectarray"):
            return [list(_event_values(v).values()) if isinstance(v, Event) else json_value(v, element) for v in value]
        return [json_value(v, element) for v in value]
    return str(value)


def _is_raw(declared: ValueType | None) -> bool:
    return isinstance(declared, CollectionType) or (isinstance(declared, ArrayType) and declared.raw)


def _key(key: Any) -> str:
    return "null" if key is None else key if isinstance(key, str) else str(json_value(key, None))


def _json_float(value: float, declared: ValueType | None) -> Any:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return float(float_text(value)) if isinstance(declared, Scalar) and declared.kind == "float" else value


def _json_temporal(value: datetime.date | datetime.time, declared: ValueType | None) -> Any:
    kind = declared.kind if isinstance(declared, Scalar) else None
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            return java_iso(value)
        if kind in ("ZonedDateTime", "OffsetDateTime"):
            return java_iso(value.replace(tzinfo=None)) + _zone(value, kind)
        return (value - EPOCH) // datetime.timedelta(milliseconds=1)
    return value.isoformat() if isinstance(value, datetime.date) else _java_time(value)


def java_iso(value: datetime.datetime) -> str:
    """Do as java.time prints it: no seconds where they are zero, fractions in groups of three digits.

    >>> java_iso(datetime.datetime(2002, 5, 30, 9)), java_iso(datetime.datetime(2002, 5, 30, 9, 0, 0, 100_000))
    ('2002-05-30T09:00', '2002-05-30T09:00:00.100')
    """
    return f"{value.date().isoformat()}T{_java_time(value.time())}"


def _java_time(value: datetime.time) -> str:
    if value.microsecond:
        return value.isoformat("microseconds" if value.microsecond % 1000 else "milliseconds")
    return value.isoformat("seconds" if value.second else "minutes")


def _zone(value: datetime.datetime, kind: str) -> str:
    minutes = (value.utcoffset() or datetime.timedelta()) // datetime.timedelta(minutes=1)
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}" if minutes else "Z"
    if kind == "OffsetDateTime":
        return offset
    name = zone_name(value.tzinfo)
    return f"{offset}[{name}]" if name else offset
