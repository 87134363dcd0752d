"""What ``@IterableUnbound`` iterates where there is no data window."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windows.chain import PassThrough
from windows.event import NO_EVENTS, Event
from windows.failures import Failures, pair_keys
from windows.keys import values_of_key
from windows.paging import Paged
from windows.protocol import RowReceiver, State, View


class NoEvents(PassThrough):
    """Keeps nothing: as in Esper, groups that an output rate emits are not iterated, other than as a snapshot, which keeps their rows."""

    def restore(self, state: State) -> None:
        """Do nothing: a former version kept the last event of each group."""


class LastEvents(View):
    """Passes events through and keeps those of the last delta, once it has passed: a snapshot that the delta brings does not see it."""

    def __init__(self) -> None:
        self._last: Sequence[Event] = NO_EVENTS

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        try:
            self.child.update(new, old)
        finally:
            if new:
                self._last = tuple(new)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._last)

    def state(self) -> State:
        return list(self._last)

    def restore(self, state: State) -> None:
        self._last = tuple(state)


class LastEventsOfGroups(View):
    """Passes events through; of those that have passed where, the last one of each group is kept (by ``Keeper``), in the order of the
    groups' first events. ``parts``: how many values a key has.
    """

    def __init__(self, key: Callable[[Event], Any], parts: int) -> None:
        self.key = key
        self._last: dict[Any, Event] = {}
        self._pages = Paged("last rows", lambda: self._last, lambda key: values_of_key(key, parts), lambda key, event: event)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._last.values()))

    def keep(self, pairs: Sequence[tuple[Event, Any]]) -> None:
        """Keep events as the last ones of their keys."""
        for event, key in pairs:
            self._pages.touch(key)
            self._last[key] = event

    def forget(self, key: Any) -> None:
        """Drop a group that is reclaimed."""
        if key in self._last:
            self._pages.forget(key)
            del self._last[key]

    def state(self) -> State:
        return self._pages

    def restore(self, state: State) -> None:
        self._last.clear()
        self.keep([(event, self.key(event)) for _, event in state])


class Keeper:
    """Downstream of where: has the groups keep what passes.

    As in Esper, where several events come at once the first one is kept before idle groups are reclaimed, its own among them, and the
    others afterwards; a single event is kept afterwards.
    """

    def __init__(self, groups: LastEventsOfGroups, child: RowReceiver) -> None:
        self._groups = groups
        self._child = child

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        pairs = pair_keys(new, self._groups.key, failures)
        before = 1 if len(pairs) > 1 else 0
        self._groups.keep(pairs[:before])
        failures.attempt(self._child.update, new, old)
        self._groups.keep(pairs[before:])
        failures.settle()
