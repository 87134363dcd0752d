"""min and max: of what is there, and of all that ever was. In Java's order: NaN is greater than every other number, -0.0 less than 0.0."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import Any

from epl.zeros import ordered, plain
from runtime.aggregation.sliding_end import SlidingEnd
from windows.shape import ANYTHING, COUNT, takes

Row = Any
Evaluate = Callable[[Row], Any]
NAN = float("nan")


class Extreme:
    """``min(x)`` or ``max(x)`` while rows leave; O(1) an event where they leave in their order, else O(log n)."""

    __slots__ = ("evaluate", "largest", "held", "nans")

    def __init__(self, evaluate: Evaluate, largest: bool) -> None:
        self.evaluate = evaluate
        self.largest = largest
        self.held = SlidingEnd(largest)
        self.nans = 0

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        if value == value:
            self.held.add(value or ordered(value))
        else:
            self.nans += 1

    def leave(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        if value == value:
            self.held.remove(value or ordered(value))
        elif self.nans:
            self.nans -= 1

    def value(self) -> Any:
        if self.nans and (self.largest or not self.held):
            return NAN
        return plain(self.held.end())

    def clear(self) -> None:
        self.held.clear()
        self.nans = 0

    def state(self) -> Any:
        return [[plain(value) for value in self.held], self.nans]

    @takes(([ANYTHING], COUNT))
    def restore(self, state: Any) -> None:
        values, self.nans = state
        self.held.put(map(ordered, values))


class ExtremeEver:
    """``minever(x)``, ``maxever(x)``, and min and max of a stream that nothing leaves."""

    __slots__ = ("evaluate", "largest", "found")

    def __init__(self, evaluate: Evaluate, largest: bool) -> None:
        self.evaluate = evaluate
        self.largest = largest
        self.found: Any = None

    def enter(self, row: Row) -> None:
        value = self.evaluate(row)
        if value is None:
            return
        found = self.found
        if (
            found is None or (value != value if self.largest else found != found) or (value > found if self.largest else value < found)
            or (not value and value == 0 == found and (copysign(1.0, value) > 0) == self.largest)
        ):
            self.found = value

    def leave(self, row: Row) -> None:
        pass

    def value(self) -> Any:
        return self.found

    def clear(self) -> None:
        self.found = None

    def state(self) -> Any:
        return self.found

    def restore(self, state: Any) -> None:
        self.found = state
