"""What ``@IterableUnbound`` iterates where there is no data window."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windows.event import Event
from windows.protocol import State, View


class Remembered(View):
    """Passes events through and keeps the last ones: those of the last delta, or where ``key`` is given one of each group, in the order
    of the groups' first events.
    """

    def __init__(self, key: Callable[[Event], Any] | None) -> None:
        self._key = key
        self._last: dict[Any, Event] = {}

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self._key is None and new:
            self._last.clear()
        self._keep(new)
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._last.values()))

    def state(self) -> State:
        return list(self._last.values())

    def restore(self, state: State) -> None:
        self._last.clear()
        self._keep(state)

    def _keep(self, events: Sequence[Event]) -> None:
        key = self._key
        for place, event in enumerate(events):
            self._last[place if key is None else key(event)] = event
