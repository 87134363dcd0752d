"""Engine time: the clock, and the timers that are due."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from operator import index
from typing import Any, Literal

Late = Literal["refuse", "keep"]
TimeMode = Literal["span", "jump"]
"""How a batch takes late rows, and how time moves between its rows (``Runtime.send_batch``)."""

MAX_STOPS = 1_000_000
"""How many timers may be due between two rows of a batch: a guard against gaps that would take minutes (a one-second timer and a gap of
years).
"""

Order = tuple[int, int, int]
"""(statement number, partition number, timer number within the partition): who runs first at one due time."""

FEW = 64
"""So many stale entries stay without the heap being looked through."""


class Clock:
    """Engine time in engine units (ms, or µs by configuration). Only the runtime moves it."""

    __slots__ = ("now",)

    def __init__(self, now: int) -> None:
        self.now = now


class ScheduledTimer:
    """One operator's timer (windows.protocol.Timer): at most one due time at once."""

    __slots__ = ("_schedule", "alone", "callback", "due", "entry", "order", "owner")

    def __init__(self, schedule: Schedule, order: Order, owner: object, callback: Callable[[], None]) -> None:
        self._schedule = schedule
        self.order = order
        self.owner = owner
        self.callback = callback
        self.alone: Callable[[], None] | None = None
        """Called in place of ``callback`` where no other timer is due: it may call listeners. None: nothing is to be gained by that."""
        self.due: int | None = None
        self.entry: list[Any] | None = None
        """Its current entry in the schedule."""

    def set(self, due: int) -> None:
        """Run the call-back once when the clock reaches ``due``; replaces an earlier due time."""
        if due == self.due:
            return
        schedule = self._schedule
        if self.entry is not None:
            schedule.discard(self.entry)
        schedule.pushes = number = schedule.pushes + 1
        self.due = due
        self.entry = entry = [due, self.order, number, self]
        heappush(schedule.heap, entry)

    def cancel(self) -> None:
        if self.entry is not None:
            self._schedule.discard(self.entry)
            self.entry = self.due = None


class Schedule:
    """All timers of a runtime, by due time; equal due times run in order of statement, partition and making.

    ``heap``: entries [due time, order, number of the entry, timer]. A stale entry, whose timer was cancelled or set to another time, holds
    None in its place, which keeps nothing of the operator alive. At most half of the entries (and ``FEW``) are stale.
    """

    __slots__ = ("ended", "heap", "pushes", "_stale")

    def __init__(self) -> None:
        self.heap: list[list[Any]] = []
        self.ended: set[tuple[int, int]] | None = None
        """While several timers run: the (statement, partition) of instances that have ended meanwhile, whose timers run no more."""
        self.pushes = 0
        self._stale = 0

    def discard(self, entry: list[Any]) -> None:
        """Note that the entry of a timer is stale from now on."""
        entry[3] = None
        self._stale += 1
        if self._stale > FEW and 2 * self._stale > len(self.heap):
            self.heap[:] = [each for each in self.heap if each[3] is not None]
            heapify(self.heap)
            self._stale = 0

    def discard_instance(self, statement: int, partition: int) -> None:
        """Cancel the timers of one instance of a statement; looks through all timers."""
        for entry in tuple(self.heap):
            timer = entry[3]
            if timer is not None and timer.order[:2] == (statement, partition):
                timer.cancel()

    def check(self) -> None:
        """Raise TypeError for a due time that is not a time, as a damaged state may give it: the clock would never get past NaN."""
        for due, _, _, _ in self.heap:
            index(due)

    def nearest(self) -> int | None:
        """Return the next due time, or None."""
        heap = self.heap
        while heap and heap[0][3] is None:
            heappop(heap)
            self._stale -= 1
        return heap[0][0] if heap else None

    def take_due(self, now: int) -> list[ScheduledTimer]:
        """Return the timers due at or before ``now``, in their order, no longer scheduled: each runs once, however late it is."""
        heap = self.heap
        taken = []
        while heap and heap[0][0] <= now:
            timer = heappop(heap)[3]
            if timer is None:
                self._stale -= 1
            else:
                timer.entry = timer.due = None
                taken.append(timer)
        return taken

    def take_only(self, now: int) -> ScheduledTimer | None:
        """Return the first timer if it is the only one due at or before ``now`` and may run ``alone``; no longer scheduled then. Some is
        due."""
        heap = self.heap
        timer: ScheduledTimer | None = heap[0][3]
        if timer is None or timer.alone is None:
            return None
        entry = heappop(heap)
        if heap and heap[0][0] <= now:
            heappush(heap, entry)
            return None
        timer.entry = timer.due = None
        return timer

    def __len__(self) -> int:
        """Timers that have a due time: a metric."""
        return len(self.heap) - self._stale
