"""rollup, cube and grouping sets: a row for each touched group of each level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.result_set import GroupLevel, ResultSetPlan
from runtime.aggregation.factory import Row, row_function
from runtime.aggregation.grouped import KeyedAggregator
from runtime.aggregation.groups import GroupFactory, each
from runtime.aggregation.keys import key_evaluator
from runtime.aggregation.state_shapes import key_shape
from runtime.expressions import Environment
from runtime.result_set.projection import OutputRows, Projection
from runtime.result_set.shapes import ResultSet, table_aggregator
from runtime.stores.table import TableAggregator
from windows.event import Event
from windows.keys import freeze
from windows.protocol import State
from windows.shape import ANYTHING, takes


class Level:
    """One grouping: its groups and its columns, in which the keys that it omits are null."""

    def __init__(self, level: GroupLevel, plan: ResultSetPlan, environment: Environment, groups: KeyedAggregator | TableAggregator) -> None:
        self.key = groups.key
        self.groups = groups
        self.projection = Projection(plan, level.columns, level.having, level.order_by, environment)

    def rows(self, touched: Iterable[tuple[Any, Row]], insert_stream: bool, batch: OutputRows) -> None:
        """Add a row for each (key, row), with the aggregations as they are."""
        readers_of = self.groups.group_readers
        self.projection.collect([(row, readers_of(key)) for key, row in touched], insert_stream, batch)


class GroupThatStays(KeyedAggregator):
    """The group of the level without keys. As in Esper its aggregations go on when it has been empty: those of all rows that ever were."""

    def drop_empty(self) -> None:
        self.empty.clear()


Values = Callable[[Row], Sequence[Any]]
"""Row → values of the group-by expressions."""


def _groups(level: GroupLevel, plan: ResultSetPlan, environment: Environment, factory: GroupFactory, values: Values) -> KeyedAggregator:
    positions = level.keys
    check_key = key_shape([plan.group_by[place].type for place in positions], several=True)
    kind = KeyedAggregator if positions else GroupThatStays
    return kind(
        factory, lambda row: _pick(values(row), positions), counted=not plan.unbound, check_key=check_key
    )


def _pick(values: Sequence[Any], positions: Sequence[int]) -> tuple[Any, ...]:
    return tuple([freeze(values[p]) for p in positions])


def _table_key(level: GroupLevel, plan: ResultSetPlan, values: Values) -> Callable[[Row], Any]:
    """Return row → key of the table's row, in which the keys that the level omits are null."""
    kept = [place in level.keys for place in range(len(plan.group_by))]
    return key_evaluator(
        [each.type for each in plan.group_by], lambda row: [value if keep else None for value, keep in zip(values(row), kept)]
    )


Touched = list[dict[Any, Row]]


class Rollup(ResultSet):
    """Levels in the order of the group-by clause; within a level, groups in the order in which the delta touches them."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self._starts_again = plan.starts_again
        evaluated = row_function(plan.group_by, environment, plan.arity)

        def values(row: Row) -> Sequence[Any]:
            return evaluated(row, True, ())

        self.key: Callable[[Row], Any] = lambda row: tuple([freeze(value) for value in values(row)])
        if plan.into is None:
            factory = GroupFactory(plan.aggregations, environment, plan.arity, rows_leave=not plan.unbound)
            self.levels = [Level(each, plan, environment, _groups(each, plan, environment, factory, values)) for each in plan.levels]
        else:
            keys = [_table_key(each, plan, values) for each in plan.levels]
            self.levels = [
                Level(each, plan, environment, table_aggregator(plan, environment, key)) for each, key in zip(plan.levels, keys)
            ]

    def begin(self) -> None:
        """Begin a delta: the aggregations of a unidirectional join start again."""
        if self._starts_again:
            for level in self.levels:
                level.groups.clear()

    def apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.begin()
        self._apply(new, old)

    def _apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        each([level.groups.apply for level in self.levels], new, old)

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        self.begin()
        try:
            touched = self._touch_groups((new, old))
            if self.needs_old:
                self._rows(touched, False, old_rows)
        except Exception:
            self._apply(new, old)
            raise
        self._apply(new, old)
        if self.needs_new:
            self._rows(touched, True, new_rows)

    def _touch_groups(self, parts: Iterable[Iterable[Row]]) -> Touched:
        touched: Touched = [{} for _ in self.levels]
        for rows in parts:
            for row in self.levels[0].groups.countable_rows(list(rows)):
                for level, groups in zip(self.levels, touched):
                    groups[level.key(row)] = row
        return touched

    def _rows(self, touched: Touched, insert_stream: bool, batch: OutputRows) -> None:
        for level, groups in zip(self.levels, touched):
            level.rows(groups.items(), insert_stream, batch)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        batch = OutputRows()
        self._rows(self._touch_groups((contents,)), True, batch)
        return self.finish(batch)

    def state(self) -> State:
        return [level.groups.state() for level in self.levels]

    @takes([ANYTHING])
    def restore(self, state: State) -> None:
        for level, saved in zip(self.levels, state, strict=True):
            level.groups.restore(saved)
