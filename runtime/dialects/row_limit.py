"""How many rows a query may make: its text is short, a product of its tables is not."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from epl.dialects.errors import QueryFailed
from epl.dialects.plans import RecognitionPlan

MOST_ROWS = 10_000_000
"""Rows of one join, union or clause, beyond those of the query's tables; elements of arrays in the rows of a clause."""


class RowLimit:
    """The limit of one query; it grows with the tables that the query reads."""

    def __init__(self) -> None:
        self.most = MOST_ROWS
        self._elements = 0

    def read(self, rows: int) -> None:
        """Note that the query reads a table of so many rows."""
        self.most += rows

    def check(self, rows: int, what: str) -> None:
        """Refuse to make so many rows."""
        if rows > self.most:
            raise QueryFailed("EXCEEDED_LOCAL_MEMORY_LIMIT", f"{what} of more than {self.most} rows is not made")

    def extend(self, listed: list[tuple[Any, ...]], rows: Iterable[tuple[Any, ...]], arrays: Sequence[int]) -> None:
        """Add rows of a clause to a list as long as it is not too long, nor what is in the arrays at these places."""
        if arrays:
            rows = self._counted(rows, arrays)
        listed.extend(islice(rows, self.most + 1 - len(listed)))
        self.check(len(listed), "MATCH_RECOGNIZE")

    def _counted(self, rows: Iterable[tuple[Any, ...]], arrays: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self._elements += sum([len(row[place] or ()) for place in arrays])
            if self._elements > self.most:
                raise QueryFailed("EXCEEDED_LOCAL_MEMORY_LIMIT", f"arrays of more than {self.most} elements are not made")
            yield row


def arrays_of(plan: RecognitionPlan, before: int) -> list[int]:
    """Return the places of measures that are arrays or maps in the rows of a clause; ``before``: columns that precede the measures."""
    return [before + place for place, measure in enumerate(plan.measures) if measure.type.name in ("array", "map")]


__all__ = ["MOST_ROWS", "RowLimit", "arrays_of"]
