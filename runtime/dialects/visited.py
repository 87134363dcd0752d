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
EXCEEDED = "EXCEEDED_PATTERN_LIMIT"
TIMES_EACH = 4
"""How many states a search of a long partition may visit at each instruction and row."""
MOST_PARTS = 8
"""The longest total that is kept as it is."""
MOST_OF_A_PARTITION = 4
"""How many times the steps of one match all matches of a partition may need."""
LISTS: frozenset[type[Any]] = frozenset((tuple, list, dict, set))
"""Types of totals that may grow with their rows."""
SIGNS_A_STEP = 1_000
"""Lists count by their length: so many signs are a step more."""


def visit_limit(rows: int, instructions: int, most: int = MOST_VISITS) -> int:
    """Return how many states a search may visit: an ambiguous pattern over few rows ends soon, a long partition is searched through."""
    return min(most, max(LEAST_VISITS, TIMES_EACH * rows * instructions))


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

    def visit(self, pc: int, row: int, marks: Marks, totals: Marks, path: int) -> bool:
        """Note that a way is here; return whether another one was before. ``path``: the number of its variables, where they matter."""
        key = self._key(pc, row, marks, totals, path)
        states = self.states
        if key in states:
            return True
        states.add(key)
        if len(states) + self.spent > self.limit:
            raise too_many(self.limit)
        return False

    @property
    def count(self) -> int:
        """How many steps the search has taken."""
        return len(self.states) + self.spent

    def _key(self, pc: int, row: int, marks: Marks, totals: Marks, path: int) -> Any:
        """Return what two ways have in common that go on alike."""
        for total in totals:
            if type(total) in LISTS and is_long(total):
                written = repr((marks, totals))
                self.spent += len(written) // SIGNS_A_STEP
                return pc, row, hashlib.blake2b(written.encode(), digest_size=16).digest(), path
        return pc, row, marks, totals, path

    def forget(self, pc: int, row: int, marks: Marks, totals: Marks, path: int) -> None:
        """Forget that a way was here: it waits, and comes again."""
        self.states.discard(self._key(pc, row, marks, totals, path))

    def path(self, before: int, label: str) -> int:
        """Return the number of a way's variables: those of ``before``, and one more."""
        return self.paths.setdefault((before, label), len(self.paths) + 1)


def too_many(limit: int, searched: str = "match") -> QueryFailed:
    """Return the error of a search that has visited too many states."""
    return QueryFailed(
        EXCEEDED,
        f"the row pattern is ambiguous: one {searched} needs more than {limit} steps; make its variables exclude each other",
    )


def is_exceeded(error: Exception) -> bool:
    """Return whether a search, or the partial matches of a partition, needed more than their limit."""
    return isinstance(error, QueryFailed) and error.sql_code == EXCEEDED


__all__ = ["EXCEEDED", "LEAST_VISITS", "MOST_OF_A_PARTITION", "MOST_VISITS", "Visited", "is_exceeded", "is_long", "too_many", "visit_limit"]
