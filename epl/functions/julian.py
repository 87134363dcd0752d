"""The calendar before October 15, 1582, as ``java.util.GregorianCalendar`` counts: Julian. Days are Python's proleptic Gregorian
ordinals."""
from __future__ import annotations

import datetime

_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
FIRST_GREGORIAN = datetime.date(1582, 10, 15).toordinal()


def ordinal_of(year: int, month: int, day: int) -> int:
    """The day of a date of either calendar; ``month`` from 1; ``day`` may lie beyond the month.

    >>> datetime.date.fromordinal(ordinal_of(1582, 10, 4)), datetime.date.fromordinal(ordinal_of(7, 5, 30))
    (datetime.date(1582, 10, 14), datetime.date(7, 5, 28))
    """
    if (year, month) > (1582, 10) or ((year, month) == (1582, 10) and day >= 15):
        return datetime.date(year, month, 1).toordinal() + day - 1
    leap_day = 1 if year % 4 == 0 and month > 2 else 0
    return 365 * (year - 1) + (year - 1) // 4 + _BEFORE_MONTH[month - 1] + leap_day + day - 2


def fields_of(date: datetime.date) -> tuple[int, int, int]:
    """Year, month from 1 and day as Java's calendar has them.

    >>> fields_of(datetime.date(7, 5, 28)), fields_of(datetime.date(2024, 2, 29))
    ((7, 5, 30), (2024, 2, 29))
    """
    ordinal = date.toordinal()
    if ordinal >= FIRST_GREGORIAN:
        return date.year, date.month, date.day
    days = ordinal + 1
    cycles, rest = divmod(days, 1461)
    years = min(rest // 365, 3)
    year = cycles * 4 + years + 1
    month = next(m for m in range(12, 0, -1) if ordinal_of(year, m, 1) <= ordinal)
    return year, month, ordinal - ordinal_of(year, month, 1) + 1
