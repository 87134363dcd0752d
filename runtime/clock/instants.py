"""Points in engine time as people write them: whole numbers of engine units, datetimes of Python, pandas and NumPy, ISO 8601 text; and as
messages show them."""
from __future__ import annotations

import datetime
import operator
import re
from typing import Any

from epl.errors import EplRuntimeError
from epl.reprs import brief, safe_repr

Instant = int | datetime.datetime | datetime.date | str
"""Engine units since 1970 (ms, or µs by configuration), a datetime (also pandas.Timestamp, numpy.datetime64), a date, or ISO 8601 text:
``"2024-05-01T09:00:00Z"``. Without a zone it is UTC; a date is its midnight."""

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)
FIRST, LAST = -(1 << 61), (1 << 61) - 1
"""73 million years of ms: with any period that can pass within them, a due time is a whole number of 64 bits."""
FARTHEST = 1 << 62
"""A longer period is never over."""


ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(?:Z|([+-])(\d\d):?(\d\d)?)?)?", re.ASCII | re.IGNORECASE
)


def iso_instant(text: str) -> datetime.datetime | None:
    """Return an ISO 8601 date or date with time; without a zone it is UTC. None where it is something else.

    >>> iso_instant("2024-01-31T10:00:00.5+0100").isoformat()
    '2024-01-31T09:00:00.500000+00:00'
    >>> iso_instant("2024-01-31").isoformat(), iso_instant("31.1.2024")
    ('2024-01-31T00:00:00+00:00', None)
    """
    match = ISO.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = match.groups()
    micros = int((fraction or "").ljust(6, "0")[:6])
    offset = datetime.timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        local = datetime.datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros, datetime.timezone.utc
        )
        return local + offset if sign == "-" else local - offset
    except (ValueError, OverflowError):
        return None


def to_instant(what: str, value: Any, units_per_second: int) -> int:
    """Return ``value`` in engine units; raise EplRuntimeError, naming ``what``, for no point in time and for one beyond 62 bits."""
    moment = _to_moment(value)
    if moment is not None:
        return (moment - EPOCH) // MICROSECOND * units_per_second // 1_000_000
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        instant = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        instant = None
    if instant is None:
        unit = "ms" if units_per_second == 1_000 else "µs"
        raise EplRuntimeError(f"{what}: expected a datetime or a whole number of {unit} since 1970, not {brief(value)}")
    if not FIRST <= instant <= LAST:
        raise EplRuntimeError(f"{what}: {safe_repr(instant)} is beyond the range of engine time (62 bits)")
    return instant


def _to_moment(value: Any) -> datetime.datetime | None:
    """Return what is written as a date as a datetime with a zone; None for numbers, and for what is no time."""
    if isinstance(value, str):
        return iso_instant(value)
    if getattr(getattr(value, "dtype", None), "kind", "") == "M" and hasattr(value, "item"):  # a datetime64 of any unit, or NaT
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime.datetime):
        if value != value:  # pandas.NaT is a datetime that does not equal itself
            return None
        return value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.timezone.utc)
    return None


def show_instant(now: int, units_per_second: int) -> str:
    """Return engine time with its date: ``60000 (1970-01-01T00:01:00Z)``; the number alone beyond the years 1 to 9999."""
    try:
        moment = EPOCH + datetime.timedelta(microseconds=now * (1_000_000 // units_per_second))
    except OverflowError:
        return str(now)
    exactly = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return f"{now} ({moment.replace(tzinfo=None).isoformat(timespec=exactly)}Z)"


__all__ = ["FARTHEST", "FIRST", "LAST", "Instant", "iso_instant", "show_instant", "to_instant"]
