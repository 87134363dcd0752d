"""Date-time methods: ``timestamp.plus(1 month)``, ``date.get('hour')``, ``a.before(b, 10 seconds)``.

Receivers are long (engine time), Date, Calendar, LocalDateTime, ZonedDateTime, and events whose type declares a start timestamp. Methods
that change a time
keep its type; on an event they give its changed start timestamp. Null receivers and arguments give null.
"""
from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs

from epl.functions import calendars
from epl.functions import date_arguments as signatures
from epl.functions import date_changes as change
from epl.functions.calendars import Moment, TimeSettings
from epl.functions.date_arguments import (
    Footprints,
    TimeSource,
    check_arguments,
    constant_field,
    property_reader,
    time_source,
)
from epl.functions.format_fields import day_of_year, era
from epl.functions.formats import default_simple_format, formatter, iso_date_time
from epl.functions.registry import NOT_CONSTANT, Bound, FunctionRegistry, FunctionSpec
from epl.value_types import BOXED_BOOLEAN, BOXED_INT, BOXED_LONG, CALENDAR, DATE, STRING, EnumType, Scalar, ValueType

Call = Callable[..., Any]
Check = Callable[[str, Sequence[ValueType], Sequence[Any]], None]
"""(kind of time, argument types, constants): ValueError or EplUnsupportedError to refuse."""
DAY_OF_WEEK = EnumType("DayOfWeek", ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"))


@attrs.frozen
class _Method:
    """``typing``: result type by the time's kind. ``make(settings, source, field, …)``: the callable; ``field`` is there where
    ``on_field``."""

    name: str
    footprints: Footprints
    typing: Callable[[str], ValueType]
    make: Callable[..., Call]
    summary: str
    on_field: bool = False
    quiet: bool = False
    """Whether wrong arguments mean another method of that name."""
    check: Check | None = None

    def bind(self, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
        source = time_source(types[0])
        if source is None:
            return None
        try:
            check_arguments(self.name, self.footprints, types[1:])
            field = constant_field(self.name, constants[1]) if self.on_field else None
        except ValueError:
            if self.quiet:
                return None
            raise
        if self.check is not None:
            self.check(source.kind, types[1:], constants[1:])
        return Bound(self.typing(source.kind), (*source.constants(), field), null_propagates=False)

    def spec(self, settings: TimeSettings) -> FunctionSpec:
        forms = (", ".join(r.provides for r in f) for f in self.footprints)
        return FunctionSpec(
            key=f"dt.{self.name}", bind=self.bind, make=partial(_build_call, self.make, settings), summary=self.summary,
            signature=" | ".join(f"time.{self.name}({f})" for f in forms),
        )


def _build_call(make: Callable[..., Call], settings: TimeSettings, *constants: Any) -> Call:
    *source, field = constants
    return make(settings, TimeSource(*source), field)


def _reading(function_of: Callable[[TimeSettings, str, str | None], Callable[..., Any]]) -> Callable[..., Call]:
    """Return a method that reads a time: ``build_function(settings, kind, field)`` gives a function of (value, arguments…)."""

    def make(settings: TimeSettings, source: TimeSource, field: str | None) -> Call:
        function = function_of(settings, source.kind, field)
        if source.start is None:
            return lambda value, *arguments: None if value is None else function(value, *arguments)
        read = property_reader(source.start)

        def call(event: Any, *arguments: Any) -> Any:
            value = None if event is None else read(event)
            return None if value is None else function(value, *arguments)

        return call

    return make


# ------------------------------------------------------------------ reading


def _field_reader(settings: TimeSettings, kind: str, field: str | None) -> Callable[[Any], int]:
    assert field is not None
    moment, get = calendars.to_moment(kind, settings), calendars.get(field, calendars.is_java_time(kind))
    return lambda value: get(moment(value))


def _field_function(settings: TimeSettings, kind: str, field: str | None) -> Callable[[Any, Any], int]:
    read = _field_reader(settings, kind, field)
    return lambda value, _name: read(value)


def _getter(field: str) -> Callable[..., Call]:
    return _reading(lambda settings, kind, _: _field_reader(settings, kind, field))


def _derive(function: Callable[[Any], int]) -> Callable[..., Call]:
    def build_function(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], int]:
        moment = calendars.to_moment(kind, settings)
        return lambda value: function(moment(value))

    return _reading(build_function)


def _day_of_week(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], Any]:
    if calendars.is_java_time(kind):
        return lambda value: DAY_OF_WEEK.constants[value.weekday()]
    moment = calendars.to_moment(kind, settings)
    return lambda value: moment(value).isoweekday() % 7 + 1


def _format(settings: TimeSettings, kind: str, _: str | None) -> Callable[..., str | None]:
    simple, moment = not calendars.is_java_time(kind), calendars.to_moment(kind, settings)
    default = default_simple_format if simple else iso_date_time

    def call(value: Any, *patterns: str | None) -> str | None:
        if not patterns:
            return default(moment(value))
        return None if patterns[0] is None else formatter(patterns[0], simple)(moment(value))

    return call


def _check_format(kind: str, types: Sequence[ValueType], constants: Sequence[Any]) -> None:
    if constants and constants[0] is not NOT_CONSTANT:
        simple = not calendars.is_java_time(kind)
        try:
            formatter(constants[0], simple)
        except ValueError as error:
            style = "SimpleDateFormat" if simple else "DateTimeFormatter"
            raise ValueError(f"Date-time enumeration method 'format' invalid format string ({style}): {error}") from None


def _to_date(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], Moment]:
    if kind == "LocalDateTime":
        return lambda value: calendars.in_utc(calendars.resolve(value, settings.zone))
    moment = calendars.to_moment(kind, settings)
    return lambda value: calendars.in_utc(_whole_milliseconds(calendars.near(moment(value))))


def _to_calendar(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], Moment]:
    if kind == "LocalDateTime":
        return lambda value: calendars.resolve(value, settings.zone)
    moment = calendars.to_moment(kind, settings)
    return lambda value: _whole_milliseconds(calendars.near(moment(value)))


def _whole_milliseconds(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _to_milliseconds(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], int]:
    return calendars.to_units(kind, settings)


# ------------------------------------------------------------------ between


class _Between:
    """``between(a, b[, include low, include high])``: the ends are in either order."""

    def bind(self, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
        source = time_source(types[0])
        if source is None:
            return None
        check_arguments("between", signatures.BETWEEN, types[1:])
        kinds = tuple(calendars.date_time_kind(t) for t in types[1:3])
        return Bound(BOXED_BOOLEAN, (*source.constants(), *kinds))

    def make(self, settings: TimeSettings, *constants: Any) -> Call:
        *source, low_kind, high_kind = constants
        receiver = change.interval_reader(settings, TimeSource(*source))
        low_units, high_units = calendars.to_units(low_kind, settings), calendars.to_units(high_kind, settings)

        def call(value: Any, one: Any, other: Any, include_low: bool | None = True, include_high: bool | None = True) -> bool | None:
            interval = receiver(value)
            if interval is None or one is None or other is None or include_low is None or include_high is None:
                return None
            low, high, moment = low_units(one), high_units(other), interval[0]
            if low > high:
                low, high = high, low
            return (low < moment or (include_low and low == moment)) and (moment < high or (include_high and moment == high))

        return call


# ------------------------------------------------------------------ the methods


def _same(kind: str) -> ValueType:
    return Scalar(kind)


def _always(value_type: ValueType) -> Callable[[str], ValueType]:
    return lambda _: value_type


def _week_day_type(kind: str) -> ValueType:
    return DAY_OF_WEEK if calendars.is_java_time(kind) else BOXED_INT


def _readers() -> list[_Method]:
    integer = _always(BOXED_INT)
    getters = {
        "getMinuteOfHour": ("minute", "The minute."), "getMonthOfYear": ("month", "The month, from 0 (from 1 of java.time)."),
        "getDayOfMonth": ("day", "The day of the month."), "getHourOfDay": ("hour", "The hour, 0 to 23."),
        "getMillisOfSecond": ("millisecond", "The millisecond."), "getSecondOfMinute": ("second", "The second."),
        "getWeekyear": ("week", "The week of the year."), "getYear": ("year", "The year."),
    }
    return [
        _Method("get", signatures.ON_FIELD, integer, _reading(_field_function), "The value of a named field.", on_field=True, quiet=True),
        *(_Method(name, signatures.NOTHING, integer, _getter(field), summary) for name, (field, summary) in getters.items()),
        _Method("getDayOfWeek", signatures.NOTHING, _week_day_type, _reading(_day_of_week), "1 (Sunday) to 7; of java.time the DayOfWeek."),
        _Method("getDayOfYear", signatures.NOTHING, integer, _derive(day_of_year), "The day of the year, from 1."),
        _Method("getEra", signatures.NOTHING, integer, _derive(era), "The era: 1 after Christ, 0 before."),
        _Method("format", signatures.FORMAT, _always(STRING), _reading(_format), "The time as text, by a Java date pattern.",
            check=_check_format),
        _Method("toDate", signatures.NOTHING, _always(DATE), _reading(_to_date), "The time as Date."),
        _Method("toCalendar", signatures.NOTHING, _always(CALENDAR), _reading(_to_calendar), "The time as Calendar."),
        _Method(
            "toMillisec", signatures.NOTHING, _always(BOXED_LONG), _reading(_to_milliseconds), "The time as long, in engine time units.",
        ),
    ]


def _changers() -> list[_Method]:
    date, time = ("year", "month", "day"), ("hour", "minute", "second", "millisecond")
    ceiling, floor, half = (change.rounding(f) for f in (calendars.ceiling, calendars.floor, calendars.half))
    return [
        _Method("set", signatures.SET, _same, change.changing(change.set_field_of_two), "The time with a field set.", on_field=True),
        _Method("withDate", signatures.DATE, _same, change.changing(change.with_fields(date)),
            "The time with another date; nulls leave what is there."),
        _Method("withTime", signatures.TIME, _same, change.changing(change.with_fields(time)), "The time with another time of day."),
        _on_field("withMax", change.with_extreme(True), "The time with a field at its maximum.", partial(change.check_extreme, True)),
        _on_field("withMin", change.with_extreme(False), "The time with a field at its minimum.", partial(change.check_extreme, False)),
        _on_field("roundCeiling", ceiling, "The next boundary of a field."),
        _on_field("roundFloor", floor, "The last boundary of a field."),
        _on_field("roundHalf", half, "The nearer boundary of a field.", change.check_half),
        _Method("plus", signatures.SHIFT, _same, change.changing(change.shift(1)), "The time later by milliseconds or a time period."),
        _Method("minus", signatures.SHIFT, _same, change.changing(change.shift(-1)), "The time earlier by milliseconds or a time period."),
    ]


def _on_field(name: str, change_of: change.ChangeOf, summary: str, check: Check | None = None) -> _Method:
    """Return a method whose only argument names a field."""
    return _Method(name, signatures.ON_FIELD, _same, change.changing(change.field_only(change_of)), summary, on_field=True, check=check)


def add_date_time(registry: FunctionRegistry, settings: TimeSettings) -> None:
    """Add all date-time methods but those of the interval algebra, in their own spelling and in lower case."""
    for method in (*_readers(), *_changers()):
        add_any_case(registry, method.name, method.spec(settings))
    between = _Between()
    add_any_case(registry, "between", FunctionSpec(
        key="dt.between", bind=between.bind, make=partial(between.make, settings), signature="time.between(time, time[, boolean, boolean])",
        summary="Whether the time lies between two others; each bound may be excluded."))


def add_any_case(registry: FunctionRegistry, name: str, spec: FunctionSpec) -> None:
    registry.add_method(name, spec)
    if name.lower() != name:
        registry.add_method(name.lower(), spec)
