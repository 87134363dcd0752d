"""first, last, window: events in order of arrival; firstever, lastever, nth, leaving."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from windows.event import Event, only_events
from windows.shape import ANYTHING, BOOLEAN, COUNT, EVENT, takes

Row = Any
Evaluate = Callable[[Row], Any]


class KeptEvents:
    """The events of one stream of a group, in order of arrival; shared by all first, last and window of them.

    Rows of a join bring an event as often as it has partners: it is there from its first entering to its last leaving.
    """

    __slots__ = ("event_of", "entries")

    def __init__(self, event_of: Callable[[Row], Event | None]) -> None:
        self.event_of = event_of
        self.entries: OrderedDict[int, list[Any]] = OrderedDict()

    def enter(self, row: Row) -> None:
        event = self.event_of(row)
        if event is None:
            return
        entry = self.entries.get(id(event))
        if entry is None:
            self.entries[id(event)] = [event, 1]
        else:
            entry[1] += 1

    def leave(self, row: Row) -> None:
        event = self.event_of(row)
        entry = self.entries.get(id(event))
        if entry is None:
            return
        if entry[1] > 1:
            entry[1] -= 1
        else:
            del self.entries[id(event)]

    def events(self) -> Iterator[Event]:
        return (entry[0] for entry in self.entries.values())

    def at(self, index: int) -> Event | None:
        """Return the event ``index`` from the oldest; a negative index counts from the newest (-1)."""
        values = self.entries.values()
        entry = next(islice(values, index, None), None) if index >= 0 else next(islice(reversed(values), -index - 1, None), None)
        return None if entry is None else entry[0]

    def clear(self) -> None:
        self.entries.clear()

    def state(self) -> Any:
        return [[event, count] for event, count in self.entries.values()]

    @takes([(EVENT, COUNT)])
    def restore(self, state: Any) -> None:
        self.entries = OrderedDict((id(event), [event, count]) for event, count in state)
        only_events(event for event, _ in self.entries.values())


class FirstOrLast:
    """``first(x)``, ``last(x)``, ``first(x, i)``, ``last(x, i)``: reads Kept. ``of_event`` is None for the event itself; ``index()`` gives
    i."""

    __slots__ = ("kept", "of_event", "index", "newest")

    def __init__(self, kept: KeptEvents, of_event: Callable[[Event], Any] | None, index: Callable[[], int | None] | None,
        newest: bool) -> None:
        self.kept = kept
        self.of_event = of_event
        self.index = index
        self.newest = newest

    def value(self) -> Any:
        index = 0 if self.index is None else self.index()
        if index is None or index < 0:
            return None
        event = self.kept.at(-index - 1 if self.newest else index)
        return event if event is None or self.of_event is None else self.of_event(event)


class WindowOf:
    """``window(x)``, ``window(*)``: a list, oldest first; null without events. Methods (epl.aggregations.methods) give events,
    whatever x is."""

    __slots__ = ("kept", "of_event")

    def __init__(self, kept: KeptEvents, of_event: Callable[[Event], Any] | None) -> None:
        self.kept = kept
        self.of_event = of_event

    def value(self) -> Any:
        if not self.kept.entries:
            return None
        if self.of_event is None:
            return list(self.kept.events())
        of_event = self.of_event
        return [of_event(event) for event in self.kept.events()]

    def first_event(self) -> Event | None:
        return self.kept.at(0)

    def last_event(self) -> Event | None:
        return self.kept.at(-1)

    def first_event_value(self, of_event: Callable[[Event], Any]) -> Any:
        event = self.kept.at(0)
        return None if event is None else of_event(event)

    def last_event_value(self, of_event: Callable[[Event], Any]) -> Any:
        event = self.kept.at(-1)
        return None if event is None else of_event(event)

    def first_event_at(self, index: int) -> Event | None:
        return self.kept.at(index) if index >= 0 else None

    def last_event_at(self, index: int) -> Event | None:
        return self.kept.at(-index - 1) if index >= 0 else None

    def events(self) -> list[Event] | None:
        return list(self.kept.events()) or None

    def events_value(self, of_event: Callable[[Event], Any]) -> list[Any] | None:
        return [of_event(event) for event in self.kept.events()] or None

    def count_events(self) -> int:
        return len(self.kept.entries)

    def all_events(self) -> list[Event]:
        return list(self.kept.events())


class Ever:
    """``firstever(x)``, ``lastever(x)``: the first or last value that was not null."""

    __slots__ = ("evaluate", "newest", "kept")

    def __init__(self, evaluate: Evaluate, newest: bool) -> None:
        self.evaluate = evaluate
        self.newest = newest
        self.kept: Any = None

    def enter(self, row: Row) -> None:
        if self.newest or self.kept is None:
            value = self.evaluate(row)
            if value is not None:
                self.kept = value

    def leave(self, row: Row) -> None:
        pass

    def value(self) -> Any:
        return self.kept

    def clear(self) -> None:
        self.kept = None

    def state(self) -> Any:
        return self.kept

    def restore(self, state: Any) -> None:
        self.kept = state


class Nth:
    """``nth(x, n)``: the value n values before the newest, null while fewer are there; nulls are not counted."""

    __slots__ = ("evaluate", "recent", "count")

    def __init__(self, evaluate: Evaluate, index: int) -> None:
        self.evaluate = evaluate
        self.recent: deque[Any] = deque(maxlen=index + 1)
        self.count = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is not None:
            self.recent.append(value)
            self.count += 1

    def leave(self, row: Row) -> None:
        if self.evaluate(row) is None:
            return
        self.count = max(0, self.count - 1)
        while len(self.recent) > self.count:
            self.recent.popleft()

    def value(self) -> Any:
        return self.recent[0] if len(self.recent) == self.recent.maxlen else None

    def clear(self) -> None:
        self.recent.clear()
        self.count = 0

    def state(self) -> Any:
        return [list(self.recent), self.count]

    @takes(([ANYTHING], COUNT))
    def restore(self, state: Any) -> None:
        recent, self.count = state
        self.recent = deque(recent, maxlen=self.recent.maxlen)


class Leaving:
    """``leaving()``: whether any row has left."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = False

    def enter(self, row: Row) -> None:
        pass

    def leave(self, row: Row) -> None:
        self.left = True

    def value(self) -> bool:
        return self.left

    def clear(self) -> None:
        self.left = False

    def state(self) -> Any:
        return self.left

    @takes(BOOLEAN)
    def restore(self, state: Any) -> None:
        self.left = state
