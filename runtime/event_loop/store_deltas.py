"""What has entered and left named windows during an event, until their consumers get it: once all statements have had the event, and before
any other routed event. If the event itself is inserted into a window too, its consumers get both together."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

from runtime.event_loop.receiver_order import Places
from runtime.event_loop.routed_events import Refused, RoutedEvents
from windows.event import Event

FIRST = 1 << 62
"""The precedence, among routed events, of what waits here."""
INTO_WINDOW = 1 << 61
"""The precedence of events that are inserted into a named window."""
Delta = tuple[Sequence[Event], Sequence[Event]]
"""The rows that enter and leave a window."""


class Consumer(Protocol):
    """A stream over a named window. ``order``: (-priority, number of the statement, of the stream). ``take`` returns whether the delta
    goes no further (``@drop``)."""

    name: str
    order: Places
    store: Any

    def take(self, new: Sequence[Event], old: Sequence[Event]) -> bool: ...


class StoreDeltas:
    """``queue``: of routed events; an entry without a type calls ``deliver``. ``routed``: counts what follows from one event."""

    def __init__(
        self, queue: deque[Any], on_error: Callable[[BaseException, str, Event | None], None], routed: RoutedEvents
    ) -> None:
        self._queue = queue
        self._on_error = on_error
        self._routed = routed
        self._delivering = False
        self._waiting: dict[Consumer, tuple[int, list[Delta]]] = {}
        """The deltas of each consumer, beside the number of the first one."""
        self._added = 0

    def add(self, consumers: Iterable[Consumer], new: Sequence[Event], old: Sequence[Event]) -> None:
        """Let a delta wait; what several steps of one event change is one delta to a consumer."""
        waiting, number = self._waiting, self._added
        if not self._routed.working:
            self._routed.allow(len(new) + len(old))
        for consumer in consumers:
            if not waiting:
                self._queue.appendleft((None, None, FIRST))
            waiting.setdefault(consumer, (number, []))[1].append((new, old))
        self._added = number + 1

    def changing(self, window: str, rows: int) -> None:
        """Count rows that are to enter a window that has consumers; raise Refused where deltas have led to too many."""
        if self._delivering:
            self._routed.change(window, rows)

    def forget(self, consumer: Consumer) -> None:
        """Forget a consumer that is closed."""
        self._waiting.pop(consumer, None)

    def deliver(self) -> Sequence[Consumer]:
        """Call the consumers in the order of their statements, those of one statement in the order in which their windows have changed, and
        return them."""
        waiting, self._waiting, self._added = self._waiting, {}, 0
        consumers = sorted(waiting, key=lambda consumer: (consumer.order[:-1], waiting[consumer][0], consumer.order[-1]))
        dropped: list[Any] = []
        """Windows whose deltas go no further."""
        outer, self._delivering = self._delivering, True
        try:
            for consumer in consumers:
                if consumer.store in dropped:
                    continue
                try:
                    if consumer.take(*_as_one(waiting[consumer][1])):
                        dropped.append(consumer.store)
                except Refused as error:
                    self._routed.note_refused(consumer.name, error.window)
                except Exception as error:  # noqa: BLE001 - law 6: one statement's fault harms no other
                    self._on_error(error, consumer.name, None)
        finally:
            self._delivering = outer
        return consumers


def _as_one(deltas: list[Delta]) -> Delta:
    """Return what all of them change, in their order."""
    if len(deltas) == 1:
        return deltas[0]
    return tuple(chain.from_iterable(new for new, _ in deltas)), tuple(chain.from_iterable(old for _, old in deltas))


__all__ = ["FIRST", "INTO_WINDOW", "Consumer", "StoreDeltas"]
