"""A sorted multiset: what median, min, max and sorted keep."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_right
from collections.abc import Iterable, Iterator
from typing import Any

LOAD = 512


class SortedBag:
    """Values in ascending order, duplicates kept: blocks of at most 2 · LOAD values, found by bisection.

    Adding and removing cost O(log n) comparisons and the move of a part of one block; an end O(1); a position O(log n), by sums over the
    blocks that are kept from the first such question on. Values must have a total order among each other (no NaN, no None).
    """

    __slots__ = ("blocks", "_largest", "_size", "_sums")

    def __init__(self, values: Iterable[Any] = ()) -> None:
        ordered = sorted(values)
        self.blocks = [ordered[i : i + LOAD] for i in range(0, len(ordered), LOAD)]
        self._largest = [block[-1] for block in self.blocks]
        self._size = len(ordered)
        self._sums: list[int] | None = None

    def add(self, value: Any) -> None:
        self._size += 1
        blocks, largest = self.blocks, self._largest
        if not blocks:
            blocks.append([value])
            largest.append(value)
            self._sums = None
            return
        at = bisect_left(largest, value)
        if at == len(blocks):
            at -= 1
            blocks[at].append(value)
            largest[at] = value
        else:
            insort_right(blocks[at], value)
        if len(blocks[at]) > 2 * LOAD:
            self._split(at)
        elif self._sums is not None:
            self._count(at, 1)

    def remove(self, value: Any) -> bool:
        """Take out one equal value; whether there was one."""
        blocks, largest = self.blocks, self._largest
        at = bisect_left(largest, value)
        if at == len(blocks):
            return False
        block = blocks[at]
        place = bisect_left(block, value)
        if block[place] != value:
            return False
        del block[place]
        self._size -= 1
        if block:
            largest[at] = block[-1]
        if len(block) < LOAD // 2 and (len(blocks) > 1 or not block):
            self._merge(at)
        elif self._sums is not None:
            self._count(at, -1)
        return True

    def _split(self, at: int) -> None:
        block = self.blocks[at]
        self.blocks[at : at + 1] = [block[:LOAD], block[LOAD:]]
        self._largest[at : at + 1] = [block[LOAD - 1], block[-1]]
        self._sums = None

    def _merge(self, at: int) -> None:
        """Put a small block to its smaller neighbour, or split both again."""
        blocks, largest = self.blocks, self._largest
        self._sums = None
        if not blocks[at]:
            del blocks[at], largest[at]
            return
        left = at - 1 if at + 1 == len(blocks) or (at and len(blocks[at - 1]) <= len(blocks[at + 1])) else at
        both = blocks[left] + blocks[left + 1]
        parts = [both] if len(both) <= LOAD else [both[: len(both) // 2], both[len(both) // 2 :]]
        blocks[left : left + 2] = parts
        largest[left : left + 2] = [part[-1] for part in parts]

    def _count(self, at: int, change: int) -> None:
        """Update the Fenwick tree: the block at ``at`` has grown or shrunk."""
        sums = self._sums
        assert sums is not None
        at += 1
        while at < len(sums):
            sums[at] += change
            at += at & -at

    def _sum_up(self) -> list[int]:
        """Return the Fenwick tree of the blocks' lengths."""
        sums = [0, *map(len, self.blocks)]
        for at in range(1, len(sums)):
            above = at + (at & -at)
            if above < len(sums):
                sums[above] += sums[at]
        self._sums = sums
        return sums

    def first(self) -> Any:
        return self.blocks[0][0]

    def last(self) -> Any:
        return self.blocks[-1][-1]

    def at(self, index: int) -> Any:
        if not 0 <= index < self._size:
            raise IndexError(index)
        sums = self._sums if self._sums is not None else self._sum_up()
        block, step = 0, 1 << (len(sums) - 1).bit_length()
        while step:
            further = block + step
            if further < len(sums) and sums[further] <= index:
                block = further
                index -= sums[further]
            step >>= 1
        return self.blocks[block][index]

    def from_value(self, value: Any) -> Iterator[Any]:
        """Yield the values not below ``value``, ascending."""
        at = bisect_left(self._largest, value)
        if at == len(self.blocks):
            return
        yield from self.blocks[at][bisect_left(self.blocks[at], value) :]
        for block in self.blocks[at + 1 :]:
            yield from block

    def until(self, value: Any, *, inclusive: bool) -> Iterator[Any]:
        """Yield the values below ``value``, and with ``inclusive`` those that equal it, ascending."""
        place = bisect_right if inclusive else bisect_left
        for block in self.blocks:
            if block[-1] < value:
                yield from block
            elif value < block[0]:
                return
            else:
                yield from block[: place(block, value)]

    def between(self, low: Any, high: Any, *, include_low: bool, include_high: bool) -> Iterator[Any]:
        """Yield the values from ``low`` to ``high``, either end included or not, ascending; None is no end."""
        blocks = self.blocks
        first = 0 if low is None else (bisect_left if include_low else bisect_right)(self._largest, low)
        start = bisect_left if include_low else bisect_right
        stop = bisect_right if include_high else bisect_left
        for at in range(first, len(blocks)):
            block = blocks[at]
            begin = start(block, low) if low is not None and at == first else 0
            if high is None or block[-1] < high:
                yield from block[begin:] if begin else block
            else:
                yield from block[begin : stop(block, high)]
                if high < block[-1]:
                    return

    def below(self, value: Any) -> Iterator[Any]:
        """Yield the values below ``value``, descending."""
        at = bisect_left(self._largest, value)
        if at < len(self.blocks):
            yield from reversed(self.blocks[at][: bisect_left(self.blocks[at], value)])
        for block in reversed(self.blocks[:at]):
            yield from reversed(block)

    def clear(self) -> None:
        self.blocks, self._largest, self._size, self._sums = [], [], 0, None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        for block in self.blocks:
            yield from block
