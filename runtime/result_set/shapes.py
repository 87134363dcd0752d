"""The output shapes without rollup: what a delta of rows becomes in the insert and the remove stream (Esper reference, appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from epl.plan.result_set import ResultSetPlan
from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import Aggregator, Keyed, build_aggregator
from runtime.evaluate import Environment
from runtime.result_set.hash_order import ordering
from runtime.result_set.projection import Batch, Finish, Pair, Projection, distinct
from windows.event import NO_EVENTS, Event
from windows.protocol import Sink, State

NO_READERS: tuple[Any, ...] = ()


class ResultSet:
    """The end of a statement's chain: rows in, output events out.

    ``update(new, old)`` takes a delta of rows and tells ``child`` at most once, with what the stream selector lets through (with both
    streams where the
    plan is ``raw``). ``iterate(contents)`` gives the statement's current rows over the window's contents.
    """

    child: Sink

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        self.plan = plan
        self.wants_new = plan.raw or plan.selector != "rstream"
        self.wants_old = plan.raw or plan.selector != "istream"
        self._swap = plan.selector == "rstream" and not plan.raw
        self.finish = Finish(plan, environment)

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        new_rows, old_rows = self.process(new, old)
        if self._swap:
            new_rows, old_rows = old_rows, NO_EVENTS
        if new_rows or old_rows:
            self.child.update(new_rows, old_rows)

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        """The insert and the remove stream's rows; those that nobody wants are left out."""
        raise NotImplementedError

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        raise NotImplementedError

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


class Unaggregated(ResultSet):
    """One row an event."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self._projection = Projection(plan, plan.columns, plan.having, plan.order_by, environment)

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        old_rows = self._rows(old, False) if old and self.wants_old else NO_EVENTS
        return self._rows(new, True) if new and self.wants_new else NO_EVENTS, old_rows

    def _rows(self, rows: Iterable[Row], insert_stream: bool) -> list[Event]:
        batch = Batch()
        self._projection.collect([(row, NO_READERS) for row in rows], insert_stream, batch)
        return self.finish(batch)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self._rows(contents, True)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        if state is not None:
            raise ValueError("a result set without aggregations has no state")


class Forward(Unaggregated):
    """``select *`` of one stream and nothing else: events go through as they are."""

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        return new if self.wants_new else NO_EVENTS, old if self.wants_old else NO_EVENTS

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return list(contents)


class Aggregating(ResultSet):
    """Base of the shapes with aggregations."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self.projection = Projection(plan, plan.columns, plan.having, plan.order_by, environment)
        self.aggregator: Aggregator = build_aggregator(
            plan.aggregations, plan.group_by, environment, plan.arity, unbound=plan.unbound, reclaim=plan.reclaim
        )

    def rows(self, pairs: Iterable[Pair], insert_stream: bool) -> list[Event]:
        batch = Batch()
        self.projection.collect(pairs, insert_stream, batch)
        return self.finish(batch)

    def state(self) -> State:
        return self.aggregator.state()

    def restore(self, state: State) -> None:
        self.aggregator.restore(state)


class FullyAggregated(Aggregating):
    """One row a delta: the aggregations before it in the remove stream, those after it in the insert stream. Order and limit mean nothing
    here."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(attrs.evolve(plan, order_by=(), limit=None), environment)
        self._no_row: Row = None if plan.arity == 1 else (None,) * plan.arity

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        if self.plan.unidirectional:
            self.aggregator.clear()
        before = self._row(False) if self.wants_old else NO_EVENTS
        self.aggregator.apply(new, old)
        return self._row(True) if self.wants_new else NO_EVENTS, before

    def _row(self, insert_stream: bool) -> list[Event]:
        batch = Batch()
        self.projection.collect(((self._no_row, self.aggregator.readers(self._no_row)),), insert_stream, batch)
        return batch.events

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self._row(True)


class RowPerEvent(Aggregating):
    """One row an event, with the aggregations (of its group) as they are after the whole delta: aggregated, and grouped aggregated."""

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        if self.plan.unidirectional:
            self.aggregator.clear()
        self.aggregator.apply(new, old)
        old_rows = self._rows(old, False) if old and self.wants_old else NO_EVENTS
        return self._rows(new, True) if new and self.wants_new else NO_EVENTS, old_rows

    def _rows(self, rows: Iterable[Row], insert_stream: bool) -> list[Event]:
        readers = self.aggregator.readers
        return self.rows([(row, readers(row)) for row in rows], insert_stream)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return self._rows(contents, True)


class RowPerGroup(Aggregating):
    """One row for each group that the delta touches, before and after it. Its event is the last one of the group, remove stream after
    insert stream."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        assert isinstance(self.aggregator, Keyed)
        self.keyed: Keyed = self.aggregator
        self._pairwise = not self.wants_old and plan.arity == 1
        self._order: Callable[[Sequence[Any]], list[int]] | None = ordering([e.type for e in plan.group_by])

    def process(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Sequence[Event], Sequence[Event]]:
        if self.plan.unidirectional:
            self.aggregator.clear()
        if len(new) == 1 and len(old) == 1 and self._pairwise:
            touched = self._one_and_one(new[0], old[0])
        else:
            touched = self._touched((new, old))
        before = self._rows(touched, False) if self.wants_old else NO_EVENTS
        self.aggregator.apply(new, old)
        return self._rows(touched, True) if self.wants_new else NO_EVENTS, before

    def _one_and_one(self, new: Row, old: Row) -> list[tuple[Any, Row]]:
        """One row in, one out, and no remove stream asked for: Esper puts out the group of the one that came in first."""
        entered, left = self.keyed.key(new), self.keyed.key(old)
        return [(entered, new)] if entered == left else [(entered, new), (left, old)]

    def _touched(self, parts: Iterable[Iterable[Row]]) -> list[tuple[Any, Row]]:
        """(key, last row) of every group, in the order of output."""
        key, found = self.keyed.key, {}
        for rows in parts:
            for row in rows:
                found[key(row)] = row
        return self._ordered(list(found.items()))

    def _ordered(self, pairs: list[tuple[Any, Row]]) -> list[tuple[Any, Row]]:
        if self._order is None or len(pairs) < 2:
            return pairs
        return [pairs[i] for i in self._order([k for k, _ in pairs])]

    def _rows(self, touched: Iterable[tuple[Any, Row]], insert_stream: bool) -> list[Event]:
        readers_of = self.keyed.readers_of
        return self.rows([(row, readers_of(key)) for key, row in touched], insert_stream)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        """One row a group that has events in the window, in the order of their first events; of a join in the order of output."""
        if self.plan.arity > 1:
            return self._rows(self._touched((contents,)), True)
        key, first = self.keyed.key, {}
        for row in contents:
            first.setdefault(key(row), row)
        return self._rows(first.items(), True)


__all__ = ["Aggregating", "Forward", "FullyAggregated", "ResultSet", "RowPerEvent", "RowPerGroup", "Unaggregated", "distinct"]
