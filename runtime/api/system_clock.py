"""The wall clock as a driver: the one place that reads it."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager


class SystemClock:
    """A daemon thread that moves the runtime's time to the wall clock every ``period`` seconds: ``advance(now)`` under ``lock``."""

    def __init__(
        self, lock: AbstractContextManager[object], advance: Callable[[int], None], units_per_second: int, period: float = 0.1
    ) -> None:
        self._lock, self._advance, self._units_per_second, self._period = lock, advance, units_per_second, period
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="epl-clock", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def now(self) -> int:
        """Return the wall clock, in engine units."""
        return time.time_ns() * self._units_per_second // 1_000_000_000

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            with self._lock:
                if not self._stopped.is_set():
                    self._advance(self.now())

    def stop(self) -> None:
        """Take no further step; wait for a running one unless called from it."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)
