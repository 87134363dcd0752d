"""Moments and their calendar fields, as date-time methods see them.

A *moment* is a datetime: of long, Date in the engine's time zone, of Calendar and ZonedDateTime in their own, of LocalDateTime without one.
Before 1900 and after 9999 it is a FarMoment (epl.functions.far_dates) of long, Date and Calendar.
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

from epl.functions.far_dates import EPOCH, MICROSECOND, NEAR_BEGIN, NEAR_END, UTC, FarMoment, beyond
from epl.functions.format_fields import us_week, us_week_start
from epl.functions.java_values import JavaException
from epl.value_types import Scalar, ValueType

KINDS = ("long", "Date", "Calendar", "LocalDateTime", "ZonedDateTime")
FIELDS = {
    "msec": "millisecond", "millisecond": "millisecond", "milliseconds": "millisecond", "sec": "second", "second": "second",
        "seconds": "second",
    "min": "minute", "minute": "minute", "minutes": "minute", "hour": "hour", "hours": "hour", "day": "day", "days": "day",
    "month": "month", "months": "month", "week": "week", "weeks": "week", "year": "year", "years": "year",
}
"""Names that methods take for a field; case does not matter."""
SMALLER = ("millisecond", "second", "minute", "hour", "day", "month", "year")
Moment = datetime.datetime | FarMoment
NEAR_YEARS = range(1901, 9999)
"""Years that ``datetime`` carries as Java's calendars do, in each zone."""


@attrs.frozen
class TimeSettings:
    """The engine's time zone and the number of engine time units in a millisecond (1, or 1000 for microseconds)."""

    zone: datetime.tzinfo = UTC
    units_per_millisecond: int = 1

    @classmethod
    def of(cls, zone: str, time_unit: str) -> TimeSettings:
        return cls(UTC if zone == "UTC" else ZoneInfo(zone), 1000 if time_unit == "microseconds" else 1)


def date_time_kind(value_type: ValueType) -> str | None:
    """Return the kind of a date-time value, or None for what is none."""
    return value_type.kind if isinstance(value_type, Scalar) and value_type.kind in KINDS else None


def is_java_time(kind: str) -> bool:
    return kind in ("LocalDateTime", "ZonedDateTime")


# ------------------------------------------------------------------ values ↔ moments


def epoch_units(moment: Moment, settings: TimeSettings) -> int:
    """Return engine time units since 1970; a moment without a zone is in the engine's."""
    if isinstance(moment, FarMoment):
        units = moment.instant * settings.units_per_millisecond // 1000
        return (units + (1 << 63)) % (1 << 64) - (1 << 63)
    aware = moment if moment.tzinfo is not None else resolve(moment, settings.zone)
    return (aware - EPOCH) // MICROSECOND * settings.units_per_millisecond // 1000


def engine_moment(units: int, settings: TimeSettings) -> Moment:
    """Return the moment in the engine's time zone."""
    microseconds = units * (1000 // settings.units_per_millisecond)
    if NEAR_BEGIN <= microseconds < NEAR_END:
        return (EPOCH + microseconds * MICROSECOND).astimezone(settings.zone)
    return FarMoment(microseconds, settings.zone)


def to_units(kind: str, settings: TimeSettings) -> Callable[[Any], int]:
    """Convert values of a kind to engine time units."""
    return (lambda value: int(value)) if kind == "long" else lambda value: epoch_units(value, settings)


def to_moment(kind: str, settings: TimeSettings) -> Callable[[Any], Any]:
    zone = settings.zone
    if kind == "long":
        return lambda value: engine_moment(value, settings)
    if kind == "Date":
        return lambda value: value.astimezone(zone) if value.year in NEAR_YEARS else FarMoment.of(value).astimezone(zone)
    if kind == "Calendar":
        return lambda value: value if value.year in NEAR_YEARS else FarMoment.of(value)
    return lambda value: value


def from_moment(kind: str, settings: TimeSettings) -> Callable[[Any], Any]:
    if kind == "long":
        factor = settings.units_per_millisecond

        def encode(moment: Moment) -> int:
            if isinstance(moment, FarMoment):
                return epoch_units(moment, settings)
            return (moment - EPOCH) // MICROSECOND * factor // 1000

        return encode
    if kind == "Date":
        return in_utc
    return near


def near(moment: Moment) -> datetime.datetime:
    """Return the moment as ``datetime``; an error beyond its years."""
    return moment.near() if isinstance(moment, FarMoment) else moment


def in_utc(moment: Moment) -> datetime.datetime:
    """Return the moment as Date has it; an error beyond the years of ``datetime``."""
    try:
        return near(moment).astimezone(UTC)
    except OverflowError:
        raise beyond() from None


def extend_years(change: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """Return a change that may lead beyond the years that ``datetime`` carries as Java's calendars do: far moments go on there, java.time
    has an error."""

    def of_java_time(moment: Any, *arguments: Any) -> Any:
        try:
            return change(moment, *arguments)
        except (OverflowError, ValueError):
            raise beyond() from None

    def call(moment: Any, *arguments: Any) -> Any:
        if type(moment) is not FarMoment:
            try:
                changed = change(moment, *arguments)
                if changed is None or 1900 < changed.year < 9999:
                    return changed
            except (OverflowError, ValueError):
                pass  # done again as far moment
            moment = FarMoment.of(moment)
        return change(moment, *arguments)

    return of_java_time if is_java_time(kind) else call


def resolve(naive: datetime.datetime, zone: datetime.tzinfo | None, later: bool = False) -> datetime.datetime:
    """Resolve a wall-clock time in a zone. In a gap it moves forward; of two times at an overlap the earlier, or the ``later``, as
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


def get(field: str, java_time: bool) -> Callable[[Any], int]:
    if not java_time and field == "month":
        return lambda m: m.month - 1
    if field == "millisecond":
        return lambda m: m.microsecond // 1000
    if field == "week":
        return _aligned_week if java_time else lambda m: us_week(m)[1]
    return lambda m: int(getattr(m, field))


def _aligned_week(moment: datetime.datetime) -> int:
    return (moment.timetuple().tm_yday - 1) // 7 + 1


def lenient(moment: Moment, *, year: int | None = None, month: int | None = None, day: int | None = None, hour: int | None = None,
            minute: int | None = None, second: int | None = None, millisecond: int | None = None) -> Moment:
    """Set fields as ``java.util.Calendar`` does; ``month`` from 0; what is beyond a range carries over."""
    if isinstance(moment, FarMoment):
        return moment.lenient(year, month, day, hour, minute, second, millisecond)
    months = (moment.year if year is None else year) * 12 + (moment.month - 1 if month is None else month)
    clock = datetime.timedelta(
        hours=moment.hour if hour is None else hour, minutes=moment.minute if minute is None else minute,
        seconds=moment.second if second is None else second, microseconds=moment.microsecond % 1000,
        milliseconds=moment.microsecond // 1000 if millisecond is None else millisecond)
    first = datetime.datetime(months // 12, months % 12 + 1, 1)
    return resolve(first + datetime.timedelta(days=(moment.day if day is None else day) - 1) + clock, moment.tzinfo, later=True)


def strict(moment: datetime.datetime, *, year: int | None = None, month: int | None = None, day: int | None = None, hour: int | None = None,
           minute: int | None = None, second: int | None = None, millisecond: int | None = None) -> datetime.datetime:
    """Set fields as java.time does: values beyond the range are errors."""
    changes = {"year": year, "month": month, "day": day, "hour": hour, "minute": minute, "second": second}
    fields = {k: v for k, v in changes.items() if v is not None}
    if millisecond is not None:
        if not 0 <= millisecond <= 999:
            raise JavaException(f"java.time.DateTimeException: Invalid value for MilliOfSecond (valid values 0 - 999): {millisecond}")
        fields["microsecond"] = millisecond * 1000
    try:
        return resolve(moment.replace(tzinfo=None, **fields), moment.tzinfo)
    except ValueError as error:
        raise JavaException(f"java.time.DateTimeException: Invalid value, {error}") from None


def setter(field: str, java_time: bool) -> Callable[[Any, int], Moment]:
    """Implement ``set``: one field; a java.time year or month keeps the day within the month."""
    if field == "week":
        return _set_aligned_week if java_time else _set_week
    if not java_time:
        return lambda m, value: lenient(m, **{field: value})
    if field in ("month", "year"):
        return lambda m, value: strict(strict(m, day=1, **{field: value}), day=min(m.day, _field_length(m, field, value)))
    return lambda m, value: strict(m, **{field: value})


def _field_length(moment: datetime.datetime, field: str, value: int) -> int:
    return calendar.monthrange(value if field == "year" else moment.year, value if field == "month" else moment.month)[1]


def _set_aligned_week(moment: datetime.datetime, week: int) -> Moment:
    if not 1 <= week <= 53:
        raise JavaException(f"java.time.DateTimeException: Invalid value for AlignedWeekOfYear (valid values 1 - 53): {week}")
    return _add_days(moment, 7 * (week - _aligned_week(moment)))


def _set_week(moment: Moment, week: int) -> Moment:
    if isinstance(moment, FarMoment):
        return moment.set_week(week)
    start = us_week_start(moment.year) + datetime.timedelta(days=7 * (week - 1) + moment.isoweekday() % 7)
    return resolve(datetime.datetime.combine(start, moment.time()), moment.tzinfo, later=True)


def _add_days(moment: Moment, days: int) -> Moment:
    """Moved by days of the wall clock."""
    if isinstance(moment, FarMoment):
        return moment.add_days(days)
    return resolve(moment.replace(tzinfo=None) + datetime.timedelta(days=days), moment.tzinfo)


def largest(field: str, java_time: bool) -> Callable[[Any], int]:
    """Return the largest value of a field at a moment (withMax)."""
    fixed = {"millisecond": 999, "second": 59, "minute": 59, "hour": 23, "month": 12 if java_time else 11}
    if field in fixed:
        return lambda _: fixed[field]
    if field == "day":
        return lambda m: m.days_in_month() if isinstance(m, FarMoment) else days_in_month(m)
    if java_time:
        return lambda _: 53
    if field == "year":
        return lambda m: (m if isinstance(m, FarMoment) else FarMoment.of(m)).last_year()
    return _weeks_in_year


def _weeks_in_year(moment: Moment) -> int:
    if isinstance(moment, FarMoment):
        return moment.weeks_in_year()
    return (us_week_start(moment.year + 1) - us_week_start(moment.year)).days // 7


def smallest(field: str, java_time: bool) -> int:
    """Return the smallest value of a field (withMin)."""
    return 1 if field in ("day", "week", "year") or (field == "month" and java_time) else 0


# ------------------------------------------------------------------ adding


def add_months(moment: Moment, months: int) -> Moment:
    """Add whole months of the calendar; the day is cut to the month's last."""
    if isinstance(moment, FarMoment):
        return moment.add_months(months)
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("years of datetime")
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return resolve(moment.replace(tzinfo=None, year=year, month=month + 1, day=day), moment.tzinfo)


_WALL_DAYS = {"week": 7, "day": 1}
_ELAPSED = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
MICROSECONDS = {**_ELAPSED, "day": 86_400_000_000, "week": 7 * 86_400_000_000}
"""How long units of a fixed length are."""


def elapse(moment: Moment, microseconds: int) -> Moment:
    """Move the moment by elapsed time."""
    if isinstance(moment, FarMoment):
        return moment.elapse(microseconds)
    step = microseconds * MICROSECOND
    if moment.tzinfo is None or moment.tzinfo is UTC:
        return moment + step
    return (moment.astimezone(UTC) + step).astimezone(moment.tzinfo)


def add_period(moment: Moment, period: Sequence[Any], sign: int) -> Moment | None:
    """Add a period. ``period`` is unit, number, unit, number …; each number is cut to a whole one, microseconds are omitted. Null for a
    null number."""
    for unit, number in zip(period[::2], period[1::2]):
        if number is None:
            return None
        whole = int(number) * sign
        if unit in ("year", "month"):
            moment = add_months(moment, whole * (12 if unit == "year" else 1))
        elif unit in _WALL_DAYS:
            moment = _add_days(moment, _WALL_DAYS[unit] * whole)
        elif unit != "microsecond":
            moment = elapse(moment, whole * _ELAPSED[unit])
    return moment


# ------------------------------------------------------------------ rounding


def floor(moment: Moment, field: str) -> Moment:
    """Return the moment with all smaller fields at their smallest value."""
    keep = SMALLER.index(field)
    if isinstance(moment, FarMoment):
        return moment.floor(SMALLER[:keep])
    if field == "millisecond":
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    zero: dict[str, int] = {"microsecond": 0}
    for smaller in SMALLER[1:keep]:
        zero[smaller] = 1 if smaller in ("day", "month") else 0
    return resolve(moment.replace(tzinfo=None, **zero), moment.tzinfo)


def ceiling(moment: Moment, field: str) -> Moment:
    """Return the next boundary of a field, also from a boundary."""
    base = floor(moment, field)
    if field in ("year", "month"):
        return add_months(base, 12 if field == "year" else 1)
    if field == "day":
        return _add_days(base, 1)
    return elapse(base, _ELAPSED[field])


def half(moment: Moment, field: str) -> Moment:
    """Return the nearer boundary: up when the next smaller field is beyond the middle of its range."""
    return ceiling(moment, field) if _beyond_middle(moment, SMALLER[SMALLER.index(field) - 1]) else floor(moment, field)


def _beyond_middle(moment: Moment, smaller: str) -> bool:
    lowest = smallest(smaller, False)
    return get(smaller, False)(moment) - lowest > (largest(smaller, False)(moment) - lowest) // 2
