"""Engine time: the clock, and the timers that are due."""
from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Literal

Late = Literal["refuse", "keep"]
TimeMode = Literal["span", "jump"]
"""How a batch takes late rows, and how time moves between its rows (``Runtime.send_batch``)."""

MAX_STOPS = 1_000_000
"""How many timers may be due between two rows of a batch: a guard against gaps that would take minutes (a one-second timer and a gap of
years).
"""

Order = tuple[int, int]
"""(statement number, timer number within the statement): who runs first at one due time."""


class Clock:
    """Engine time in engine units (ms, or µs by configuration). Only the runtime moves it."""

    __slots__ = ("now",)

    def __init__(self, now: int) -> None:
        self.now = now


class ScheduledTimer:
    """One operator's timer (windows.protocol.Timer): at most one due time at once."""

    __slots__ = ("_schedule", "alone", "callback", "due", "order", "owner", "number", "__weakref__")

    def __init__(self, schedule: Schedule, order: Order, owner: object, callback: Callable[[], None]) -> None:
        self._schedule = schedule
        self.order = order
        self.owner = owner
        self.callback = callback
        self.alone: Callable[[], None] | None = None
        """Called in place of ``callback`` where no other timer is due: it may call listeners. None: nothing is to be gained by that."""
        self.due: int | None = None
        self.number = 0
        """Of its entry in the schedule; entries of other numbers are stale. 0: none."""

    def set(self, due: int) -> None:
        """Run the call-back once when the clock reaches ``due``; replaces an earlier due time."""
        schedule = self._schedule
        schedule.pushes = self.number = number = schedule.pushes + 1
        self.due = due
        heappush(schedule.heap, (due, self.order, number, self))

    def cancel(self) -> None:
        self.number = 0
        self.due = None

    def is_current(self, number: int) -> bool:
        return self.number == number


class Schedule:
    """All timers of a runtime, by due time; equal due times run in order of statement and making."""

    __slots__ = ("heap", "pushes")

    def __init__(self) -> None:
        self.heap: list[tuple[int, Order, int, ScheduledTimer]] = []
        self.pushes = 0

    def nearest(self) -> int | None:
        """The next due time, or None."""
        heap = self.heap
        while heap and not heap[0][3].is_current(heap[0][2]):
            heappop(heap)
        return heap[0][0] if heap else None

    def take_due(self, now: int) -> list[ScheduledTimer]:
        """The timers due at or before ``now``, in their order, no longer scheduled: each runs once, however late it is."""
        heap = self.heap
        taken = []
        while heap and heap[0][0] <= now:
            _, _, number, timer = heappop(heap)
            if timer.number == number:
                timer.number, timer.due = 0, None
                taken.append(timer)
        return taken

    def __len__(self) -> int:
        """Timers that have a due time: a metric."""
        return sum(1 for entry in self.heap if entry[3].is_current(entry[2]))
