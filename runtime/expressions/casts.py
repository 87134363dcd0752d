"""cast, instanceof, typeof, text of values: Python functions made once, when a statement is built."""
from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from epl import java
from epl.errors import EplRuntimeError
from epl.event_types import EventOf
from epl.value_types import ArrayType, ClassType, CollectionType, EnumType, MapType, Scalar, ValueType, is_numeric
from windows.event import Event

Unary = Callable[[Any], Any]


def text_function(value_type: ValueType) -> Unary:
    """Return a non-null value of that type as text, as Java's ``toString`` gives it."""
    if isinstance(value_type, Scalar):
        if value_type.kind in ("byte", "short", "int", "long", "char", "String"):
            return str
        if value_type.kind == "BigInteger":
            return java.integer_text
        if value_type.kind == "float":
            return java.float_text
        if value_type.kind == "double":
            return java.double_text
        if value_type.kind == "BigDecimal":
            return java.decimal_text
    return _object_text


def _object_text(value: Any) -> str:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.strftime("%a %b %d %H:%M:%S ") + (value.tzname() or "UTC") + value.strftime(" %Y")
    if isinstance(value, Event):
        return "{" + ", ".join(f"{n}={java.java_text(v)}" for n, v in zip(value.type.names, value.values())) + "}"
    return java.java_text(value)


# ------------------------------------------------------------------ cast


def cast_function(source: ValueType, target: ValueType) -> Unary:
    """Return what ``cast`` does with a non-null value of type ``source``; None for values it does not cast."""
    if isinstance(target, Scalar):
        if target.kind == "String":
            return text_function(source)
        if target.kind == "boolean":
            return _to_boolean if source == Scalar("String") else lambda value: value if isinstance(value, bool) else None
        if target.kind == "char":
            return (lambda text: text[:1] or None) if source.boxed in (Scalar("char"), Scalar("String")) else (lambda value: None)
        if is_numeric(target) and target.kind != "Number":
            return _to_number(source, target.kind)
    test = instance_test(target)
    return lambda value: value if test(value) else None


def _to_boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise EplRuntimeError(f"Boolean value '{text}' cannot be converted to boolean")
    return text.lower() == "true"


def _to_number(source: ValueType, kind: str) -> Unary:
    if is_numeric(source) and isinstance(source, Scalar):
        return java.converter(source.kind, kind)
    if source == Scalar("String"):
        return lambda text: parse_number(text, kind)
    narrow = java.converter("Object", kind)
    return lambda value: narrow(value) if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) else None


def parse_number(text: str, kind: str) -> Any:
    """Return text as a number, spaces aside; a long may end in L, a float in f, a double in d."""
    stripped = text.strip()
    if kind in ("float", "double"):
        value = java.parse_double(stripped)
        return java.to_float(value) if kind == "float" else value
    if kind == "BigDecimal":
        return java.parse_decimal(stripped)
    if kind == "byte":
        return _decode_byte(stripped)
    if kind == "long" and stripped[-1:] in ("l", "L"):
        stripped = stripped[:-1]
    return java.parse_integer(stripped, kind)


def _decode_byte(text: str) -> int:
    """``Byte.decode``: hexadecimal with 0x or #, octal with a leading 0; the other kinds take decimals only."""
    digits = text.lstrip("+-")
    base = 16 if digits[:2].lower() == "0x" or digits[:1] == "#" else 8 if digits[:1] == "0" and len(digits) > 1 else 10
    if base == 10:
        return java.parse_integer(text, "byte")
    try:
        value = int(digits.removeprefix("#").lower().removeprefix("0x"), base) * (-1 if text[0] == "-" else 1)
    except ValueError:
        raise EplRuntimeError(f'For input string: "{text}"') from None
    if java.wrap(value, "byte") != value:
        raise EplRuntimeError(f'Value {value} out of range from input {text}')
    return value


# ------------------------------------------------------------------ instanceof, typeof


PYTHON_CLASSES: dict[str, tuple[type, ...]] = {
    "byte": (int,), "short": (int,), "int": (int,), "long": (int,), "BigInteger": (int,), "float": (float,), "double": (float,),
    "BigDecimal": (Decimal,), "Number": (int, float, Decimal), "boolean": (bool,), "char": (str,), "String": (str,),
    "Date": (datetime.datetime,),
    "Calendar": (datetime.datetime,), "ZonedDateTime": (datetime.datetime,), "OffsetDateTime": (datetime.datetime,),
    "LocalDateTime": (datetime.datetime,), "LocalDate": (datetime.date,), "LocalTime": (datetime.time,),
}


INTERFACES: dict[str, tuple[type, ...]] = {
    "Comparable": (str, int, float, Decimal, datetime.date, datetime.time), "CharSequence": (str,), "Serializable": (object,),
}
"""Python classes of the values that implement a Java interface; bool is an int, datetime a date."""


def instance_test(target: ValueType) -> Callable[[Any], bool]:
    """Return whether a value, of which nothing else is known, is of the type: an int is taken for Integer where it fits, a float for
    Double."""
    match target:
        case Scalar(kind="Object"):
            return lambda value: value is not None
        case Scalar(kind="int"):
            return lambda value: type(value) is int and java.INT_MIN <= value <= java.INT_MAX
        case Scalar(kind="long"):
            return lambda value: type(value) is int and not java.INT_MIN <= value <= java.INT_MAX
        case Scalar(kind="byte" | "short" | "BigInteger" | "float" | "char"):
            return lambda value: False
        case Scalar(kind=kind):
            classes = PYTHON_CLASSES.get(kind, ())
            return lambda value: isinstance(value, classes) and (kind == "boolean" or not isinstance(value, bool))
        case EventOf(event_type=event_type):
            return lambda value: isinstance(value, Event) and (value.type.is_a(event_type) or (value.origin or value).type.is_a(event_type))
        case ArrayType() | CollectionType():
            return lambda value: isinstance(value, list)
        case MapType():
            return lambda value: isinstance(value, dict) or (isinstance(value, Event) and value.type.kind == "map")
        case EnumType(constants=constants):
            return lambda value: isinstance(value, str) and value in constants
        case ClassType(name=name) if name in INTERFACES:
            interface = INTERFACES[name]
            return lambda value: isinstance(value, interface)
        case ClassType(name=name):
            return lambda value: isinstance(value, Event) and any(t.name == name for t in (value.origin or value).type.lineage())
    return lambda value: False


def static_instance(source: ValueType, target: ValueType) -> bool | None:
    """Return what ``instanceof`` gives for every non-null value of a static type; None where the value itself decides."""
    if target == Scalar("Object"):
        return True
    if isinstance(source, Scalar) and source.kind not in ("Object", "Number") and isinstance(target, Scalar):
        return source.kind == target.kind or (target.kind == "Number" and is_numeric(source))
    if isinstance(source, EventOf) and isinstance(target, EventOf) and source.event_type.is_a(target.event_type):
        return True
    if isinstance(source, ArrayType) and isinstance(target, CollectionType):
        return False
    return None


_SIMPLE_NAMES: dict[type, str] = {
    bool: "Boolean", float: "Double", str: "String", Decimal: "BigDecimal", list: "ArrayList", dict: "LinkedHashMap",
}


def type_name_function(source: ValueType) -> Unary:
    """Return typeof of a non-null value: the event's type name, the static class name, or what the value's own class says."""
    if isinstance(source, Scalar) and source.kind not in ("Object", "Number"):
        name = str(source.boxed)
        return lambda value: name
    if isinstance(source, ArrayType):
        array_name = str(source)
        return lambda value: array_name
    return dynamic_type_name


def dynamic_type_name(value: Any) -> str:
    if isinstance(value, Event):
        return (value.origin or value).type.name
    if type(value) is int:
        return "Integer" if java.INT_MIN <= value <= java.INT_MAX else "Long"
    return _SIMPLE_NAMES.get(type(value), type(value).__name__)
