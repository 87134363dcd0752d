"""Output of statements for clients that listen: Server-Sent Events.

Each statement that was ever asked for has a log of its last listener calls, bounded in number and bytes. A client is a position in these
logs and holds nothing itself: a slow one, which the log has left behind, is notified how many rows it has missed, and goes on with the
oldest that are kept. The number of the last message that it has seen, sent back as ``Last-Event-ID``, is the position to go on from.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncIterator, Iterable
from operator import attrgetter
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.conversion.rows import Rows
from runtime.tools.serve.answers import as_utf8, rows_json, short
from runtime.tools.serve.options import ServeLimits

KEEP_ALIVE = 15.0
"""Seconds without a message after which a comment shows that the connection lives."""
NUMBER = attrgetter("number")
AT_ONCE = 100
"""Messages handed to the connection at once."""


@attrs.frozen
class StreamCall:
    """A listener call. ``number``: counts the calls of all statements; ``rows_before``: rows of this statement's earlier calls."""

    number: int
    rows_before: int
    rows: int
    data: bytes


class CallLog:
    """The last calls of the statements of one name."""

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self.calls: deque[StreamCall] = deque()
        self.rows = 0
        """Of all calls ever."""
        self.size = 0
        self.dropped_through = 0
        """The number of the last call that is no longer kept."""

    def add(self, number: int, rows: int, data: bytes) -> None:
        self.calls.append(StreamCall(number, self.rows, rows, data))
        self.rows += rows
        self.size += len(data)
        while len(self.calls) > self._limits.buffer_messages or (self.size > self._limits.buffer_bytes and len(self.calls) > 1):
            oldest = self.calls.popleft()
            self.size -= len(oldest.data)
            self.dropped_through = oldest.number

    def after(self, number: int, most: int) -> list[StreamCall]:
        """Return the oldest calls with a greater number, at most so many."""
        begin = bisect_right(self.calls, number, key=NUMBER)
        return [self.calls[index] for index in range(begin, min(begin + most, len(self.calls)))]


@attrs.define
class Position:
    """The position of a client in one log."""

    number: int
    rows: int | None
    """The number of rows that it has seen or been notified of; None where that is not known."""


class Client:
    """A connection. ``wake`` is set where there may be something new."""

    def __init__(self, logs: dict[str, CallLog], number: int, *, resumes: bool) -> None:
        self.wake = asyncio.Event()
        self.logs = logs
        self.positions = {name: Position(number, None if resumes else log.rows) for name, log in logs.items()}


class OutputStreams:
    """All logs, of one runtime. Listeners run in the runtime's thread, clients in the event loop."""

    def __init__(self, runtime: Runtime, limits: ServeLimits) -> None:
        self.start = secrets.token_hex(4)
        """Of this process: numbers of an earlier one mean nothing here."""
        self.limits = limits
        self.clients: set[Client] = set()
        self.rows_dropped = 0
        self._runtime = runtime
        self._lock = threading.Lock()
        self._logs: dict[str, CallLog] = {}
        self._attached: set[Statement] = set()
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_waking = False
        self.is_closed = False

    # ------------------------------------------------------------------ in the runtime's thread

    def listen(self, names: Iterable[str]) -> None:
        """Keep the output of the statements of these names from now on."""
        with self._lock:
            for name in names:
                self._logs.setdefault(name, CallLog(self.limits))
        self.attach()

    def attach(self) -> None:
        """Listen to what was deployed meanwhile under names that were asked for; forget names that nothing has any more."""
        deployed = {s for d in self._runtime.deployments.values() for s in d}
        with self._lock:
            names = {s.name for s in deployed} | {name for client in self.clients for name in client.logs}
            self._logs = {name: log for name, log in self._logs.items() if name in names}
            logged = {s for s in deployed if s.name in self._logs}
        for statement in logged - self._attached:
            statement.add_listener(self._note)
        self._attached = logged

    def _note(self, new: Rows, old: Rows, statement: Statement, runtime: Any) -> None:
        head = f'{{"time":{runtime.now},"deployment":{json.dumps(statement.deployment_id)},"statement":{json.dumps(statement.name)}'
        try:
            text = f'{head},"new":{rows_json(new)},"old":{rows_json(old)}}}'
        except EplRuntimeError as error:
            text = f'{head},"new":[],"old":[],"error":{json.dumps(short(error.message))}}}'
        with self._lock:
            self._number += 1
            log = self._logs.get(statement.name)
            if log is not None:
                log.add(self._number, len(new) + len(old), as_utf8(text))
        if self._loop is not None and self.clients and not self._is_waking:
            self._is_waking = True
            self._loop.call_soon_threadsafe(self._wake)

    # ------------------------------------------------------------------ in the event loop

    def _wake(self) -> None:
        self._is_waking = False
        for client in self.clients:
            client.wake.set()

    def close(self) -> None:
        """End all streams."""
        self.is_closed = True
        self._wake()

    def _connect(self, names: Iterable[str], last_id: str | None) -> tuple[Client, bool]:
        """Return a client, and whether it goes on after ``last_id``; that id may be of an earlier start of the server, and mean nothing."""
        self._loop = asyncio.get_running_loop()
        start, _, number = (last_id or "").partition("-")
        resumes = start == self.start and number.isascii() and number.isdigit()
        with self._lock:
            logs = {name: self._logs.setdefault(name, CallLog(self.limits)) for name in names}
            client = Client(logs, min(int(number), self._number) if resumes else self._number, resumes=resumes)
            self.clients.add(client)
        return client, resumes

    async def messages(self, names: Iterable[str], last_id: str | None) -> AsyncIterator[bytes]:
        """Yield Server-Sent Events until the server closes."""
        client, resumed = self._connect(names, last_id)
        try:
            number = max((p.number for p in client.positions.values()), default=0)
            opened = {"statements": list(client.logs), "resumed": resumed}
            yield self._message("open", number, json.dumps(opened).encode())
            if last_id and not resumed:
                reason = {"statement": None, "rows": None, "reason": "the server was started again: what it emitted before is not known"}
                yield self._message("dropped", None, json.dumps(reason).encode())
            while not self.is_closed:
                client.wake.clear()
                messages = self._next(client)
                if messages:
                    yield b"".join(messages)
                    continue
                try:
                    await asyncio.wait_for(client.wake.wait(), KEEP_ALIVE)
                except asyncio.TimeoutError:
                    yield b": nothing new\n\n"
        finally:
            with self._lock:
                self.clients.discard(client)

    def _next(self, client: Client) -> list[bytes]:
        """Return the next messages in order of their numbers, with a notice in front of each gap."""
        with self._lock:
            ahead = [(call, name) for name, log in client.logs.items() for call in self._calls(log, client.positions[name])]
            gaps = {name: self._gap(log, client.positions[name]) for name, log in client.logs.items()}
        ahead.sort(key=lambda each: each[0].number)
        messages = []
        for name, gap in gaps.items():
            if gap is None:
                continue
            position = client.positions[name]
            position.number, position.rows, rows = gap
            self.rows_dropped += rows or 0
            notice = {"statement": name, "rows": rows, "reason": "the client is slower than the statement, or was away too long"}
            messages.append(self._message("dropped", None, json.dumps(notice).encode()))
        for call, name in ahead[:AT_ONCE]:
            messages.append(self._message("rows", call.number, call.data))
            position = client.positions[name]
            position.number, position.rows = call.number, call.rows_before + call.rows
        return messages

    def _calls(self, log: CallLog, position: Position) -> list[StreamCall]:
        if not log.calls or log.calls[-1].number <= position.number:
            return []
        return log.after(position.number, AT_ONCE)

    @staticmethod
    def _gap(log: CallLog, position: Position) -> tuple[int, int, int | None] | None:
        """Return (number and rows of what precedes the oldest call that is kept, rows that were missed), where something was."""
        if log.dropped_through <= position.number:
            return None
        before = log.calls[0].rows_before if log.calls else log.rows
        return log.dropped_through, before, None if position.rows is None else before - position.rows

    def _message(self, event: str, number: int | None, data: bytes) -> bytes:
        """``number``: what a client that has seen the message goes on after; None where it is the one before."""
        position = b"" if number is None else b"id: %s-%d\n" % (self.start.encode(), number)
        return b"%sevent: %s\ndata: %s\n\n" % (position, event.encode(), data)


__all__ = ["OutputStreams"]
