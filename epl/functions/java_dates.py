"""Java's own methods of Date, Calendar and java.time values (beside the date-time methods of the language), and ``parse`` / ``of``.

What asks the wall clock (``now``) is not here: time comes in from outside.
"""
from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from epl.functions.calendars import add_months, elapse, in_utc, near, resolve
from epl.functions.casts import iso_local_date, iso_local_date_time, iso_local_time, iso_zoned_date_time, parse_moment
from epl.functions.date_time import DAY_OF_WEEK
from epl.functions.far_dates import EPOCH, MICROSECOND, beyond
from epl.functions.java_numbers import compare
from epl.functions.overloads import Overload, add_methods, add_statics, kind_is, overload
from epl.functions.registry import FunctionRegistry
from epl.value_types import CALENDAR, DATE, LOCAL_DATE, LOCAL_DATE_TIME, LOCAL_TIME, STRING, ZONED_DATE_TIME, EnumType, Scalar, ValueType

Table = dict[str, tuple[str, list[Overload]]]
MONTH = EnumType("Month", (
    "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"))
_DATES = ("LocalDate", "LocalDateTime", "ZonedDateTime")
_TIMES = ("LocalTime", "LocalDateTime", "ZonedDateTime")


def milliseconds(moment: datetime.datetime) -> int:
    """Implement ``Date.getTime``: milliseconds since 1970."""
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)


def _read(function: Callable[[Any], Any], result: str | ValueType) -> list[Overload]:
    return [overload("", result, function)]


_DATE: Table = {
    "getTime": ("Milliseconds since 1970.", _read(milliseconds, "long")),
    "getMonth": ("The month, from 0.", _read(lambda v: v.month - 1, "int")),
    "getDate": ("The day of the month.", _read(lambda v: v.day, "int")),
    "getDay": ("The day of the week, 0 is Sunday.", _read(lambda v: v.isoweekday() % 7, "int")),
    "getHours": ("The hour.", _read(lambda v: v.hour, "int")),
    "getMinutes": ("The minute.", _read(lambda v: v.minute, "int")),
    "getSeconds": ("The second.", _read(lambda v: v.second, "int")),
    "compareTo": ("-1, 0 or 1.", [overload([DATE], "int", compare)]),
}
_CALENDAR: Table = {
    "getTimeInMillis": ("Milliseconds since 1970.", _read(milliseconds, "long")),
    "getTime": ("The time as Date.", _read(in_utc, DATE)),
    "compareTo": ("-1, 0 or 1.", [overload([CALENDAR], "int", compare)]),
}
_OF_DATES: Table = {
    "getYear": ("The year.", _read(lambda v: v.year, "int")),
    "getMonthValue": ("The month, from 1.", _read(lambda v: v.month, "int")),
    "getMonth": ("The month.", _read(lambda v: MONTH.constants[v.month - 1], MONTH)),
    "getDayOfMonth": ("The day of the month.", _read(lambda v: v.day, "int")),
    "getDayOfYear": ("The day of the year.", _read(lambda v: v.timetuple().tm_yday, "int")),
    "getDayOfWeek": ("The day of the week.", _read(lambda v: DAY_OF_WEEK.constants[v.weekday()], DAY_OF_WEEK)),
}
_OF_TIMES: Table = {
    "getHour": ("The hour.", _read(lambda v: v.hour, "int")),
    "getMinute": ("The minute.", _read(lambda v: v.minute, "int")),
    "getSecond": ("The second.", _read(lambda v: v.second, "int")),
    "getNano": ("The nanosecond.", _read(lambda v: v.microsecond * 1000, "int")),
}
_OF_LOCAL_DATE: Table = {
    "lengthOfMonth": ("The number of days in the month.", _read(lambda v: calendar.monthrange(v.year, v.month)[1], "int")),
    "isLeapYear": ("Whether the year has a February 29.", _read(lambda v: calendar.isleap(v.year), "boolean")),
    "toEpochDay": ("Days since 1970.", _read(lambda v: v.toordinal() - 719163, "long")),
    "atStartOfDay": ("The day's first moment.", _read(lambda v: datetime.datetime.combine(v, datetime.time()), LOCAL_DATE_TIME)),
}
_OF_MOMENTS: Table = {
    "toLocalDate": ("The date alone.", _read(lambda v: v.date(), LOCAL_DATE)),
    "toLocalTime": ("The time of day alone.", _read(lambda v: v.time(), LOCAL_TIME)),
}
_OF_ZONED: Table = {
    "toLocalDateTime": ("Date and time without the zone.", _read(lambda v: v.replace(tzinfo=None, fold=0), LOCAL_DATE_TIME)),
    "toEpochSecond": ("Seconds since 1970.", _read(lambda v: milliseconds(v) // 1000, "long")),
}


def _comparing(value_type: Scalar) -> Table:
    """java.time's comparisons; a LocalTime has no ``isEqual``."""
    equal: Table = {"isEqual": ("Whether it is the same moment.", [overload([value_type], "boolean", lambda a, b: a == b)])}
    return {
        **(equal if value_type != LOCAL_TIME else {}),
        "isBefore": ("Whether it is earlier.", [overload([value_type], "boolean", lambda a, b: a < b)]),
        "isAfter": ("Whether it is later.", [overload([value_type], "boolean", lambda a, b: a > b)]),
        "compareTo": ("Negative, 0 or positive.", [overload([value_type], "int", compare)]),
    }


# ------------------------------------------------------------------ plus and minus


def _plus_months(factor: int, value: Any, number: int) -> Any:
    if isinstance(value, datetime.datetime):
        return add_months(value, factor * number)
    return near(add_months(datetime.datetime.combine(value, datetime.time()), factor * number)).date()


def _plus_days(factor: int, value: Any, number: int) -> Any:
    if isinstance(value, datetime.datetime):
        return resolve(value.replace(tzinfo=None) + datetime.timedelta(days=factor * number), value.tzinfo)
    return value + datetime.timedelta(days=factor * number)


def _plus_time(factor: int, value: Any, number: int) -> Any:
    if isinstance(value, datetime.datetime):
        return elapse(value, factor * number)
    moved = datetime.datetime.combine(datetime.date(2000, 1, 1), value) + factor * number % 86_400_000_000 * MICROSECOND
    return moved.time()


_CALENDAR_STEPS = {"Years": (_plus_months, 12), "Months": (_plus_months, 1), "Weeks": (_plus_days, 7), "Days": (_plus_days, 1)}
_CLOCK_STEPS = {"Hours": (_plus_time, 3_600_000_000), "Minutes": (_plus_time, 60_000_000), "Seconds": (_plus_time, 1_000_000)}


def _within(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an error where the result is beyond the years of ``datetime``."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except OverflowError:
            raise beyond() from None

    return call


def _moving(steps: Mapping[str, tuple[Callable[[int, Any, int], Any], int]]) -> Table:
    methods: Table = {}
    for name, (function, factor) in steps.items():
        for verb, sign in (("plus", 1), ("minus", -1)):
            call = _within(partial(function, factor * sign))
            methods[verb + name] = (f"{'Later' if sign > 0 else 'Earlier'} by {name.lower()}.",
                [overload("long", lambda receiver, *_: receiver, call)])
    return methods


# ------------------------------------------------------------------ static methods


def _date(year: int, month: int, day: int) -> datetime.date:
    return datetime.date(year, month, day)


def _date_time(year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime.datetime:
    return datetime.datetime(year, month, day, hour, minute, second)


def _time(hour: int, minute: int, second: int = 0) -> datetime.time:
    return datetime.time(hour, minute, second)


_STATICS: dict[str, Table] = {
    "LocalDate": {
        "parse": ("The date that an ISO string represents.", [overload("String", LOCAL_DATE, iso_local_date)]),
        "of": ("A date.", [overload("int, int, int", LOCAL_DATE, _date)]),
    },
    "LocalDateTime": {
        "parse": ("Date and time that an ISO string represents.", [overload("String", LOCAL_DATE_TIME, iso_local_date_time)]),
        "of": ("A date and time.", [
            overload("int, int, int, int, int", LOCAL_DATE_TIME, _date_time),
                overload("int, int, int, int, int, int", LOCAL_DATE_TIME, _date_time)]),
    },
    "LocalTime": {
        "parse": ("The time of day that an ISO string represents.", [overload("String", LOCAL_TIME, iso_local_time)]),
        "of": ("A time of day.", [overload("int, int", LOCAL_TIME, _time), overload("int, int, int", LOCAL_TIME, _time)]),
    },
    "ZonedDateTime": {"parse": ("The moment that an ISO string represents.", [overload("String", ZONED_DATE_TIME, iso_zoned_date_time)])},
}


def _client_date_time(zone: datetime.tzinfo) -> Table:
    """``com.espertech.esper.common.client.util.DateTime``."""
    both = [STRING, STRING]
    return {
        "toCalendar": ("The Calendar that a string represents by a pattern.", [overload(both, CALENDAR, parse_moment("Calendar", zone))]),
        "toDate": ("The Date that a string represents by a pattern.", [overload(both, DATE, parse_moment("Date", zone))]),
        "toMillisec": ("The milliseconds since 1970 that a string represents by a pattern.",
            [overload(both, "long", parse_moment("long", zone))]),
    }


def add_dates(registry: FunctionRegistry, zone: datetime.tzinfo) -> None:
    """Add Java's methods of dates; after the date-time methods, which go first where both have a name."""
    add_methods(registry, "Date", kind_is("Date"), _DATE)
    add_methods(registry, "Calendar", kind_is("Calendar"), _CALENDAR)
    add_methods(registry, "Temporal", kind_is(*_DATES), {**_OF_DATES, **_moving(_CALENDAR_STEPS)})
    add_methods(registry, "Temporal", kind_is(*_TIMES), {**_OF_TIMES, **_moving(_CLOCK_STEPS)})
    add_methods(registry, "LocalDate", kind_is("LocalDate"), _OF_LOCAL_DATE)
    add_methods(registry, "Temporal", kind_is("LocalDateTime", "ZonedDateTime"), _OF_MOMENTS)
    add_methods(registry, "ZonedDateTime", kind_is("ZonedDateTime"), _OF_ZONED)
    for value_type in (LOCAL_DATE, LOCAL_DATE_TIME, LOCAL_TIME, ZONED_DATE_TIME):
        add_methods(registry, value_type.kind, kind_is(value_type.kind), _comparing(value_type))
    for class_name, table in _STATICS.items():
        add_statics(registry, "java.time", class_name, table, full_name_only=True)
    add_statics(registry, "com.espertech.esper.common.client.util", "DateTime", _client_date_time(zone))
