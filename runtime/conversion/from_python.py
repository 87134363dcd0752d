"""Mappings, objects and tuples that users send → events, checked: one generated function an event type.

A value of the wrong type is refused before anything is done; the message names the type and the property.
"""
from __future__ import annotations

import datetime
import enum
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo

from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventOf, EventType
from epl.generated_code import define_names, field_name, literal
from epl.java import to_float
from epl.reprs import brief
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType
from epl.zones import zone_named
from runtime.conversion.from_json import parse_json
from runtime.expressions.structs import PRIMITIVE_DEFAULTS
from windows.event import Event, Extra, event_class, only_absent

Coerce = Callable[[Any], Any]


class WrongValue(Exception):
    """A value that does not fit its property's type; the caller adds the names."""


DEEPEST = 100
"""How many lists, dicts and the like may be within one another in a value without a declared structure."""


RANGES = {"byte": 1 << 7, "short": 1 << 15, "int": 1 << 31, "long": 1 << 63}


def _integer(kind: str) -> Coerce:
    bound = RANGES.get(kind)

    def coerce(value: Any) -> Any:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise WrongValue
        try:
            value = value.__index__()
        except TypeError as error:  # an array
            raise WrongValue from error
        if bound is not None and not -bound <= value < bound:
            raise WrongValue
        return value

    return coerce


def _double(value: Any) -> float:
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    if isinstance(value, (bool, str)) or type(value).__name__ in ("bool_", "bool") or not hasattr(value, "__float__"):
        raise WrongValue
    try:
        return float(value)
    except (OverflowError, TypeError) as error:  # an integer beyond all doubles, an array
        raise WrongValue from error


def _float(value: Any) -> float:
    return to_float(_double(value))


def _decimal(value: Any) -> Decimal:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        raise WrongValue
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _boolean(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    if type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise WrongValue


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise WrongValue
    return str.__str__(value)  # of a subclass such as numpy.str_ its text


def _char(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1:
        raise WrongValue
    return value


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _instant(value: Any) -> datetime.datetime:
    """Date, Calendar, ZonedDateTime: aware datetime; ms since 1970 and ISO text are taken too; a naive one is UTC."""
    if isinstance(value, datetime.datetime):
        if value != value:  # pandas.NaT
            raise WrongValue
        plain = _plain_moment(value)
        return plain if plain.tzinfo else plain.replace(tzinfo=datetime.timezone.utc)
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return EPOCH + datetime.timedelta(milliseconds=value)
        except OverflowError as error:
            raise WrongValue from error
    if isinstance(value, str):
        return _instant(_iso(datetime.datetime.fromisoformat, value.split("[")[0].replace("Z", "+00:00")))
    raise WrongValue


ZONES = (type(None), datetime.timezone, ZoneInfo)


def _plain_moment(value: datetime.datetime) -> datetime.datetime:
    """Return datetime itself, not a subclass such as pandas.Timestamp, and in a zone of Python's own, not of pytz or dateutil: what is
    restored equals, and shows itself as, what was sent.
    """
    zone = value.tzinfo
    if zone.__class__ not in ZONES:
        value, zone = _in_own_zone(value)
    elif value.__class__ is datetime.datetime:
        return value
    return datetime.datetime.combine(datetime.date(value.year, value.month, value.day), value.time(), zone).replace(fold=value.fold)


def _in_own_zone(value: datetime.datetime) -> tuple[datetime.datetime, datetime.tzinfo]:
    """Return the moment in the zone of the same name where the zone has one (pytz), else at its offset."""
    name = getattr(value.tzinfo, "zone", None)
    zone: datetime.tzinfo = datetime.timezone(value.utcoffset() or datetime.timedelta(0))
    if isinstance(name, str):
        zone = zone_named(name) or zone  # without a zone of that name its offset remains
    return value.astimezone(zone), zone


def _iso(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise WrongValue from error


def _temporal(kind: type, parse: Callable[[str], Any]) -> Coerce:
    def coerce(value: Any) -> Any:
        if isinstance(value, str):
            return _iso(parse, value)
        too_much = kind is datetime.date and isinstance(value, datetime.datetime)
        if not isinstance(value, kind) or too_much or value != value:  # pandas.NaT does not equal itself
            raise WrongValue
        return _plain_moment(value) if isinstance(value, datetime.datetime) else value

    return coerce


def _any(value: Any) -> Any:
    """Return a value of no declared structure, as it is: not nested so deep that what walks it would not come back."""
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        _check_depth(value)
    elif isinstance(value, datetime.datetime):
        if value != value:  # pandas.NaT
            raise WrongValue
        return _plain_moment(value)
    elif isinstance(value, bytearray):
        return bytes(value)
    elif isinstance(value, Decimal) and value.is_snan():  # raises wherever it is compared
        raise WrongValue
    elif value.__class__.__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()  # a number of Python: what is restored is of the same class as what was sent
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        inner = [v for each in level for v in (each.values() if isinstance(each, dict) else each) if isinstance(v, CONTAINERS)]
        if not inner:
            return
        level = list({id(v): v for v in inner}.values())
    raise WrongValue


CONTAINERS = (list, tuple, dict, set, frozenset)


SCALARS: dict[str, Coerce] = {
    **{kind: _integer(kind) for kind in ("byte", "short", "int", "long", "BigInteger")},
    "double": _double, "float": _float, "BigDecimal": _decimal, "boolean": _boolean, "String": _text, "char": _char,
    "Date": _instant, "Calendar": _instant, "ZonedDateTime": _instant, "OffsetDateTime": _instant,
    "LocalDateTime": _temporal(datetime.datetime, datetime.datetime.fromisoformat),
    "LocalDate": _temporal(datetime.date, datetime.date.fromisoformat),
    "LocalTime": _temporal(datetime.time, datetime.time.fromisoformat),
    "Object": _any, "Number": _any, "null": _any,
}
DIRECT = {
    "String": "str", "double": "float", "boolean": "bool",
}
"""Kinds whose values of exactly that Python class need no coercion."""


def coercion(value_type: ValueType) -> Coerce:
    """Return the function that checks and converts one value that is not None; it raises WrongValue."""
    if isinstance(value_type, Scalar):
        return SCALARS.get(value_type.kind, _any)
    if isinstance(value_type, EventOf):
        return _event_coercion(value_type.event_type)
    if isinstance(value_type, (ArrayType, CollectionType)):
        return _list_coercion(value_type.element)
    if isinstance(value_type, MapType):
        return _map_coercion(value_type)
    if isinstance(value_type, EnumType):
        return _constant_coercion(value_type)
    return _any


def _constant_coercion(declared: EnumType) -> Coerce:
    """Return the name of a constant, from the name or from a member of a Python enum."""
    def coerce(value: Any) -> Any:
        name = value.name if isinstance(value, enum.Enum) else value
        if not isinstance(name, str) or (declared.constants and name not in declared.constants):
            raise WrongValue
        return name

    return coerce


def _event_coercion(event_type: EventType) -> Coerce:
    def coerce(value: Any) -> Any:
        if isinstance(value, Event):
            return value
        return to_event(event_type, value)

    return coerce


def _list_coercion(element: ValueType) -> Coerce:
    inner = coercion(element)

    def coerce(value: Any) -> Any:
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
            raise WrongValue
        return [None if v is None else inner(v) for v in value]

    return coerce


def _map_coercion(map_type: MapType) -> Coerce:
    inner = coercion(map_type.value)

    def coerce(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise WrongValue
        return {k: None if v is None else inner(v) for k, v in value.items()}

    return coerce


# ------------------------------------------------------------------ whole events


def to_event(event_type: EventType, value: Any) -> Event:
    """Return an event of the type from a mapping, a tuple or list in property order, JSON text (json types), or an object with attributes.

    Raises EplRuntimeError naming type and property; nothing has been done then.
    """
    if value.__class__ is dict:
        return maker(event_type)(value)
    try:
        return _to_event(event_type, value)
    except EplError:
        raise
    except Exception as error:  # what the object's own methods raise
        raise EplRuntimeError(f"Event type '{event_type.name}' cannot be built from {brief(value)}: {error!r}") from error


def _to_event(event_type: EventType, value: Any) -> Event:
    if isinstance(value, Mapping):
        return maker(event_type)(dict(value))
    if isinstance(value, (tuple, list)):
        if len(value) != len(event_type.properties):
            raise EplRuntimeError(f"Event type '{event_type.name}' has {len(event_type.properties)} properties, the event has {len(value)}")
        return maker(event_type)(dict(zip(event_type.properties, value)))
    if isinstance(value, str) and event_type.kind == "json":
        return to_event(event_type, parse_json(event_type, value))
    if isinstance(value, (str, bytes, int, float)) or value is None:
        raise EplRuntimeError(
            f"Event type '{event_type.name}' cannot be built from {brief(value)}",
            hint="send a mapping, a tuple or an object with attributes",
        )
    if event_type.properties and not any(hasattr(value, name) for name in event_type.properties):
        raise EplRuntimeError(
            f"Event type '{event_type.name}' cannot be built from {brief(value)}: it has none of the properties",
            hint="send a mapping or a tuple"
        )
    return maker(event_type)({name: getattr(value, name, None) for name in event_type.properties})


def maker(event_type: EventType) -> Callable[[dict[str, Any]], Event]:
    """Return make(dict) → event, generated once a type."""
    events = event_class(event_type)
    make = getattr(events, "make", None)
    if make is None:
        make = _generate(event_type)
        events.make = staticmethod(make)  # type: ignore[attr-defined]
    return make


def _generate(event_type: EventType) -> Callable[[dict[str, Any]], Event]:
    lines = ["def make(d):", *(f"    {line}" for line in (*read_mapping(event_type), *checks(event_type), *construction_lines(event_type)))]
    lines += ["    return e"]
    return define_names("\n".join(lines), checking_scope(event_type))["make"]  # type: ignore[no-any-return]


# ------------------------------------------------------------------ the lines of generated functions: d → values v0, v1, …, checked


def checking_scope(event_type: EventType) -> dict[str, Any]:
    """Return what the lines of ``read_mapping``, ``checks`` and ``construction_lines`` name."""
    coercions = {f"coerce{i}": coercion(p.whole_type) for i, p in enumerate(event_type.properties.values())}
    return {
        "none_or_wrong": _none_or_wrong(event_type), "unknown": _unknown(event_type), "WrongValue": WrongValue, "Decimal": Decimal,
        "declared": frozenset(event_type.properties), "cls": event_class(event_type), "new": object.__new__,
        "read_extra": _extra_reader(event_type), **coercions,
    }


def read_mapping(event_type: EventType) -> list[str]:
    """Return lines that read a dict ``d``; ``extra`` is what an open type does not declare, and what a map lacks. What is not there is
    null."""
    names = list(event_type.properties)
    strict = event_type.open or event_type.kind in ("objectarray", "row")
    lines = ["try:", *(f"    v{i} = d[{literal(name)}]" for i, name in enumerate(names))]
    lines += [f"    more = len(d) - {len(names)}"] if strict else []  # not 0: faster than comparing
    lines += ["except KeyError:", "    get = d.get", *(f"    v{i} = get({literal(name)})" for i, name in enumerate(names))]
    if strict:
        lines += [f"    more = {'True' if event_type.open else 'not d.keys() <= declared'}"]
    if not strict and not names:
        return []
    if event_type.open:
        lines += ["extra = read_extra(d) if more else None"]
    elif event_type.kind in ("objectarray", "row"):
        lines += ["if more: unknown(d)"]
    return lines


def _extra_reader(event_type: EventType) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """Return what an event of an open type holds besides its declared values; for a map also which of them are not in the dict."""
    declared, is_map = frozenset(event_type.properties), event_type.kind == "map"

    def read_extra(values: dict[str, Any]) -> dict[str, Any] | None:
        absent = declared.difference(values)
        if len(values) + len(absent) == len(declared):
            return only_absent(absent) if is_map and absent else None
        undeclared = {k: v for k, v in values.items() if k not in declared}
        return Extra(undeclared, absent) if is_map and absent else undeclared

    return read_extra


def construction_lines(event_type: EventType) -> list[str]:
    """Return lines that put the event of the values in ``e``. The values are set one by one, which is faster than a call of the class."""
    lines = ["e = new(cls)", *(f"e.{field_name(name)} = v{i}" for i, name in enumerate(event_type.properties))]
    lines += ["e.extra = extra"] if event_type.open else []
    return [*lines, *(["e.origin = None"] if event_type.kind == "variant" else [])]


def checks(event_type: EventType) -> list[str]:
    """Return lines that check and convert the values; one that does not fit raises and names type and property."""
    lines: list[str] = []
    for i, prop in enumerate(event_type.properties.values()):
        value_type = prop.whole_type
        refuse = f"    except Exception as error: v{i} = none_or_wrong({literal(prop.name)}, v{i}, error)"
        lines += [f"if {_misfits(f'v{i}', value_type)}:", "    try:", f"        v{i} = coerce{i}(v{i})", refuse]
        if isinstance(value_type, Scalar) and value_type.primitive:
            lines += [f"if v{i} is None: v{i} = {literal(PRIMITIVE_DEFAULTS[value_type.kind])}"]
    return lines


def _misfits(name: str, value_type: ValueType) -> str:
    """Return the condition under which a value must be looked at more closely."""
    kind = value_type.kind if isinstance(value_type, Scalar) else ""
    if kind == "BigDecimal":
        return f"{name} is not None and ({name}.__class__ is not Decimal or not {name}.is_finite())"
    if kind in DIRECT:
        return f"{name}.__class__ is not {DIRECT[kind]} and {name} is not None"
    if kind in RANGES:
        bound = RANGES[kind]  # a shift is the quickest test for those that are not negative and in range
        return (
            f"({name}.__class__ is not int or {name} >> {bound.bit_length() - 1} and not {-bound} <= {name} <= {bound - 1}) "
            f"and {name} is not None"
        )
    return f"{name} is not None"


MISSING = {("pandas", "NAType"), ("pandas", "NaTType")}
"""Classes of values that stand for null, by package and name: pandas need not be installed, nor imported."""


def _none_or_wrong(event_type: EventType) -> Callable[[str, Any, Exception], None]:
    def none_or_wrong(name: str, value: Any, error: Exception) -> None:
        if isinstance(error, EplError):  # of an event within the event
            raise error
        kind = type(value)
        if (kind.__module__.partition(".")[0], kind.__name__) in MISSING:
            return
        raise EplRuntimeError(
            f"Event type '{event_type.name}': property '{name}' is declared {event_type.property_type(name)} and cannot hold "
            f"{brief(value)} "
            f"({kind.__name__})"
        ) from (None if isinstance(error, WrongValue) else error)

    return none_or_wrong


def _unknown(event_type: EventType) -> Callable[[Mapping[str, Any]], None]:
    def unknown(values: Mapping[str, Any]) -> None:
        name = next(n for n in values if n not in event_type.properties)
        close = get_close_matches(str(name), event_type.properties, 1)
        raise EplRuntimeError(
            f"Event type '{event_type.name}' has no property '{name}'", hint=f"did you mean '{close[0]}'?" if close else None
        )

    return unknown
