"""What the server does by itself, beside requests: steps at intervals, which go on whatever becomes of one of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger("epl.serve")

Step = Callable[[], Awaitable[None]]


class Tasks:
    """Runs steps at intervals in one event loop, until ``close``. ``failures``: by name, why the last step failed, until one succeeds.

    A step that raises is logged, once for each reason, and tried again after the interval. A task that ends, however, is begun again.
    """

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        self.failed_steps: dict[str, int] = {}
        """By name, how many steps have failed."""
        self.running: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False

    def every(self, name: str, seconds: float, step: Step) -> None:
        """Take a step every so many seconds, counted from the end of the one before."""
        self.failed_steps.setdefault(name, 0)
        task = self.running[name] = asyncio.create_task(self._run(name, seconds, step), name=f"epl-{name}")
        task.add_done_callback(lambda ended: self._begin_again(ended, name, seconds, step))

    async def _run(self, name: str, seconds: float, step: Step) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await step()
            except Exception as error:  # noqa: BLE001 - noted, and tried again: a full disk may have room then
                self._note(name, f"{type(error).__name__}: {error}", error)
            else:
                self.failures.pop(name, None)

    def _begin_again(self, ended: asyncio.Task[None], name: str, seconds: float, step: Step) -> None:
        if self._is_closed:
            return
        error = None if ended.cancelled() else ended.exception()
        self._note(name, "its task has ended" if error is None else f"its task has ended: {type(error).__name__}: {error}", error)
        self.every(name, seconds, step)

    def _note(self, name: str, reason: str, error: BaseException | None) -> None:
        self.failed_steps[name] += 1
        if self.failures.get(name) != reason:
            log.error("%s: %s; it is tried again", name, reason, exc_info=error)
        self.failures[name] = reason

    async def close(self) -> None:
        """End all of them."""
        self._is_closed = True
        for task in self.running.values():
            task.cancel()
        await asyncio.gather(*self.running.values(), return_exceptions=True)


__all__ = ["Tasks"]
