"""Where the ways of one search have been. A way that arrives where another one was before, with equal marks and totals, is given up."""
from __future__ import annotations

import hashlib
from typing import Any

from epl.dialects.errors import QueryFailed
from runtime.dialects.frames import Marks

MOST_VISITS = 5_000_000
"""States that one search may visit, however long its partition is."""
LEAST_VISITS = 500_000
"""States that a search may visit in a short partition."""
TIMES_EACH = 4
"""How many states a search of a long partition may visit at each instruction and row."""
MOST_PARTS = 8
"""The longest total that is kept as it is."""
LISTS: frozenset[type[Any]] = frozenset((tuple, list, dict, set))
"""Types of totals that may grow with their rows."""
SIGNS_A_STEP = 1_000
"""Lists count by their length: so many signs are a step more."""


def visits_of(rows: int, instructions: int, most: int = MOST_VISITS) -> int:
    """Return how many states a search may visit: an ambiguous pattern over few rows ends soon, a long partition is searched through."""
    return min(most, max(LEAST_VISITS, TIMES_EACH * rows * instructions))


def digest(value: Any) -> bytes:
    """Return what stands for a value that cannot be in a set, in 16 bytes."""
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


def is_long(total: Any) -> bool:
    """Return whether the total of an aggregate grows with its rows, or cannot be in a set: it is not kept for each state."""
    if isinstance(total, tuple):
        return len(total) > MOST_PARTS or any(map(is_long, total))
    return type(total) in LISTS


class Visited:
    """The states of one search. ``limit``: how many there may be."""

    __slots__ = ("limit", "paths", "spent", "states")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.states: set[Any] = set()
        self.paths: dict[tuple[int, str], int] = {}
        self.spent = 0

    def seen(self, pc: int, row: int, marks: Marks, totals: Marks, path: int) -> bool:
        """Note that a way is here; return whether another one was before. ``path``: the number of its variables, where they matter."""
        key: Any = (pc, row, marks, totals, path)
        for total in totals:
            if type(total) in LISTS and is_long(total):
                written = repr((marks, totals))
                self.spent += len(written) // SIGNS_A_STEP
                key = (pc, row, hashlib.blake2b(written.encode(), digest_size=16).digest(), path)
                break
        states = self.states
        if key in states:
            return True
        states.add(key)
        if len(states) + self.spent > self.limit:
            raise too_many(self.limit)
        return False

    def path(self, before: int, label: str) -> int:
        """Return the number of a way's variables: those of ``before``, and one more."""
        return self.paths.setdefault((before, label), len(self.paths) + 1)


def too_many(limit: int) -> QueryFailed:
    """Return the error of a search that has visited too many states."""
    return QueryFailed(
        "EXCEEDED_PATTERN_LIMIT",
        f"the row pattern is ambiguous: one match needs more than {limit} steps; make its variables exclude each other",
    )


__all__ = ["LEAST_VISITS", "MOST_VISITS", "Visited", "digest", "is_long", "too_many", "visits_of"]
