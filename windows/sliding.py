"""Events in order of arrival, found again by identity: what length, time, keepall … windows hold, and what prev asks of them."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from windows.event import Event
from windows.protocol import BuildContext, View


class SlidingView(View):
    """Base of windows that keep events in order of arrival, oldest first.

    ``events`` maps each event to what the window notes of it (its time of arrival, or None). Adding, dropping the oldest and dropping any one event
    each take constant time. It answers prev: ``previous(e, n)`` is the n-th newest event of the window, whatever ``e`` is.
    """

    def __init__(self, context: BuildContext) -> None:
        self.events: OrderedDict[Event, Any] = OrderedDict()
        context.publish_random_access(self)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def drop(self, events: Sequence[Event]) -> list[Event]:
        """Drop events that the parent removes; those that were here."""
        gone = [e for e in events if e in self.events]
        for event in gone:
            self.events.pop(event, None)
        return gone

    def previous(self, event: Event, index: int) -> Event | None:
        if index < 0 or index >= len(self.events):
            return None
        return next(islice(reversed(self.events), index, None))

    def from_tail(self, event: Event, index: int) -> Event | None:
        if index < 0 or index >= len(self.events):
            return None
        return next(islice(self.events, index, None))

    def count(self, event: Event) -> int | None:
        return len(self.events)

    def window(self, event: Event) -> Iterable[Event] | None:
        return reversed(self.events) if self.events else None

    def state(self) -> Any:
        return [[event, noted] for event, noted in self.events.items()]

    def restore(self, state: Any) -> None:
        self.events = OrderedDict((event, noted) for event, noted in state)
