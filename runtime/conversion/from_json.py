"""JSON text → values of json event types, by Esper's rules.

A declared type reads what is in the text: ``"1"`` is an int where an int is declared, ``1`` a string where a string is; an object or
array where a single value is declared is null, and so is a single value where an object or array is; undeclared members are omitted, or
kept where the type is dynamic. What cannot be read is refused as Esper does (EplRuntimeError, ``Failed to parse …``).
"""
from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from epl.errors import EplRuntimeError
from epl.event_types import EventOf, EventType
from epl.java import to_float
from epl.value_types import ArrayType, ClassType, CollectionType, EnumType, MapType, Scalar, ValueType
from runtime.conversion.json_text import find_fault

INT_BOUND = 1 << 31
INTEGER = re.compile(r"[+-]?[0-9]+")
FLOATING = re.compile(r"\s*[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)\s*")
RANGES = {"byte": 1 << 7, "short": 1 << 15, "int": 1 << 31, "long": 1 << 63}


class JsonNumber(str):
    """A number as it is written: the declared type decides what it becomes."""

    __slots__ = ()


class Unreadable(Exception):
    """The text of a single value does not fit; the caller knows the member's name and type."""


Read = Callable[[Any, str], Any]
"""A parsed value that is not None, and the member's name → the property's value."""


def parse_json(event_type: EventType, text: str) -> dict[str, Any]:
    """Return the text's members as values of the type's properties. A text that is not an object has none, as in Esper."""
    parsed = read_json(text)
    if isinstance(parsed, list) and any(isinstance(item, (dict, list)) for item in parsed):
        raise EplRuntimeError(f"Failed to parse Json: an object is expected for event type '{event_type.name}'")
    return members(event_type, parsed) if isinstance(parsed, dict) else {}


def read_json(text: str) -> Any:
    """Return the text's objects, arrays and values, numbers as they are written; raise EplRuntimeError."""
    try:
        return json.loads(text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise EplRuntimeError(f"Failed to parse Json: {find_fault(text) or error}") from None


def _no_constant(text: str) -> Any:
    raise ValueError(text)


def members(event_type: EventType, parsed: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a parsed object as values of the type's properties."""
    values: dict[str, Any] = {}
    for name, value in parsed.items():
        prop = event_type.properties.get(name)
        if prop is not None:
            values[name] = None if value is None else reader(prop.type)(value, name)
        elif event_type.open:
            values[name] = read_untyped(value)
    return values


def read_untyped(value: Any) -> Any:
    """Return a value of no declared type: numbers are int where an int holds them, else double."""
    if isinstance(value, JsonNumber):
        whole = int(value) if INTEGER.fullmatch(value) else None
        return whole if whole is not None and -INT_BOUND <= whole < INT_BOUND else float(value)
    if isinstance(value, dict):
        return {name: read_untyped(inner) for name, inner in value.items()}
    return [read_untyped(inner) for inner in value] if isinstance(value, list) else value


def reader(declared: ValueType) -> Read:
    """Return how values of the type are read."""
    if isinstance(declared, (ArrayType, CollectionType)):
        return _array_reader(declared.element, str(declared))
    if isinstance(declared, MapType):
        return _structure_reader(dict, lambda value, name: read_untyped(value), "java.util.Map")
    if isinstance(declared, EventOf):
        event_type = declared.event_type
        return _structure_reader(dict, lambda value, name: members(event_type, value), event_type.name)
    if isinstance(declared, EnumType):
        return _text_reader(declared.name, _constant_reader(declared))
    if isinstance(declared, ClassType):
        return _text_reader(declared.name, CLASSES[declared.name]) if declared.name in CLASSES else _any
    assert isinstance(declared, Scalar)
    if declared.kind in ("Object", "null"):
        return _any
    if declared.kind in ("Date", "Calendar"):
        return lambda value, name: None
    return _text_reader(WORDS.get(declared.kind, declared.kind), SCALARS[declared.kind])


def _any(value: Any, name: str) -> Any:
    return read_untyped(value)


def _text_reader(type_name: str, read: Callable[[str], Any]) -> Read:
    def of(value: Any, name: str) -> Any:
        if isinstance(value, (dict, list)):
            return None
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            return read(text)
        except Unreadable as reason:
            words = f": {reason}" if str(reason) else ""
            raise EplRuntimeError(f"Failed to parse json member name '{name}' as a {type_name}-type from value '{text}'{words}") from None

    return of


def _structure_reader(kind: type, read: Read, class_name: str) -> Read:
    """Return what is read of objects or of arrays only; anything else is null, but true and false are refused."""

    def of(value: Any, name: str) -> Any:
        if isinstance(value, bool):
            raise EplRuntimeError(f"Failed to parse Json: class java.lang.Boolean cannot be cast to class {class_name}")
        return read(value, name) if isinstance(value, kind) else None

    return of


def _array_reader(element: ValueType, class_name: str) -> Read:
    inner = reader(element)

    def of(value: Any, name: str) -> Any:
        items = [None if v is None else inner(v, name) for v in value]
        if None in items and not element.nullable:
            raise EplRuntimeError("Failed to parse Json: Cannot parse null string")
        return items

    return _structure_reader(list, of, class_name)


# ------------------------------------------------------------------ single values


def _integer(kind: str) -> Callable[[str], int]:
    bound = RANGES.get(kind)

    def read(text: str) -> int:
        if not INTEGER.fullmatch(text) or (bound is not None and not -bound <= int(text) < bound):
            raise Unreadable(f'NumberFormatException for input string: "{text}"')
        return int(text)

    return read


def _double(text: str) -> float:
    if not FLOATING.fullmatch(text):
        raise Unreadable(f'NumberFormatException for input string: "{text}"' if text else "NumberFormatException empty String")
    return float(text.strip().rstrip("fFdD") if text.strip()[-1:] in "fFdD" else text)


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise Unreadable("NumberFormatException") from None
    if not number.is_finite():
        raise Unreadable("NumberFormatException")
    return number


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Unreadable
    return text == "true"


def _char(text: str) -> str:
    if not text:
        raise EplRuntimeError("Failed to parse Json: String index out of range: 0")
    return text[0]


def _temporal(parse: Callable[[str], Any], zoned: bool | None) -> Callable[[str], Any]:
    """ISO text; ``zoned``: whether an offset must (True) or must not (False) be given."""

    def read(text: str) -> Any:
        try:
            moment = parse(text.split("[")[0].replace("Z", "+00:00") if zoned else text)
        except ValueError:
            raise Unreadable(f"Text '{text}' could not be parsed at index 0") from None
        if zoned is not None and (moment.tzinfo is not None) is not zoned:
            raise Unreadable(f"Text '{text}' could not be parsed at index {len(text)}")
        return moment

    return read


def _instant(text: str) -> datetime.datetime:
    if "T" not in text:
        raise ValueError(text)
    return datetime.datetime.fromisoformat(_microseconds(text))


def _microseconds(text: str) -> str:
    """Nanoseconds do not fit Python's datetime: digits beyond the sixth are dropped."""
    return re.sub(r"(\.[0-9]{6})[0-9]+", r"\1", text)


def _uuid(text: str) -> str:
    try:
        if text.count("-") != 4:
            raise ValueError(text)
        return str(UUID(text))
    except ValueError:
        raise Unreadable(f"Invalid UUID string: {text}") from None


def _url(text: str) -> str:
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
        raise Unreadable(f"no protocol: {text}")
    return text


def _uri(text: str) -> str:
    wrong = re.search(r"[\s\"<>\\^`{|}]", text)
    if wrong is not None:
        raise Unreadable(f"Illegal character in path at index {wrong.start()}: {text}")
    scheme = re.match(r"[^/?#]*?:", text)
    if scheme is not None and not text[0].isalpha():
        raise Unreadable(f"Illegal character in scheme name at index 0: {text}")
    return text


def _constant_reader(declared: EnumType) -> Callable[[str], str]:
    def read(text: str) -> str:
        if declared.constants and text not in declared.constants:
            raise Unreadable(f"No enum constant {declared.name}.{text}")
        return text

    return read


WORDS = {"byte": "Byte", "short": "Short", "int": "Integer", "long": "Long", "float": "Float", "double": "Double"}
SCALARS: dict[str, Callable[[str], Any]] = {
    **{kind: _integer(kind) for kind in ("byte", "short", "int", "long", "BigInteger")},
    "double": _double,
    "float": lambda text: to_float(_double(text)),
    "BigDecimal": _decimal,
    "JsonNumber": _double,
    "boolean": _boolean,
    "String": str,
    "char": _char,
    "LocalDate": _temporal(datetime.date.fromisoformat, None),
    "LocalTime": _temporal(lambda text: datetime.time.fromisoformat(_microseconds(text)), None),
    "LocalDateTime": _temporal(_instant, False),
    "OffsetDateTime": _temporal(_instant, True),
    "ZonedDateTime": _temporal(_instant, True),
}
CLASSES: dict[str, Callable[[str], str]] = {"UUID": _uuid, "URL": _url, "URI": _uri}
"""Classes without a type of their own that JSON text is read as."""

__all__ = ["CLASSES", "parse_json"]
