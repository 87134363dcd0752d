"""The runtime behind the REST interface: one thread works on it, requests wait for their turn."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from runtime.api.faults import StatementFault, build_fault
from runtime.api.runtime import Runtime
from runtime.tools.serve.answers import error_json, time_text
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.sandbox import Busy

T = TypeVar("T")

KEPT_FAULTS = 100
TICK = 0.1
"""Seconds between two steps of the wall clock."""


class ServedEngine:
    """``follows_clock``: engine time is the wall clock's. ``changes`` counts calls that may have changed the runtime."""

    def __init__(self, make: Callable[[Callable[..., None]], Runtime], limits: ServeLimits, *, follows_clock: bool = False) -> None:
        self.faults: deque[dict[str, Any]] = deque(maxlen=KEPT_FAULTS)
        self.fault_count = 0
        self.events: Counter[str] = Counter()
        """Sent, by event type."""
        self.changes = 0
        self.follows_clock = follows_clock
        self._limits = limits
        self._waiting = 0
        self._pool = ThreadPoolExecutor(1, "epl-engine")
        self.runtime = make(self._note_fault)

    async def call(self, work: Callable[[], T], *, changes: bool = False) -> T:
        """Return what ``work`` returns, in the runtime's thread; raise Busy where too many wait."""
        if self._waiting >= self._limits.waiting:
            raise Busy
        self._waiting += 1
        try:
            return await self.run(work, changes=changes)
        finally:
            self._waiting -= 1

    async def run(self, work: Callable[[], T], *, changes: bool = False) -> T:
        """Return what ``work`` returns, as ``call`` does; for the server's own work, which waits however many requests do."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._in_time, work, changes)

    def _in_time(self, work: Callable[[], T], changes: bool) -> T:
        if self.follows_clock:
            self._follow()
        self.changes += changes
        return work()

    def _follow(self) -> None:
        """Move time to the wall clock. At the first time this is a jump, since a snapshot may be of last week."""
        now = time.time_ns() * self.runtime.settings.units_per_second // 1_000_000_000
        if now <= self.runtime.now:
            return
        if now - self.runtime.now > 60 * self.runtime.settings.units_per_second:
            self.runtime.advance_time(now)
        else:
            self.runtime.advance_time_span(now)
        self.changes += 1

    async def tick(self) -> None:
        """Move time to where the wall clock is."""
        await self.run(lambda: None)

    def _note_fault(self, error: BaseException, statement: str, event: Any) -> None:
        self.fault_count += 1
        fault = error if isinstance(error, StatementFault) else build_fault(self.runtime, error, statement, event)
        now = self.runtime.now
        at = time_text(now, self.runtime.settings.units_per_second)
        self.faults.append({"number": self.fault_count, "statement": statement, "time": now, "at": at, **error_json(fault)})

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.runtime.close()


__all__ = ["TICK", "ServedEngine"]
