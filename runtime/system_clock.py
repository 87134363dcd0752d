"""The wall clock as a driver: the one place that reads it."""
from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.engine import Runtime


class SystemClock:
    """A daemon thread that moves the runtime's time to the wall clock every ``period`` seconds."""

    def __init__(self, runtime: Runtime, period: float = 0.1) -> None:
        self._runtime = runtime
        self._period = period
        self._stopped = threading.Event()
        runtime.advance_time(self._wall())
        self._thread = threading.Thread(target=self._run, name="epl-clock", daemon=True)
        self._thread.start()

    def _wall(self) -> int:
        return time.time_ns() * self._runtime.settings.units_per_second // 1_000_000_000

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            with self._runtime.lock:
                if not self._stopped.is_set():
                    self._runtime.advance_time_span(max(self._wall(), self._runtime.now))

    def stop(self) -> None:
        """No further step is taken; waits for one in progress unless called from it."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)
