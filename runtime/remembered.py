"""What ``@IterableUnbound`` iterates where there is no data window."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windows.event import Event
from windows.protocol import State, View


class Remembered(View):
    """Passes events through and keeps the last one (of each group, where ``key`` is given), in the order of the groups' first events."""

    def __init__(self, key: Callable[[Event], Any] | None) -> None:
        self._key = key or (lambda event: None)
        self._last: dict[Any, Event] = {}

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for event in new:
            self._last[self._key(event)] = event
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._last.values()))

    def state(self) -> State:
        return list(self._last.values())

    def restore(self, state: State) -> None:
        self._last = {self._key(event): event for event in state}
