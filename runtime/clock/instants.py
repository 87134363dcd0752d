"""Points in engine time as people give them: a whole number of engine units, or a ``datetime``; and as messages show them."""
from __future__ import annotations

import datetime
import operator
from typing import Any

from epl.errors import EplRuntimeError
from epl.reprs import repr_of

Instant = int | datetime.datetime
"""Engine units since 1970 (ms, or µs by configuration), or a datetime (also pandas.Timestamp); a naive one is UTC."""

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)
FIRST, LAST = -(1 << 61), (1 << 61) - 1
"""73 million years of ms: with any period that can pass within them, a due time is a whole number of 64 bits."""
FARTHEST = 1 << 62
"""A longer period is never over."""


def instant_of(what: str, value: Any, units_per_second: int) -> int:
    """Return ``value`` in engine units; raise EplRuntimeError, naming ``what``, for no point in time and for one beyond 62 bits."""
    if isinstance(value, datetime.datetime) and value == value:  # pandas.NaT is a datetime that does not equal itself
        aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
        return (aware - EPOCH) // MICROSECOND * units_per_second // 1_000_000
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        instant = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        instant = None
    if instant is None:
        unit = "ms" if units_per_second == 1_000 else "µs"
        raise EplRuntimeError(f"{what}: expected a datetime or a whole number of {unit} since 1970, not {repr_of(value)}")
    if not FIRST <= instant <= LAST:
        raise EplRuntimeError(f"{what}: {repr_of(instant)} is beyond the range of engine time (62 bits)")
    return instant


def shown(now: int, units_per_second: int) -> str:
    """Return engine time with its date: ``60000 (1970-01-01T00:01:00Z)``; the number alone beyond the years 1 to 9999."""
    try:
        moment = EPOCH + datetime.timedelta(microseconds=now * (1_000_000 // units_per_second))
    except OverflowError:
        return str(now)
    exactly = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return f"{now} ({moment.replace(tzinfo=None).isoformat(timespec=exactly)}Z)"


__all__ = ["FARTHEST", "FIRST", "LAST", "Instant", "instant_of", "shown"]
