"""Engine time: the clock, and the timers that are due."""
from __future__ import annotations

import heapq
from collections.abc import Callable

Order = tuple[int, int]
"""(statement number, timer number within the statement): who runs first at one due time."""


class Clock:
    """Engine time in engine units (ms, or µs by configuration). Only the runtime moves it."""

    __slots__ = ("now",)

    def __init__(self, now: int) -> None:
        self.now = now


class ScheduledTimer:
    """One operator's timer (windows.protocol.Timer): at most one due time at once."""

    __slots__ = ("_schedule", "alone", "callback", "due", "order", "owner", "_version", "__weakref__")

    def __init__(self, schedule: Schedule, order: Order, owner: object, callback: Callable[[], None]) -> None:
        self._schedule = schedule
        self.order = order
        self.owner = owner
        self.callback = callback
        self.alone: Callable[[], None] | None = None
        """Called in place of ``callback`` where no other timer is due: it may call listeners. None: nothing is to be gained by that."""
        self.due: int | None = None
        self._version = 0

    def set(self, due: int) -> None:
        """Run the call-back once when the clock reaches ``due``; replaces an earlier due time."""
        self._version += 1
        self.due = due
        schedule = self._schedule
        schedule.pushes += 1
        heapq.heappush(schedule.heap, (due, self.order, schedule.pushes, self._version, self))

    def cancel(self) -> None:
        self._version += 1
        if self.due is not None:
            self.due = None
            self._schedule.stale += 1

    def is_current(self, version: int) -> bool:
        return self.due is not None and self._version == version


class Schedule:
    """All timers of a runtime, by due time; equal due times run in order of statement and making."""

    __slots__ = ("heap", "pushes", "stale")

    def __init__(self) -> None:
        self.heap: list[tuple[int, Order, int, int, ScheduledTimer]] = []
        self.pushes = 0
        self.stale = 0

    def nearest(self) -> int | None:
        """The next due time, or None."""
        heap = self.heap
        while heap and not heap[0][4].is_current(heap[0][3]):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def take_due(self, now: int) -> list[ScheduledTimer]:
        """The timers due at or before ``now``, in their order, no longer scheduled: each runs once, however late it is."""
        heap = self.heap
        if not heap or heap[0][0] > now:
            return []
        taken = []
        while heap and heap[0][0] <= now:
            _, _, _, version, timer = heapq.heappop(heap)
            if timer._version == version and timer.due is not None:
                timer.due = None
                taken.append(timer)
        return taken

    def __len__(self) -> int:
        """Timers that have a due time: a metric."""
        return sum(1 for entry in self.heap if entry[4].is_current(entry[3]))
