"""rollup, cube and grouping sets: a row for each touched group of each level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.result_set import GroupLevel, ResultSetPlan
from runtime.aggregation.factory import Row, row_function
from runtime.aggregation.grouped import Keyed
from runtime.aggregation.groups import GroupFactory, each
from runtime.aggregation.state_shapes import key_shape
from runtime.expressions import Environment
from runtime.result_set.projection import OutputRows, Projection
from runtime.result_set.shapes import ResultSet
from windows.event import Event
from windows.keys import freeze
from windows.protocol import State
from windows.shape import ANYTHING, takes


class Level:
    """One grouping: its groups and its columns, in which the keys that it omits are null."""

    def __init__(
        self,
        level: GroupLevel,
        plan: ResultSetPlan,
        environment: Environment,
        factory: GroupFactory,
        values: Callable[[Row], Sequence[Any]],
    ) -> None:
        positions = level.keys
        self.key: Callable[[Row], Any] = lambda row: _picked(values(row), positions)
        check_key = key_shape([plan.group_by[place].type for place in positions])
        self.keyed = Keyed(factory, self.key, counted=not plan.unbound, check_key=check_key)
        self.projection = Projection(plan, level.columns, level.having, level.order_by, environment)

    def rows(self, touched: Iterable[tuple[Any, Row]], insert_stream: bool, batch: OutputRows) -> None:
        """Add a row for each (key, row), with the aggregations as they are."""
        readers_of = self.keyed.readers_of
        self.projection.collect([(row, readers_of(key)) for key, row in touched], insert_stream, batch)


def _picked(values: Sequence[Any], positions: Sequence[int]) -> tuple[Any, ...]:
    return tuple([freeze(values[p]) for p in positions])


Touched = list[dict[Any, Row]]


class Rollup(ResultSet):
    """Levels in the order of the group-by clause; within a level, groups in the order in which the delta touches them."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self._starts_again = plan.starts_again
        factory = GroupFactory(plan.aggregations, environment, plan.arity, rows_leave=not plan.unbound)
        values = row_function(plan.group_by, environment, plan.arity)
        self.key: Callable[[Row], Any] = lambda row: tuple([freeze(value) for value in values(row, True, ())])
        self.levels = [Level(level, plan, environment, factory, lambda row: values(row, True, ())) for level in plan.levels]

    def begin(self) -> None:
        """Begin a delta: the aggregations of a unidirectional join start again."""
        if self._starts_again:
            for level in self.levels:
                level.keyed.clear()

    def apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.begin()
        self._apply(new, old)

    def _apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        each([level.keyed.apply for level in self.levels], new, old)

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        self.begin()
        try:
            touched = self._touched((new, old))
            if self.needs_old:
                self._rows(touched, False, old_rows)
        except Exception:
            self._apply(new, old)
            raise
        self._apply(new, old)
        if self.needs_new:
            self._rows(touched, True, new_rows)

    def _touched(self, parts: Iterable[Iterable[Row]]) -> Touched:
        touched: Touched = [{} for _ in self.levels]
        for rows in parts:
            for row in self.levels[0].keyed.counted(list(rows)):
                for level, groups in zip(self.levels, touched):
                    groups[level.key(row)] = row
        return touched

    def _rows(self, touched: Touched, insert_stream: bool, batch: OutputRows) -> None:
        for level, groups in zip(self.levels, touched):
            level.rows(groups.items(), insert_stream, batch)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        batch = OutputRows()
        self._rows(self._touched((contents,)), True, batch)
        return self.finish(batch)

    def state(self) -> State:
        return [level.keyed.state() for level in self.levels]

    @takes([ANYTHING])
    def restore(self, state: State) -> None:
        for level, saved in zip(self.levels, state, strict=True):
            level.keyed.restore(saved)
