"""How date-time methods change a time: set, with…, round…, plus and minus, on values and on events' start timestamps."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.errors import EplUnsupportedError
from epl.functions import calendars
from epl.functions.calendars import Moment, TimeSettings
from epl.functions.date_arguments import CARRIERS, TimeSource, constant_field, property_reader, with_length
from epl.functions.java_values import JavaException
from epl.value_types import ValueType

Call = Callable[..., Any]
Change = Callable[..., Moment | None]
"""(moment, arguments…) → changed moment, null for null arguments that matter."""
ChangeOf = Callable[[TimeSettings, str, str | None], Change]
"""(settings, kind of time, field) → the change."""


def interval_reader(settings: TimeSettings, source: TimeSource) -> Callable[[Any], tuple[int, int] | None]:
    """Return the function from a value or event to (start, end) in engine time units; null where a time is missing."""
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


def changing(change_of: ChangeOf) -> Callable[..., Call]:
    """Return a method that changes a time; an event's interval keeps its length for the methods after it."""

    def make(settings: TimeSettings, source: TimeSource, field: str | None) -> Call:
        change = change_of(settings, source.kind, field)
        change = calendars.extend_years(change, source.kind)
        decode, encode = calendars.to_moment(source.kind, settings), calendars.from_moment(source.kind, settings)

        def change_value(value: Any, arguments: tuple[Any, ...]) -> Any:
            moment = change(decode(value), *arguments)
            if moment is None:
                return None
            return with_length(encode(moment), value.length) if type(value) in CARRIERS else encode(moment)

        if source.start is None:
            return lambda value, *arguments: None if value is None else change_value(value, arguments)
        return _on_event(settings, source, change_value)

    return make


def _on_event(settings: TimeSettings, source: TimeSource, changed: Callable[[Any, tuple[Any, ...]], Any]) -> Call:
    assert source.start is not None
    start, interval = property_reader(source.start), interval_reader(settings, source)

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


def with_fields(names: tuple[str, ...]) -> ChangeOf:
    def build_change(_settings: TimeSettings, kind: str, _: str | None) -> Change:
        change = calendars.strict if calendars.is_java_time(kind) else calendars.lenient
        return lambda moment, *numbers: change(moment, **dict(zip(names, numbers)))

    return build_change


def with_extreme(largest: bool) -> ChangeOf:
    def build_change(_settings: TimeSettings, kind: str, field: str | None) -> Change:
        assert field is not None
        java_time = calendars.is_java_time(kind)
        setter = calendars.setter(field, java_time)
        if largest:
            maximum = calendars.largest(field, java_time)
            return lambda moment: setter(moment, maximum(moment))
        minimum = calendars.smallest(field, java_time)
        return lambda moment: setter(moment, minimum)

    return build_change


def _refuse(message: str) -> Change:
    def change(_moment: Moment, *_arguments: Any) -> Moment:
        raise JavaException(message)

    return change


def check_extreme(largest: bool, kind: str, _types: Sequence[ValueType], constants: Sequence[Any]) -> None:
    if constant_field("withMax", constants[0]) == "year" and (calendars.is_java_time(kind) or (largest and kind != "long")):
        raise EplUnsupportedError(f"{kind} has no first or last year of Java's calendars, years go from 1 to 9999")


def rounding(function: Callable[[Moment, str], Moment]) -> ChangeOf:
    def build_change(settings: TimeSettings, kind: str, field: str | None) -> Change:
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

    return build_change


def _keeping_microseconds(function: Callable[[Moment, str], Moment]) -> Callable[[Moment, str], Moment]:
    """Engine time in microseconds: what is below the millisecond stays as it is."""

    def round_moment(moment: Moment, field: str) -> Moment:
        rest = moment.microsecond % 1000
        return calendars.elapse(function(calendars.elapse(moment, -rest), field), rest)

    return round_moment


def check_half(kind: str, _types: Sequence[ValueType], _constants: Sequence[Any]) -> None:
    if calendars.is_java_time(kind):
        raise ValueError(f"Round-half operation not supported for {kind}")


def shift(sign: int) -> ChangeOf:
    """Implement plus and minus: milliseconds or a time period; a null number changes nothing."""

    def build_change(settings: TimeSettings, _kind: str, _: str | None) -> Change:
        def change(moment: Moment, amount: Any) -> Moment | None:
            if amount is None:
                return moment
            if isinstance(amount, (list, tuple)):
                return calendars.add_period(moment, amount, sign)
            return calendars.elapse(moment, int(amount) * 1000 * sign)

        return change

    return build_change


def field_only(change_of: ChangeOf) -> ChangeOf:
    """Return the change for calls whose first argument is the field's name, which is bound already."""

    def without_name(settings: TimeSettings, kind: str, field: str | None) -> Change:
        change = change_of(settings, kind, field)
        return lambda moment, _name: change(moment)

    return without_name


def set_field_of_two(settings: TimeSettings, kind: str, field: str | None) -> Change:
    change = _set_field(settings, kind, field)
    return lambda moment, _name, number: change(moment, number)
