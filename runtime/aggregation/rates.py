"""rate: events or amounts a second, by engine time or by timestamps in the events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from epl.java import float_divide
from windows.shape import BOOLEAN, FLOAT, INTEGER, TIME, optional, takes

Row = Any


class RateByClock:
    """``rate(seconds)``: events of the last ``interval`` (engine time units) a second; null until a first event is older than that.

    Read and trimmed when rows enter, as Esper does: the value does not fall by itself.
    """

    __slots__ = ("now", "interval", "units_per_second", "times", "full")

    def __init__(self, now: Callable[[], int], interval: int, units_per_second: int) -> None:
        self.now = now
        self.interval = interval
        self.units_per_second = units_per_second
        self.clear()

    def enter(self, row: Row) -> None:
        now = self.now()
        self.times.append(now)
        oldest = now - self.interval
        while self.times and self.times[0] <= oldest:
            self.times.popleft()
            self.full = True

    def leave(self, row: Row) -> None:
        pass

    def value(self) -> float | None:
        if not self.full:
            return None
        return len(self.times) * self.units_per_second / self.interval

    def clear(self) -> None:
        self.times: deque[int] = deque()
        self.full = False

    def state(self) -> Any:
        return [list(self.times), self.full]

    @takes(([TIME], BOOLEAN))
    def restore(self, state: Any) -> None:
        times, self.full = state
        self.times = deque(times)


class RateByTimestamp:
    """``rate(timestamp[, amount])``: what is in the window by the time between the newest entered and the last left; null until a row has
    left."""

    __slots__ = ("arguments", "units_per_second", "total", "newest", "left")

    def __init__(self, arguments: Callable[[Row], Sequence[Any]], units_per_second: int) -> None:
        self.arguments = arguments
        self.units_per_second = units_per_second
        self.total = 0.0
        self.newest = 0
        self.left: int | None = None

    def enter(self, row: Row) -> None:
        values = self.arguments(row)
        amount = values[1] if len(values) > 1 else 1
        if amount is not None:
            self.total += float(amount)
        if values[0] is not None:
            self.newest = values[0]

    def leave(self, row: Row) -> None:
        values = self.arguments(row)
        amount = values[1] if len(values) > 1 else 1
        if amount is not None:
            self.total -= float(amount)
        if values[0] is not None:
            self.left = values[0]

    def value(self) -> float | None:
        if self.left is None:
            return None
        return float_divide(self.total * self.units_per_second, float(self.newest - self.left))

    def clear(self) -> None:
        self.total, self.newest, self.left = 0.0, 0, None

    def state(self) -> Any:
        return [self.total, self.newest, self.left]

    @takes((FLOAT, INTEGER, optional(INTEGER)))
    def restore(self, state: Any) -> None:
        self.total, self.newest, self.left = state
