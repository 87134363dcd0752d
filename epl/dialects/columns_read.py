"""Which columns of its tables a query reads: others are neither converted nor asked for their type."""
from __future__ import annotations

from collections.abc import Iterable

from epl.dialects import plans
from epl.dialects import typed as y
from epl.dialects.plans import Plan

Places = frozenset[int]


def columns_read(plan: Plan) -> dict[str, Places] | None:
    """Return the places of the columns that are read of each table; None where they may be all of all tables: a lateral join, a query
    within a row pattern that refers to rows around it, or a plan that is not known here."""
    reading = _Reading()
    reading.plan(plan, frozenset(range(len(plan.columns))))
    return None if reading.reads_all else {name: frozenset(places) for name, places in reading.tables.items()}


class _Reading:
    """``tables``: places by name. ``reads_all``: see ``columns_read``."""

    def __init__(self) -> None:
        self.tables: dict[str, set[int]] = {}
        self.reads_all = False
        self._around: list[set[int] | None] = []
        """What is read of the row of each query around; None where that is a row pattern's."""
        self._outside: set[tuple[int, int]] = set()
        """Which of these the plan at hand reads: (number of the query around, place)."""
        self._done: dict[tuple[int, Places], frozenset[tuple[int, int]]] = {}
        """What plans read outside, as (queries up from the plan, place): one of ``WITH`` stands wherever it is read, and is read once."""

    def plan(self, plan: Plan, needed: Places) -> None:
        """Add what a plan reads to give the ``needed`` of its columns."""
        at = len(self._around)
        read = self._done.get((id(plan), needed))
        if read is None:
            before, self._outside = self._outside, set()
            self._plan(plan, needed)
            read = self._done[id(plan), needed] = frozenset((at - query, place) for query, place in self._outside if query < at)
            self._outside = before
        for up, place in read:
            self._add_outside(at - up, place)

    def _plan(self, plan: Plan, needed: Places) -> None:
        match plan:
            case plans.SqlTablePlan():
                self.tables.setdefault(plan.name, set()).update(needed)
            case plans.ValuesPlan():
                self._fields(each for row in plan.rows for each in row)
            case plans.UnnestPlan():
                self._fields(plan.arrays)
            case plans.RenamedPlan():
                self.plan(plan.input, needed)
            case plans.SqlJoinPlan() if not plan.is_lateral:
                self._join(plan, needed)
            case plans.SqlSelectPlan():
                self._select(plan, needed)
            case plans.SetPlan():
                everything = frozenset(range(len(plan.columns)))
                self.plan(plan.left, everything)
                self.plan(plan.right, everything)
            case plans.RecognitionPlan():
                self._recognition(plan, needed)
            case _:
                self.reads_all = True

    def _join(self, plan: plans.SqlJoinPlan, needed: Places) -> None:
        shift = len(plan.left.columns)
        places = needed if plan.condition is None else needed | self._fields([plan.condition])
        self.plan(plan.left, frozenset(place for place in places if place < shift))
        self.plan(plan.right, frozenset(place - shift for place in places if place >= shift))

    def _select(self, plan: plans.SqlSelectPlan, needed: Places) -> None:
        """Note what a select reads. An expression is computed although its column is not needed: it may fail."""
        shown = [
            each for place, each in enumerate(plan.projections)
            if plan.distinct or place in needed or not isinstance(each, y.ColumnValue) or any(key.place == place for key in plan.order)
        ]
        outputs = self._fields([*shown, *self._present([plan.having, *(key.typed for key in plan.order)])])
        inner = self._fields(self._present([plan.where]))
        if plan.keys is None:
            inner |= outputs
        else:  # what is shown is of the row of keys and aggregates
            called = [
                each for call in plan.aggregates
                for each in (*call.arguments, *self._present([call.condition, *(key.typed for key in call.order)]))
            ]
            inner |= self._fields([*plan.keys, *called])
        if plan.input is not None:
            self.plan(plan.input, inner)

    def _recognition(self, plan: plans.RecognitionPlan, needed: Places) -> None:
        first_shown = len(plan.columns) - len(plan.shown)
        places = {*plan.partition, *(place for place, _, _ in plan.order), *(() if plan.time is None else (plan.time,))}
        places |= {place for at, place in enumerate(plan.shown, first_shown) if at in needed}
        places |= self._fields(plan.computed) | self._fields([*plan.measures, *plan.defines.values()], of_match=True)
        self.plan(plan.input, frozenset(place for place in places if place < len(plan.input.columns)))

    @staticmethod
    def _present(listed: Iterable[y.Typed | None]) -> list[y.Typed]:
        return [each for each in listed if each is not None]

    def _fields(self, listed: Iterable[y.Typed], *, of_match: bool = False) -> Places:
        """Return the columns of the row at hand, or of rows of the match, that expressions read; adds what queries within them read."""
        places: set[int] = set()
        for typed in [part for each in listed for part in y.walk(each)]:
            if isinstance(typed, y.ColumnValue):
                places.add(typed.index)
            elif isinstance(typed, (y.Navigated, y.MatchTime)):
                places |= set() if typed.column is None else {typed.column}
            elif isinstance(typed, y.Outer):
                self._outer(typed)
            elif isinstance(typed, y.QueryValue):
                self._around.append(None if of_match else places)
                self.plan(typed.plan, frozenset(range(len(typed.plan.columns))))
                self._around.pop()
        return frozenset(places)

    def _outer(self, typed: y.Outer) -> None:
        if typed.depth <= len(self._around):
            self._add_outside(len(self._around) - typed.depth, typed.index)
        else:
            self.reads_all = True

    def _add_outside(self, query: int, place: int) -> None:
        self._outside.add((query, place))
        places = self._around[query]
        if places is None:
            self.reads_all = True
        else:
            places.add(place)


__all__ = ["columns_read"]
