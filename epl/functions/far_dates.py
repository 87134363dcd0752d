"""Moments before 1900 and after 9999 as ``java.util.GregorianCalendar`` (US) counts them; ``datetime`` has no years beyond 1 to 9999.

Long engine times reach from 292269055 BC to the year 292278994. Before October 15, 1582 the calendar is Julian; years before 1 count down
from 1 BC. Before 1900 a time zone has its standard offset of today, after 9999 its rules go on for ever.
"""
from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import cached_property

import attrs

from epl.functions.java_values import JavaException

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
DAY = 86_400_000_000
"""Microseconds in a day."""
NEAR_BEGIN, NEAR_END = -2_208_816_000_000_000, 253_402_128_000_000_000
"""From January 3, 1900 to December 30, 9999, in microseconds since 1970: what ``datetime`` carries in each zone."""
_CYCLE_YEARS, _CYCLE = 400, 146_097 * DAY
"""After so many years weekdays, leap years and changes of the clock repeat."""
_FIRST_GREGORIAN = -141_427
"""October 15, 1582, in days since 1970."""
_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_ROUNDED_YEARS = 280_000_000


def beyond(what: str = "a date") -> JavaException:
    """Return the error for what ``datetime`` cannot hold."""
    return JavaException(f"java.time.DateTimeException: {what} is beyond the years 1 to 9999, which only long values can be")


def gregorian_day(year: int, month: int, day: int) -> int:
    """Return days since 1970 of a date of the Gregorian calendar; year 0 is 1 BC; ``month`` from 1; ``day`` may lie beyond the month.

    >>> gregorian_day(1970, 1, 1), gregorian_day(0, 1, 1), gregorian_day(10000, 1, 1)
    (0, -719528, 2932897)
    """
    before = year - 1
    leap_day = month > 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 365 * before + before // 4 - before // 100 + before // 400 + _BEFORE_MONTH[month - 1] + leap_day + day - 719_163


def java_day(year: int, month: int, day: int) -> int:
    """Return the same in Java's calendar, which is Julian before October 15, 1582.

    >>> java_day(1582, 10, 15) - java_day(1582, 10, 4), java_day(1, 1, 1)
    (1, -719164)
    """
    if year >= 1582:
        gregorian = gregorian_day(year, month, day)
        if gregorian >= _FIRST_GREGORIAN:
            return gregorian
    return julian_day(year, month, day)


def julian_day(year: int, month: int, day: int) -> int:
    before = year - 1
    return 365 * before + before // 4 + _BEFORE_MONTH[month - 1] + (month > 2 and year % 4 == 0) + day - 719_165


def _java_year(day: int) -> int:
    year = day * 400 // 146_097 + 1970
    while java_day(year, 1, 1) > day:
        year -= 1
    while java_day(year + 1, 1, 1) <= day:
        year += 1
    return year


def _week_start(year: int, day_of: Callable[[int, int, int], int] = java_day) -> int:
    """Return the Sunday that begins week 1 of a year in the US."""
    first = day_of(year, 1, 1)
    return first - (first + 4) % 7


# ------------------------------------------------------------------ time zones


def _near(microseconds: int) -> tuple[datetime.datetime, int]:
    """Return a time that ``datetime`` holds, and what was taken away: whole cycles, at whose ends the clocks agree."""
    cycles = (microseconds - 127_174_492_800_000_000) // _CYCLE if microseconds >= NEAR_END else 0
    return datetime.datetime(1970, 1, 1) + (microseconds - cycles * _CYCLE) * MICROSECOND, cycles * _CYCLE


def _utc_offset(moment: datetime.datetime) -> int:
    return (moment.utcoffset() or datetime.timedelta()) // MICROSECOND


def _old_offset(zone: datetime.tzinfo) -> int:
    return min(_utc_offset(datetime.datetime(9000, month, 1, tzinfo=zone)) for month in (1, 7))


def _zone_offset(instant: int, zone: datetime.tzinfo) -> int:
    """Return the zone's distance from UTC at an instant, in microseconds."""
    if zone is UTC:
        return 0
    return _old_offset(zone) if instant < NEAR_BEGIN else _utc_offset(_near(instant)[0].replace(tzinfo=UTC).astimezone(zone))


def _wall_instant(wall: int, zone: datetime.tzinfo) -> int:
    """Return the instant of a wall-clock time: in a gap the clock moves forward, of two times at an overlap it is the later."""
    if zone is UTC:
        return wall
    if wall < NEAR_BEGIN:
        return wall - _old_offset(zone)
    naive, _ = _near(wall)
    first = naive.replace(tzinfo=zone, fold=0)
    before, after = _utc_offset(first), _utc_offset(first.replace(fold=1))
    return wall - min(before, after) if before > after else wall - before


# ------------------------------------------------------------------ moments


@attrs.define(slots=False)
class FarMoment:
    """An instant in a zone, in microseconds since 1970. Fields have the names of ``datetime``; ``year`` counts within its ``era``."""

    instant: int
    tzinfo: datetime.tzinfo

    @classmethod
    def of(cls, moment: datetime.datetime) -> FarMoment:
        assert moment.tzinfo is not None
        return cls((moment - EPOCH) // MICROSECOND, moment.tzinfo)

    @classmethod
    def at(cls, day: int, clock: int, zone: datetime.tzinfo) -> FarMoment:
        """Return the moment where the clock shows ``clock`` microseconds on a day (since 1970)."""
        return cls(_wall_instant(day * DAY + clock, zone), zone)

    def near(self) -> datetime.datetime:
        """Return the same as ``datetime``; an error beyond its years."""
        try:
            return (EPOCH + self.instant * MICROSECOND).astimezone(self.tzinfo)
        except OverflowError:
            raise beyond() from None

    def astimezone(self, zone: datetime.tzinfo) -> FarMoment:
        return FarMoment(self.instant, zone)

    # reading

    @cached_property
    def wall(self) -> int:
        return self.instant + _zone_offset(self.instant, self.tzinfo)

    @cached_property
    def ordinal(self) -> int:
        """Days since 1970."""
        return self.wall // DAY

    @cached_property
    def clock(self) -> int:
        """Microseconds of the day."""
        return self.wall % DAY

    @cached_property
    def astronomical_year(self) -> int:
        """The year, where 0 is 1 BC."""
        return _java_year(self.ordinal)

    @cached_property
    def month(self) -> int:
        return next(m for m in range(12, 0, -1) if java_day(self.astronomical_year, m, 1) <= self.ordinal)

    @property
    def day(self) -> int:
        first = java_day(self.astronomical_year, self.month, 1)
        gap = 10 if self.ordinal >= _FIRST_GREGORIAN > first else 0
        return self.ordinal - first + 1 + gap

    @property
    def era(self) -> int:
        return int(self.astronomical_year > 0)

    @property
    def year(self) -> int:
        return self.astronomical_year if self.era else 1 - self.astronomical_year

    @property
    def hour(self) -> int:
        return self.clock // 3_600_000_000

    @property
    def minute(self) -> int:
        return self.clock // 60_000_000 % 60

    @property
    def second(self) -> int:
        return self.clock // 1_000_000 % 60

    @property
    def microsecond(self) -> int:
        return self.clock % 1_000_000

    @property
    def day_of_year(self) -> int:
        return self.ordinal - java_day(self.astronomical_year, 1, 1) + 1

    def isoweekday(self) -> int:
        return (self.ordinal + 3) % 7 + 1

    def weekday(self) -> int:
        return (self.ordinal + 3) % 7

    def us_week(self) -> tuple[int, int]:
        """Return week year and week of the year."""
        following = self.astronomical_year + 1
        year = following if self.ordinal >= _week_start(following) else following - 1
        return year, (self.ordinal - _week_start(year)) // 7 + 1

    def week_of_month(self) -> int:
        first = java_day(self.astronomical_year, self.month, 1)
        return (self.ordinal - first + (first + 4) % 7) // 7 + 1

    def utcoffset(self) -> datetime.timedelta:
        return (self.wall - self.instant) * MICROSECOND

    def tzname(self) -> str | None:
        when = max(self.instant, NEAR_BEGIN)
        return _near(when)[0].replace(tzinfo=UTC).astimezone(self.tzinfo).tzname()

    def days_in_month(self) -> int:
        years, month0 = divmod(self.month, 12)
        following = java_day(self.astronomical_year + years, month0 + 1, 1)
        return FarMoment((following - 1) * DAY, UTC).day

    def weeks_in_year(self) -> int:
        year = self.astronomical_year
        if year > 0:
            return (_week_start(year + 1) - _week_start(year)) // 7
        first = (julian_day(self.year, 1, 1) + 4) % 7  # Java takes the weekday of January 1 from the same year after Christ
        return 53 if first == 6 or (first == 5 and year % 4 == 0) else 52

    def last_year(self) -> int:
        """Return the largest year of the era whose years are long enough for the moment's time within its year."""
        last = FarMoment(((1 << 63) - 1 if self.era else -1 << 63) * 1000, self.tzinfo)
        mine, its = ((m.day_of_year, m.clock) for m in (self, last))
        return last.year if mine == its or (mine < its) == bool(self.era) else last.year - 1

    # changing

    def lenient(self, year: int | None = None, month: int | None = None, day: int | None = None, hour: int | None = None,
                minute: int | None = None, second: int | None = None, millisecond: int | None = None) -> FarMoment:
        """Set fields as ``java.util.Calendar`` does; ``month`` from 0; what is beyond a range carries over."""
        astronomical = self.astronomical_year if year is None else year if self.era else 1 - year
        years, month0 = divmod(self.month - 1 if month is None else month, 12)
        clock = ((self.hour if hour is None else hour) * 60 + (self.minute if minute is None else minute)) * 60
        clock = (clock + (self.second if second is None else second)) * 1_000_000 + self.microsecond % 1000
        clock += (self.microsecond // 1000 if millisecond is None else millisecond) * 1000
        calendar = julian_day if astronomical < 1582 else java_day
        days = (self.day if day is None else day) + clock // DAY
        return FarMoment.at(calendar(astronomical + years, month0 + 1, days), clock % DAY, self.tzinfo)

    def set_week(self, week: int) -> FarMoment:
        year, rest = self.astronomical_year, 7 * (week - 1) + (self.ordinal + 4) % 7
        day = _week_start(year, gregorian_day) + rest
        if year <= 1582 or day < _FIRST_GREGORIAN:
            day = _week_start(year, julian_day) + rest
        return FarMoment.at(day, self.clock, self.tzinfo)

    def add_months(self, months: int) -> FarMoment:
        """Add months; the day is cut to the month's last."""
        years, month0 = divmod(self.month - 1 + months, 12)
        first = FarMoment.at(java_day(self.astronomical_year + years, month0 + 1, 1), self.clock, UTC)
        day = java_day(first.astronomical_year, first.month, min(self.day, first.days_in_month()))
        return FarMoment.at(day, self.clock, self.tzinfo)

    def add_days(self, days: int) -> FarMoment:
        return FarMoment.at(self.ordinal + days, self.clock, self.tzinfo)

    def elapse(self, microseconds: int) -> FarMoment:
        return FarMoment(self.instant + microseconds, self.tzinfo)

    def floor(self, smaller: tuple[str, ...]) -> FarMoment:
        """Return the moment with the ``smaller`` fields at their smallest value, but for what is below the millisecond, which is 0."""
        if self.year > _ROUNDED_YEARS:
            raise JavaException("java.lang.ArithmeticException: Calendar value too large for accurate calculations")
        whole = self.elapse(-(self.microsecond % 1000))
        return whole.lenient(**{field: 1 if field == "day" else 0 for field in smaller})
