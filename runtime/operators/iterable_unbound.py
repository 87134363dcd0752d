"""What ``@IterableUnbound`` iterates where there is no data window."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windows.chain import PassThrough
from windows.event import Event
from windows.keys import values_of_key
from windows.paging import Paged
from windows.protocol import State, View


class NoEvents(PassThrough):
    """Keeps nothing: as in Esper, groups that an output rate emits, other than as a snapshot, are not iterated."""

    def restore(self, state: State) -> None:
        """Do nothing: a former version kept the last event of each group."""


class LastEvents(View):
    """Passes events through and keeps the last ones: those of the last delta, or where ``key`` is given one of each group, in the order
    of the groups' first events.
    """

    def __init__(self, key: Callable[[Event], Any] | None, parts: int = 0) -> None:
        self._key = key
        self._last: dict[Any, Event] = {}
        self._pages = Paged("last rows", lambda: self._last, lambda key: values_of_key(key, parts), lambda key, event: event)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self._key is None and new:
            self._last.clear()
        self._keep(new)
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._last.values()))

    def state(self) -> State:
        return list(self._last.values()) if self._key is None else self._pages

    def restore(self, state: State) -> None:
        events = list(state) if self._key is None else [event for _, event in state]
        self._last.clear()
        self._keep(events)

    def _keep(self, events: Sequence[Event]) -> None:
        key = self._key
        for place, event in enumerate(events):
            at = place if key is None else key(event)
            self._pages.touch(at)
            self._last[at] = event
