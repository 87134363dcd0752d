"""Time periods on the engine clock: fixed units, and months and years by the calendar."""
from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from epl.errors import EplRuntimeError
from epl.plan.expressions import TimeSpan, TypedExpression
from epl.settings import Settings

SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
MONTHS = {"year": 12, "month": 1}
LONGEST = 1 << 62
"""The longest period, in engine units: with it, a moment of the clock is still a long (146 million years in ms)."""
MONTHS_OF_TURN, SECONDS_OF_TURN = 4_800, 146_097 * 86_400
"""Of the 400 years after which the calendar repeats itself."""
EARLIEST, LATEST = -1_500 * 365 * 86_400, 7_500 * 365 * 86_400
"""Seconds between which Python's calendar has the years, and 400 more on either side."""


def add_period(start: int, period: TypedExpression, constant: Callable[[TypedExpression], Any], settings: Settings, times: int = 1) -> int:
    """Return ``start`` plus ``times`` periods in engine units. A plain number is seconds; ``constant`` evaluates the parts."""
    months, units = period_span(period, constant, settings)
    if months:
        start = add_months(start, months * times, settings)
    return start + units * times


def period_span(period: TypedExpression, constant: Callable[[TypedExpression], Any], settings: Settings) -> tuple[int, int]:
    """Return a period as (months, engine units); raise EplRuntimeError where a part of it is null."""
    per_second = settings.units_per_second
    if not isinstance(period, TimeSpan):
        return 0, _whole(_require(constant(period)) * per_second)
    months, units = 0, 0
    for unit, expression in period.parts:
        value = _require(constant(expression))
        if unit in MONTHS:
            months += int(value) * MONTHS[unit]
        elif unit == "millisecond":
            units += _whole(value * per_second / 1_000)
        elif unit == "microsecond":
            units += _whole(value * per_second / 1_000_000)
        else:
            units += _whole(value * SECONDS[unit] * per_second)
    return months, max(-LONGEST, min(units, LONGEST))


def _require(value: Any) -> Any:
    if value is None:
        raise EplRuntimeError("Failed to evaluate time period, received a null value")
    return value


def _whole(units: float) -> int:
    """Rounded as in Java: a half upwards; what is too large is the largest there is, and what is not a number is 0."""
    if units != units:
        return 0
    bounded = max(-LONGEST, min(units, LONGEST))
    return bounded if isinstance(bounded, int) else math.floor(float(bounded) + 0.5)


def add_months(start: int, months: int, settings: Settings) -> int:
    """Return ``start`` moved by whole months of the calendar in the configured time zone; the day is cut to the month's last."""
    per_second = settings.units_per_second
    seconds, rest = divmod(start, per_second)
    turns = 0
    if not EARLIEST < seconds < LATEST or not -MONTHS_OF_TURN < months < MONTHS_OF_TURN:  # beyond what Python's calendar has
        turns, seconds = divmod(seconds, SECONDS_OF_TURN)
        more, months = divmod(months, MONTHS_OF_TURN)
        turns += more
    moment = datetime.datetime.fromtimestamp(seconds, ZoneInfo(settings.time_zone))
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    moved = int(moment.replace(year=year, month=month + 1, day=day).timestamp()) + turns * SECONDS_OF_TURN
    return max(-LONGEST, min(moved * per_second + rest, LONGEST))
