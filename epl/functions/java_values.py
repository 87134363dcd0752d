"""Java's view of single values, beside the number rules of ``epl.java``: texts, equality, exceptions (hash codes: ``epl.java_hash``).

Texts follow ``String.valueOf``: ``Date.toString``, ``LocalTime.toString`` and friends of Java 17.
"""
from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from epl.errors import EplRuntimeError
from epl.java import MAX_TEXT, decimal_text, double_text, float_text, integer_text
from epl.value_types import ArrayType, CollectionType, MapType, Scalar, ValueType


class JavaException(EplRuntimeError):
    """What a Java method would throw: the message begins with the exception's class name."""

    code = "java"


def throw(class_name: str, detail: str | None = None) -> JavaException:
    """Return the exception to raise for a Java exception of ``java.lang``."""
    return JavaException(f"java.lang.{class_name}" + (f": {detail}" if detail is not None else ""))


def check_length(length: int) -> None:
    """Refuse to make a string of more characters than ``MAX_TEXT``."""
    if length > MAX_TEXT:
        raise throw("OutOfMemoryError", f"a string of {length} characters is longer than {MAX_TEXT}")


# ------------------------------------------------------------------ texts


def date_text(value: datetime.datetime) -> str:
    """Implement ``Date.toString``: ``Thu Feb 29 10:11:12 UTC 2024``."""
    zone = value.tzname() or "UTC"
    return f"{_DAYS[value.weekday()]} {_MONTHS[value.month - 1]} {value.day:02} {value:%H:%M:%S} {zone} {value.year:04}"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_text(value: datetime.time | datetime.datetime) -> str:
    """Return the time of day as java.time prints it: seconds and fraction only where they are not zero; three or six digits of fraction."""
    text = f"{value.hour:02}:{value.minute:02}"
    if value.second or value.microsecond:
        text += f":{value.second:02}"
    if value.microsecond:
        text += f".{value.microsecond // 1000:03}" if value.microsecond % 1000 == 0 else f".{value.microsecond:06}"
    return text


def zoned_text(value: datetime.datetime) -> str:
    """Implement ``ZonedDateTime.toString``: with offset, and the zone's name in brackets where it has one."""
    name = zone_name(value.tzinfo)
    return f"{offset_date_time_text(value)}[{name}]" if name else offset_date_time_text(value)


def offset_date_time_text(value: datetime.datetime) -> str:
    """Implement ``OffsetDateTime.toString``."""
    return f"{value:%Y-%m-%d}T{time_text(value)}{offset_text(value.utcoffset() or datetime.timedelta())}"


OFFSET_ZERO = datetime.timezone(datetime.timedelta(), "Z")
"""The zone that is an offset, ``Z``; ``datetime.timezone.utc`` is the one that is named UTC."""


def zone_name(zone: datetime.tzinfo | None) -> str | None:
    """Return ``Europe/Berlin``, ``UTC``; None for a zone that is an offset alone."""
    return "UTC" if zone is datetime.timezone.utc else getattr(zone, "key", None)


def offset_text(offset: datetime.timedelta) -> str:
    """Return ``Z`` or ``+01:00``."""
    total = int(offset.total_seconds())
    if total == 0:
        return "Z"
    sign, total = ("-", -total) if total < 0 else ("+", total)
    text = f"{sign}{total // 3600:02}:{total // 60 % 60:02}"
    return text + (f":{total % 60:02}" if total % 60 else "")


def java_text(value: Any) -> str:
    """Implement ``String.valueOf`` by the value alone (a float counts as a double, an aware time as a zoned one)."""
    return _BY_CLASS.get(type(value), str)(value)


def _list_text(value: list[Any]) -> str:
    return "[" + ", ".join(map(java_text, value)) + "]"


def _dict_text(value: dict[Any, Any]) -> str:
    return "{" + ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items()) + "}"


def _datetime_text(value: datetime.datetime) -> str:
    return zoned_text(value) if value.tzinfo else f"{value:%Y-%m-%d}T{time_text(value)}"


_BY_CLASS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "null", bool: lambda v: "true" if v else "false", str: str, int: integer_text,
    float: double_text, Decimal: decimal_text,
    list: _list_text, tuple: _list_text, dict: _dict_text, datetime.datetime: _datetime_text, datetime.time: time_text,
}


_BY_KIND: dict[str, Callable[[Any], str]] = {"float": float_text, "Date": date_text, "OffsetDateTime": offset_date_time_text}


def text_function(value_type: ValueType) -> Callable[[Any], str]:
    """Return what turns a value of that type into text; null gives ``null``. Chosen once, at deploy."""
    specific = _BY_KIND.get(value_type.kind) if isinstance(value_type, Scalar) else None
    if specific is not None:

        def text(value: Any) -> str:
            return "null" if value is None else specific(value)

        return text
    if isinstance(value_type, (ArrayType, CollectionType)):
        element = text_function(value_type.element)
        return lambda value: "null" if value is None else "[" + ", ".join(map(element, value)) + "]"
    if isinstance(value_type, MapType):
        key_text, value_text = text_function(value_type.key), text_function(value_type.value)
        return lambda value: "null" if value is None else "{" + ", ".join(f"{key_text(k)}={value_text(v)}" for k, v in value.items()) + "}"
    return java_text


# ------------------------------------------------------------------ equality


def equality_key(value: Any) -> Any:
    """Return a hashable stand-in that is equal where Java's ``equals`` is (arrays and lists by their elements).

    Numbers of different Python classes differ; a BigDecimal's scale counts. Events are equal by content, object-array ones by identity.
    """
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is float:
        return (float, "nan") if value != value else (float, value, math.copysign(1.0, value))
    if kind is bool:
        return (bool, value)
    if kind is list or kind is tuple:
        return (list, *map(equality_key, value))
    if kind is dict:
        return (dict, frozenset((equality_key(k), equality_key(v)) for k, v in value.items()))
    if kind is Decimal:
        return (Decimal, value.as_tuple())
    event_type = getattr(value, "type", None)
    if event_type is not None and event_type.kind != "objectarray":
        return (event_type.names, *map(equality_key, value.values()))
    return value


def map_key(value: Any) -> Any:
    """Return the value as a key of a dict: lists become tuples."""
    return tuple(map(map_key, value)) if isinstance(value, list) else value


def java_equals(left: Any, right: Any) -> bool:
    """Implement ``left.equals(right)``."""
    if left is right:
        return True
    return type(left) is type(right) and bool(equality_key(left) == equality_key(right))
