"""Moments and their calendar fields, as date-time methods see them.

A *moment* is a datetime: of long, Date in the engine's time zone, of Calendar and ZonedDateTime in their own, of LocalDateTime without one.
long, Date and Calendar follow ``java.util.Calendar`` (US): months count from 0, weeks begin on Sunday, values beyond a field's range carry
over.
LocalDateTime and ZonedDateTime follow java.time: months count from 1, weeks are aligned to January 1, values beyond the range are errors.
"""
from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import attrs

from epl.functions import julian
from epl.functions.format_fields import us_week, us_week_start
from epl.functions.java_values import JavaException
from epl.value_types import Scalar, ValueType

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
KINDS = ("long", "Date", "Calendar", "LocalDateTime", "ZonedDateTime")
FIELDS = {
    "msec": "millisecond", "millisecond": "millisecond", "milliseconds": "millisecond", "sec": "second", "second": "second",
        "seconds": "second",
    "min": "minute", "minute": "minute", "minutes": "minute", "hour": "hour", "hours": "hour", "day": "day", "days": "day",
    "month": "month", "months": "month", "week": "week", "weeks": "week", "year": "year", "years": "year",
}
"""Names that methods take for a field; case does not matter."""
SMALLER = ("millisecond", "second", "minute", "hour", "day", "month", "year")
Moment = datetime.datetime


@attrs.frozen
class TimeSettings:
    """The engine's time zone and the number of engine time units in a millisecond (1, or 1000 for microseconds)."""

    zone: datetime.tzinfo = UTC
    units_per_millisecond: int = 1

    @classmethod
    def of(cls, zone: str, time_unit: str) -> TimeSettings:
        return cls(UTC if zone == "UTC" else ZoneInfo(zone), 1000 if time_unit == "microseconds" else 1)


def kind_of(value_type: ValueType) -> str | None:
    """The kind of a date-time value, or None for what is none."""
    return value_type.kind if isinstance(value_type, Scalar) and value_type.kind in KINDS else None


def is_java_time(kind: str) -> bool:
    return kind in ("LocalDateTime", "ZonedDateTime")


# ------------------------------------------------------------------ values ↔ moments


def units_of(moment: datetime.datetime, settings: TimeSettings) -> int:
    """Engine time units since 1970; a moment without a zone is in the engine's."""
    aware = moment if moment.tzinfo is not None else resolve(moment, settings.zone)
    return (aware - EPOCH) // MICROSECOND * settings.units_per_millisecond // 1000


def moment_of(units: int, settings: TimeSettings) -> Moment:
    """The moment in the engine's time zone."""
    try:
        return (EPOCH + units * (1000 // settings.units_per_millisecond) * MICROSECOND).astimezone(settings.zone)
    except OverflowError:
        raise JavaException(f"java.time.DateTimeException: {units} is beyond the years 1 to 9999") from None


def to_units(kind: str, settings: TimeSettings) -> Callable[[Any], int]:
    """Values of a kind to engine time units."""
    return (lambda value: int(value)) if kind == "long" else lambda value: units_of(value, settings)


def to_moment(kind: str, settings: TimeSettings) -> Callable[[Any], Moment]:
    if kind == "long":
        return lambda value: moment_of(value, settings)
    if kind == "Date":
        return lambda value: value.astimezone(settings.zone)
    return lambda value: value


def from_moment(kind: str, settings: TimeSettings) -> Callable[[Moment], Any]:
    if kind == "long":
        return lambda moment: units_of(moment, settings)
    if kind == "Date":
        return lambda moment: moment.astimezone(UTC)
    return lambda moment: moment


def resolve(naive: datetime.datetime, zone: datetime.tzinfo | None, later: bool = False) -> Moment:
    """A wall-clock time in a zone. In a gap it moves forward; of two times at an overlap the earlier, or the ``later``, as
    java.util.Calendar does."""
    if zone is None or zone is UTC:
        return naive.replace(tzinfo=zone, fold=0)
    first = naive.replace(tzinfo=zone, fold=0)
    second = first.replace(fold=1)
    if first.utcoffset() == second.utcoffset():
        return first
    ambiguous = (first.utcoffset() or datetime.timedelta()) > (second.utcoffset() or datetime.timedelta())
    if ambiguous:
        return second if later else first
    return first.astimezone(UTC).astimezone(zone)


# ------------------------------------------------------------------ fields


def days_in_month(moment: datetime.date) -> int:
    return calendar.monthrange(moment.year, moment.month)[1]


def get(field: str, java_time: bool) -> Callable[[Moment], int]:
    if not java_time and field in ("day", "month", "year"):
        at, base = {"year": (0, 0), "month": (1, 1), "day": (2, 0)}[field]
        return lambda m: julian.fields_of(m)[at] - base
    if field == "millisecond":
        return lambda m: m.microsecond // 1000
    if field == "week":
        return _aligned_week if java_time else lambda m: us_week(m.date())[1]
    return lambda m: int(getattr(m, field))


def _aligned_week(moment: Moment) -> int:
    return (moment.timetuple().tm_yday - 1) // 7 + 1


def lenient(moment: Moment, *, year: int | None = None, month: int | None = None, day: int | None = None, hour: int | None = None,
            minute: int | None = None, second: int | None = None, millisecond: int | None = None) -> Moment:
    """Fields set as ``java.util.Calendar`` does; ``month`` from 0; what is beyond a range carries over."""
    this_year, this_month, this_day = julian.fields_of(moment)
    months = (this_year if year is None else year) * 12 + (this_month - 1 if month is None else month)
    clock = datetime.timedelta(
        hours=moment.hour if hour is None else hour, minutes=moment.minute if minute is None else minute,
        seconds=moment.second if second is None else second, microseconds=moment.microsecond % 1000,
        milliseconds=moment.microsecond // 1000 if millisecond is None else millisecond)
    try:
        date = datetime.date.fromordinal(julian.ordinal_of(months // 12, months % 12 + 1, this_day if day is None else day))
        return resolve(datetime.datetime.combine(date, datetime.time()) + clock, moment.tzinfo, later=True)
    except (OverflowError, ValueError):
        raise JavaException("java.time.DateTimeException: the date is beyond the years 1 to 9999") from None


def strict(moment: Moment, *, year: int | None = None, month: int | None = None, day: int | None = None, hour: int | None = None,
           minute: int | None = None, second: int | None = None, millisecond: int | None = None) -> Moment:
    """Fields set as java.time does: values beyond the range are errors."""
    changes = {"year": year, "month": month, "day": day, "hour": hour, "minute": minute, "second": second}
    given = {k: v for k, v in changes.items() if v is not None}
    if millisecond is not None:
        if not 0 <= millisecond <= 999:
            raise JavaException(f"java.time.DateTimeException: Invalid value for MilliOfSecond (valid values 0 - 999): {millisecond}")
        given["microsecond"] = millisecond * 1000
    try:
        return resolve(moment.replace(tzinfo=None, **given), moment.tzinfo)
    except ValueError as error:
        raise JavaException(f"java.time.DateTimeException: Invalid value, {error}") from None


def setter(field: str, java_time: bool) -> Callable[[Moment, int], Moment]:
    """``set``: one field; a java.time year or month keeps the day within the month."""
    if field == "week":
        return _set_aligned_week if java_time else _set_week
    if not java_time:
        return lambda m, value: lenient(m, **{field: value})
    if field in ("month", "year"):
        return lambda m, value: strict(strict(m, day=1, **{field: value}), day=min(m.day, _length_with(m, field, value)))
    return lambda m, value: strict(m, **{field: value})


def _length_with(moment: Moment, field: str, value: int) -> int:
    return calendar.monthrange(value if field == "year" else moment.year, value if field == "month" else moment.month)[1]


def _set_aligned_week(moment: Moment, week: int) -> Moment:
    if not 1 <= week <= 53:
        raise JavaException(f"java.time.DateTimeException: Invalid value for AlignedWeekOfYear (valid values 1 - 53): {week}")
    return _shifted(moment, datetime.timedelta(days=7 * (week - _aligned_week(moment))))


def _set_week(moment: Moment, week: int) -> Moment:
    start = us_week_start(moment.year) + datetime.timedelta(days=7 * (week - 1) + moment.isoweekday() % 7)
    return resolve(datetime.datetime.combine(start, moment.time()), moment.tzinfo, later=True)


def _shifted(moment: Moment, wall: datetime.timedelta) -> Moment:
    """Moved by wall-clock time."""
    return resolve(moment.replace(tzinfo=None) + wall, moment.tzinfo)


def largest(field: str, java_time: bool) -> Callable[[Moment], int]:
    """The largest value of a field at a moment (withMax)."""
    fixed = {"millisecond": 999, "second": 59, "minute": 59, "hour": 23, "month": 12 if java_time else 11}
    if field in fixed:
        return lambda _: fixed[field]
    if field == "day":
        return days_in_month
    if java_time:
        return lambda _: 53
    return lambda m: (us_week_start(m.year + 1) - us_week_start(m.year)).days // 7


def smallest(field: str, java_time: bool) -> int:
    """The smallest value of a field (withMin)."""
    return 1 if field in ("day", "week", "year") or (field == "month" and java_time) else 0


# ------------------------------------------------------------------ adding


def add_months(moment: Moment, months: int) -> Moment:
    """Whole months of the calendar; the day is cut to the month's last."""
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise JavaException("java.time.DateTimeException: the date is beyond the years 1 to 9999")
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return resolve(moment.replace(tzinfo=None, year=year, month=month + 1, day=day), moment.tzinfo)


_WALL_DAYS = {"week": 7, "day": 1}
_ELAPSED = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
MICROSECONDS = {**_ELAPSED, "day": 86_400_000_000, "week": 7 * 86_400_000_000}
"""How long units of a fixed length are."""


def elapse(moment: Moment, microseconds: int) -> Moment:
    """Moved by elapsed time."""
    step = microseconds * MICROSECOND
    if moment.tzinfo is None or moment.tzinfo is UTC:
        return moment + step
    return (moment.astimezone(UTC) + step).astimezone(moment.tzinfo)


def add_period(moment: Moment, period: Sequence[Any], sign: int) -> Moment | None:
    """``period`` is unit, number, unit, number …; each number is cut to a whole one, microseconds are left out. Null for a null number."""
    for unit, number in zip(period[::2], period[1::2]):
        if number is None:
            return None
        whole = int(number) * sign
        if unit in ("year", "month"):
            moment = add_months(moment, whole * (12 if unit == "year" else 1))
        elif unit in _WALL_DAYS:
            moment = _shifted(moment, datetime.timedelta(days=_WALL_DAYS[unit] * whole))
        elif unit != "microsecond":
            moment = elapse(moment, whole * _ELAPSED[unit])
    return moment


# ------------------------------------------------------------------ rounding


def floor(moment: Moment, field: str) -> Moment:
    """All smaller fields at their smallest value."""
    keep = SMALLER.index(field)
    if field == "millisecond":
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    zero: dict[str, int] = {"microsecond": 0}
    for smaller in SMALLER[1:keep]:
        zero[smaller] = 1 if smaller in ("day", "month") else 0
    return resolve(moment.replace(tzinfo=None, **zero), moment.tzinfo)


def ceiling(moment: Moment, field: str) -> Moment:
    """The next boundary of a field, also from a boundary."""
    base = floor(moment, field)
    if field in ("year", "month"):
        return add_months(base, 12 if field == "year" else 1)
    if field == "day":
        return _shifted(base, datetime.timedelta(days=1))
    return elapse(base, _ELAPSED[field])


def half(moment: Moment, field: str) -> Moment:
    """The nearer boundary: up when the next smaller field is beyond the middle of its range."""
    return ceiling(moment, field) if _beyond_middle(moment, SMALLER[SMALLER.index(field) - 1]) else floor(moment, field)


def _beyond_middle(moment: Moment, smaller: str) -> bool:
    lowest = smallest(smaller, False)
    return get(smaller, False)(moment) - lowest > (largest(smaller, False)(moment) - lowest) // 2
