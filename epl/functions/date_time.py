"""Date-time methods: ``timestamp.plus(1 month)``, ``date.get('hour')``, ``a.before(b, 10 seconds)``.

Receivers are long (engine time), Date, Calendar, LocalDateTime, ZonedDateTime, and events whose type declares a start timestamp. Methods
that change a time
keep its type; on an event they give its changed start timestamp. Null receivers and arguments give null.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs

from epl.errors import EplUnsupportedError
from epl.functions import calendars
from epl.functions import date_arguments as given
from epl.functions.calendars import Moment, TimeSettings
from epl.functions.date_arguments import (
    CARRIERS,
    Footprints,
    TimeSource,
    check_arguments,
    field_of,
    property_reader,
    time_source,
    with_length,
)
from epl.functions.formats import default_simple_format, formatter, iso_date_time
from epl.functions.java_values import JavaException
from epl.functions.registry import NOT_CONSTANT, Bound, FunctionRegistry, FunctionSpec
from epl.value_types import BOXED_BOOLEAN, BOXED_INT, BOXED_LONG, CALENDAR, DATE, STRING, EnumType, Scalar, ValueType

Call = Callable[..., Any]
Change = Callable[..., Moment | None]
"""(moment, arguments…) → changed moment, null for null arguments that matter."""
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
    check: Callable[[str, Sequence[ValueType], Sequence[Any]], None] | None = None

    def bind(self, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
        source = time_source(types[0])
        if source is None:
            return None
        try:
            check_arguments(self.name, self.footprints, types[1:])
            field = field_of(self.name, constants[1]) if self.on_field else None
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
            key=f"dt.{self.name}", bind=self.bind, make=partial(_made, self.make, settings), summary=self.summary,
            signature=" | ".join(f"time.{self.name}({f})" for f in forms),
        )


def _made(make: Callable[..., Call], settings: TimeSettings, *constants: Any) -> Call:
    *source, field = constants
    return make(settings, TimeSource(*source), field)


def _value_reader(source: TimeSource) -> Callable[[Any], Any]:
    """From receiver to time value."""
    return property_reader(source.start) if source.start is not None else lambda value: value


def _reading(function_of: Callable[[TimeSettings, str, str | None], Callable[..., Any]]) -> Callable[..., Call]:
    """A method that reads a time: ``function_of(settings, kind, field)`` gives a function of (value, arguments…)."""

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


def _named_field(settings: TimeSettings, kind: str, field: str | None) -> Callable[[Any, Any], int]:
    read = _field_reader(settings, kind, field)
    return lambda value, _name: read(value)


def _getter(field: str) -> Callable[..., Call]:
    return _reading(lambda settings, kind, _: _field_reader(settings, kind, field))


def _derived(function: Callable[[Moment], int]) -> Callable[..., Call]:
    def function_of(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], int]:
        moment = calendars.to_moment(kind, settings)
        return lambda value: function(moment(value))

    return _reading(function_of)


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
        return lambda value: calendars.resolve(value, settings.zone).astimezone(calendars.UTC)
    moment = calendars.to_moment(kind, settings)
    return lambda value: _whole_milliseconds(moment(value)).astimezone(calendars.UTC)


def _to_calendar(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], Moment]:
    if kind == "LocalDateTime":
        return lambda value: calendars.resolve(value, settings.zone)
    moment = calendars.to_moment(kind, settings)
    return lambda value: _whole_milliseconds(moment(value))


def _whole_milliseconds(moment: Moment) -> Moment:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _to_milliseconds(settings: TimeSettings, kind: str, _: str | None) -> Callable[[Any], int]:
    return calendars.to_units(kind, settings)


# ------------------------------------------------------------------ changing


def _changing(change_of: Callable[[TimeSettings, str, str | None], Change]) -> Callable[..., Call]:
    """A method that changes a time; an event's interval keeps its length for the methods behind it."""

    def make(settings: TimeSettings, source: TimeSource, field: str | None) -> Call:
        change = change_of(settings, source.kind, field)
        decode, encode = calendars.to_moment(source.kind, settings), calendars.from_moment(source.kind, settings)

        def changed(value: Any, arguments: tuple[Any, ...]) -> Any:
            moment = change(decode(value), *arguments)
            if moment is None:
                return None
            return with_length(encode(moment), value.length) if type(value) in CARRIERS else encode(moment)

        if source.start is None:
            return lambda value, *arguments: None if value is None else changed(value, arguments)
        return _on_event(settings, source, changed)

    return make


def _on_event(settings: TimeSettings, source: TimeSource, changed: Callable[[Any, tuple[Any, ...]], Any]) -> Call:
    start, interval = _value_reader(source), interval_reader(settings, source)

    def call(event: Any, *arguments: Any) -> Any:
        value = None if event is None else start(event)
        if value is None:
            return None
        if source.end is not None:
            ends = interval(event)
            value = value if ends is None else with_length(value, ends[1] - ends[0])
        return changed(value, arguments)

    return call


def _set_field(settings: TimeSettings, kind: str, field: str | None) -> Change:
    assert field is not None
    setter = calendars.setter(field, calendars.is_java_time(kind))
    return lambda moment, number: moment if number is None else setter(moment, number)


def _with_fields(names: tuple[str, ...]) -> Callable[[TimeSettings, str, str | None], Change]:
    def change_of(_settings: TimeSettings, kind: str, _: str | None) -> Change:
        change = calendars.strict if calendars.is_java_time(kind) else calendars.lenient
        return lambda moment, *numbers: change(moment, **dict(zip(names, numbers)))

    return change_of


def _with_extreme(largest: bool) -> Callable[[TimeSettings, str, str | None], Change]:
    def change_of(_settings: TimeSettings, kind: str, field: str | None) -> Change:
        assert field is not None
        java_time = calendars.is_java_time(kind)
        setter = calendars.setter(field, java_time)
        if largest:
            maximum = calendars.largest(field, java_time)
            return lambda moment: setter(moment, maximum(moment))
        minimum = calendars.smallest(field, java_time)
        return lambda moment: setter(moment, minimum)

    return change_of


def _refuse(message: str) -> Change:
    def change(_moment: Moment, *_arguments: Any) -> Moment:
        raise JavaException(message)

    return change


def _check_extreme(largest: bool, kind: str, _types: Sequence[ValueType], constants: Sequence[Any]) -> None:
    if field_of("withMax", constants[0]) == "year" and (largest or calendars.is_java_time(kind)):
        raise EplUnsupportedError("the first and the last year of Java's calendars are not supported, years go from 1 to 9999")


def _rounding(function: Callable[[Moment, str], Moment]) -> Callable[[TimeSettings, str, str | None], Change]:
    def change_of(settings: TimeSettings, kind: str, field: str | None) -> Change:
        assert field is not None
        if calendars.is_java_time(kind) and field in ("month", "year", "week"):
            return _refuse("java.time.temporal.UnsupportedTemporalTypeException: Unit is too large to be used for truncation")
        if field == "week":
            return _refuse("The field 3 is not supported")
        if field == "millisecond" and not calendars.is_java_time(kind):
            return lambda moment: moment
        if settings.units_per_millisecond > 1 and not calendars.is_java_time(kind):
            kept = _keeping_microseconds(function)
            return lambda moment: kept(moment, field)
        return lambda moment: function(moment, field)

    return change_of


def _keeping_microseconds(function: Callable[[Moment, str], Moment]) -> Callable[[Moment, str], Moment]:
    """Engine time in microseconds: what is below the millisecond stays as it is."""

    def rounded(moment: Moment, field: str) -> Moment:
        rest = moment.microsecond % 1000 * calendars.MICROSECOND
        return function(moment - rest, field) + rest

    return rounded


def _check_half(kind: str, _types: Sequence[ValueType], _constants: Sequence[Any]) -> None:
    if calendars.is_java_time(kind):
        raise ValueError(f"Round-half operation not supported for {kind}")


def _shift(sign: int) -> Callable[[TimeSettings, str, str | None], Change]:
    """plus and minus: milliseconds or a time period; a null number changes nothing."""

    def change_of(settings: TimeSettings, _kind: str, _: str | None) -> Change:
        def change(moment: Moment, amount: Any) -> Moment | None:
            if amount is None:
                return moment
            if isinstance(amount, (list, tuple)):
                return calendars.add_period(moment, amount, sign)
            try:
                return calendars.elapse(moment, int(amount) * 1000 * sign)
            except OverflowError:
                raise JavaException("java.time.DateTimeException: the date is beyond the years 1 to 9999") from None

        return change

    return change_of


# ------------------------------------------------------------------ between


def interval_reader(settings: TimeSettings, source: TimeSource) -> Callable[[Any], tuple[int, int] | None]:
    """From a value or event to (start, end) in engine time units; null where a time is missing."""
    to_units = calendars.to_units(source.kind, settings)
    if source.start is None:

        def of_value(value: Any) -> tuple[int, int] | None:
            if value is None:
                return None
            start = to_units(value)
            return start, start + (value.length if type(value) in CARRIERS else 0)

        return of_value
    start_of = property_reader(source.start)
    end_of = property_reader(source.end) if source.end else start_of
    end_units = calendars.to_units(source.end_kind, settings) if source.end_kind else to_units

    def of_event(event: Any) -> tuple[int, int] | None:
        start = None if event is None else start_of(event)
        end = None if event is None else end_of(event)
        return None if start is None or end is None else (to_units(start), end_units(end))

    return of_event


class _Between:
    """``between(a, b[, include low, include high])``: the ends stand in either order."""

    def bind(self, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
        source = time_source(types[0])
        if source is None:
            return None
        check_arguments("between", given.BETWEEN, types[1:])
        kinds = tuple(calendars.kind_of(t) for t in types[1:3])
        return Bound(BOXED_BOOLEAN, (*source.constants(), *kinds))

    def make(self, settings: TimeSettings, *constants: Any) -> Call:
        *source, low_kind, high_kind = constants
        receiver = interval_reader(settings, TimeSource(*source))
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
        _Method("get", given.ON_FIELD, integer, _reading(_named_field), "The value of a named field.", on_field=True, quiet=True),
        *(_Method(name, given.NOTHING, integer, _getter(field), summary) for name, (field, summary) in getters.items()),
        _Method("getDayOfWeek", given.NOTHING, _week_day_type, _reading(_day_of_week), "1 (Sunday) to 7; of java.time the DayOfWeek."),
        _Method("getDayOfYear", given.NOTHING, integer, _derived(lambda m: m.timetuple().tm_yday), "The day of the year, from 1."),
        _Method("getEra", given.NOTHING, integer, _derived(lambda _: 1), "The era: 1 after Christ."),
        _Method("format", given.FORMAT, _always(STRING), _reading(_format), "The time as text, by a Java date pattern.",
            check=_check_format),
        _Method("toDate", given.NOTHING, _always(DATE), _reading(_to_date), "The time as Date."),
        _Method("toCalendar", given.NOTHING, _always(CALENDAR), _reading(_to_calendar), "The time as Calendar."),
        _Method("toMillisec", given.NOTHING, _always(BOXED_LONG), _reading(_to_milliseconds), "The time as long, in engine time units."),
    ]


def _changers() -> list[_Method]:
    date, time = ("year", "month", "day"), ("hour", "minute", "second", "millisecond")
    return [
        _Method("set", given.SET, _same, _changing(_set_field_of_two), "The time with a field set.", on_field=True),
        _Method("withDate", given.DATE, _same, _changing(_with_fields(date)), "The time with year, month and day set; nulls leave theirs."),
        _Method("withTime", given.TIME, _same, _changing(_with_fields(time)), "The time with hour, minute, second and millisecond set."),
        _Method("withMax", given.ON_FIELD, _same, _changing(_field_only(_with_extreme(True))), "The time with a field at its maximum.",
            on_field=True,
                check=partial(_check_extreme, True)),
        _Method("withMin", given.ON_FIELD, _same, _changing(_field_only(_with_extreme(False))), "The time with a field at its minimum.",
            on_field=True,
                check=partial(_check_extreme, False)),
        _Method("roundCeiling", given.ON_FIELD, _same, _changing(_field_only(_rounding(calendars.ceiling))),
            "The next boundary of a field.", on_field=True),
        _Method("roundFloor", given.ON_FIELD, _same, _changing(_field_only(_rounding(calendars.floor))), "The last boundary of a field.",
            on_field=True),
        _Method("roundHalf", given.ON_FIELD, _same, _changing(_field_only(_rounding(calendars.half))), "The nearer boundary of a field.",
            on_field=True,
                check=_check_half),
        _Method("plus", given.SHIFT, _same, _changing(_shift(1)), "The time later by milliseconds or a time period."),
        _Method("minus", given.SHIFT, _same, _changing(_shift(-1)), "The time earlier by milliseconds or a time period."),
    ]


def _field_only(change_of: Callable[[TimeSettings, str, str | None], Change]) -> Callable[[TimeSettings, str, str | None], Change]:
    """The call's first argument is the field's name, which is bound already."""

    def without_name(settings: TimeSettings, kind: str, field: str | None) -> Change:
        change = change_of(settings, kind, field)
        return lambda moment, _name: change(moment)

    return without_name


def _set_field_of_two(settings: TimeSettings, kind: str, field: str | None) -> Change:
    change = _set_field(settings, kind, field)
    return lambda moment, _name, number: change(moment, number)


def add_date_time(registry: FunctionRegistry, settings: TimeSettings) -> None:
    """All date-time methods but those of the interval algebra, in their own spelling and in lower case."""
    for method in (*_readers(), *_changers()):
        add_any_case(registry, method.name, method.spec(settings))
    between = _Between()
    add_any_case(registry, "between", FunctionSpec(
        key="dt.between", bind=between.bind, make=partial(between.make, settings), signature="time.between(time, time[, boolean, boolean])",
        summary="Whether the time lies between two others, which may be left out."))


def add_any_case(registry: FunctionRegistry, name: str, spec: FunctionSpec) -> None:
    registry.add_method(name, spec)
    if name.lower() != name:
        registry.add_method(name.lower(), spec)
