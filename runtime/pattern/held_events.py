"""Which instances hold an event: what ``@DiscardPartialsOnMatch`` ends with a match, without looking at all that wait."""
from __future__ import annotations

from collections.abc import Iterable, Set

from runtime.pattern.instances import Instance
from windows.event import Event


class HeldEvents:
    """Of the instances below one ``->``: the events that each has, itself or below it."""

    __slots__ = ("_held", "_holders", "_number", "_numbers", "_unknown")

    def __init__(self) -> None:
        self._held: dict[Instance, list[Event]] = {}
        self._holders: dict[Event, dict[Instance, None]] = {}
        self._numbers: dict[Instance, int] = {}
        self._number = 0
        self._unknown: dict[Instance, None] = {}
        """Those of which it is not known what they hold: they are looked at each time."""

    def add(self, instance: Instance, events: Iterable[Event], *, is_unknown: bool = False) -> None:
        """Note an instance, after those noted before."""
        self._number = number = self._number + 1
        self._numbers[instance] = number
        self._held[instance] = []
        if is_unknown:
            self._unknown[instance] = None
        for event in events:
            self.note(instance, event)

    def note(self, instance: Instance, event: Event) -> None:
        """Note one more event of an instance."""
        self._held[instance].append(event)
        self._holders.setdefault(event, {})[instance] = None

    def remove(self, instance: Instance) -> None:
        del self._numbers[instance]
        self._unknown.pop(instance, None)
        for event in self._held.pop(instance):
            holders = self._holders.get(event)
            if holders is not None:
                holders.pop(instance, None)
                if not holders:
                    del self._holders[event]

    def clear(self) -> None:
        for each in (self._held, self._holders, self._numbers, self._unknown):
            each.clear()

    def holding(self, events: Set[Event]) -> list[Instance]:
        """Return the instances that may hold one of the events, in the order in which they were noted."""
        instances = dict(self._unknown)
        for event in events:
            instances.update(self._holders.get(event, ()))
        return sorted(instances, key=self._numbers.__getitem__)


__all__ = ["HeldEvents"]
