"""Crontab schedules on the engine clock: the next due time strictly after a given one, in a time zone.

Serves ``output at``, ``timer:at`` and contexts. Learnt from recorded schedules:

- A field of seconds that is not written is 0; minutes, hours, months and seconds take ``last`` for any.
- Where milliseconds are not written, a time is as much later than a full second as the time from which it is computed: from 0.5 s on, every
  second means 1.5 s, 2.5 s …
- ``last`` as a day of month is the month's last; ``n weekday`` the day from Monday to Friday nearest to the n-th within the month;
  ``lastweekday`` the last such day. As a day of week ``last`` is Saturday (6; Sunday is 0), ``n last`` the month's last such day. One of
  these set, the other field of days is not looked at.
- Of days of month and days of week, either will do where both are given; one day of month alone and days of week are refused.
- What lists and ranges hold beyond the bounds is dropped; a range whose ends are the wrong way round holds nothing. Where nothing is left
  the field is any value.
- A single day of week from 7 to 31 is a day of month; in lists and ranges such days never come. ``n last`` as a day of month is the
  month's last day in the months where it is such a weekday.
- Where the month moves on, a day that ``*`` or days of week have reached stays (from 1 February, ``0, 0, *, */3, *`` begins on 2 March); a
  day of month beyond a month's end is looked for in the next month.
- A time of day that clocks skip comes as much later; one that they show twice comes the second time.
- An unknown time zone is GMT.
"""

from __future__ import annotations

import calendar
import datetime
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from epl.errors import EplDeploymentError, EplUnsupportedError
from epl.plan.crontab import CronField, CrontabPlan
from epl.plan.expressions import TypedExpression
from epl.settings import Settings
from epl.zones import java_zone

UNITS = (("MINUTES", 0, 59), ("HOURS", 0, 23), ("DAYS_OF_MONTH", 1, 31), ("MONTHS", 1, 12), ("DAYS_OF_WEEK", 0, 6), ("SECONDS", 0, 59),
         ("MILLISECONDS", 0, 999), ("MICROSECONDS", 0, 999))
"""Name in refusals, lowest and highest value of the first six fields, and of those after the time zone."""
WEEKDAYS, SATURDAY, LATEST_DAY = 4, 6, 31
ALL_WEEKDAYS = range(SATURDAY + 1)

YEARS = 40
"""So many years ahead a due time is looked for; beyond, there is none (30 February)."""

Constant = Callable[[TypedExpression], Any]
Values = tuple[int, ...]
DayOfMonth = Callable[[int, int], "int | None"]
"""year, month → the one day that counts; None where the month has none."""


class Crontab:
    """``next_due(now)`` in engine units, None where the schedule never comes due again.

    Raises EplDeploymentError in Esper's words for values out of range. ``constant`` evaluates expressions that read no event.
    """

    def __init__(self, plan: CrontabPlan, constant: Constant, settings: Settings) -> None:
        self._per_second = settings.units_per_second
        fields = plan.fields
        self._minutes, self._hours, self._months = (_values(fields[i], i, constant) for i in (0, 1, 3))
        self._seconds = _values(fields[5], 5, constant) if len(fields) > 5 else (0,)
        self._special = _special_day(fields[2], fields[4], constant)
        self._days: Values | None = None
        self._weekdays: Values | None = None
        if self._special is None:
            self._days = None if fields[2].kind == "any" else _values(fields[2], 2, constant)
            self._weekdays = None if fields[4].kind == "any" else _weekdays(fields[4], constant)
            if self._days is not None and self._weekdays is not None:
                self._days = None if len(self._days) == LATEST_DAY else self._days
                self._weekdays = None if set(ALL_WEEKDAYS) <= set(self._weekdays) else self._weekdays
        if self._days is not None and len(self._days) == 1 and self._weekdays is not None:
            raise EplDeploymentError(
                "Failed to deploy: Invalid schedule specification: Invalid combination between days of week and days of month fields "
                "for timer:at", span=fields[4].span
            )
        zone = fields[6].value if len(fields) > 6 else None
        self._zone = java_zone(settings.time_zone if zone is None else str(constant(zone)))
        self._subseconds = _Subseconds(fields[7:], constant, self._per_second) if len(fields) > 7 else None
        """None: that of the time from which the next one is computed."""

    def next_due(self, now: int) -> int | None:
        """Return the first due time later than ``now``."""
        subsecond = now % self._per_second
        if self._subseconds is not None:
            later = self._subseconds.after(subsecond)
            if later is not None and self._is_due(now // self._per_second):
                return now - subsecond + later
            subsecond = self._subseconds.first
        start = datetime.datetime.fromtimestamp((now - subsecond) // self._per_second + 1, self._zone).replace(tzinfo=None)
        while True:
            local = self._next_local(start)
            if local is None:
                return None
            due = self._instant(local) * self._per_second + subsecond
            if due > now:
                return due
            start = local + datetime.timedelta(seconds=1)

    def _is_due(self, second: int) -> bool:
        """Return whether the schedule is due in this second, counted from 1970."""
        local = datetime.datetime.fromtimestamp(second, self._zone).replace(tzinfo=None)
        return self._next_local(local) == local and self._instant(local) == second

    def _next_local(self, at: datetime.datetime) -> datetime.datetime | None:
        """Return the first wall-clock time from ``at`` on."""
        time = self._next_time(at.hour, at.minute, at.second)
        date = at.date()
        if time is None:
            if date == datetime.date.max:
                return None
            date, time = date + datetime.timedelta(days=1), self._first_time()
        day = self._next_date(date)
        if day is None:
            return None
        return datetime.datetime.combine(day, datetime.time(*(time if day == date else self._first_time())))

    def _first_time(self) -> tuple[int, int, int]:
        return self._hours[0], self._minutes[0], self._seconds[0]

    def _next_time(self, hour: int, minute: int, second: int) -> tuple[int, int, int] | None:
        """Return the first (hour, minute, second) of a day from that time on; None where the day has none any more."""
        if hour in self._hours:
            if minute in self._minutes:
                at = bisect_left(self._seconds, second)
                if at < len(self._seconds):
                    return hour, minute, self._seconds[at]
            at = bisect_left(self._minutes, minute + 1)
            if at < len(self._minutes):
                return hour, self._minutes[at], self._seconds[0]
        at = bisect_left(self._hours, hour + 1)
        return (self._hours[at], self._minutes[0], self._seconds[0]) if at < len(self._hours) else None

    def _next_date(self, date: datetime.date) -> datetime.date | None:
        year, month, day = date.year, date.month, date.day
        last_year = min(year + YEARS, datetime.MAXYEAR)
        while year <= last_year:
            next_day = self._next_day(year, month, day)
            if next_day is None:
                year, month = _next_month(year, month)
                day = self._days[0] if self._days else 1
            elif next_day > calendar.monthrange(year, month)[1]:
                year, month = _next_month(year, month)
                day = next_day
            elif month in self._months:
                return datetime.date(year, month, next_day)
            else:
                at = bisect_left(self._months, month + 1)
                year, month = (year, self._months[at]) if at < len(self._months) else (year + 1, self._months[0])
                day = self._days[0] if self._days else 1 if self._special is not None else next_day
        return None

    def _next_day(self, year: int, month: int, day: int) -> int | None:
        """Return the first day of the month from ``day`` on, perhaps beyond its end; None where it has none."""
        if self._special is not None:
            only = self._special(year, month)
            return only if only is not None and only >= day else None
        of_month = None
        if self._days is not None:
            at = bisect_left(self._days, day)
            of_month = self._days[at] if at < len(self._days) else None
            if self._weekdays is None:
                return of_month
        if self._weekdays is not None:
            last = calendar.monthrange(year, month)[1]
            of_week = next((d for d in range(day, last + 1) if _weekday(year, month, d) in self._weekdays), None)
            return of_week if of_month is None else of_month if of_week is None else min(of_month, of_week)
        return day

    def _instant(self, local: datetime.datetime) -> int:
        """Seconds since 1970 of a wall-clock time."""
        early, late = (int(local.replace(tzinfo=self._zone, fold=fold).timestamp()) for fold in (0, 1))
        return max(early, late)


def _next_month(year: int, month: int) -> tuple[int, int]:
    return (year, month + 1) if month < 12 else (year + 1, 1)


def _weekday(year: int, month: int, day: int) -> int:
    """0 is Sunday."""
    return (calendar.weekday(year, month, day) + 1) % 7


# ------------------------------------------------------------------ fields


@contextmanager
def locate_refusal(field: CronField) -> Iterator[None]:
    """Give a refusal the position of the field, unless it has one."""
    try:
        yield
    except (EplDeploymentError, EplUnsupportedError) as refusal:
        refusal.span = refusal.span or field.span
        raise


def _values(field: CronField, unit: int, constant: Constant) -> Values:
    """Return the values that a field takes, ascending."""
    with locate_refusal(field):
        return _field_values(field, unit, constant)


def _field_values(field: CronField, unit: int, constant: Constant) -> Values:
    low, high = _bounds(unit)
    every = tuple(range(low, high + 1))
    if field.kind in ("any", "last") and field.value is None:
        return every
    if field.kind == "list":
        return tuple(sorted({v for item in field.items for v in _item_values(item, unit, constant)})) or every
    if field.kind == "value":
        return (_check_value(_number(field.value, constant), unit),)
    if field.kind == "range":
        return _within(field, unit, constant) or every
    if field.kind == "every":
        first = _number(field.value, constant)
        if first <= 0:
            raise EplDeploymentError(
                f"Failed to deploy: Failed expression evaluation in crontab timer-at for parameter {unit}: "
                "Zero or negative value supplied as freqeuncy"
            )
        return tuple(v for v in every if v % first == 0) or (low,)
    raise EplUnsupportedError(f"'{field.kind}' is supported as a day of month or week of a crontab only")


def _bounds(unit: int) -> tuple[int, int]:
    """Return the lowest and highest value that a field keeps: days of week beyond Saturday are kept and never come."""
    return UNITS[unit][1], LATEST_DAY if unit == WEEKDAYS else UNITS[unit][2]


def _item_values(item: CronField, unit: int, constant: Constant) -> Values:
    """Return the values of an item of a list; what is out of bounds is dropped."""
    if item.kind != "value":
        return _within(item, unit, constant) if item.kind == "range" else _values(item, unit, constant)
    low, high = _bounds(unit)
    value = _number(item.value, constant)
    return (value,) if low <= value <= high else ()


def _within(field: CronField, unit: int, constant: Constant) -> Values:
    """Return the values of a range, cut to the bounds; none where its ends are the wrong way round."""
    low, high = _bounds(unit)
    return tuple(range(max(low, _number(field.value, constant)), min(high, _number(field.high, constant)) + 1))


def _number(expression: TypedExpression | None, constant: Constant) -> int:
    value = None if expression is None else constant(expression)
    if isinstance(value, bool) or not isinstance(value, int):
        raise EplDeploymentError(f"Failed to deploy: Invalid schedule specification: a crontab's values are whole numbers, not {value!r}")
    return value


def _check_value(value: int, unit: int) -> int:
    name, (low, high) = UNITS[unit][0], _bounds(unit)
    if not low <= value <= high:
        raise EplDeploymentError(f"Failed to deploy: Invalid value found for schedule unit, value of {value} is not valid for unit {name}")
    return value


def _weekdays(field: CronField, constant: Constant) -> Values:
    return (SATURDAY,) if field.kind == "last" else _values(field, WEEKDAYS, constant)


def _special_day(of_month: CronField, of_week: CronField, constant: Constant) -> DayOfMonth | None:
    """Return the day that last, n last, n weekday or lastweekday names; None for plain fields."""
    for field in (of_month, of_week):
        if field.kind == "lastweekday":
            return lambda year, month: _nearest_weekday(year, month, 31)
        if field.kind == "weekday":
            with locate_refusal(field):
                near = _number(field.value, constant)
                if not 1 <= near <= LATEST_DAY:
                    raise EplDeploymentError("Failed to deploy: xx day of the month has to be a in range (1-31)")
            return lambda year, month: _nearest_weekday(year, month, near)
    if of_month.kind == "last":
        with locate_refusal(of_month):
            weekday = None if of_month.value is None else _weekday_number(of_month, constant)
        return lambda year, month: _last_day(year, month, weekday)
    if of_week.kind == "last" and of_week.value is None and of_month.kind != "any":
        return lambda year, month: _last_weekday(year, month, SATURDAY)
    if of_week.kind == "last" and of_week.value is not None:
        with locate_refusal(of_week):
            day = _weekday_number(of_week, constant)
        return lambda year, month: _last_weekday(year, month, day)
    if of_week.kind == "value" and of_month.kind == "any":
        with locate_refusal(of_week):
            value = _check_value(_number(of_week.value, constant), WEEKDAYS)
        return (lambda year, month: value) if value > SATURDAY else None
    return None


def _nearest_weekday(year: int, month: int, day: int) -> int:
    last = calendar.monthrange(year, month)[1]
    day = min(day, last)
    weekday = _weekday(year, month, day)
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < last else day - 2
    return day


def _last_day(year: int, month: int, weekday: int | None) -> int | None:
    """Return the last day of the month, if it is such a weekday."""
    last = calendar.monthrange(year, month)[1]
    return last if weekday is None or _weekday(year, month, last) == weekday else None


def _weekday_number(field: CronField, constant: Constant) -> int:
    """Return the day of week of ``n last``; beyond Saturday Esper fails when the schedule begins."""
    day = _check_value(_number(field.value, constant), WEEKDAYS)
    if day > SATURDAY:
        raise EplDeploymentError(f"Failed to deploy: the last day of week {day}: days of week are numbers from 0 (Sunday) to {SATURDAY}")
    return day


def _last_weekday(year: int, month: int, weekday: int) -> int:
    last = calendar.monthrange(year, month)[1]
    return last - (_weekday(year, month, last) - weekday) % 7


class _Subseconds:
    """Milliseconds, and perhaps microseconds: when within a second that is due."""

    def __init__(self, fields: Sequence[CronField], constant: Constant, per_second: int) -> None:
        self._millis = _thousandths(fields[0], 0, constant)
        micros = _thousandths(fields[1], 1, constant) if len(fields) > 1 else (0,)
        self._per_milli = max(per_second // 1_000, 1)
        self._micros = micros if self._per_milli > 1 else (0,)
        self.first = self._millis[0] * self._per_milli + self._micros[0]

    def after(self, offset: int) -> int | None:
        """Return the first offset later than one; None where the second has none any more."""
        milli, micro = divmod(offset, self._per_milli)
        at = bisect_left(self._millis, milli)
        if at < len(self._millis) and self._millis[at] == milli:
            within = bisect_left(self._micros, micro + 1)
            if within < len(self._micros):
                return milli * self._per_milli + self._micros[within]
            at += 1
        return self._millis[at] * self._per_milli + self._micros[0] if at < len(self._millis) else None


def _thousandths(field: CronField, place: int, constant: Constant) -> Values:
    return _values(field, len(UNITS) - 2 + place, constant)


__all__ = ["Crontab"]
