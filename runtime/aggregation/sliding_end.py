"""The least or the greatest of values that mostly leave in the order in which they came: those of windows by length and time."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from runtime.aggregation.sorted_bag import SortedBag

NONE_YET: Any = ()
"""What is held before the first value comes: an empty deque takes 760 bytes."""


class SlidingEnd:
    """One end of a multiset. ``ends[0]`` is it; after it are the next ends, once all before them have left::

        values in order        3 1 4 1 5 2
        ends of the largest    5 2            (nothing in front of the 5 can be the largest any more)

    O(1) an event on average. The first value that leaves in another order makes it a sorted bag, O(log n), until it is empty; ``ends`` is
    empty meanwhile. Values must have a total order among each other (no NaN, no None).
    """

    __slots__ = ("largest", "ends", "_order", "_bag")

    def __init__(self, largest: bool) -> None:
        self.largest = largest
        self.ends: deque[Any] = NONE_YET
        self._order: deque[Any] = NONE_YET
        self._bag: SortedBag | None = None

    def add(self, value: Any) -> None:
        if self._bag is not None:
            self._bag.add(value)
            return
        order = self._order
        if order is NONE_YET:
            self.ends, self._order = deque(), (order := deque())
        order.append(value)
        ends = self.ends
        if self.largest:
            while ends and ends[-1] < value:
                ends.pop()
        else:
            while ends and value < ends[-1]:
                ends.pop()
        ends.append(value)

    def remove(self, value: Any) -> None:
        """Take out one equal value, if there is one."""
        order = self._order
        if order and order[0] == value:
            order.popleft()
            if self.ends[0] == value:
                self.ends.popleft()
        elif self._bag is None:
            if order:
                self.put(order)
                self.remove(value)
        else:
            self._bag.remove(value)
            if not self._bag:
                self._bag = None

    def put(self, values: Iterable[Any]) -> None:
        """Hold these instead of all that is there, in an order that is not known."""
        bag = SortedBag(values)
        self.clear()
        if bag:
            self._bag = bag

    def end(self) -> Any:
        """Return the end; None where there is nothing."""
        if self._bag is None:
            return self.ends[0] if self.ends else None
        return self._bag.last() if self.largest else self._bag.first()

    def clear(self) -> None:
        self.ends = self._order = NONE_YET
        self._bag = None

    def __len__(self) -> int:
        return len(self._order) if self._bag is None else len(self._bag)

    def __iter__(self) -> Iterator[Any]:
        """All values, ascending."""
        return iter(sorted(self._order) if self._bag is None else self._bag)


__all__ = ["SlidingEnd"]
