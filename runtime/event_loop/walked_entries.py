"""Entries that an index of Esper's walks through for each event, in the order of their values."""
from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from epl.java_hash import in_hash_order
from windows.buckets import Bucket, put, take

NO_VALUE = (None, ())
"""What stands for a null, and for two ends of which one is null."""


class WalkedEntries:
    """Entries by the values that events are not to have. ``hash_of``: the order is that of a Java HashMap of the values, which never
    shrinks while there are any; None: ascending, null last. Entries of one value come in the order in which they started."""

    __slots__ = ("_buckets", "_hash_of", "_known", "_most", "_order")

    def __init__(self, hash_of: Callable[[Any], int] | None) -> None:
        self._hash_of = hash_of
        self._buckets: dict[Hashable, Bucket] = {}
        self._most = 0
        self._order: list[Any] | None = None
        """The values in order, as long as none comes or goes."""
        self._known: list[Any] | None = None

    def enter(self, value: Hashable, item: Any) -> None:
        if put(self._buckets, value, item):
            self._order = None
        self._most = max(self._most, len(self._buckets))
        self._known = None

    def leave(self, value: Hashable, item: Any) -> None:
        self._known = None
        if take(self._buckets, value, item):
            self._order = None
        if not self._buckets:
            self._most = 0

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def find(self, value: Any) -> list[Any] | None:
        """Return all entries, whatever the value, None where there are none."""
        if self._known is None:
            if self._order is None:
                self._order = self._in_order()
            buckets = self._buckets
            self._known = [item for each in self._order for item in buckets[each]]
        return self._known or None

    def _in_order(self) -> list[Any]:
        values: list[Any] = list(self._buckets)
        hash_of = self._hash_of
        if hash_of is None:
            return sorted(values, key=_ascending)
        return [values[place] for place in in_hash_order((0 if each is None else hash_of(each) for each in values), self._most)]


def _ascending(value: Any) -> tuple[Any, ...]:
    """Return a key that sorts as Java compares: NaN after all numbers."""
    if value in NO_VALUE:
        return (1,)
    return 0, *((end != end, end) for end in (value if isinstance(value, tuple) else (value,)))


__all__ = ["WalkedEntries"]
