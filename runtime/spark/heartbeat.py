"""Time goes on while no rows come: a thread that moves a job's clock; in distributed mode Spark's timers ask instead (``Beat``).

``system``: engine time follows the wall clock, as far below it as rows may be late. An idle rule: once no row has come for so long, time
goes on by the wall clock from there. A step is made only where something is due, so that a quiet night leaves no log.
"""
from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

import attrs

from epl.durations import Duration, duration_units
from epl.errors import EplError, EplRuntimeError
from runtime.spark.feed import Feed

log = logging.getLogger("epl.spark")

SYSTEM = "system"


@attrs.frozen
class Quiet:
    """Since when no rows have come.

    ``rows_seen_at``: wall clock of the last rows. ``time_reached``: the newest time that rows had, or that the clock was moved to by then.
    """

    rows_seen_at: int
    time_reached: int

    @classmethod
    def since(cls, wall: int, feed: Feed) -> Quiet:
        """Begin now. Time that has gone on by itself, before the last rows or before a restart, is not gone through again."""
        newest = None if feed.buffer is None else feed.buffer.newest
        gone = feed.runtime.now + (feed.rules.policy.bound or 0)
        return cls(wall, gone if newest is None else max(newest, gone))


@attrs.frozen
class Beat:
    """When time advances by itself. ``every``: seconds between two looks; ``idle``: engine units without rows before it does; None: it
    follows the wall clock."""

    every: float
    idle: int | None

    @classmethod
    def of(cls, clock: str, idle: Duration | None, every: float, units_per_second: int) -> Beat | None:
        """Convert the options; None where time does not move until a row comes. Raises EplRuntimeError for what is not a clock."""
        if clock not in ("events", SYSTEM):
            raise EplRuntimeError(f"clock is 'events' or 'system', not {clock!r}")
        if not every > 0:
            raise EplRuntimeError(f"heartbeat is a number of seconds, not {every!r}")
        if idle is None:
            return cls(every, None) if clock == SYSTEM else None
        if clock == SYSTEM:
            raise EplRuntimeError("idle is for clock='events': with clock='system' time advances anyway", hint="give one of the two")
        return cls(every, duration_units("idle", idle, units_per_second))

    def target(self, feed: Feed, wall: int, quiet: Quiet) -> int | None:
        """Return where time may go now, None where it stays: nothing is due on the way, or it is not quiet for long enough."""
        bound = feed.rules.policy.bound or 0
        target = wall - bound
        if self.idle is not None:
            if wall - quiet.rows_seen_at < self.idle:
                return None
            target = quiet.time_reached + wall - quiet.rows_seen_at - bound
        due = feed.runtime.next_scheduled_time
        oldest = None if feed.buffer is None else feed.buffer.oldest
        is_due = (due is not None and due <= target) or (oldest is not None and oldest < target)
        return target if target > feed.runtime.now and is_due else None


class JobView(Protocol):
    """What the heartbeat sees of a job. ``last``: the number of the last micro-batch; ``wall()``: the wall clock, in engine units."""

    feed: Feed
    last: int | None
    wall: Callable[[], int]

    @property
    def is_active(self) -> bool:
        """Whether Spark's query runs."""

    def advance(self, until: int) -> None:
        """Advance time without rows."""

    def fail(self, error: EplError) -> None:
        """End the query with an error that Spark does not know of."""


class Heartbeat:
    """The thread of a job."""

    def __init__(self, job: JobView, beat: Beat) -> None:
        self._job, self._beat = job, beat
        self._quiet: tuple[int | None, Quiet] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="epl-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the current check."""
        self._ended.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._beat.every):
            try:
                if not self._job.is_active:
                    return
                self.beat(self._job.wall())
            except BaseException as error:  # a query whose time stands still would look as if it ran
                message = f"time cannot be moved: {type(error).__name__}: {error}"
                failure = error if isinstance(error, EplError) else EplRuntimeError(message)
                log.error("the heartbeat stops the query: %s", error, exc_info=error)
                self._job.fail(failure)
                return

    def beat(self, wall: int) -> None:
        """Look once at the clock on the wall."""
        with self._job.feed.runtime.lock:
            # By the number of the micro-batch: rows that no statement reads do not reach the job, and say that it is not quiet.
            if self._quiet is None or self._quiet[0] != self._job.last:
                self._quiet = self._job.last, Quiet.since(wall, self._job.feed)
            target = self._beat.target(self._job.feed, wall, self._quiet[1])
            if target is not None:
                self._job.advance(target)


__all__ = ["SYSTEM", "Beat", "Heartbeat", "JobView", "Quiet"]
