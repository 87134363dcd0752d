"""The wall clock as a driver: the one place that reads it."""
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

log = logging.getLogger("epl")


class SystemClock:
    """A daemon thread that moves the runtime's time to the wall clock every ``period`` seconds: ``advance(now)`` under ``lock``.

    Whatever a step raises is logged, once for each reason, and the next step is taken all the same: an error handler that raises, or a
    listener that calls ``sys.exit``, does not stop the time of all statements. ``failure``: what the last step raised.
    """

    def __init__(
        self, lock: AbstractContextManager[object], advance: Callable[[int], None], units_per_second: int, period: float = 0.1
    ) -> None:
        self._lock, self._advance, self._units_per_second, self._period = lock, advance, units_per_second, period
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="epl-clock", daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def now(self) -> int:
        """Return the wall clock, in engine units."""
        return time.time_ns() * self._units_per_second // 1_000_000_000

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            try:
                with self._lock:
                    if not self._stopped.is_set():
                        self._advance(self.now())
                self.failure = None
            except BaseException as error:  # no caller would see the thread end
                if repr(error) != repr(self.failure):
                    log.error("the system clock: a step raised %s: %s; the next one is taken", type(error).__name__, error, exc_info=error)
                self.failure = error

    def stop(self) -> None:
        """Take no further step; wait for a running one unless called from it."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)
