"""Time goes on while no rows come: a thread that moves a job's clock.

``system``: engine time follows the wall clock, as far behind it as rows may be late. An idle rule: once no row has come for so long, time
goes on by the wall clock from where it stood. A step is made only where something is due, so that a quiet night leaves no log behind.
"""
from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from epl.errors import EplError, EplRuntimeError

if TYPE_CHECKING:
    from runtime.spark.job import Job

log = logging.getLogger("epl.spark")


class Heartbeat:
    """``every`` seconds it looks. ``idle``: engine units without rows before time goes on by itself; None: it follows the wall clock."""

    def __init__(self, job: Job, every: float, idle: int | None) -> None:
        self._job, self._every, self._idle = job, every, idle
        self._rows = -1
        self._since = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="epl-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends behind the look at work."""
        self._ended.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            if not self._job.is_active:
                return
            try:
                self.beat(self._job.wall())
            except Exception as error:
                told = error if isinstance(error, EplError) else EplRuntimeError(f"time cannot be moved: {type(error).__name__}: {error}")
                self._job.error = self._job.error or told
                log.error("the heartbeat stops the query: %s", error, exc_info=error)
                self._job.streaming_query.stop()
                return

    def beat(self, wall: int) -> None:
        """One look at the clock on the wall."""
        with self._job.runtime.lock:
            target = self._target(wall)
            if target is not None and self._is_due(target):
                self._job.advance(target)

    def _target(self, wall: int) -> int | None:
        """Where time may go; None: nowhere."""
        feed = self._job.feed
        bound = feed.policy.bound or 0
        if self._idle is None:
            return wall - bound
        if self._job.progress.rows != self._rows:
            self._rows, self._since = self._job.progress.rows, wall
            return None
        quiet = wall - self._since
        newest = feed.runtime.now if feed.buffer is None or feed.buffer.newest is None else feed.buffer.newest
        return newest + quiet - bound if quiet >= self._idle else None

    def _is_due(self, target: int) -> bool:
        """Whether a row waits or a timer is due on the way."""
        feed = self._job.feed
        due = feed.runtime.next_scheduled_time
        return target > feed.runtime.now and ((feed.buffer is not None and feed.buffer.held > 0) or (due is not None and due <= target))


__all__ = ["Heartbeat"]
