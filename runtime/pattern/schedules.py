"""``timer:schedule``: parameters → a series of times, as plain numbers."""
from __future__ import annotations

import datetime
from bisect import bisect_right
from typing import Any

from epl.errors import EplRuntimeError
from epl.iso_schedules import IsoError, parse_date, parse_schedule
from epl.plan.patterns.pattern import ScheduleNode
from epl.settings import Settings
from runtime.clock.instants import to_instant
from runtime.clock.periods import add_months
from runtime.pattern.instances import Match
from runtime.pattern.machine import PatternMachine

Series = tuple[int, ...]
"""(anchor, months, engine units, first number, last number): number n is due n periods after the anchor. The last is -1 where the series
does not end, -2 where it is empty."""

MONTH = 31 * 86_400
"""The longest month, in seconds."""


class Schedules:
    """The parameters of one observer."""

    def __init__(self, node: ScheduleNode, machine: PatternMachine) -> None:
        self._settings = machine.settings
        self._iso = None if node.iso is None else machine.of_match(node.iso)
        self._date = None if node.date is None else machine.of_match(node.date)
        self._repetitions = None if node.repetitions is None else machine.of_match(node.repetitions)
        self._period = None if node.period is None else machine.span(node.period)

    def series(self, now: int, match: Match) -> Series:
        """Return the times of an instance that starts now."""
        if self._iso is not None:
            return self._of_iso(self._iso(match), now)
        date = None if self._date is None else self._instant(self._date(match))
        repetitions = None if self._repetitions is None else self._repetitions(match)
        months, units = (None, 0) if self._period is None else self._period(match)
        return _series(now, date, repetitions, months, units)

    def _of_iso(self, text: Any, now: int) -> Series:
        if text is None:
            raise EplRuntimeError("Error computing iso8601 schedule specification: Received null parameter value")
        try:
            parsed = parse_schedule(text)
        except IsoError as error:
            raise EplRuntimeError(f"Error computing iso8601 schedule specification: {error}") from error
        date = None if parsed.date is None else self._instant(parsed.date)
        return _series(now, date, parsed.repetitions, parsed.months, parsed.seconds * self._settings.units_per_second)

    def _instant(self, value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, str):
            try:
                value = parse_date(value)
            except IsoError as error:
                raise EplRuntimeError(str(error)) from error
        if isinstance(value, datetime.datetime) and value.tzinfo is None:
            value = value.replace(tzinfo=datetime.timezone.utc)
        return to_instant("timer:schedule", value, self._settings.units_per_second)


def _series(now: int, date: int | None, repetitions: int | None, months: int | None, units: int) -> Series:
    if months is None:  # a date alone
        return (date, 0, 0, 0, 0) if date is not None and repetitions is None else (now, 0, 0, 0, -2)
    if date is None:
        return now, months, units, 1, 1 if repetitions is None else -1 if repetitions == -1 else repetitions or -2
    if repetitions is None:
        return date, months, units, 1, 1
    return date, months, units, 0, -2 if repetitions == 0 or repetitions < -1 else -1 if repetitions == -1 else repetitions - 1


def next_occurrence(series: Series, now: int, settings: Settings) -> int | None:
    """Return the first time of the series that is later than ``now``; None where there is none."""
    anchor, months, units, number, last = series
    if last < -1 or (last >= 0 and number > last):
        return None
    longest = months * MONTH * settings.units_per_second + units

    def due(number: int) -> int:
        return (add_months(anchor, months * number, settings) if months else anchor) + units * number

    if longest <= 0:
        return anchor if anchor > now else None
    first = high = max(number, (now - anchor) // longest - 1)  # no later one: no month is longer, but for an hour of a change of clocks
    if last != -1 and first > last:
        return None
    step = 1
    while due(high) <= now:  # steps that double: after many months the shorter ones add up
        if high == last:
            return None
        first, high, step = high + 1, high + step, step * 2
        if last != -1:
            high = min(high, last)
    return due(first + bisect_right(range(first, high), now, key=due))


__all__ = ["Schedules", "Series", "next_occurrence"]
