"""Java's view of single values, beside the number rules of ``epl.java``: texts, hash codes, equality, exceptions.

Texts follow ``String.valueOf``: ``Date.toString``, ``LocalTime.toString`` and friends of Java 17.
"""
from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from epl.errors import EplRuntimeError
from epl.java import MAX_TEXT, decimal_text, double_text, float_text, integer_text, scale_of, unscaled, wrap_int
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


# ------------------------------------------------------------------ equality and hash codes


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


def string_hash(text: str) -> int:
    """Implement ``String.hashCode``.

    >>> string_hash("Hello World")
    -862545276
    """
    total = 0
    for unit in utf16_units(text):
        total = (total * 31 + unit) & 0xFFFFFFFF
    return wrap_int(total)


def utf16_units(text: str) -> list[int]:
    """Return the UTF-16 code units that Java sees."""
    data = text.encode("utf-16-le", "surrogatepass")
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def long_hash(value: int) -> int:
    bits = value & 0xFFFFFFFFFFFFFFFF
    return wrap_int(bits ^ (bits >> 32))


def double_hash(value: float) -> int:
    return long_hash(0x7FF8000000000000 if value != value else struct.unpack("<q", struct.pack("<d", value))[0])


def float_hash(value: float) -> int:
    return 0x7FC00000 if value != value else int(struct.unpack("<i", struct.pack("<f", value))[0])


def big_integer_hash(value: int) -> int:
    magnitude, total = abs(value), 0
    words = []
    while magnitude:
        words.append(magnitude & 0xFFFFFFFF)
        magnitude >>= 32
    for word in reversed(words):
        total = (31 * total + word) & 0xFFFFFFFF
    return wrap_int(-total if value < 0 else total)


def decimal_hash(value: Decimal) -> int:
    whole, scale = unscaled(value), scale_of(value)
    if -(2**63) < whole < 2**63:
        word = 31 * (abs(whole) >> 32) + (abs(whole) & 0xFFFFFFFF)
        return wrap_int(31 * (wrap_int(-word) if whole < 0 else wrap_int(word)) + scale)
    return wrap_int(31 * big_integer_hash(whole) + scale)


def java_hash(value: Any) -> int:
    """Implement ``hashCode`` by the value alone; integers count as int where they fit, else as long."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return 1231 if value else 1237
    if isinstance(value, int):
        return value if -(2**31) <= value < 2**31 else long_hash(value)
    if isinstance(value, (list, tuple)):
        return list_hash(value)
    if isinstance(value, dict):
        return wrap_int(sum(java_hash(k) ^ java_hash(v) for k, v in value.items()))
    for kind, function in _HASHES.items():
        if isinstance(value, kind):
            return function(value)
    return wrap_int(hash(value))


def list_hash(values: list[Any] | tuple[Any, ...]) -> int:
    total = 1
    for value in values:
        total = (31 * total + java_hash(value)) & 0xFFFFFFFF
    return wrap_int(total)


_HASHES: dict[type, Callable[[Any], int]] = {str: string_hash, float: double_hash, Decimal: decimal_hash}


def hash_function(value_type: ValueType) -> Callable[[Any], int]:
    """Return ``hashCode`` for values of that static type."""
    if isinstance(value_type, Scalar):
        return _HASH_BY_KIND.get(value_type.kind, java_hash)
    return java_hash


_HASH_BY_KIND: dict[str, Callable[[Any], int]] = {
    "String": string_hash, "long": long_hash, "double": double_hash, "float": float_hash, "char": ord, "BigDecimal": decimal_hash,
    "BigInteger": big_integer_hash,
}
