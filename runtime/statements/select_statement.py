"""A select over a stream, of which each operator is an object."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from epl.plan.expressions import Prior
from epl.plan.join.historical import historical_plan
from epl.plan.patterns.pattern import stream_pattern
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import SelectPlan
from epl.plan.streams import StreamPlan, stream_store_plan
from epl.plan.walk import plan_expressions
from runtime import match_recognize, result_set
from runtime.event_loop.filter_index import Receiver
from runtime.expressions import Environment, compile_predicate
from runtime.operators.deltas_together import MatchesTogether, TimersTogether
from runtime.operators.insert_into import Inserter
from runtime.operators.iterable_unbound import Keeper, LastEvents, LastEventsOfGroups, NoEvents
from runtime.operators.operator_context import OperatorContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stateful_entry import StatefulEntry
from runtime.operators.store_entry import StoreContents, StoreEntry, begins_unseen, fill, stream_contents
from runtime.operators.stream_entry import NoEntry, StreamEntry
from runtime.pattern.entries import PatternEntry, build_entry
from runtime.pattern.overlaps import Overlaps
from runtime.result_set.output_rate.stage import OutputStage
from runtime.statements.statement_output import StatementOutput
from windows.chain import build_chain, group_view
from windows.event import NO_EVENTS, Event
from windows.keys import key_evaluator
from windows.prior import PriorBuffer
from windows.protocol import RowReceiver, State, View
from windows.shape import ANYTHING, of_event, takes

LISTS = ("window", "sorted")
"""Aggregations whose value is a list of events."""


class Where:
    """where after a window: applies to insert and remove stream alike.

    An event for which the condition raises does not pass, neither coming nor going; the others do, then the first failure is raised.
    """

    def __init__(self, test: Callable[[Event], bool]) -> None:
        self._test = test
        self.child: RowReceiver

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        test, failure = self._test, None
        try:
            kept_new: Sequence[Event] = [e for e in new if test(e)] if new else NO_EVENTS
            kept_old: Sequence[Event] = [e for e in old if test(e)] if old else NO_EVENTS
        except Exception:  # noqa: BLE001 - found again and raised below
            kept_new, failure = self._one_by_one(new)
            kept_old, failed_old = self._one_by_one(old)
            failure = failure or failed_old
        if kept_new or kept_old:
            self.child.update(kept_new, kept_old)
        if failure is not None:
            raise failure

    def _one_by_one(self, events: Sequence[Event]) -> tuple[list[Event], Exception | None]:
        """Return the events that pass, and the first failure."""
        kept: list[Event] = []
        failure: Exception | None = None
        for event in events:
            try:
                if self._test(event):
                    kept.append(event)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        return kept, failure

    def contents(self, events: Iterable[Event]) -> Iterator[Event]:
        return (e for e in events if self._test(e))


class Gate:
    """In front of a result set: what a window withholds (``BuildContext.withhold``) is taken in and not emitted."""

    def __init__(self, rows: result_set.ResultSet, context: OperatorContext) -> None:
        self._rows = rows
        self._context = context

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self._context.withholding:
            self._rows.keep(new, old)
        else:
            self._rows.update(new, old)


class PastWindows:
    """Hands an empty delta, of an event that contains none, to what follows the windows."""

    def __init__(self, chain: View) -> None:
        self._chain = chain

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        (self._chain if new or old else self._chain.child).update(new, old)


def _drops_empty(plan: SelectPlan, stream: StreamPlan) -> tuple[bool, bool]:
    """Return whether an event without contained ones that arrives, and one that leaves, leads to no empty delta.

    Where a row is an event, one of a stream that is not selected leads to none, either, unless an output rate has it counted.
    """
    result_set = plan.result_set
    if plan.where is not None or plan.join is not None or result_set.shape == "rollup":
        return True, True
    if not all(window.passes_nothing for window in stream.windows):
        return True, True
    if result_set.output is not None or result_set.shape in ("fully aggregated", "grouped fully aggregated"):
        return False, False
    return result_set.selector == "rstream", result_set.selector == "istream"


def _tests_contained(plan: SelectPlan) -> bool:
    """Return whether having is asked of contained events that have no groups: as in Esper an event without them calls no listener then."""
    rows = plan.result_set
    return rows.having is not None and not rows.group_by and any(stream.contained is not None for stream in plan.streams)


class RunningStream:
    """One stream of a select, from its entry in the filter index through its windows: ``chain``.

    ``prior``: the buffer that prior of this stream reads, None where nothing does.
    """

    __slots__ = ("plan", "chain", "entry", "prior")

    def __init__(self, plan: SelectPlan, number: int, context: OperatorContext) -> None:
        self.plan = stream = plan.streams[number]
        context.stream = number
        self.chain: View = _chain(stream, plan.result_set, context)
        self.entry: StreamEntry | PartitionEntry | StoreEntry | StatefulEntry | NoEntry = NoEntry()
        if historical_plan(stream) is None:
            first = PastWindows(self.chain) if stream.contained is not None and stream.windows else self.chain
            self.entry = build_entry(stream, context, first, number=number, quiet=_drops_empty(plan, stream))
        self.prior: PriorBuffer | None = None
        largest = _largest_prior(plan, number, context.environment)
        if largest is not None:
            retains = bool(stream.windows) and plan.row_recognition is None
            self.prior = context.environment.prior[number] = PriorBuffer(largest, retains=retains)

    def through_prior(self, sink: RowReceiver) -> RowReceiver:
        """Return the buffer of prior, which passes its deltas to ``sink``; ``sink`` itself where prior is not used."""
        if self.prior is None:
            return sink
        self.prior.child = sink
        return self.prior

    def start(self) -> None:
        self.entry.start()

    def close(self) -> None:
        self.entry.close()
        self.chain.close()

    def state(self) -> dict[str, State]:
        state: dict[str, State] = {"windows": self.chain.state(), "prior": None if self.prior is None else self.prior.state()}
        if isinstance(self.entry, StatefulEntry):
            state[self.entry.kept_as] = self.entry.state()
        return state

    def restore(self, state: State) -> None:
        self.chain.restore(state["windows"])
        if not isinstance(self.chain, StoreContents):
            check = of_event(self.plan.event_type)
            for event in self.chain:
                check(event)
        if self.prior is not None:
            self.prior.restore(state["prior"])
        if isinstance(self.entry, StatefulEntry):
            self.entry.restore(state.get(self.entry.kept_as))


class SelectOperators:
    """What selects over one stream and over joins have in common: … → where → result set → insert into → listeners."""

    def __init__(self, plan: SelectPlan, context: OperatorContext) -> None:
        self.plan = plan
        self.context = context
        self.streams = tuple(RunningStream(plan, number, context) for number in range(len(plan.streams)))
        self.where = Where(_row_test(plan, context.environment)) if plan.where is not None else None
        self.result_set = result_set.build(plan.result_set, context.environment, context=context)
        self.result_set.contents = self.contents
        self.result_set.calls_for_none = not _tests_contained(plan)
        self.overlaps = _overlaps(self.streams[0])
        self.inserter = Inserter(plan.insert, plan.result_set, context, context.output) if plan.insert is not None else None
        context.divide_output(plan.delivery)

    def rows(self) -> Iterable[Event]:
        """Return the rows that where has seen enter and not leave."""
        raise NotImplementedError

    def fill(self) -> None:
        """Begin with the rows of the named windows that the streams read."""
        for stream in self.streams:
            fill(stream.entry, self.context)
        if isinstance(self.result_set, OutputStage) and begins_unseen(self.plan):
            self.result_set.begin()

    def connect(self) -> RowReceiver:
        """Chain the operators from where on, last first; return the first of them."""
        output = self.context.output
        self.result_set.child = self.inserter or output
        if self.inserter is None and isinstance(output, StatementOutput) and _copies_groups(self.plan.result_set):
            self.result_set.is_read = output.is_read
        streams = self.plan.streams
        withholds = any(stream_store_plan(stream) is not None or any(w.withholds for w in stream.windows) for stream in streams)
        sink: RowReceiver = Gate(self.result_set, self.context) if withholds else self.result_set
        if self.overlaps is not None:
            self.overlaps.child = sink
            sink = self.overlaps
        kept = self.streams[0].chain
        if isinstance(kept, LastEventsOfGroups):
            self.result_set.forgetting(kept.forget)
            sink = Keeper(kept, sink)
        if self.where is not None:
            self.where.child = sink
            sink = self.where
        return sink

    def start(self) -> None:
        for stream in self.streams:
            stream.start()

    def close(self) -> None:
        for stream in self.streams:
            stream.close()
        self.result_set.close()
        self.context.close()

    def iterate(self) -> Iterable[Event]:
        rows = self.result_set.iterate(self.contents())
        if self.inserter is None:
            return rows
        return [self.inserter.convert(row) for row in rows]

    def contents(self) -> Iterable[Event]:
        """Return the rows that the result set has taken in and not lost."""
        if self.where is None or isinstance(self.streams[0].chain, LastEventsOfGroups):
            return self.rows()
        return self.where.contents(self.rows())


class RunningSelect(SelectOperators):
    """stream → match_recognize → where → result set → insert into → listeners."""

    def __init__(self, plan: SelectPlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self.stream = self.streams[0]
        entry = self.stream.entry
        assert not isinstance(entry, NoEntry)
        self.chain, self.entry = self.stream.chain, entry
        self.recognizer: View | None = match_recognize.build(plan.row_recognition, context) if plan.row_recognition is not None else None
        sink = self.stream.through_prior(self.connect())
        if self.recognizer is not None:
            self.recognizer.child = sink
            self.recognizer.parent_contents = lambda: iter(self.chain)
            sink = self.recognizer
        if stream_pattern(self.stream.plan) is not None:
            if self._sorts_together() or self.overlaps is not None:
                sink = MatchesTogether(sink, context)
        elif self._sorts_together() and len(self.stream.plan.windows) > 1:
            sink = TimersTogether(sink, context)
        self.chain.child = sink
        groups = group_view(self.chain)
        if groups is not None and not self._sorts_together():
            context.on_end(groups.end_partition)

    def _sorts_together(self) -> bool:
        """Return whether rows of several deltas, of matches or of timers due at one time, are sorted as one: not where an output clause
        counts the deltas."""
        return bool(self.plan.result_set.order_by) and self.plan.result_set.output is None

    @property
    def receiver(self) -> Receiver | PartitionEntry:
        """What takes the events that pass the filter."""
        assert isinstance(self.entry, (StreamEntry, PartitionEntry))
        return self.entry.receiver

    def rows(self) -> Iterable[Event]:
        return self.recognizer if self.recognizer is not None else self.chain

    def close(self) -> None:
        super().close()
        if self.recognizer is not None:
            self.recognizer.close()

    def state(self) -> State:
        return {
            **self.stream.state(),
            "match_recognize": None if self.recognizer is None else self.recognizer.state(),
            "result_set": self.result_set.state(),
            **({} if self.overlaps is None else {"overlaps": self.overlaps.state()}),
        }

    @takes({"windows": ANYTHING, "prior": ANYTHING, "match_recognize": ANYTHING, "result_set": ANYTHING})
    def restore(self, state: State) -> None:
        self.stream.restore(state)
        if self.recognizer is not None:
            self.recognizer.restore(state["match_recognize"])
        if self.overlaps is not None:
            self.overlaps.restore(state.get("overlaps", ()))
        self.result_set.restore(state["result_set"])


def _overlaps(stream: RunningStream) -> Overlaps | None:
    pattern = stream_pattern(stream.plan)
    if pattern is None or not (pattern.suppress or pattern.discard):
        return None
    assert isinstance(stream.entry, PatternEntry)
    return Overlaps(pattern, stream.entry.machine, matches_leave=bool(stream.plan.windows))


def _copies_groups(plan: ResultSetPlan) -> bool:
    """Return whether each row holds all events of its group: it is then made for a listener only. Rows whose output is limited are made
    when they are emitted."""
    return plan.output is None and any(each.function in LISTS for each in plan.aggregations)


def _row_test(plan: SelectPlan, environment: Environment) -> Callable[[Any], bool]:
    """Return the where clause, of an event or of a row of several."""
    assert plan.where is not None
    arity = plan.result_set.arity
    test = compile_predicate(plan.where, environment, arity)
    return test if arity == 1 else lambda row: test(*row)


def _chain(stream: StreamPlan, rows: ResultSetPlan, context: OperatorContext) -> View:
    """Return the stream's windows; without any, the rows of a named window, or what ``@IterableUnbound`` keeps."""
    if stream_store_plan(stream) is not None:
        return stream_contents(stream, context)
    if stream.windows or not rows.iterable_unbound or rows.arity > 1:
        return build_chain(stream.windows, stream.retain, context)
    if rows.shape != "grouped fully aggregated":
        return LastEvents()
    if rows.output is not None and rows.output.has_rate:
        return NoEvents()
    return LastEventsOfGroups(key_evaluator(rows.group_by, context), len(rows.group_by))


def _largest_prior(plan: SelectPlan, stream: int, environment: Environment) -> int | None:
    """Return the largest index that prior asks of a stream, or None where nothing asks."""
    indexes = environment.printed("priors", (plan,), lambda: _priors(plan))
    return max((index for asked, index in indexes if asked == stream), default=None) if indexes else None


def _priors(plan: SelectPlan) -> list[tuple[int, int]]:
    """(stream, index) of each prior."""
    nodes = (n for e in plan_expressions(plan.result_set, plan.where) for n in e.walk())
    return [(n.stream, n.index) for n in nodes if isinstance(n, Prior)]


__all__ = ["RunningSelect", "RunningStream", "SelectOperators"]
