"""sorted as a map from key to events: what its methods read. Each costs about O(log n), and what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from epl.errors import EplRuntimeError
from runtime.aggregation.criteria import Key, Ranked
from windows.event import Event

AFTER = float("inf")
"""Greater than every number of arrival."""


class SortedList:
    """``sorted(k)``: a list of events; null without events.

    Methods take and give keys as values of the criterion (lists where there are several criteria); where a key has several events the one
    that came first stands for it. Null stands for no key and no event.
    """

    __slots__ = ("ranked",)

    def __init__(self, ranked: Ranked) -> None:
        self.ranked = ranked

    def value(self) -> list[Event] | None:
        return self.events_in_order() or None

    def events_in_order(self) -> list[Event]:
        return list(self.ranked.events())

    # ------------------------------------------------------------------ finding a key

    def _first(self, pairs: Iterator[Any]) -> Key | None:
        pair = next(pairs, None)
        return None if pair is None else pair[0]

    def _floor(self, value: Any) -> Key | None:
        return None if value is None else self._first(self.ranked.bag.below((self._key(value), AFTER)))

    def _lower(self, value: Any) -> Key | None:
        return None if value is None else self._first(self.ranked.bag.below((self._key(value),)))

    def _ceiling(self, value: Any) -> Key | None:
        return None if value is None else self._first(self.ranked.bag.from_value((self._key(value),)))

    def _higher(self, value: Any) -> Key | None:
        return None if value is None else self._above(self._key(value))

    def _above(self, key: Key) -> Key | None:
        return self._first(self.ranked.bag.from_value((key, AFTER)))

    def _exact(self, value: Any) -> Key | None:
        ceiling = self._ceiling(value)
        return ceiling if ceiling is not None and ceiling == self._key(value) else None

    def _smallest(self) -> Key | None:
        return self.ranked.bag.first()[0] if self.ranked.bag else None

    def _largest(self) -> Key | None:
        return self.ranked.bag.last()[0] if self.ranked.bag else None

    def _key(self, value: Any) -> Key:
        return self.ranked.make_key((value,))

    # ------------------------------------------------------------------ what a key has

    def _event(self, key: Key | None) -> Event | None:
        return None if key is None else next(self._of(key))

    def _events(self, key: Key | None) -> list[Event] | None:
        return None if key is None else list(self._of(key))

    def _value(self, key: Key | None) -> Any:
        if key is None:
            return None
        values = self.ranked.by_number[next(self.ranked.bag.from_value((key,)))[1]][4]
        return values[0] if len(values) == 1 else list(values)

    def _of(self, key: Key) -> Iterator[Event]:
        for next_key, number in self.ranked.bag.from_value((key,)):
            if next_key != key:
                return
            yield self.ranked.by_number[number][3]

    def _keys(self, start: Key | None) -> Iterator[Key]:
        while start is not None:
            yield start
            start = self._above(start)

    def _between(self, low: Any, include_low: bool, high: Any, include_high: bool) -> Iterator[Key]:
        if low is None or high is None:
            return
        end = self._key(high)
        if end < self._key(low):
            raise EplRuntimeError("fromKey > toKey")
        for key in self._keys(self._ceiling(low) if include_low else self._higher(low)):
            if end < key or (key == end and not include_high):
                return
            yield key

    # ------------------------------------------------------------------ the methods, by the names of epl.aggregations.methods

    def floor_event(self, value: Any) -> Event | None:
        return self._event(self._floor(value))

    def floor_events(self, value: Any) -> list[Event] | None:
        return self._events(self._floor(value))

    def floor_key(self, value: Any) -> Any:
        return self._value(self._floor(value))

    def ceiling_event(self, value: Any) -> Event | None:
        return self._event(self._ceiling(value))

    def ceiling_events(self, value: Any) -> list[Event] | None:
        return self._events(self._ceiling(value))

    def ceiling_key(self, value: Any) -> Any:
        return self._value(self._ceiling(value))

    def lower_event(self, value: Any) -> Event | None:
        return self._event(self._lower(value))

    def lower_events(self, value: Any) -> list[Event] | None:
        return self._events(self._lower(value))

    def lower_key(self, value: Any) -> Any:
        return self._value(self._lower(value))

    def higher_event(self, value: Any) -> Event | None:
        return self._event(self._higher(value))

    def higher_events(self, value: Any) -> list[Event] | None:
        return self._events(self._higher(value))

    def higher_key(self, value: Any) -> Any:
        return self._value(self._higher(value))

    def first_event(self) -> Event | None:
        return self._event(self._smallest())

    def first_events(self) -> list[Event] | None:
        return self._events(self._smallest())

    def first_key(self) -> Any:
        return self._value(self._smallest())

    def last_event(self) -> Event | None:
        return self._event(self._largest())

    def last_events(self) -> list[Event] | None:
        return self._events(self._largest())

    def last_key(self) -> Any:
        return self._value(self._largest())

    def get_event(self, value: Any) -> Event | None:
        return self._event(self._exact(value))

    def get_events(self, value: Any) -> list[Event] | None:
        return self._events(self._exact(value))

    def contains_key(self, value: Any) -> bool | None:
        return None if value is None else self._exact(value) is not None

    def count_events(self) -> int:
        return len(self.ranked.bag)

    def count_keys(self) -> int:
        return sum(1 for _ in self._keys(self._smallest()))

    def all_events(self) -> list[Event]:
        return list(self.ranked.events())

    def range_events(self, low: Any, include_low: bool, high: Any, include_high: bool) -> list[Event]:
        return [event for key in self._between(low, include_low, high, include_high) for event in self._of(key)]

    def sub_map(self, low: Any, include_low: bool, high: Any, include_high: bool) -> dict[Any, list[Event]]:
        return self._map(self._between(low, include_low, high, include_high))

    def all_keys(self) -> dict[Any, list[Event]]:
        return self._map(self._keys(self._smallest()))

    def _map(self, keys: Iterator[Key]) -> dict[Any, list[Event]]:
        """Key → events, in order; several criteria as a tuple."""
        events: dict[Any, list[Event]] = {}
        for key in keys:
            value = self._value(key)
            events[tuple(value) if isinstance(value, list) else value] = list(self._of(key))
        return events


__all__ = ["SortedList"]
