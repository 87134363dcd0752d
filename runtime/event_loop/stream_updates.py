"""update istream: events are changed before any statement sees them."""
from __future__ import annotations

from collections.abc import Callable

from epl.event_types import EventType
from windows.event import Event

Update = Callable[[Event], "Event | None"]
"""The event that takes the place of another: itself, a changed copy, or None where it goes no further."""


class EventUpdates:
    """All updates of a runtime: those of an event's type and its super-types run one after the other, lowest
    priority first (so that the highest has the last word), then oldest statement first."""

    __slots__ = ("active", "_entries", "_chains", "_on_change")

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.active = False
        self._on_change = on_change
        self._entries: dict[tuple[int, int], tuple[EventType, Update]] = {}
        self._chains: dict[EventType, tuple[Update, ...]] = {}

    def add(self, order: tuple[int, int], event_type: EventType, update: Update) -> None:
        """Add an entry; ``order``: (priority, statement number)."""
        self._entries[order] = event_type, update
        self._note_change()

    def remove(self, order: tuple[int, int]) -> None:
        self._entries.pop(order, None)
        self._note_change()

    def _note_change(self) -> None:
        self._chains.clear()
        self.active = bool(self._entries)
        self._on_change()

    def apply(self, event: Event, stream_type: EventType) -> Event | None:
        """Return the event as all statements see it, None where it is dropped."""
        chain = self._chains.get(stream_type)
        if chain is None:
            chain = self._chains[stream_type] = self._chain(stream_type)
        current: Event | None = event
        for update in chain:
            if current is None:
                break
            current = update(current)
        return current

    def _chain(self, stream_type: EventType) -> tuple[Update, ...]:
        return tuple(update for _, (event_type, update) in sorted(self._entries.items(), key=_order) if stream_type.is_a(event_type))


def _order(entry: tuple[tuple[int, int], tuple[EventType, Update]]) -> tuple[int, int]:
    return entry[0]


__all__ = ["EventUpdates", "Update"]
