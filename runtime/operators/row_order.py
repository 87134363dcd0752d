"""Rows of a clause in the order of their times: which wait for earlier ones, which are dropped, and how many so far.

    row ─▶ late: below ``passed``, or without a time            passed = newest time − bound, or what has been released beyond it
        └─▶ ahead: too far beyond the clock
        └─▶ held ─▶ released: in the order of their times, those of one time in that of the further keys, then as they came

Without a bound and without further keys nothing is held.
"""
from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from epl.plan.patterns.recognition_streams import OrderPolicy
from runtime.dialects.sorting import sort
from runtime.dialects.streaming.partition import Row
from runtime.event_loop.delivery import Condition, ConditionHandler, RowCounts
from windows.event import Event

log = logging.getLogger("epl")


class RowOrder:
    """``passed``: rows below that time are late; ``newest``: the newest time that a row has had; ``held``: (time, number, row) by time.
    ``keys``: of ORDER BY behind the time, as (place, descending, nulls first)."""

    def __init__(self, policy: OrderPolicy, keys: Sequence[tuple[int, bool, bool]], name: str) -> None:
        self.policy = policy
        self.keys = [(itemgetter(place), descending, nulls_first) for place, descending, nulls_first in keys]
        self.name = name
        self.bound = policy.bound or 0
        self.holds = policy.bound is not None or bool(keys)
        self.passed: int | None = None
        self.newest: int | None = None
        self.held: list[tuple[int, int, Row]] = []
        self.counts = RowCounts()
        self._pushes = 0
        self._logs_at = 1

    # ------------------------------------------------------------------ what is dropped

    def refuses(self, time: int | None, now: int) -> bool:
        """Return whether a row is late, or too far ahead of the clock."""
        if time is None or (self.passed is not None and time < self.passed):
            return True
        return self.policy.ahead is not None and time > now + self.policy.ahead

    def leave_out(self, event: Event, time: int | None, now: int, handler: ConditionHandler) -> int | None:
        """Count a row that is late or ahead; return the time at which it is kept after all. Raise EplRuntimeError where it is refused."""
        policy, counts = self.policy, self.counts
        is_ahead = time is not None and (self.passed is None or time >= self.passed)
        if is_ahead:
            counts.ahead += 1
        else:
            counts.late += 1
            if policy.on_late == "keep":
                return now if self.passed is None else self.passed
        why = "without a time" if time is None else f"of time {time} after one of {self.passed}"
        why = f"of time {time}, ahead of the clock at {now}," if is_ahead else why
        if policy.on_late == "refuse":
            hint = "@RowOrder(on_late='drop') leaves such rows out" + (", @RowOrder(late=…) waits for them" if not is_ahead else "")
            raise EplRuntimeError(f"match_recognize: a row {why} is refused", hint=hint)
        if policy.on_late == "side":
            limit = policy.ahead if is_ahead else policy.bound
            handler(Condition("row ahead" if is_ahead else "late row", limit or 0, self.name, event=event))
        self._log(why)
        return None

    def _log(self, why: str) -> None:
        """Log the first row that is dropped, the tenth, the hundredth, …"""
        count = self.counts.late + self.counts.ahead
        if count >= self._logs_at:
            self._logs_at *= 10
            log.warning(
                "statement '%s': a row %s is dropped, %d so far: match_recognize is in the order of time", self.name, why, count)

    # ------------------------------------------------------------------ what waits

    def hold(self, row: Row, time: int) -> None:
        """Let a row wait; ``release`` gives what waits no longer."""
        self._pushes += 1
        heappush(self.held, (time, self._pushes, row))
        if self.newest is None or time > self.newest:
            self.newest = time

    def by_rows(self) -> int | None:
        """Return the time below which no row is waited for, by the rows that have come."""
        return None if self.newest is None else self.newest - self.bound

    def pressure_limit(self) -> int | None:
        """Return the time below which no row is waited for, since more wait than may; None where that is not so."""
        return self.held[0][0] + 1 if len(self.held) > self.policy.max_buffered else None

    def release(self, until: int) -> Iterator[tuple[int, list[Row]]]:
        """Yield the rows below a time, by their times in order; rows of a time that was yielded are not late, those below it are."""
        held = self.held
        while held and held[0][0] < until:
            time = held[0][0]
            rows: list[Row] = []
            while held and held[0][0] == time:
                rows.append(heappop(held)[2])
            if self.keys:
                sort(rows, self.keys)
            if self.passed is None or time > self.passed:
                self.passed = time
            yield time, rows

    def due(self, now: int) -> int | None:
        """Return when the clock says that a row waits no longer; None where none does, or the clock has passed that before."""
        if not self.held:
            return None
        assert self.newest is not None
        return next((due for time in (self.held[0][0], self.newest) if (due := time + self.bound + 1) > now), None)

    # ------------------------------------------------------------------ state

    def count(self) -> RowCounts:
        """Return how many rows wait and were dropped."""
        return attrs.evolve(self.counts, waiting=len(self.held))

    def state(self) -> list[Any]:
        """Return what is held, by time and arrival, and what is known and counted, as plain values."""
        counts = self.counts
        held = [[time, list(row)] for time, _, row in sorted(self.held, key=itemgetter(0, 1))]
        return [held, self.passed, self.newest, [counts.late, counts.ahead, counts.forced]]

    def restore(self, state: Sequence[Any]) -> None:
        """Take a state up."""
        held, self.passed, self.newest, (late, ahead, forced) = state
        self.counts = RowCounts(0, late, ahead, forced)
        self.held = [(time, number, tuple(row)) for number, (time, row) in enumerate(held)]
        heapify(self.held)
        self._pushes = len(self.held)
        if self.held and self.newest is None:
            raise ValueError("rows that wait for none")
        self._logs_at = 10 ** len(str(late + ahead)) if late + ahead else 1


__all__ = ["RowOrder"]
