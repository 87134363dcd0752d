"""How many rows a query may make: its text is short, a product of its tables is not."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from epl.dialects import plans
from epl.dialects.errors import QueryFailed
from epl.dialects.plans import Plan, RecognitionPlan
from runtime.dialects.limits import QueryLimits

HINT = "max_rows=… of the call allows more"


class RowLimit:
    """The limit of one query; it grows with the tables that the query reads."""

    def __init__(self, limits: QueryLimits) -> None:
        self.most = limits.rows
        self._elements = 0

    def read(self, rows: int) -> None:
        """Note that the query reads a table of so many rows."""
        self.most += rows

    def check(self, rows: int, what: str) -> None:
        """Refuse to make so many rows."""
        if rows > self.most:
            raise _too_many(what, self.most)

    def check_foreseen(self, query: Plan, sizes: Mapping[str, int]) -> None:
        """Refuse a query that is known to make too many rows, before it makes any. ``sizes``: rows of the tables."""
        counts: dict[int, tuple[Plan, int]] = {}
        _count_least(query, sizes, counts)
        most = self.most + sum(count for plan, count in counts.values() if isinstance(plan, plans.SqlTablePlan))
        for plan, count in counts.values():
            what = "a join" if isinstance(plan, plans.SqlJoinPlan) else plan.kind.upper() if isinstance(plan, plans.SetPlan) else None
            if count > most and what is not None:
                raise _too_many(what, most)

    def extend(self, listed: list[tuple[Any, ...]], rows: Iterable[tuple[Any, ...]], arrays: Sequence[int]) -> None:
        """Add rows of a clause to a list as long as it is not too long, nor what is in the arrays at these places."""
        if arrays:
            rows = self._count_rows(rows, arrays)
        listed.extend(islice(rows, self.most + 1 - len(listed)))
        self.check(len(listed), "MATCH_RECOGNIZE")

    def _count_rows(self, rows: Iterable[tuple[Any, ...]], arrays: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self._elements += sum([len(row[place] or ()) for place in arrays])
            if self._elements > self.most:
                raise QueryFailed("EXCEEDED_LOCAL_MEMORY_LIMIT", f"arrays of more than {self.most} elements are not made", hint=HINT)
            yield row


def _too_many(what: str, most: int) -> QueryFailed:
    return QueryFailed("EXCEEDED_LOCAL_MEMORY_LIMIT", f"{what} of more than {most} rows is not made", hint=HINT)


def _count_least(plan: Plan, sizes: Mapping[str, int], counts: dict[int, tuple[Plan, int]]) -> int:
    """Return how many rows a plan makes at least, as far as sizes of tables say so without their rows. ``counts`` gets it and those of the
    plans that it reads, by their ids, each once."""
    known = counts.get(id(plan))
    if known is not None:
        return known[1]

    def least(input: Plan) -> int:
        return _count_least(input, sizes, counts)

    match plan:
        case plans.SqlTablePlan():
            count = sizes.get(plan.name, 0)
        case plans.ValuesPlan():
            count = len(plan.rows)
        case plans.RenamedPlan():
            count = least(plan.input)
        case plans.SqlJoinPlan():
            left, right = least(plan.left), 0 if plan.is_lateral else least(plan.right)
            outer = max(left if plan.kind in ("left", "full") else 0, right if plan.kind in ("right", "full") else 0)
            count = outer if plan.condition is not None or plan.is_lateral else left * right
        case plans.SetPlan():
            left, right = least(plan.left), least(plan.right)
            count = left + right if plan.kind == "union" and plan.keeps_all and plan.limit is None else 0
        case plans.SqlSelectPlan():
            count = 1 if plan.input is None else least(plan.input)
            if plan.where or plan.having or plan.distinct or plan.keys is not None or plan.limit is not None:
                count = 0
        case RecognitionPlan():
            least(plan.input)
            count = 0
        case _:
            count = 0
    counts[id(plan)] = plan, max(0, count - (getattr(plan, "offset", None) or 0))
    return counts[id(plan)][1]


def array_places(plan: RecognitionPlan, before: int) -> list[int]:
    """Return the places of measures that are arrays or maps in the rows of a clause; ``before``: columns that precede the measures."""
    return [before + place for place, measure in enumerate(plan.measures) if measure.type.name in ("array", "map")]


__all__ = ["RowLimit", "array_places"]
