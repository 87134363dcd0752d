"""Plans → rows."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any, Protocol

import attrs

from epl.dialects import plans
from epl.dialects import typed as y
from epl.dialects import values as v
from epl.dialects.plans import Plan
from epl.dialects.types import SqlType
from epl.dialects.values import hashable
from runtime.dialects.expressions import ExpressionCompiler, Function
from runtime.dialects.flink_recognition import FlinkRecognition
from runtime.dialects.limits import USUAL, QueryLimits
from runtime.dialects.matcher import MOST_VISITS
from runtime.dialects.recognition import Recognition, with_computed
from runtime.dialects.row_limit import RowLimit
from runtime.dialects.sorting import sort
from runtime.dialects.step_limit import StepLimit
from runtime.dialects.ydb_recognition import YdbRecognition

Row = tuple[Any, ...]


class ByColumns(Protocol):
    """What runs plans over whole columns, where that can be done."""

    def table(self, plan: Plan, limits: QueryLimits) -> Any:
        """Return the result of a whole query as an Arrow table; None where it is to be run row by row."""

    def rows(self, plan: plans.RecognitionPlan, limits: QueryLimits) -> Sequence[Row] | None:
        """Return the rows of a clause; None where it is to be run row by row."""


class Execution:
    """Runs the plans of one query over tables: name → rows."""

    def __init__(
        self, tables: Mapping[str, Sequence[Row]], *, sizes: Mapping[str, int] | None = None, most_visits: int = MOST_VISITS,
        by_columns: ByColumns | None = None, limits: QueryLimits = USUAL,
    ) -> None:  # fmt: skip
        self.tables = tables
        self.sizes = sizes
        """How many rows the tables have, where that is known before they are made."""
        self.by_columns = by_columns
        self.most_visits = most_visits
        self.limits = limits
        self.limit = RowLimit(limits)
        self.steps = StepLimit(limits)
        self.compiler = ExpressionCompiler(self)
        self.outers: list[Row] = []
        self._shared: Mapping[int, Plan] | None = None
        """By their ids the plans that the query has in several places: queries of WITH."""
        self._kept: dict[int, Sequence[Row]] = {}
        """The rows of those that have been run."""

    def rows(self, plan: Plan) -> Sequence[Row]:
        """Return the rows of a plan; the first one is the query. What a query has in several places is run once, unless it is within a
        sub-query whose rows it may read."""
        if self._shared is None:
            self._shared = in_several_places(plan)
            if self.sizes is not None:
                self.limit.check_foreseen(plan, self.sizes)
        place = id(plan)
        rows = self._kept.get(place)
        if rows is None:
            rows = self._run(plan)
            if place in self._shared and not self.outers:
                self._kept[place] = rows
        if self.outers:
            self.steps.take(len(rows))
        return rows

    def _run(self, plan: Plan) -> Sequence[Row]:
        match plan:
            case plans.SqlTablePlan():
                return self._table(plan.name)
            case plans.ValuesPlan():
                return [tuple([self.compiler.compile_expression(item)(()) for item in row]) for row in plan.rows]
            case plans.UnnestPlan():
                return self._unnest(plan)
            case plans.RenamedPlan():
                return self.rows(plan.input)
            case plans.SqlJoinPlan():
                return self._join(plan)
            case plans.SqlSelectPlan():
                return self._select(plan)
            case plans.SetPlan():
                return self._set(plan)
            case plans.RecognitionPlan():
                return self._recognition(plan)
            case _:
                raise TypeError(type(plan).__name__)

    def _table(self, name: str) -> Sequence[Row]:
        rows = self.tables[name]
        if not self.outers:  # a query within another one reads it for each of its rows
            self.limit.read(len(rows))
            self.steps.read(len(rows))
        return rows

    def _recognition(self, plan: plans.RecognitionPlan) -> Sequence[Row]:
        known = None if self.by_columns is None else self.by_columns.rows(plan, self.limits)
        if known is not None:
            return known
        rows = with_computed(plan, self.rows(plan.input), self)
        if plan.dialect in ("flink", "alibaba"):
            return FlinkRecognition(plan, self).rows(rows, self.steps)
        if plan.dialect == "ydb":
            return YdbRecognition(plan, self, self.most_visits).rows(rows, self.limit, self.steps)
        return Recognition(plan, self, self.most_visits).rows(rows, self.limit, self.steps)

    # select

    def _select(self, plan: plans.SqlSelectPlan) -> Sequence[Row]:
        rows: Sequence[Row] = [()] if plan.input is None else self.rows(plan.input)
        if plan.where is not None:
            condition = self.compiler.compile_expression(plan.where)
            rows = [row for row in rows if condition(row) is True]
        if plan.keys is not None:
            rows = self._group(plan, rows)
        if plan.having is not None:
            having = self.compiler.compile_expression(plan.having)
            rows = [row for row in rows if having(row) is True]
        outputs = self._project(plan, rows)
        if not plan.distinct:
            return self._order(outputs, rows, plan)
        pairs = list({hashable(output): (output, row) for output, row in zip(reversed(outputs), reversed(rows))}.values())[::-1]
        return self._order([output for output, _ in pairs], [row for _, row in pairs], plan)

    def _project(self, plan: plans.SqlSelectPlan, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the output of each row; rows that are shown as they are stay what they are."""
        places = [each.index for each in plan.projections if isinstance(each, y.ColumnValue)]
        if rows and len(places) == len(plan.projections):
            if places == list(range(len(rows[0]))):
                return rows
            if len(places) > 1:
                return list(map(itemgetter(*places), rows))
        functions = [self.compiler.compile_expression(each) for each in plan.projections]
        return [tuple([function(row) for function in functions]) for row in rows]

    def _order(self, outputs: Sequence[Row], rows: Sequence[Row], plan: plans.SqlSelectPlan | plans.SetPlan) -> Sequence[Row]:
        """Return the outputs of rows in the order of the plan, no more than it shows."""
        begin = plan.offset or 0
        end = None if plan.limit is None else begin + plan.limit
        if not plan.order:
            return outputs if begin == 0 and end is None else outputs[begin:end]
        keys = [(self._key(key), key.descending, key.nulls_first) for key in plan.order]
        pairs = list(zip(outputs, rows))
        sort(pairs, keys)
        if end is not None and plan.ties and begin < end < len(pairs):
            last = [read(pairs[end - 1]) for read, _, _ in keys]
            while end < len(pairs) and [read(pairs[end]) for read, _, _ in keys] == last:
                end += 1
        return [output for output, _ in pairs[begin:end]]

    def _key(self, key: plans.SqlOrderKey) -> Callable[[tuple[Row, Row]], Any]:
        place = key.place
        if place is not None:
            return lambda pair: pair[0][place]
        assert key.typed is not None
        function = self.compiler.compile_expression(key.typed)
        return lambda pair: function(pair[1])

    def _group(self, plan: plans.SqlSelectPlan, rows: Sequence[Row]) -> list[Row]:
        """Return the rows of keys and aggregates, groups in the order of their first rows."""
        keys = [self.compiler.compile_expression(key) for key in plan.keys or ()]
        groups: dict[Any, tuple[Row, list[Row]]] = {}
        for row in rows:
            key = tuple([function(row) for function in keys])
            for chosen in [key] if plan.sets is None else _in_sets(key, plan.sets):
                groups.setdefault(hashable(chosen), (chosen, []))[1].append(row)
        for empty in [()] if not keys else [
            key for key, chosen in zip(_in_sets((None,) * len(keys), plan.sets or ()), plan.sets or ()) if not chosen
        ]:
            groups.setdefault(empty, (empty, []))
        calls = [
            (call.aggregate, [self.compiler.compile_expression(each) for each in call.arguments],
             None if call.condition is None else self.compiler.compile_expression(call.condition),
             [(self.compiler.compile_expression(key.typed), key.descending,
             key.nulls_first) for key in call.order if key.typed is not None])
            for call in plan.aggregates
        ]  # fmt: skip
        return [(*key, *(self._total(each, members) for each in calls)) for key, members in groups.values()]

    @staticmethod
    def _total(call: tuple[Any, list[Function], Function | None, list[tuple[Function, bool, bool]]], rows: Sequence[Row]) -> Any:
        aggregate, arguments, condition, order = call
        if order:
            rows = list(rows)
            sort(rows, order)
        state = aggregate.start
        for row in rows:
            if condition is not None and condition(row) is not True:
                continue
            values = tuple([argument(row) for argument in arguments])
            if aggregate.counts_null or None not in values:
                state = aggregate.add(state, values)
        return aggregate.result(state)

    # joins and sets

    def _unnest(self, plan: plans.UnnestPlan) -> list[Row]:
        """Return the elements side by side, nulls where an array has no more."""
        columns: list[list[Any]] = []
        for each in plan.arrays:
            value = self.compiler.compile_expression(each)(())
            if isinstance(value, dict) or each.type.name == "map":
                columns += [list(value or ()), list((value or {}).values())]
                continue
            element = each.type.arguments[0]
            assert isinstance(element, SqlType)
            if element.name == "row":
                size = len(element.arguments)
                columns += [[None if row is None else row[place] for row in value or ()] for place in range(size)]
            else:
                columns.append(list(value or ()))
        rows = list(zip_longest(*columns))
        return [(*row, number) for number, row in enumerate(rows, 1)] if plan.is_numbered else rows

    def _lateral(self, plan: plans.SqlJoinPlan) -> list[Row]:
        condition = None if plan.condition is None else self.compiler.compile_expression(plan.condition)
        nothing = (None,) * len(plan.right.columns)
        joined: list[Row] = []
        for one in self.rows(plan.left):
            self.outers.append(one)
            try:
                partners = [(*one, *other) for other in self.rows(plan.right)]  # which counts the steps
            finally:
                self.outers.pop()
            partners = [row for row in partners if condition is None or condition(row) is True]
            self.limit.check(len(joined) + len(partners), "a join")
            joined.extend(partners or ([(*one, *nothing)] if plan.kind == "left" else []))
        return joined

    def _join(self, plan: plans.SqlJoinPlan) -> list[Row]:
        if plan.is_lateral:
            return self._lateral(plan)
        left, right = self.rows(plan.left), self.rows(plan.right)
        if plan.condition is None:
            self.limit.check(len(left) * len(right), "a join")
        condition = None if plan.condition is None else self.compiler.compile_expression(plan.condition)
        no_left, no_right = (None,) * len(plan.left.columns), (None,) * len(plan.right.columns)
        joined: list[Row] = []
        used: set[int] = set()
        candidates = _candidates(plan, right)
        for one in left:
            tried = candidates(one)
            self.steps.take(len(tried))
            partners = [place for place in tried if condition is None or condition((*one, *right[place])) is True]
            self.limit.check(len(joined) + len(partners), "a join")
            used.update(partners)
            joined.extend((*one, *right[place]) for place in partners)
            if not partners and plan.kind in ("left", "full"):
                joined.append((*one, *no_right))
        if plan.kind in ("right", "full"):
            joined.extend((*no_left, *other) for place, other in enumerate(right) if place not in used)
        return joined

    def _set(self, plan: plans.SetPlan) -> Sequence[Row]:
        left = self._as(plan, plan.left)
        if plan.kind == "all":
            rows = left
        else:
            right = self._as(plan, plan.right)
            self.limit.check(len(left) + len(right), plan.kind.upper())
            rows = _combine_rows(plan, left, right)
        return self._order(rows, rows, plan)

    def _as(self, plan: plans.SetPlan, side: Plan) -> Sequence[Row]:
        rows = self.rows(side)
        casts = [v.cast(mine.type, column.type) if mine.type != column.type else None for mine, column in zip(side.columns, plan.columns)]
        if not any(casts):
            return rows
        return [tuple([value if cast is None or value is None else cast(value) for value, cast in zip(row, casts)]) for row in rows]


def in_several_places(query: Plan) -> dict[int, Plan]:
    """Return the plans that a query has in more than one place, by their ids; each is looked through once."""
    seen: set[int] = set()
    several: dict[int, Plan] = {}
    waiting: list[Any] = [query]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, tuple):
            waiting += node
        elif attrs.has(type(node)):
            if id(node) not in seen:
                seen.add(id(node))
                waiting += [getattr(node, field.name) for field in attrs.fields(type(node))]
            elif isinstance(node, Plan):
                several[id(node)] = node
    return several


def _candidates(plan: plans.SqlJoinPlan, right: Sequence[Row]) -> Callable[[Row], Sequence[int]]:
    """Return the function that gives the rows of the right side that may join one of the left: those with equal columns, where the
    condition asks for such, else all."""
    pairs = _equal_columns(plan)
    if not pairs:
        every = range(len(right))
        return lambda row: every
    by_key: dict[Any, list[int]] = {}
    for place, row in enumerate(right):
        key = [row[mine] for _, mine in pairs]
        if None not in key:
            by_key.setdefault(hashable(key), []).append(place)
    return lambda row: by_key.get(hashable([row[mine] for mine, _ in pairs]), ())


def _equal_columns(plan: plans.SqlJoinPlan) -> list[tuple[int, int]]:
    shift, pairs = len(plan.left.columns), []
    conjuncts = [plan.condition]
    while conjuncts:
        each = conjuncts.pop()
        if isinstance(each, y.Junction) and each.is_all:
            conjuncts += each.operands
        elif isinstance(each, y.Apply) and each.operation == "=" and all(isinstance(side, y.ColumnValue) for side in each.arguments):
            places = sorted(side.index for side in each.arguments if isinstance(side, y.ColumnValue))
            if places[0] < shift <= places[1]:
                pairs.append((places[0], places[1] - shift))
    return pairs


def _in_sets(key: Row, sets: Sequence[tuple[int, ...]]) -> list[Row]:
    """Return the key of each grouping set: other keys are null, the last one is the number of the set."""
    last = len(key) - 1
    return [(*(key[place] if place in chosen else None for place in range(last)), number) for number, chosen in enumerate(sets)]


def _combine_rows(plan: plans.SetPlan, left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
    if plan.kind == "union":
        rows = [*left, *right]
        return rows if plan.keeps_all else list({hashable(row): row for row in rows}.values())
    counts: dict[Any, int] = {}
    for row in right:
        counts[hashable(row)] = counts.get(hashable(row), 0) + 1
    if not plan.keeps_all:
        once = {hashable(row): row for row in left}
        return [row for key, row in once.items() if (key in counts) == (plan.kind == "intersect")]
    kept = []
    for row in left:
        key = hashable(row)
        has_partner = counts.get(key, 0) > 0
        if has_partner:
            counts[key] -= 1
        if has_partner == (plan.kind == "intersect"):
            kept.append(row)
    return kept


__all__ = ["ByColumns", "Execution"]
