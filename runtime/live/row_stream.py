"""A statement's rows for ``async for``."""
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from epl.errors import EplRuntimeError

Call = tuple[Any, Any]
"""The insert and the remove stream of a listener call, as ``Rows``."""


class Streamed(Protocol):
    """What a stream asks of a statement."""

    name: str

    def add_listener(self, listener: Any) -> Any: ...

    def remove_listener(self, listener: Any) -> None: ...


class RowStream:
    """The listener calls of a statement from now on, each ``(new, old)``: made by ``Statement.stream`` in a running event loop.

    Events may be sent from any thread. The stream ends when it is closed and when the statement is undeployed; what waits is still given.

    Examples:
        >>> import asyncio
        >>> from runtime import Runtime
        >>> async def first_two(runtime, statement):
        ...     async with statement.stream() as stream:
        ...         for x in (1, 2, 3):
        ...             runtime.send("A", {"x": x})
        ...         return [(await anext(stream))[0] for _ in range(2)]
        >>> runtime = Runtime()
        >>> doubled = runtime.deploy("create schema A(x int); @name('s') select x * 2 as y from A")["s"]
        >>> asyncio.run(first_two(runtime, doubled))
        [[{'y': 2}], [{'y': 4}]]
    """

    def __init__(self, statement: Streamed, at_end: list[Callable[[], object]], limit: int) -> None:
        if limit < 1:
            raise ValueError("limit: at least 1 call has to wait")
        self._statement, self._at_end, self._limit = statement, at_end, limit
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Call] = deque()
        self._came = asyncio.Event()
        self._is_closed = self._is_late = False
        self._listener = statement.add_listener(self._take)
        at_end.append(self._end)

    def _take(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        """Keep a listener call, in whichever thread it is made."""
        if self._is_closed:
            return
        if self._loop.is_closed():
            self.close()
        elif len(self._waiting) >= self._limit:
            self._is_late = True
            self.close()
        else:
            self._waiting.append((new, old))
            self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._came.set)

    def _end(self) -> None:
        self._is_closed = True
        self._wake()

    def close(self) -> None:
        """End the stream; what waits is still given. A second time does nothing."""
        if not self._is_closed:
            self._end()
            self._statement.remove_listener(self._listener)
            self._at_end.remove(self._end)

    def __aiter__(self) -> RowStream:
        return self

    async def __anext__(self) -> Call:
        while not self._waiting:
            if self._is_late:
                raise EplRuntimeError(
                    f"statement '{self._statement.name}': the stream was read too slowly, more than {self._limit} calls waited",
                    hint="read faster, or give stream(limit=…) more")
            if self._is_closed:
                raise StopAsyncIteration
            self._came.clear()
            if not self._waiting and not self._is_closed:
                await self._came.wait()
        return self._waiting.popleft()

    async def __aenter__(self) -> RowStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


__all__ = ["RowStream"]
