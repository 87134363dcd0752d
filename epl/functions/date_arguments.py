"""What date-time methods take: receivers with a time, footprints of arguments, Esper's sentences about wrong ones."""
from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import attrs

from epl.event_types import EventOf, EventType
from epl.functions.calendars import FIELDS, date_time_kind
from epl.functions.registry import NOT_CONSTANT, TIME_PERIOD
from epl.generated_code import field_name
from epl.value_types import Scalar, ValueType, is_boolean, is_null, is_numeric

FIELD_NAMES = ",".join(FIELDS)


@attrs.frozen
class TimeSource:
    """Where a time comes from: a value of a kind, or an event's start (and end) timestamp of that kind."""

    kind: str
    start: str | None = None
    end: str | None = None
    end_kind: str | None = None

    def constants(self) -> tuple[str | None, ...]:
        return (self.kind, self.start, self.end, self.end_kind)


def time_source(value_type: ValueType) -> TimeSource | None:
    """Return the source of a value's time; None for what has no time: other values, events of types without a start timestamp."""
    if isinstance(value_type, EventOf):
        return _event_source(value_type.event_type)
    kind = date_time_kind(value_type)
    return TimeSource(kind) if kind is not None else None


def _event_source(event_type: EventType) -> TimeSource | None:
    for declared in event_type.lineage():
        if declared.start_timestamp is not None:
            start_type = event_type.property_type(declared.start_timestamp)
            kind = date_time_kind(start_type) if start_type is not None else None
            if kind is None:
                return None
            end_type = event_type.property_type(declared.end_timestamp) if declared.end_timestamp else None
            return TimeSource(kind, declared.start_timestamp, declared.end_timestamp,
                date_time_kind(end_type) if end_type is not None else None)
    return None


def property_reader(name: str) -> Callable[[Any], Any]:
    return attrgetter(field_name(name))


# ------------------------------------------------------------------ footprints


@attrs.frozen
class Role:
    """One argument: what it provides, and which types it may have (``check`` gives the type that was expected, or None if it fits)."""

    provides: str
    check: Callable[[ValueType], str | None]


def _number(value_type: ValueType) -> str | None:
    return None if is_numeric(value_type) or value_type == TIME_PERIOD else "a number-type"


def _period_or_number(value_type: ValueType) -> str | None:
    return None if is_numeric(value_type) or value_type == TIME_PERIOD else "a time-period expression or a numeric-type"


def _integer(value_type: ValueType) -> str | None:
    whole = isinstance(value_type, Scalar) and value_type.kind in ("byte", "short", "int", "long")
    return None if whole else "a Integer-type"


def _text(value_type: ValueType) -> str | None:
    return None if value_type == Scalar("String") else "a String-type"


def _truth(value_type: ValueType) -> str | None:
    return None if is_boolean(value_type) else "a boolean-type"


def _moment(value_type: ValueType) -> str | None:
    return None if date_time_kind(value_type) else "a long-typed, Date-typed or Calendar-typed"


def _anything(_: ValueType) -> str | None:
    return None


Footprints = tuple[tuple[Role, ...], ...]

NOTHING: Footprints = ((),)
FIELD = Role("a string-type calendar field name", _text)
ON_FIELD: Footprints = ((FIELD,),)
SET: Footprints = ((FIELD, Role("an integer-type value", _integer)),)
DATE: Footprints = (tuple(Role(f"an integer-type {n}", _integer) for n in ("year", "month", "day")),)
TIME: Footprints = (tuple(Role(f"an integer-type {n}", _integer) for n in ("hour", "minute", "second", "millis")),)
SHIFT: Footprints = ((Role("a numeric-type millisecond", _number),), (Role("a time period", _number),))
FORMAT: Footprints = ((), (Role("a string-type format", _text),))
_DATE_TIME, _BOOLEAN = Role("a date-time type", _moment), Role("boolean", _truth)
BETWEEN: Footprints = ((_DATE_TIME, _DATE_TIME), (_DATE_TIME, _DATE_TIME, _BOOLEAN, _BOOLEAN))
_TIMESTAMP = Role("timestamp or timestamped-event", _anything)


def relation(*thresholds: Sequence[str]) -> Footprints:
    """Return the footprints of a relation: a timestamp alone, and with each list of thresholds."""
    return ((_TIMESTAMP,), *((_TIMESTAMP, *(Role(t, _period_or_number) for t in names)) for names in thresholds))


_BOTH = ("maximum distance interval both start and end",)
_BOTH_RANGE = ("minimum distance interval both start and end", *_BOTH)
_DISTANCES = relation(_BOTH, _BOTH_RANGE)
_ALL_DISTANCES = relation(_BOTH, _BOTH_RANGE, ("minimum distance start", "maximum distance start", "minimum distance end",
    "maximum distance end"))
_ORDER = relation(("interval start value",), ("interval start value", "interval finishes value"))
_ENDS, _STARTS = relation(("maximum distance between end timestamps",)), relation(("maximum distance between start timestamps",))
_MEETING = relation(("maximum distance between start and end timestamps",))
RELATION_FOOTPRINTS: dict[str, Footprints] = {
    "before": _ORDER, "after": _ORDER,
    "coincides": relation(("threshold for start and end value",), ("threshold for start value", "threshold for end value")),
    "during": _ALL_DISTANCES, "includes": _ALL_DISTANCES, "finishes": _ENDS, "finishedBy": _ENDS, "meets": _MEETING, "metBy": _MEETING,
    "overlaps": _DISTANCES, "overlappedBy": _DISTANCES, "starts": _STARTS, "startedBy": _STARTS,
}


def check_arguments(name: str, footprints: Footprints, types: Sequence[ValueType]) -> None:
    """Raise ValueError in Esper's words for arguments that fit no footprint."""
    fitting = next((f for f in footprints if len(f) == len(types)), None)
    if fitting is None:
        raise ValueError(_mismatch(name, footprints, len(types)))
    for position, (role, value_type) in enumerate(zip(fitting, types)):
        expected = role.check(value_type)
        if is_null(value_type):
            raise ValueError(
                f"Failed to validate date-time method '{name}', expected a non-null result for expression parameter {position} "
                "but received a null-typed expression")
        if expected is not None:
            raise ValueError(
                f"Failed to validate date-time method '{name}', expected {expected} result for expression parameter "
                f"{position} but received {value_type}")


def _mismatch(name: str, footprints: Footprints, count: int) -> str:
    start = f"Parameters mismatch for date-time method '{name}', the method "
    if len(footprints) == 1:
        return f"{start}requires {_sentence(footprints[0])}"
    received = f"{count} expressions" if count else "no parameters"
    return f"{start}has multiple footprints accepting {', or '.join(map(_sentence, footprints))}, but receives {received}"


def _sentence(footprint: tuple[Role, ...]) -> str:
    return " and ".join(f"an expression providing {r.provides}" for r in footprint) or "no parameters"


def constant_field(name: str, constant: Any) -> str:
    """Return the field that a constant text names."""
    if constant is NOT_CONSTANT:
        raise ValueError(
            f"Date-time enumeration method '{name}' requires a constant string-type parameter as its first parameter, "
            f"valid field names are '{FIELD_NAMES}'")
    field = FIELDS.get(str(constant).lower())
    if field is None:
        raise ValueError(
            f"Date-time enumeration method '{name}' datetime-field name '{constant}' is not recognized, "
            f"valid field names are '{FIELD_NAMES}'")
    return field


# ------------------------------------------------------------------ times that know their interval's length


class TimestampOfInterval(int):
    """The changed start timestamp of an event with an end timestamp, as the methods after it see it: a long that knows the interval's
    length."""

    length: int


class MomentOfInterval(datetime.datetime):
    """The same for timestamps that are dates."""

    length: int


CARRIERS = (TimestampOfInterval, MomentOfInterval)


def with_length(value: Any, length: int) -> Any:
    """Return ``value`` (int or datetime) knowing the length of its interval in engine time units."""
    moment: Any
    if isinstance(value, datetime.datetime):
        moment = MomentOfInterval.combine(value.date(), value.timetz())
    else:
        moment = TimestampOfInterval(value)
    moment.length = length
    return moment
