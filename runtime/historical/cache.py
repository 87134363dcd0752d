"""Caches of look-ups, by their arguments: the least recently used entries go first, or entries expire by engine time."""
from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Protocol

import attrs

from epl.durations import Duration, duration_units
from epl.errors import EplRuntimeError
from runtime.expressions.environment import EngineClock


class Cache(Protocol):
    """Results by key. Each stream of each statement has one of its own."""

    def get(self, key: Any) -> Any:
        """Return the result of a key, None where there is none."""

    def put(self, key: Any, result: Any) -> None: ...

    def __len__(self) -> int: ...


class CacheConfig(Protocol):
    """How a source caches what its look-ups returned: LruCache or ExpiryCache."""

    def build(self, clock: EngineClock, units_per_second: int) -> Cache: ...


def _positive(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{field.name} of a cache is a whole number of at least 1, not {value!r}")


@attrs.frozen
class LruCache:
    """Keep the results of the last different arguments (Esper's LRU cache).

    Attributes:
        size: How many.

    Examples:
        >>> LruCache(100)
        LruCache(size=100)
    """

    size: int = attrs.field(validator=_positive)

    def build(self, clock: EngineClock, units_per_second: int) -> Cache:
        return LruResults(self.size)


@attrs.frozen
class ExpiryCache:
    """Keep a result for some engine time (Esper's expiry-time cache). Older results are not used; they are removed from memory at the first
    look-up after each ``purge_interval``.

    Attributes:
        max_age: ``"10 seconds"``, a timedelta or engine units.
        purge_interval: The same; default ``max_age``.
        size: The most results; the oldest are dropped.

    Raises:
        EplRuntimeError: A duration is not positive.

    Examples:
        >>> ExpiryCache("10 seconds", size=100)
        ExpiryCache(max_age='10 seconds', purge_interval=None, size=100)
    """

    max_age: Duration
    purge_interval: Duration | None = None
    size: int = attrs.field(default=100_000, validator=_positive)

    def __attrs_post_init__(self) -> None:
        self.build(_Zero(), 1000)

    def build(self, clock: EngineClock, units_per_second: int) -> Cache:
        age = duration_units("max_age of a cache", self.max_age, units_per_second)
        interval = age if self.purge_interval is None else duration_units("purge_interval of a cache", self.purge_interval,
            units_per_second)
        if age <= 0 or interval <= 0:
            raise EplRuntimeError("max_age and purge_interval of a cache are greater than 0")
        return ExpiringResults(clock, age, interval, self.size)


class _Zero:
    now = 0


class LruResults:
    """Several threads may iterate over a statement of historical streams alone: a lock is held while entries change, not during calls.

    >>> results = LruResults(2)
    >>> results.put("a", 1); results.put("b", 2); results.get("a"); results.put("c", 3)
    1
    >>> results.get("b"), results.get("a"), len(results)
    (None, 1, 2)
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[Any, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Any) -> Any:
        with self._lock:
            result = self._results.get(key)
            if result is not None:
                self._results.move_to_end(key)
            return result

    def put(self, key: Any, result: Any) -> None:
        with self._lock:
            self._results[key] = result
            if len(self._results) > self._size:
                self._results.popitem(last=False)

    def __len__(self) -> int:
        return len(self._results)


class ExpiringResults:
    """Results with the engine time of their look-up, in the order of the look-ups."""

    def __init__(self, clock: EngineClock, max_age: int, purge_interval: int, size: int) -> None:
        self._clock, self._max_age, self._interval, self._size = clock, max_age, purge_interval, size
        self._results: dict[Any, tuple[int, Any]] = {}
        self._purged = clock.now
        self._lock = Lock()

    def get(self, key: Any) -> Any:
        now = self._clock.now
        with self._lock:
            if now - self._purged >= self._interval:
                self._purged = now
                self._results = {k: entry for k, entry in self._results.items() if now - entry[0] <= self._max_age}
            entry = self._results.get(key)
        return None if entry is None or now - entry[0] > self._max_age else entry[1]

    def put(self, key: Any, result: Any) -> None:
        with self._lock:
            self._results.pop(key, None)
            self._results[key] = (self._clock.now, result)
            if len(self._results) > self._size:
                del self._results[next(iter(self._results))]

    def __len__(self) -> int:
        return len(self._results)


__all__ = ["Cache", "CacheConfig", "ExpiringResults", "ExpiryCache", "LruCache", "LruResults"]
