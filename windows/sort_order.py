"""Sort keys: Java's order of values, null first, each key ascending or descending."""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import attrs

from epl.plan.expressions import TypedExpression
from epl.value_types import STRING
from epl.zeros import sort_value
from windows.event import Event
from windows.protocol import BuildContext

__all__ = ["SortKey", "SortedEvents", "sort_key"]


@attrs.frozen
class SortKey:
    """One key: an expression over the event, and its direction."""

    expression: TypedExpression
    descending: bool = False


class Reversed:
    """A part of a descending key: the order of the values, turned round."""

    __slots__ = ("part",)

    def __init__(self, part: tuple[Any, ...]) -> None:
        self.part = part

    def __lt__(self, other: Reversed) -> bool:
        return other.part < self.part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and self.part == other.part

    __hash__ = None  # type: ignore[assignment]


def sort_key(keys: Sequence[SortKey], context: BuildContext) -> Callable[[Event], Any]:
    """Return key(event): something that compares as the keys do."""
    parts = [_part(_comparable(k.expression, context), k.descending) for k in keys]
    if len(parts) == 1:
        return parts[0]
    return lambda event: tuple([part(event) for part in parts])


def _comparable(expression: TypedExpression, context: BuildContext) -> Callable[[Event], Any]:
    evaluate, key = context.evaluator(expression), context.text_key
    if key is None or expression.type != STRING:
        return evaluate

    def of_text(event: Event) -> Any:
        value = evaluate(event)
        return None if value is None else key(value)

    return of_text


def _part(evaluate: Callable[[Event], Any], descending: bool) -> Callable[[Event], Any]:
    def ascending(event: Event) -> tuple[Any, ...]:
        value = evaluate(event)
        if value is None:
            return (0,)
        return (2,) if value != value else (1, value or sort_value(value))

    if not descending:
        return ascending
    return lambda event: Reversed(ascending(event))


class SortedEvents:
    """Events in the order of their keys. Answers prev: ``previous(e, n)`` is the n-th event in that order.

    ``newest_first``: where a new event goes among those of equal keys. Either way the oldest of the last key is the worst.
    """

    def __init__(self, *, newest_first: bool) -> None:
        self.newest_first = newest_first
        self.keys: list[Any] = []
        self.events: list[Event] = []

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def add(self, key: Any, event: Event) -> None:
        place = bisect_left(self.keys, key) if self.newest_first else bisect_right(self.keys, key)
        self.keys.insert(place, key)
        self.events.insert(place, event)

    def refill(self, events: Sequence[Event], key: Callable[[Event], Any]) -> None:
        """Hold these events, given in their order, and no others."""
        self.events[:] = events
        self.keys[:] = [key(e) for e in events]

    def remove(self, key: Any, event: Event) -> bool:
        """Remove it; return whether it was there."""
        for place in range(bisect_left(self.keys, key), bisect_right(self.keys, key)):
            if self.events[place] is event:
                self._pop(place)
                return True
        return False

    def take_out(self, event: Event, key_of: Callable[[Event], Any]) -> bool:
        """Return whether it was there; search for it where its key raises (which was reported when the event came)."""
        try:
            key = key_of(event)
        except Exception:  # noqa: BLE001 - see above
            return self.search_out(event)
        return self.remove(key, event)

    def search_out(self, event: Event) -> bool:
        """Remove it wherever it is: its key may have been another one when it came, by a variable; return whether it was there."""
        place = next((i for i, held in enumerate(self.events) if held is event), None)
        if place is not None:
            self._pop(place)
        return place is not None

    def pop_worst(self) -> Event:
        """Take out an event of the last key: the one of them that came first."""
        return self._pop(len(self.keys) - 1 if self.newest_first else bisect_left(self.keys, self.keys[-1]))

    def _pop(self, place: int) -> Event:
        del self.keys[place]
        return self.events.pop(place)

    def previous(self, event: Event, index: int) -> Event | None:
        return self.events[index] if 0 <= index < len(self.events) else None

    def from_tail(self, event: Event, index: int) -> Event | None:
        return self.events[-1 - index] if 0 <= index < len(self.events) else None

    def count(self, event: Event, insert_stream: bool) -> int | None:
        return len(self.events) if insert_stream else None

    def window(self, event: Event) -> Iterable[Event] | None:
        return islice(self.events, None) if self.events else None
