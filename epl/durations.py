"""Lengths of time as people write them for settings: ``"5 seconds"``, ``"1 hour 30 minutes"``, a timedelta, or engine units."""
from __future__ import annotations

import datetime
import re

from epl.errors import EplRuntimeError

Duration = str | int | datetime.timedelta

MICROSECONDS = {
    "microsecond": 1, "millisecond": 1_000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000,
    "week": 604_800_000_000,
}
SHORT = {"us": "microsecond", "ms": "millisecond", "msec": "millisecond", "sec": "second", "s": "second", "min": "minute"}
PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*(?:,|and\b)?", re.IGNORECASE)


def duration_units(what: str, duration: Duration, units_per_second: int) -> int:
    """Return ``duration`` in engine units; raise EplRuntimeError, naming ``what``, where it is not a length of time or negative."""
    if isinstance(duration, bool) or not isinstance(duration, (str, int, datetime.timedelta)):
        raise EplRuntimeError(f"{what} is a length of time, not {duration!r}", hint="such as '5 seconds'")
    if isinstance(duration, datetime.timedelta):
        micros: float = duration // datetime.timedelta(microseconds=1)
    elif isinstance(duration, int):
        micros = duration * 1_000_000 // units_per_second
    else:
        micros = _micros(what, duration)
    if micros < 0:
        raise EplRuntimeError(f"{what} is a length of time and cannot be negative: {duration!r}")
    return round(micros * units_per_second / 1_000_000)


def _micros(what: str, text: str) -> float:
    micros, at = 0.0, 0
    while at < len(text):
        part = PART.match(text, at)
        unit = None if part is None else SHORT.get(part[2].lower(), part[2].lower().removesuffix("s"))
        if part is None or unit not in MICROSECONDS:
            raise EplRuntimeError(f"{what} is not a length of time: {text!r}", hint="such as '5 seconds' or '1 hour 30 minutes'")
        micros += float(part[1]) * MICROSECONDS[unit]
        at = part.end()
    if not text.strip():
        raise EplRuntimeError(f"{what} is not a length of time: {text!r}", hint="such as '5 seconds' or '1 hour 30 minutes'")
    return micros


__all__ = ["Duration", "duration_units"]
