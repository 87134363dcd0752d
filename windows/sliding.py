"""Events in order of arrival: what length, time, … windows hold, and what prev asks of them."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from epl.attribute_text import name_attributes, once_a_class
from windows.event import Event
from windows.paging import Long
from windows.protocol import BuildContext, View
from windows.shape import EVENT, TIME, optional, takes

__all__ = ["NONE_YET", "SlidingView", "TimedView"]


NONE_REMOVED: Any = frozenset()
"""What most windows have removed: a set of their own is made for the first event that a parent removes."""

NONE_YET: Any = ()
"""What a window without events holds until the first one comes: an empty deque takes 760 bytes."""


class SlidingView(View):
    """Base of windows that keep events in order of arrival, oldest first, and let the oldest go.

    ``entries`` are the events; those that the parent removed stay in their place, in ``removed``, until they would be the oldest. Adding,
    letting go and removing take constant time each (the first removal of all takes time of the window's size). It answers prev:
    ``previous(e, n)`` is the n-th newest event of the window, whatever ``e`` is.
    """

    def __init__(self, context: BuildContext) -> None:
        self.entries: deque[Event] = NONE_YET
        self.removed: set[Event] = NONE_REMOVED
        self.members: set[Event] | None = None
        context.publish_random_access(self)

    def __len__(self) -> int:
        return len(self.entries) - len(self.removed)

    def __iter__(self) -> Iterator[Event]:
        if not self.removed:
            return iter(self.entries)
        return (e for e in self.entries if e not in self.removed)

    def _newest_first(self) -> Iterator[Event]:
        if not self.removed:
            return reversed(self.entries)
        return (e for e in reversed(self.entries) if e not in self.removed)

    def begin(self) -> deque[Event]:
        """Return ``entries``, to which something is to be added, made at the first time."""
        if self.entries is NONE_YET:
            self.entries = deque()
        return self.entries

    def add(self, events: Sequence[Event]) -> None:
        (self.entries or self.begin()).extend(events)
        if self.members is not None:
            if len(events) == 1:
                self.members.add(events[0])
            else:
                self.members.update(events)

    def remove(self, events: Sequence[Event]) -> list[Event]:
        """Take out events that the parent removes; those that were here."""
        members = self.members
        if members is None:
            members = self.members = set(self)
        gone = [e for e in events if e in members]
        if not gone:
            return gone
        if not self.removed:
            self.removed = set()
        if len(gone) == 1:
            members.discard(gone[0])
            self.removed.add(gone[0])
        else:
            members.difference_update(gone)
            self.removed.update(gone)
        if len(self.removed) > 32 + len(members):
            self._tidy()
        return gone

    def _tidy(self) -> None:
        """Free space: forget removed events in the middle."""
        self.entries = deque(self)
        self.removed = NONE_REMOVED

    def pop_oldest(self) -> Event:
        """Let the oldest event go; there is one."""
        event = self.entries.popleft()
        while event in self.removed:
            self.removed.discard(event)
            event = self.entries.popleft()
        if self.members is not None:
            self.members.discard(event)
        return event

    def previous(self, event: Event, index: int) -> Event | None:
        if index < 0 or index >= len(self):
            return None
        return next(islice(self._newest_first(), index, None))

    def from_tail(self, event: Event, index: int) -> Event | None:
        if index < 0 or index >= len(self):
            return None
        return next(islice(self, index, None))

    def count(self, event: Event, insert_stream: bool) -> int | None:
        return len(self) if insert_stream else None

    def window(self, event: Event) -> Iterable[Event] | None:
        return self._newest_first() if len(self) else None

    @once_a_class
    def rare_text(self) -> Sequence[str]:
        """Return the conditions, as source text over ``view``, under which entries are not simply the events in the window."""
        view = name_attributes("view", self)
        return f"{view.removed}", f"{view.members} is not None"

    def state(self) -> Any:
        return Long(self)

    @takes([EVENT])
    def restore(self, state: Any) -> None:
        self.entries = deque(state)
        self.removed = NONE_REMOVED
        self.members = None


class TimedView(SlidingView):
    """Base of windows that note a time with each event (``times``, next to ``entries``) and evict what is old.

    Events leave in order of arrival: one with an earlier time waits for those before it, also for one that the parent removed meanwhile
    (as in Esper).
    """

    def __init__(self, context: BuildContext) -> None:
        super().__init__(context)
        self.times: deque[int] = NONE_YET

    def begin_times(self) -> deque[int]:
        """Return ``times``, to which something is to be added, made at the first time."""
        if self.times is NONE_YET:
            self.entries, self.times = deque(), deque()
        return self.times

    def add_timed(self, event: Event, time: int) -> None:
        (self.times or self.begin_times()).append(time)
        self.entries.append(event)
        if self.members is not None:
            self.members.add(event)

    def evict(self, limit: int) -> list[Event]:
        """Take out the events with times up to ``limit``, until one is later."""
        times, entries, removed = self.times, self.entries, self.removed
        gone = []
        while times and times[0] <= limit:
            times.popleft()
            event = entries.popleft()
            if event in removed:
                removed.discard(event)
            else:
                gone.append(event)
        if self.members is not None:
            self.members.difference_update(gone)
        return gone

    def _tidy(self) -> None:
        """Removed events leave with their time."""

    def pop_oldest(self) -> Event:
        self.drop_removed()
        self.times.popleft()
        return super().pop_oldest()

    def drop_removed(self) -> None:
        """Make the first entry the oldest event."""
        while self.entries and self.entries[0] in self.removed:
            self.removed.discard(self.entries.popleft())
            self.times.popleft()

    def state(self) -> Any:
        return Long([None if event in self.removed else event, time] for event, time in zip(self.entries, self.times))

    @takes([(optional(EVENT), TIME)])
    def restore(self, state: Any) -> None:
        self.entries = deque(Blank() if event is None else event for event, _ in state)
        self.times = deque(time for _, time in state)
        self.removed = {e for e in self.entries if isinstance(e, Blank)} or NONE_REMOVED
        self.members = None


class Blank(Event):
    """Stands for an event that was removed before the state was taken."""

    __slots__ = ()

    def __init__(self) -> None:
        """Nothing is known of it."""
