"""Values by ranges: which ranges hold a value, in O(log n + matches), while ranges come and go.

Ranges that have one end are kept by their boundary, those that have two in a tree. Both give what they hold in ascending order of the
boundaries, then in the order in which it came. Boundaries are neither null nor NaN; a look-up of null or NaN finds nothing.
"""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from runtime.aggregation.sorted_bag import SortedBag
from windows.buckets import Bucket, put, take


class OneEndedRanges:
    """``value > boundary`` (``above``) or ``value < boundary``, the boundary included or not."""

    __slots__ = ("_above", "_inclusive", "_buckets", "_boundaries")

    def __init__(self, *, above: bool, inclusive: bool) -> None:
        self._above = above
        self._inclusive = inclusive
        self._buckets: dict[Any, Bucket] = {}
        self._boundaries = SortedBag()

    def enter(self, boundary: Any, item: Any) -> None:
        if put(self._buckets, boundary, item):
            self._boundaries.add(boundary)

    def leave(self, boundary: Any, item: Any) -> None:
        if take(self._buckets, boundary, item):
            self._boundaries.remove(boundary)

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def find(self, value: Any) -> list[Any] | None:
        """Return the items whose ranges hold the value, None where there are none."""
        if value is None or value != value or not self._buckets:
            return None
        buckets, boundaries = self._buckets, self._boundaries
        if self._above:
            if value < boundaries.blocks[0][0]:  # most often so where nothing is found
                return None
            items = [item for boundary in boundaries.until(value, inclusive=self._inclusive) for item in buckets[boundary]]
        else:
            items = [
                item for boundary in boundaries.from_value(value) if self._inclusive or boundary != value for item in buckets[boundary]]
        return items or None


# ------------------------------------------------------------------ two ends

FANOUT = 32
"""At most twice so many keys are in one node."""


class _Top:
    """Greater than any end of a range."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


TOP = _Top()


class _Node:
    """A leaf's ``keys`` are (low, high), its ``tops`` the highs. An inner node's are the least key and the highest end below each item."""

    __slots__ = ("keys", "tops", "items")

    def __init__(self, keys: list[Any], tops: list[Any], items: list[_Node] | None = None) -> None:
        self.keys = keys
        self.tops = tops
        self.items = items

    def split(self) -> _Node:
        """Return the upper half, which leaves the node."""
        keys, tops, items = self.keys, self.tops, self.items
        upper = _Node(keys[FANOUT:], tops[FANOUT:], None if items is None else items[FANOUT:])
        del keys[FANOUT:], tops[FANOUT:]
        if items is not None:
            del items[FANOUT:]
        return upper


class TwoEndedRanges:
    """``low < value < high``, either end included or not: a B+ tree of (low, high) whose nodes know the highest end below them."""

    __slots__ = ("_include_low", "_include_high", "_buckets", "_root")

    def __init__(self, *, include_low: bool, include_high: bool) -> None:
        self._include_low = include_low
        self._include_high = include_high
        self._buckets: dict[tuple[Any, Any], Bucket] = {}
        self._root = _Node([], [])

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def enter(self, ends: tuple[Any, Any], item: Any) -> None:
        if put(self._buckets, ends, item):
            self._insert(ends)

    def leave(self, ends: tuple[Any, Any], item: Any) -> None:
        if take(self._buckets, ends, item):
            self._delete(ends)

    def find(self, value: Any) -> list[Any] | None:
        """Return the items whose ranges hold the value, None where there are none."""
        if value is None or value != value or not self._buckets:
            return None
        items: list[Any] = []
        self._collect(self._root, value, (value, TOP) if self._include_low else (value,), items)
        return items or None

    def _collect(self, node: _Node, value: Any, beyond: tuple[Any, ...], matches: list[Any]) -> None:
        """``beyond``: sorts after the last range that begins early enough, before all others."""
        tops = node.tops
        begun = range(bisect_left(node.keys, beyond))
        open_still = [n for n in begun if value <= tops[n]] if self._include_high else [n for n in begun if value < tops[n]]
        if node.items is None:
            for n in open_still:
                matches.extend(self._buckets[node.keys[n]])
        else:
            for n in open_still:
                self._collect(node.items[n], value, beyond, matches)

    def _insert(self, key: tuple[Any, Any]) -> None:
        path: list[tuple[_Node, int]] = []
        node, high = self._root, key[1]
        while node.items is not None:
            at = bisect_right(node.keys, key) - 1
            if at < 0:
                at = 0
                node.keys[0] = key
            if node.tops[at] < high:
                node.tops[at] = high
            path.append((node, at))
            node = node.items[at]
        at = bisect_left(node.keys, key)
        node.keys.insert(at, key)
        node.tops.insert(at, high)
        while len(node.keys) > 2 * FANOUT:
            upper = node.split()
            if not path:
                self._root = _Node([node.keys[0], upper.keys[0]], [max(node.tops), max(upper.tops)], [node, upper])
                return
            parent, at = path.pop()
            assert parent.items is not None
            parent.tops[at] = max(node.tops)
            parent.keys.insert(at + 1, upper.keys[0])
            parent.tops.insert(at + 1, max(upper.tops))
            parent.items.insert(at + 1, upper)
            node = parent

    def _delete(self, key: tuple[Any, Any]) -> None:
        path: list[tuple[_Node, int]] = []
        node = self._root
        while node.items is not None:
            at = bisect_right(node.keys, key) - 1
            path.append((node, at))
            node = node.items[at]
        at = bisect_left(node.keys, key)
        del node.keys[at], node.tops[at]
        while path:
            parent, at = path.pop()
            assert parent.items is not None
            if node.keys:
                if key[1] < parent.tops[at]:  # another range ends highest
                    break
                parent.tops[at] = max(node.tops)
            else:
                del parent.keys[at], parent.tops[at], parent.items[at]
            node = parent
        while self._root.items is not None and len(self._root.items) < 2:
            self._root = self._root.items[0] if self._root.items else _Node([], [])


__all__ = ["OneEndedRanges", "TwoEndedRanges"]
