"""The output shapes without rollup: what a delta of rows becomes in the insert and the remove stream (Esper reference, appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import attrs

from epl.plan.result_set import ResultSetPlan
from runtime.aggregation.factory import Row
from runtime.aggregation.grouped import Aggregator, KeyedAggregator, build_aggregator, key_function
from runtime.expressions import Environment
from runtime.result_set.hash_order import ordering
from runtime.result_set.projection import Finish, OutputRows, Projection
from runtime.stores.table import TableAggregator, TableStore
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver, State

NO_READERS: tuple[Any, ...] = ()


class ResultSet:
    """The end of a statement's chain: rows in, output events out.

    ``update(new, old)`` takes a delta of rows and updates ``child`` at most once, with what the stream selector lets through (with both
    streams where the plan is ``raw``). ``iterate(contents)`` gives the statement's current rows over the window's contents; ``contents`` is
    set where operators are chained, and gives those contents at any time (output snapshot reads them).
    """

    child: RowReceiver
    contents: Callable[[], Iterable[Row]] = tuple
    is_read: Callable[[], bool] | None = None
    """Whether anything reads the rows now; None where they are emitted in any case. Set where a row costs as much as its group is large."""
    calls_for_none = True
    """Whether an empty delta that gives no row calls listeners."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        self.plan = plan
        self.needs_new = plan.raw or plan.selector != "rstream"
        self.needs_old = plan.raw or plan.selector != "istream"
        self._swap = plan.selector == "rstream" and not plan.raw
        needed = environment.restrict(plan.limit)
        self.finish = needed.shared("finish", (plan,), lambda: Finish(plan, needed))

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if self.is_read is not None and not self.is_read():
            self.apply(new, old)
            return
        batches = OutputRows(), OutputRows()
        self.collect(new, old, *batches)
        self.emit(self.finish(batches[0]), self.finish(batches[1]), force=self.calls_for_none and not new and not old)

    def emit(self, new: Sequence[Event], old: Sequence[Event], force: bool = False) -> None:
        """Pass on the rows of the selected streams; with ``force`` (a window with FORCE_UPDATE released nothing) even nothing."""
        if self._swap:
            new, old = old, NO_EVENTS
        if new or old or force:
            self.child.update(new, old)

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        """Take a delta and add its insert and remove stream's rows to the batches; those that nothing reads are omitted."""
        raise NotImplementedError

    def apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        """Take a delta into the aggregations and emit nothing."""

    def leaving_groups(self) -> Sequence[Any]:
        """Return the keys of groups without rows, which the next row that comes discards."""
        return ()

    def forgetting(self, forget: Callable[[Any], None]) -> None:
        """Call ``forget`` with the key of each group that is reclaimed by its age."""

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        """Process a delta that is not to be emitted, now or later."""
        self.apply(new, old)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        raise NotImplementedError

    def close(self) -> None:
        """Cancel timers."""

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


class Stage(ResultSet):
    """A result set around another one, ``inner``: what it is chained to is the inner one's, unless it stands between."""

    inner: ResultSet

    @property
    def child(self) -> RowReceiver:
        return self.inner.child

    @child.setter
    def child(self, sink: RowReceiver) -> None:
        self.inner.child = sink

    @property
    def contents(self) -> Callable[[], Iterable[Row]]:
        return self.inner.contents

    @contents.setter
    def contents(self, contents: Callable[[], Iterable[Row]]) -> None:
        self.inner.contents = contents

    def apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    def forgetting(self, forget: Callable[[Any], None]) -> None:
        self.inner.forgetting(forget)


class Unaggregated(ResultSet):
    """One row an event."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self._projection = Projection.of(plan, environment)
        self._plain = self._projection.only_makes and not self.finish.changes

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        if not self._plain:
            super().update(new, old)
            return
        make = self._projection.make
        gone = [make(row, False, NO_READERS) for row in old] if old and self.needs_old else NO_EVENTS
        rows = [make(row, True, NO_READERS) for row in new] if new and self.needs_new else NO_EVENTS
        self.emit(rows, gone, force=not new and not old)

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        if old and self.needs_old:
            self._projection.collect([(row, NO_READERS) for row in old], False, old_rows)
        if new and self.needs_new:
            self._projection.collect([(row, NO_READERS) for row in new], True, new_rows)

    def passing(self, rows: Sequence[Row], insert_stream: bool) -> Sequence[Row]:
        """Return the rows of a stream that is read and that pass having."""
        if not (self.needs_new if insert_stream else self.needs_old):
            return ()
        passes = self._projection.passes
        return rows if passes is None else [row for row in rows if passes(row, insert_stream, NO_READERS)]

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        batch = OutputRows()
        self._projection.collect([(row, NO_READERS) for row in contents], True, batch)
        return self.finish(batch)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        if state is not None:
            raise ValueError("a result set without aggregations has no state")


class Forward(Unaggregated):
    """``select *`` of one stream and nothing else: events go through as they are."""

    def update(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.emit(new if self.needs_new else NO_EVENTS, old if self.needs_old else NO_EVENTS, force=not new and not old)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        return list(contents)


class Aggregating(ResultSet):
    """Base of the shapes with aggregations."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self._starts_again = plan.starts_again
        self._environment = environment
        self.aggregator: Aggregator = _aggregator(plan, environment)

    @cached_property
    def projection(self) -> Projection:
        """What makes the rows; not there as long as a generated function makes them."""
        return Projection.of(self.plan, self._environment)

    def begin(self) -> None:
        """Begin a delta: the aggregations of a unidirectional join start again."""
        if self._starts_again:
            self.aggregator.clear()

    def apply(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.begin()
        self.aggregator.apply(new, old)

    def state(self) -> State:
        return self.aggregator.state()

    def restore(self, state: State) -> None:
        self.aggregator.restore(state)


def _aggregator(plan: ResultSetPlan, environment: Environment) -> Aggregator:
    if plan.into is None:
        return build_aggregator(
            plan.aggregations, plan.group_by, environment, plan.arity, unbound=plan.unbound, reclaim=plan.reclaim
        )
    key = key_function(plan.group_by, environment, plan.arity) if plan.group_by else lambda row: ()
    return table_aggregator(plan, environment, key)


def table_aggregator(plan: ResultSetPlan, environment: Environment, key: Callable[[Row], Any]) -> TableAggregator:
    """Return the aggregations of a statement with ``into table``; ``key`` is that of the table's row."""
    assert plan.into is not None
    store = environment.tables[plan.into.table]
    assert isinstance(store, TableStore)
    return TableAggregator(plan.into, store, key, environment, plan.arity, rows_leave=not plan.unbound)


class FullyAggregated(Aggregating):
    """One row a delta: the aggregations before it in the remove stream, those after it in the insert stream. Order and limit mean something
    only where an output clause brings the rows of several deltas together."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        if plan.output is None and (plan.order_by or plan.limit is not None):
            plan = environment.printed("unordered", (plan,), lambda: attrs.evolve(plan, order_by=(), limit=None))
        super().__init__(plan, environment)
        self._no_row: Row = None if plan.arity == 1 else (None,) * plan.arity

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        self.begin()
        try:
            if self.needs_old:
                self.current(False, old_rows)
        except Exception:
            self.aggregator.apply(new, old)
            raise
        self.aggregator.apply(new, old)
        if self.needs_new:
            self.current(True, new_rows)

    def current(self, insert_stream: bool, batch: OutputRows) -> None:
        """Add the row of the aggregations as they are."""
        self.projection.collect(((self._no_row, self.aggregator.readers(self._no_row)),), insert_stream, batch)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        batch = OutputRows()
        self.current(True, batch)
        return batch.events


def _no_key(row: Row) -> Any:
    return None


class RowPerEvent(Aggregating):
    """One row an event, with the aggregations (of its group) as they are after the whole delta: aggregated, and grouped aggregated."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self.statement_key: Callable[[Row], Any] = key_function(plan.group_by, environment, plan.arity) if plan.group_by else _no_key

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        if old and self.needs_old:
            leaving = self.aggregator.countable_rows(old)
            self.apply(new, old)
            self.rows(leaving, False, old_rows)
        else:
            self.apply(new, old)
        if new and self.needs_new:
            self.rows(new, True, new_rows)

    def rows(self, rows: Iterable[Row], insert_stream: bool, batch: OutputRows) -> None:
        """Add a row for each event, with the aggregations as they are."""
        readers = self.aggregator.readers
        self.projection.collect([(row, readers(row)) for row in rows], insert_stream, batch)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        batch = OutputRows()
        self.rows(self.aggregator.countable_rows(list(contents)), True, batch)
        return self.finish(batch)


class RowPerGroup(Aggregating):
    """One row for each group that the delta touches, before and after it. Its event is the last one of the group, remove stream after
    insert stream."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        super().__init__(plan, environment)
        self.key = key_function(plan.group_by, environment, plan.arity)
        self._local = [a.group_by is not None and set(a.group_by) != set(plan.group_by) for a in plan.aggregations]
        self._keyed = self.aggregator if isinstance(self.aggregator, KeyedAggregator) and not any(self._local) else None
        self._in_table = self.aggregator if isinstance(self.aggregator, TableAggregator) else None
        self._pairwise = not self.needs_old and plan.arity == 1 and (plan.output is None or plan.output.only_after)
        self._order: Callable[[Sequence[Any]], list[int]] | None = environment.printed(
            "ordering", (plan.group_by,), lambda: ordering([e.type for e in plan.group_by])
        )

    def collect(self, new: Sequence[Row], old: Sequence[Row], new_rows: OutputRows, old_rows: OutputRows) -> None:
        self.begin()
        try:
            leaving = self.aggregator.countable_rows(old)
            one_and_one = len(new) == 1 and self._pairwise and len(leaving) == 1
            if one_and_one:
                touched = self._one_and_one(new[0], leaving[0])
            elif len(new) == 1 and not leaving:
                touched = [(self.key(new[0]), new[0])]
            else:
                touched = self._touch_groups((new, leaving))
            if self.needs_old:
                self.rows(touched, False, old_rows)
        except Exception:
            self.aggregator.apply(new, old)
            raise
        self.aggregator.apply(new, old)
        if not self.needs_new:
            return
        if one_and_one and self.plan.order_by:
            self._in_and_out(touched, new_rows)
        else:
            self.rows(touched, True, new_rows)

    def _in_and_out(self, touched: list[tuple[Any, Row]], batch: OutputRows) -> None:
        """Add the rows of one event in and one out. Esper computes the order keys of both with the aggregations of the one that came in,
        but for those with groups of their own."""
        projection, pairs, count = self.projection, self._pairs(touched), len(batch.keys)
        projection.collect(pairs, True, batch)
        if len(batch.keys) == count + 2 and projection.key is not None:
            (_, entered), (row, left) = pairs
            readers = [own if local else other for own, other, local in zip(left, entered, self._local, strict=True)]
            batch.keys[-1] = projection.key(row, True, readers)

    def _one_and_one(self, new: Row, old: Row) -> list[tuple[Any, Row]]:
        """Emit, for one row in and one out without a remove stream, the group of the row that came in first, as Esper does."""
        entered, left = self.key(new), self.key(old)
        return [(entered, new)] if entered is left or entered == left else [(entered, new), (left, old)]

    def _touch_groups(self, parts: Iterable[Iterable[Row]]) -> list[tuple[Any, Row]]:
        """(key, last row) of every group, in the order of output."""
        key, last_rows = self.key, {}
        for rows in parts:
            for row in rows:
                last_rows[key(row)] = row
        return self.in_order(list(last_rows.items()))

    def in_order(self, pairs: list[tuple[Any, Row]]) -> list[tuple[Any, Row]]:
        """Return the (key, row) pairs in the order of output: that of hashing in Java, where it is known."""
        if self._order is None or len(pairs) < 2:
            return pairs
        return [pairs[i] for i in self._order([k for k, _ in pairs])]

    def rows(self, touched: Iterable[tuple[Any, Row]], insert_stream: bool, batch: OutputRows) -> None:
        """Add a row for each (key, row), with the aggregations as they are."""
        self.projection.collect(self._pairs(touched), insert_stream, batch)

    def _pairs(self, touched: Iterable[tuple[Any, Row]]) -> list[tuple[Row, Sequence[Any]]]:
        if self._keyed is not None:
            group_of, blank = self._keyed.groups.get, self._keyed.blank
            groups = [(row, group_of(key)) for key, row in touched]
            return [(row, blank if group is None else group.readers) for row, group in groups]
        if self._in_table is not None:
            readers_of = self._in_table.group_readers
            return [(row, readers_of(key)) for key, row in touched]
        readers = self.aggregator.readers
        return [(row, readers(row)) for _, row in touched]

    def leaving_groups(self) -> Sequence[Any]:
        """Return the keys of groups without rows, which the next row that comes discards."""
        return () if self._keyed is None else self._keyed.empty

    def forgetting(self, forget: Callable[[Any], None]) -> None:
        if self._keyed is not None and self._keyed.reclaim is not None:
            self._keyed.reclaim.forgetting.append(forget)

    def iterate(self, contents: Iterable[Row]) -> list[Event]:
        """Return one row a group that has events in the window, in the order of their first events; of a join in the order of output."""
        batch = OutputRows()
        contents = self.aggregator.countable_rows(list(contents))
        if self.plan.arity > 1:
            self.rows(self._touch_groups((contents,)), True, batch)
            return self.finish(batch)
        key = self.key
        first: dict[Any, Row] = {}
        for row in contents:
            first.setdefault(key(row), row)
        self.rows(first.items(), True, batch)
        return self.finish(batch)


__all__ = ["Aggregating", "Forward", "FullyAggregated", "ResultSet", "RowPerEvent", "RowPerGroup", "Unaggregated"]
