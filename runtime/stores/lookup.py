"""A look-up plan over rows → a function that finds them."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from epl.plan.lookups import LookupPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_predicate
from runtime.stores.indexes import IndexedRows
from windows.event import Event

LookUp = Callable[[Sequence["Event | None"]], Iterable[Event]]
"""look_up(partial row) → the rows sought. The partial row has an event (or None) of each stream; that of the stream sought is not read.
Iterate over the result before the rows change."""


def compile_lookup(plan: LookupPlan, rows: IndexedRows, environment: Environment, arity: int) -> LookUp:
    """Return the function that finds the rows of stream ``plan.sought`` among ``rows``, in a row of ``arity`` streams."""
    tests = [compile_predicate(condition, environment, arity) for condition in plan.conditions]
    sought = plan.sought

    def look_up(partial: Sequence[Event | None]) -> Iterable[Event]:
        before, after = partial[:sought], partial[sought + 1:]
        return [row for row in rows if all(test(*before, row, *after) for test in tests)]

    return look_up


__all__ = ["LookUp", "compile_lookup"]
