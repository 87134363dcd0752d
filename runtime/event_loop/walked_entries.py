"""Entries that an index of Esper's walks through for each event, in the order of their values."""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable
from typing import Any

from epl.java_hash import spread_hash

NO_VALUE = (None, ())
"""What stands for a null, and for two ends of which one is null."""
SMALLEST_MAP = 16


class WalkedEntries:
    """Entries by the values that events are not to have, in ascending order, null last. Entries of one value come in the order in which
    they started."""

    __slots__ = ("_items", "_keys")

    def __init__(self) -> None:
        self._keys: list[Any] = []
        """By what the entries are sorted; as many as these."""
        self._items: list[Any] = []

    def enter(self, value: Hashable, item: Any) -> None:
        self._insert(_ascending(value), item)

    def leave(self, value: Hashable, item: Any) -> None:
        self._remove(_ascending(value), item)

    def __bool__(self) -> bool:
        return bool(self._items)

    def find(self, value: Any) -> list[Any] | None:
        """Return all entries, whatever the value, None where there are none."""
        return self._items or None

    def _insert(self, key: Any, item: Any) -> None:
        at = bisect_right(self._keys, key)
        self._keys.insert(at, key)
        self._items.insert(at, item)

    def _remove(self, key: Any, item: Any) -> None:
        at = self._items.index(item, bisect_left(self._keys, key))
        del self._keys[at], self._items[at]


class HashedEntries(WalkedEntries):
    """The same in the order of a Java HashMap of the values: by bucket, values of one bucket in the order in which they came. The map
    grows with its values and never shrinks while there are any."""

    __slots__ = ("_capacity", "_came", "_hash_of", "_values")

    def __init__(self, hash_of: Callable[[Any], int]) -> None:
        super().__init__()
        self._hash_of = hash_of
        self._values: dict[Hashable, list[int]] = {}
        """By value: its hash, when it came, and how many entries have it."""
        self._capacity = SMALLEST_MAP
        self._came = 0

    def enter(self, value: Hashable, item: Any) -> None:
        known = self._values.get(value)
        if known is None:
            known = self._values[value] = [0 if value is None else spread_hash(self._hash_of(value)), self._came, 0]
            self._came += 1
            if len(self._values) > self._capacity * 3 // 4:
                self._grow()
        known[2] += 1
        self._insert(self._key(known[0], known[1]), item)

    def leave(self, value: Hashable, item: Any) -> None:
        known = self._values[value]
        self._remove(self._key(known[0], known[1]), item)
        known[2] -= 1
        if not known[2]:
            del self._values[value]
            if not self._values:
                self._capacity = SMALLEST_MAP

    def _key(self, spread: int, came: int) -> tuple[int, int, int]:
        return spread & (self._capacity - 1), came, spread

    def _grow(self) -> None:
        """Double the capacity, and sort all entries by their new buckets."""
        self._capacity *= 2
        keys = [self._key(spread, came) for _, came, spread in self._keys]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._keys[:] = [keys[at] for at in order]
        self._items[:] = [self._items[at] for at in order]


def _ascending(value: Any) -> tuple[Any, ...]:
    """Return a key that sorts as Java compares: NaN after all numbers, null last."""
    if value in NO_VALUE:
        return (1,)
    return 0, *((end != end, end) for end in (value if isinstance(value, tuple) else (value,)))


__all__ = ["HashedEntries", "WalkedEntries"]
