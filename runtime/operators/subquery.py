"""Sub-queries at run time: the windows that they read, their rows and running aggregations. ``subquery_answers`` has what they give."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from epl.plan.expressions import Prior
from epl.plan.join.historical import table_stream_plan
from epl.plan.join.subqueries import SubqueryPlan, without_index
from epl.plan.patterns.recognition_streams import stream_recognition
from epl.plan.streams import StreamPlan, stream_store_plan
from epl.plan.walk import plan_expressions
from runtime.aggregation.grouped import Aggregator, build_aggregator
from runtime.clock.schedule import ScheduledTimer
from runtime.event_loop.receiver_order import Places
from runtime.expressions import compile_predicate
from runtime.operators.operator_context import OperatorContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stateful_entry import StatefulEntry
from runtime.operators.store_entry import StoreEntry, fill, find_store, stream_contents, stream_entry
from runtime.operators.stream_entry import NoEntry, StreamEntry
from runtime.operators.subquery_answers import build_answer
from runtime.stores.indexes import IndexedRows, LentRows, WindowRows
from runtime.stores.table import table_store
from windows.event import NO_EVENTS, Event, only_events
from windows.failures import Failures, pair_keys
from windows.keys import freeze
from windows.prior import PriorBuffer
from windows.protocol import RowReceiver, State
from windows.shape import ANYTHING, NOTHING, takes


class SubqueryContext(OperatorContext):
    """What the windows of one stream of sub-queries get while they are built. Their timers follow those of the statement.

    ``place``: the number of the stream among the statement's sub-queries. As Esper has it, their windows receive an event before the
    statement itself, or after it with ``self_subselect_preeval`` off.
    """

    __slots__ = ("_parent", "_place")

    def __init__(self, parent: OperatorContext, place: int) -> None:
        super().__init__(parent.statement, parent.partition, parent.environment.context, restoring=parent.restoring)
        self._parent = parent
        self._place = place

    def timer(self, callback: Callable[[], None], *, of_group: bool = False) -> ScheduledTimer:
        return self._parent.timer(callback, of_group=of_group)

    def order(self, stream: int) -> Places:
        rank, place, number, _ = super().order(stream)
        first = -LARGEST_NUMBER if self.core.settings.self_subselect_preeval else LARGEST_NUMBER
        return rank, place, number, first + self._place

    @property
    def turn(self) -> int:
        return self._parent.turn

    @turn.setter
    def turn(self, turn: int) -> None:
        """Do nothing: it is the statement's."""

    @property
    def drops(self) -> bool:
        return False


LARGEST_NUMBER = 1_000_000
"""More than streams and sub-queries of a statement."""


class SubqueryStream:
    """One stream that sub-queries read: entry → windows → rows, aggregations. Sub-queries of equal streams share one."""

    def __init__(self, plan: StreamPlan, plans: Sequence[SubqueryPlan], context: SubqueryContext) -> None:
        self.plan = plan
        self.context = context
        self.chain = stream_contents(plan, context)
        self.entry = _entry(plan, context, self.chain)
        self.entry.repeat()
        self.rows = IndexedRows()
        self._computes_rows = not all(w.retains for w in plan.windows[-1:])
        """Whether rows are those of a derived-value view, whose old row may equal the new one of the same delta: it leaves before that."""
        same_rows = plan.contained is None and not self._computes_rows
        self._derived: dict[Any, list[Event]] | None = None if same_rows else {}
        """Rows held, by their values, where those that leave are only equal to those that have come."""
        self._shares_rows = not (isinstance(self.entry, StoreEntry) and self.entry.is_outside)
        """Whether a restore can read the rows from the window."""
        self._keeps_rows = any(each.keeps_rows for each in plans)
        self._enough = ENOUGH if not plan.retains and all(_asks_how_many(each) for each in plans) else None
        self.aggregations: list[RunningAggregations] = []
        self.prior: PriorBuffer | None = None
        largest = max((n.index for e in plan_expressions(*plans) for n in e.walk() if isinstance(n, Prior)), default=None)
        sink: RowReceiver = self
        if largest is not None:
            self.prior = context.environment.prior[0] = PriorBuffer(largest, retains=self._derived is None)
            self.prior.child, sink = self, self.prior
        self.chain.child = sink

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        leaving = old
        if self._derived is not None:
            if not self._computes_rows:
                self._hold(new)
            old, leaving = self._find_held(old)
            if self._computes_rows:
                self._hold(new)
        if self._keeps_rows and (self._enough is None or len(self.rows) < self._enough):
            self.rows.update(new, old)
        failures = Failures()
        for aggregations in self.aggregations:
            aggregations.update(new, leaving, failures)
        failures.settle()

    def _find_held(self, old: Sequence[Event]) -> tuple[list[Event], list[Event]]:
        """Return the rows held that the old rows are equal to, the oldest of each; hold them no more. And these beside those that have
        never come, as in Esper they leave aggregations: the first row of a derived-value view takes the place of such a one."""
        derived = self._derived
        assert derived is not None
        gone, leaving = [], []
        for each in old:
            values = _values(each)
            equal = derived.get(values)
            if equal is None:
                leaving.append(each)
                continue
            gone.append(equal.pop(0))
            leaving.append(gone[-1])
            if not equal:
                del derived[values]
        return gone, leaving

    def _hold(self, rows: Iterable[Event]) -> None:
        assert self._derived is not None
        for row in rows:
            self._derived.setdefault(_values(row), []).append(row)

    def start(self) -> None:
        self.entry.start()

    def close(self) -> None:
        self.entry.close()
        self.chain.close()
        self.context.close()

    def state(self) -> State:
        state: dict[str, State] = {
            "windows": self.chain.state(),
            "prior": None if self.prior is None else self.prior.state(),
            "rows": None if self._shares_rows and _same_rows(self.rows, self.chain) else self.rows.state(),
        }
        if self._derived and not self._keeps_rows:
            state["derived"] = [row for rows in self._derived.values() for row in rows]
        if isinstance(self.entry, StatefulEntry):
            state[self.entry.kept_as] = self.entry.state()
        return state

    @takes({"windows": ANYTHING, "prior": ANYTHING, "rows": ANYTHING})
    def restore(self, state: State) -> None:
        self.chain.restore(state["windows"])
        if self.prior is not None:
            self.prior.restore(state["prior"])
        if isinstance(self.entry, StatefulEntry):
            self.entry.restore(state.get(self.entry.kept_as))
        if state["rows"] is not None:
            self.rows.restore(state["rows"])
        elif self._keeps_rows:
            self.rows.update(tuple(self.chain), NO_EVENTS)
        if self._derived is not None:
            derived = state.get("derived", ())
            only_events(derived)
            self._hold(self.rows if self._keeps_rows else derived)


def _entry(plan: StreamPlan, context: SubqueryContext, first: RowReceiver) -> StreamEntry | PartitionEntry | StoreEntry | StatefulEntry:
    if stream_recognition(plan) is not None:
        from runtime.operators.recognition_entry import RecognitionEntry  # the dialects are loaded where a statement needs them

        return RecognitionEntry(plan, context, first)
    return stream_entry(plan, context, first)


ENOUGH = 2
"""Rows to be kept of a stream without windows, where it matters only whether there is none, one or more."""


def _asks_how_many(plan: SubqueryPlan) -> bool:
    return plan.running or (plan.use in ("exists", "value") and plan.where is None)


def _values(row: Event) -> Any:
    return tuple([freeze(value) for value in row.values()])


def _same_rows(rows: Iterable[Event], contents: Iterable[Event]) -> bool:
    """Return whether the window holds just these rows, in this order."""
    held = list(contents)
    return len(held) == len(list(rows)) and all(row is event for row, event in zip(rows, held))


class SharedRows:
    """In place of a stream: the rows of a named window or table as they are there, found by its own indexes. ``by_arrival``: all
    rows are read in the order in which they have arrived. ``batches``: the indexes have other rows, too, that only one that was created
    gives."""

    def __init__(self, rows: LentRows, context: SubqueryContext, *, by_arrival: bool = False, batches: bool = False) -> None:
        self.context = context
        self.rows = rows
        self.by_arrival = by_arrival
        self.batches = batches
        self.entry = NoEntry()
        self.aggregations: list[RunningAggregations] = []

    def as_read(self, plan: SubqueryPlan) -> SubqueryPlan:
        """Return the sub-query with the look-up that gives the rows that Esper reads."""
        lookup, printed = plan.lookup, self.context.environment.printed
        if lookup is None or lookup.index is None or lookup.named is not None:
            return plan
        if self.batches:
            return printed("without index", (plan,), lambda: without_index(plan))
        if self.by_arrival and lookup.in_order and lookup.of_one_key:
            return printed("as found", (plan,), lambda: attrs.evolve(plan, lookup=attrs.evolve(lookup, in_order=False)))
        return plan

    def start(self) -> None:
        """Do nothing: nothing enters."""

    def close(self) -> None:
        self.rows.close()
        self.context.close()

    def state(self) -> State:
        return None

    @takes(NOTHING)
    def restore(self, state: State) -> None:
        """Do nothing: the rows are those of the named window or table."""


class RunningAggregations:
    """Aggregations of a sub-query that are kept up to date as its rows, those that satisfy its conditions, come and go."""

    def __init__(self, plan: SubqueryPlan, context: SubqueryContext) -> None:
        environment = context.environment
        self._test = None if plan.where is None else compile_predicate(plan.where, environment, 1)
        self.aggregator: Aggregator = build_aggregator(
            plan.aggregations, plan.group_by, environment, 1, unbound=not plan.stream.retains)

    def update(self, new: Sequence[Event], old: Sequence[Event], failures: Failures) -> None:
        """Count rows that come and go, but for those whose condition raises; what raises is noted."""
        test = self._test
        if test is not None:
            new, old = ([row for row, counts in pair_keys(rows, test, failures) if counts] for rows in (new, old))
        failures.attempt(self.aggregator.apply, new, old)


def _stream(plans: Sequence[SubqueryPlan], context: SubqueryContext) -> SubqueryStream | SharedRows:
    """Return what the sub-queries, which are of equal streams, read."""
    stream = plans[0].stream
    stored, source = table_stream_plan(stream), stream_store_plan(stream)
    if stored is not None:
        return SharedRows(LentRows(table_store(stored.table, context.environment).rows), context)
    if source is not None and source.shared:
        store = find_store(context, source)
        rows = WindowRows(store.rows, store, by_arrival=store.in_order)
        return SharedRows(rows, context, by_arrival=store.in_order, batches=store.batches)
    return SubqueryStream(stream, plans, context)


class RunningSubquery:
    """One sub-query: ``answer``, once its stream is there."""

    __slots__ = ("plan", "running", "answer")

    def __init__(self, plan: SubqueryPlan) -> None:
        self.plan = plan
        self.running: RunningAggregations | None = None
        self.answer: Callable[..., Any]

    def open(self, stream: SubqueryStream | SharedRows) -> None:
        if self.plan.running:
            self.running = RunningAggregations(self.plan, stream.context)
            stream.aggregations.append(self.running)
        aggregator = None if self.running is None else self.running.aggregator
        plan = stream.as_read(self.plan) if isinstance(stream, SharedRows) else self.plan
        self.answer = build_answer(plan, stream.rows, aggregator, stream.context.environment)


class Subqueries:
    """The sub-queries of one instance of a statement. Expressions that are compiled from now on find them in the instance's environment;
    ``open`` builds their windows, last, so that timers of the statement's own come first.
    """

    def __init__(self, plans: Sequence[SubqueryPlan], context: OperatorContext) -> None:
        self._context = context
        self._subqueries = [RunningSubquery(plan) for plan in plans]
        self.streams: list[SubqueryStream | SharedRows] = []
        context.environment.subqueries.extend((each.plan, each) for each in self._subqueries)

    def open(self) -> None:
        groups: list[list[RunningSubquery]] = []
        for each in self._subqueries:
            group = next((g for g in groups if g[0].plan.stream == each.plan.stream), None)
            if group is None:
                groups.append([each])
            else:
                group.append(each)
        for place, group in enumerate(groups):
            plans = [each.plan for each in group]
            stream = _stream(plans, SubqueryContext(self._context, place))
            self.streams.append(stream)
            for each in group:
                each.open(stream)
            fill(stream.entry, stream.context, open_batch=True)

    def start(self) -> None:
        for stream in self.streams:
            stream.start()

    def close(self) -> None:
        for stream in self.streams:
            stream.close()

    def state(self) -> State:
        running = [each.running.aggregator.state() for each in self._subqueries if each.running is not None]
        return {"streams": [stream.state() for stream in self.streams], "aggregations": running}

    @takes({"streams": [ANYTHING], "aggregations": [ANYTHING]})
    def restore(self, state: State) -> None:
        for stream, kept in zip(self.streams, state["streams"], strict=True):
            stream.restore(kept)
        running = [each.running for each in self._subqueries if each.running is not None]
        for aggregations, kept in zip(running, state["aggregations"], strict=True):
            aggregations.aggregator.restore(kept)


__all__ = ["Subqueries"]
