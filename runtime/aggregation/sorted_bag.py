"""A sorted multiset: what median, min, max and sorted keep."""

from __future__ import annotations

from bisect import bisect_left, insort_right
from collections.abc import Iterable, Iterator
from typing import Any

LOAD = 512


class SortedBag:
    """Values in ascending order, duplicates kept; adding, removing and reading an end or a position cost about O(√n), with bisection in C.

    Values must have a total order among each other (no NaN, no None).
    """

    __slots__ = ("_blocks", "_largest", "_size")

    def __init__(self, values: Iterable[Any] = ()) -> None:
        ordered = sorted(values)
        self._blocks = [ordered[i : i + LOAD] for i in range(0, len(ordered), LOAD)]
        self._largest = [block[-1] for block in self._blocks]
        self._size = len(ordered)

    def add(self, value: Any) -> None:
        self._size += 1
        blocks, largest = self._blocks, self._largest
        if not blocks:
            blocks.append([value])
            largest.append(value)
            return
        at = bisect_left(largest, value)
        if at == len(blocks):
            at -= 1
            blocks[at].append(value)
            largest[at] = value
        else:
            insort_right(blocks[at], value)
        if len(blocks[at]) > 2 * LOAD:
            block = blocks[at]
            blocks[at : at + 1] = [block[:LOAD], block[LOAD:]]
            largest[at : at + 1] = [block[LOAD - 1], block[-1]]

    def remove(self, value: Any) -> bool:
        """Take out one equal value; whether there was one."""
        blocks, largest = self._blocks, self._largest
        at = bisect_left(largest, value)
        if at == len(blocks):
            return False
        block = blocks[at]
        place = bisect_left(block, value)
        if block[place] != value:
            return False
        del block[place]
        self._size -= 1
        if not block:
            del blocks[at], largest[at]
        else:
            largest[at] = block[-1]
        return True

    def first(self) -> Any:
        return self._blocks[0][0]

    def last(self) -> Any:
        return self._blocks[-1][-1]

    def at(self, index: int) -> Any:
        for block in self._blocks:
            if index < len(block):
                return block[index]
            index -= len(block)
        raise IndexError(index)

    def from_value(self, value: Any) -> Iterator[Any]:
        """The values not below ``value``, ascending."""
        at = bisect_left(self._largest, value)
        if at == len(self._blocks):
            return
        yield from self._blocks[at][bisect_left(self._blocks[at], value) :]
        for block in self._blocks[at + 1 :]:
            yield from block

    def below(self, value: Any) -> Iterator[Any]:
        """The values below ``value``, descending."""
        at = bisect_left(self._largest, value)
        if at < len(self._blocks):
            yield from reversed(self._blocks[at][: bisect_left(self._blocks[at], value)])
        for block in reversed(self._blocks[:at]):
            yield from reversed(block)

    def clear(self) -> None:
        self._blocks, self._largest, self._size = [], [], 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            yield from block
