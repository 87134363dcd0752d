"""Time periods on the engine clock: fixed units, and months and years by the calendar."""
from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from epl.catalog import Settings
from epl.plan.expressions import TimeSpan, TypedExpression

SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
MONTHS = {"year": 12, "month": 1}


def add_period(start: int, period: TypedExpression, constant: Callable[[TypedExpression], Any], settings: Settings, times: int = 1) -> int:
    """``start`` plus ``times`` periods in engine units. A plain number is seconds; ``constant`` evaluates the parts."""
    months, units = span_of(period, constant, settings)
    if months:
        start = add_months(start, months * times, settings)
    return start + units * times


def span_of(period: TypedExpression, constant: Callable[[TypedExpression], Any], settings: Settings) -> tuple[int, int]:
    """A period as (months, engine units)."""
    per_second = settings.units_per_second
    if not isinstance(period, TimeSpan):
        return 0, round(constant(period) * per_second)
    months, units = 0, 0
    for unit, expression in period.parts:
        value = constant(expression)
        if unit in MONTHS:
            months += int(value) * MONTHS[unit]
        elif unit == "millisecond":
            units += round(value * per_second / 1_000)
        elif unit == "microsecond":
            units += round(value * per_second / 1_000_000)
        else:
            units += round(value * SECONDS[unit] * per_second)
    return months, units


def add_months(start: int, months: int, settings: Settings) -> int:
    """``start`` moved by whole months of the calendar in the configured time zone; the day is cut to the month's last."""
    per_second = settings.units_per_second
    seconds, rest = divmod(start, per_second)
    zone = ZoneInfo(settings.time_zone)
    moment = datetime.datetime.fromtimestamp(seconds, zone)
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return int(moment.replace(year=year, month=month + 1, day=day).timestamp()) * per_second + rest
