"""The rows of a named window as fire-and-forget queries look them up."""
from __future__ import annotations

from epl.plan.join.lookups import IndexPlan, LookupPlan
from runtime.expressions import Environment
from runtime.stores.indexes import IndexedRows, LentRows, StoreIndex

MOST_KEPT = 8
"""Indexes of one window that are kept for later queries; each costs time with every row that comes or goes."""
MOST_ASKED = 64
"""Indexes that a single query would have used, of which the window remembers it."""


class QueriedRows(LentRows):
    """The rows of a window. Indexes that queries ask for stay, the last ``MOST_KEPT`` of them, since queries come and go. They are no
    state: they are built again.

    A prepared query has its index built at once, a single one from the second time on: it reads all rows the first time, which costs less
    than an index. ``generation`` changes when an index is dropped, so that look-ups are compiled again.
    """

    __slots__ = ("generation", "_kept", "_asked_once")

    def __init__(self, lender: IndexedRows) -> None:
        super().__init__(lender)
        self.generation = 0
        self._kept: dict[IndexPlan, StoreIndex] = {}
        self._asked_once: dict[IndexPlan, None] = {}

    def is_worth_it(self, plan: LookupPlan) -> bool:
        """Return whether a single query should use the indexes: where they are there, or would have been of use before."""
        there = self._lender.indexes
        missing = [index for index in plan.indexes if index not in there and index not in self._asked_once]
        self._asked_once.update(dict.fromkeys(missing))
        while len(self._asked_once) > MOST_ASKED:
            del self._asked_once[next(iter(self._asked_once))]
        return not missing

    def touch(self, plan: LookupPlan) -> None:
        """Note that a query uses the indexes again."""
        for index in plan.indexes:
            if index in self._kept:
                self._kept[index] = self._kept.pop(index)

    # ------------------------------------------------------------------ as look-ups use them

    def index(self, plan: IndexPlan, environment: Environment) -> StoreIndex:
        """Return the index; drop that which was not used for longest. One that may refuse rows belongs to the statement that created it:
        it is not kept for longer."""
        if plan.unique or plan.space:
            index = self._lender.index(plan, environment)
            self._lender.release(plan)
            return index
        kept = self._kept.pop(plan, None)
        self._kept[plan] = index = self._lender.index(plan, environment) if kept is None else kept
        while len(self._kept) > MOST_KEPT:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._lender.release(oldest)
            self.generation += 1
        return index

    def release(self, plan: IndexPlan) -> None:
        """Do nothing: the index stays for later queries."""

    @property
    def indexes(self) -> tuple[IndexPlan, ...]:
        return self._lender.indexes


__all__ = ["MOST_KEPT", "QueriedRows"]
