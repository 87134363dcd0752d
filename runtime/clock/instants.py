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


def instant_of(what: str, given: Any, units_per_second: int) -> int:
    """Return ``given`` in engine units; raise EplRuntimeError, naming ``what``, for no point in time and for one beyond 62 bits."""
    if isinstance(given, datetime.datetime) and given == given:  # pandas.NaT is a datetime that does not equal itself
        aware = given if given.tzinfo is not None else given.replace(tzinfo=datetime.timezone.utc)
        return (aware - EPOCH) // MICROSECOND * units_per_second // 1_000_000
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    try:
        found = operator.index(given) if not isinstance(given, bool) else None
    except TypeError:
        found = None
    if found is None:
        unit = "ms" if units_per_second == 1_000 else "µs"
        raise EplRuntimeError(f"{what}: expected a datetime or a whole number of {unit} since 1970, not {repr_of(given)}")
    if not FIRST <= found <= LAST:
        raise EplRuntimeError(f"{what}: {repr_of(found)} is beyond the range of engine time (62 bits)")
    return found


def shown(now: int, units_per_second: int) -> str:
    """Return engine time with its date: ``60000 (1970-01-01T00:01:00Z)``; the number alone beyond the years 1 to 9999."""
    try:
        moment = EPOCH + datetime.timedelta(microseconds=now * (1_000_000 // units_per_second))
    except OverflowError:
        return str(now)
    exactly = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return f"{now} ({moment.replace(tzinfo=None).isoformat(timespec=exactly)}Z)"


__all__ = ["FARTHEST", "FIRST", "LAST", "Instant", "instant_of", "shown"]
