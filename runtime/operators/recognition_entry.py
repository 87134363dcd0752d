"""Where the rows of a SQL dialect's match_recognize enter a statement: events → rows in order of time → machines → events of its table."""
from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import attrgetter, itemgetter
from typing import Any

from epl.dialects.plans import RecognitionPlan
from epl.dialects.values import EPOCH, hashable
from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan, stream_recognition
from epl.plan.streams import StreamPlan
from epl.reprs import brief
from runtime.dialects.expressions import ExpressionCompiler, Function
from runtime.dialects.streaming.flink_partition import FlinkRecognizer
from runtime.dialects.streaming.partition import NO_QUERIES, Recognizer, Row
from runtime.dialects.streaming.sql_partition import SqlRecognizer
from runtime.dialects.streaming.stored import of_sql_type
from runtime.dialects.streaming.ydb_partition import YdbRecognizer
from runtime.event_loop.delivery import RowCounts
from runtime.operators.operator_context import OperatorContext
from runtime.operators.row_order import RowOrder
from runtime.operators.stateful_entry import StatefulEntry
from runtime.operators.store_entry import stream_entry
from windows.event import NO_EVENTS, Event, event_class
from windows.paging import Paged
from windows.protocol import Damaged, RowReceiver, State
from windows.shape import ANYTHING, COUNT, INTEGER, compile_check, of_type, optional, takes

RECOGNIZERS: dict[str, Any] = {"sql": SqlRecognizer, "flink": FlinkRecognizer, "alibaba": FlinkRecognizer, "ydb": YdbRecognizer}
MICROSECOND = datetime.timedelta(microseconds=1)
AWARE = ("Date", "Calendar", "ZonedDateTime", "OffsetDateTime")
"""Kinds of properties whose values have a zone; as columns they are in UTC without one."""


class RecognitionEntry(StatefulEntry):
    """The rows of a clause as events of a stream, from ``start`` to ``close``; ``first`` receives them.

    Rows are in order of time where ORDER BY says so: its first key is the time; ``order`` says which rows wait, and which are late. What
    waits is processed when a later row or the clock says that nothing earlier comes.
    """

    kept_as = "row_pattern"

    def __init__(self, stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0) -> None:
        source = stream.source
        assert isinstance(source, RecognitionStreamPlan)
        self.plan: RecognitionPlan = source.clause
        self._context = context
        self._first = first
        self._units = context.core.settings.units_per_second
        self._event = event_class(source.row_type)
        self._row = row_reader(source.input.event_type, source.properties, self.plan)
        within = None if self.plan.within is None else self.plan.within * self._units // 1000
        self._recognizer: Recognizer = RECOGNIZERS[self.plan.dialect](self.plan, context.match_states, within)
        kinds = [of_type(source.input.event_type.properties[name].whole_type) for name in source.properties]
        self._row_check = compile_check((*kinds, *(of_sql_type(each.type) for each in self.plan.computed)))
        self._key = self._key_reader()
        self._partitions: dict[Any, Any] = {}
        self._pages = Paged("row patterns", lambda: self._partitions, self._plain_key, lambda key, each: self._partition_state(each))
        self._time = self.plan.time
        self.order = RowOrder(source.order, self.plan.order[1:], context.name)
        self._due: list[tuple[int, int, Any]] = []
        self._pushes = 0
        self._timer = context.timer(self._fire)
        inner = RecognitionEntry if stream_recognition(source.input) is not None else stream_entry
        self._inner = inner(source.input, context, self, number=number)

    def _key_reader(self) -> Callable[[Row], Any]:
        places = self.plan.partition
        if not places:
            return lambda row: ()
        read = itemgetter(*places)
        kinds = [each.type.name for each in self.plan.input.columns] + [each.type.name for each in self.plan.computed]
        if any(kinds[place] in ("array", "map") for place in places):
            return lambda row: hashable(read(row))
        return read

    def _plain_key(self, key: Any) -> Any:
        """Return a key as plain values."""
        return key

    def _partition_state(self, partition: Any) -> State:
        """Return the state of a partition's machine; the last value is its place among those that are due at the same time."""
        return [*self._recognizer.state(partition), partition.turn]

    # ------------------------------------------------------------------ rows

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take events of the input; emit the rows of what is final now as one delta, then raise the first error of an expression."""
        output: list[Row] = []
        failures: list[Exception] = []
        for event in new:
            try:
                self._take(event, output, failures)
            except Exception as error:  # noqa: BLE001 - law 6: a row that cannot be made is as if it had not come
                failures.append(error)
        self._settle(output, failures)

    def _take(self, event: Event, output: list[Row], failures: list[Exception]) -> None:
        row = self._row(event)
        if self._time is None:
            self._process(row, 0, output, failures)
            return
        order = self.order
        time = self._read_time(row[self._time])
        now = self._context.now()
        if order.refuses(time, now):
            time = order.leave_out(event, time, now, self._context.core.match_states.on_condition)
        if time is None:
            return
        if order.holds:
            order.hold(row, time)
            self._release(order.by_rows(), output, failures)
            if (until := order.pressure_limit()) is not None:
                waiting = len(order.held)
                self._release(until, output, failures)
                order.counts.forced += waiting - len(order.held)
        else:
            if order.passed is None or time > order.passed:
                order.passed = time
                self._advance(time, output, failures)
            self._process(row, time, output, failures)

    def _release(self, until: int | None, output: list[Row], failures: list[Exception]) -> None:
        """Process the rows below a time in order; no row below it comes any more."""
        order = self.order
        if until is None or (order.passed is not None and until < order.passed):
            return
        for time, rows in order.release(until):
            self._advance(time, output, failures)
            for row in rows:
                self._process(row, time, output, failures)
        order.passed = until
        self._advance(until, output, failures)

    def _process(self, row: Row, time: int, output: list[Row], failures: list[Exception]) -> None:
        key = self._key(row)
        partition = self._partitions.get(key)
        if partition is None:
            partition = self._partitions[key] = self._recognizer.partition()
        output += self._recognizer.process(partition, row, time)
        self._after(key, partition, failures)

    def _advance(self, now: int, output: list[Row], failures: list[Exception]) -> None:
        """Move time: no row before ``now`` comes any more. Emit what is final by that, partition by partition in order of time."""
        due = self._due
        while due and due[0][0] <= now:
            at, _, key = heappop(due)
            partition = self._partitions.get(key)
            if partition is not None and partition.due == at:
                partition.due = None
                output += self._recognizer.advance(partition, now)
                self._after(key, partition, failures)

    def _after(self, key: Any, partition: Any, failures: list[Exception]) -> None:
        """See when a partition is looked at next, and whether it is still needed."""
        self._pages.touch(key)
        if partition.failure is not None:
            failures.append(partition.failure)
            partition.failure = None
        if self._recognizer.is_idle(partition):
            del self._partitions[key]
            self._pages.forget(key)
            return
        deadline = self._recognizer.deadline(partition)
        if deadline != partition.due:
            partition.due = deadline
            if deadline is not None:
                self._pushes = partition.turn = self._pushes + 1
                heappush(self._due, (deadline, partition.turn, key))
                if len(self._due) > 2 * len(self._partitions) + 100:
                    self._clean()

    def _clean(self) -> None:
        """Keep the entries that count."""
        partitions = self._partitions
        self._due = [entry for entry in self._due if entry[2] in partitions and partitions[entry[2]].due == entry[0]]
        heapify(self._due)

    def _settle(self, output: list[Row], failures: list[Exception]) -> None:
        self._set_timer()
        if output:
            event = self._event
            self._first.update([event(*row) for row in output], NO_EVENTS)
        if failures:
            error = failures[0]
            raise error if isinstance(error, EplError) else EplRuntimeError(f"match_recognize: {error}") from error

    # ------------------------------------------------------------------ time

    def _read_time(self, value: Any) -> int | None:
        """Return a time in engine units."""
        if value is None or value.__class__ is int:
            return value
        if isinstance(value, datetime.datetime):
            return (value - EPOCH) // MICROSECOND * self._units // 1_000_000
        return int(value)

    def _set_timer(self) -> None:
        """Look again when the clock reaches the next time that decides something; a time that is behind the clock already does not come:
        what depends on it is decided by the rows."""
        if not self._due and not self.order.held:
            if self._timer.due is not None:
                self._timer.cancel()
            return
        now = self._context.now()
        bound = self.order.bound
        times = [self._due[0][0] + bound] if self._due and self._due[0][0] + bound > now else []
        waits = self.order.due(now)
        if waits is not None:
            times.append(waits)
        if times:
            self._timer.set(min(times))
        else:
            self._timer.cancel()

    def _fire(self) -> None:
        now = self._context.now()
        output: list[Row] = []
        failures: list[Exception] = []
        order = self.order
        for time, rows in order.release(now - order.bound):
            self._advance(time, output, failures)
            for row in rows:
                self._process(row, time, output, failures)
        self._advance(now - order.bound, output, failures)
        self._settle(output, failures)

    def finish(self) -> None:
        """End the input: emit what waits for a row or a time that does not come."""
        output: list[Row] = []
        failures: list[Exception] = []
        if self.order.held:
            assert self.order.newest is not None
            self._release(self.order.newest + 1, output, failures)
        for key, partition in list(self._partitions.items()):
            output += self._recognizer.finish(partition)
            self._after(key, partition, failures)
        self._settle(output, failures)

    # ------------------------------------------------------------------ life

    def counts(self) -> RowCounts:
        """Return how many rows wait and were dropped."""
        return self.order.count()

    def repeat(self) -> None:
        """Let the input take an event as often as its in-lists hold it."""
        self._inner.repeat()

    def start(self) -> None:
        self._inner.start()
        self._context.core.at_end_of_input[self] = (self._context.statement.number, self._context.name, self.finish)

    def close(self) -> None:
        self._context.core.at_end_of_input.pop(self, None)
        self._inner.close()
        self._timer.cancel()
        self._context.match_states.count -= sum(partition.held for partition in self._partitions.values())
        self._partitions = {}
        self._pages.forget_all()

    def state(self) -> State:
        """Return the machines by partition, the rows that wait and the time that is known."""
        inner = self._inner.state() if isinstance(self._inner, RecognitionEntry) else None
        return {"partitions": self._pages, "order": self.order.state(), "due": self._timer.due, "input": inner}

    @takes({"partitions": [(ANYTHING, ANYTHING)], "due": optional(INTEGER), "input": ANYTHING,
            "order": ([(INTEGER, [ANYTHING])], optional(INTEGER), optional(INTEGER), (COUNT, COUNT, COUNT))})
    def restore(self, state: State) -> None:
        if isinstance(self._inner, RecognitionEntry):
            self._inner.restore(state["input"])
        for _, row in state["order"][0]:
            self._row_check(row)
        try:
            self.order.restore(state["order"])
        except ValueError as error:
            raise Damaged(f"the order of rows: {error}") from error
        self._restore_partitions(state["partitions"])
        if state["due"] is not None:
            self._timer.set(state["due"])

    def _restore_partitions(self, partitions: Iterable[tuple[Any, Any]]) -> None:
        """Take the machines of a state. One of an earlier version has no places: those due at one time are in the order of partitions."""
        shape = self._recognizer.shape(self._row_check)
        assert isinstance(shape, tuple)
        check, check_place = compile_check(shape), compile_check(COUNT)
        for number, (key, saved) in enumerate(partitions, 1):
            place = number
            if isinstance(saved, (list, tuple)) and len(saved) > len(shape):
                *saved, place = saved
            check(saved)
            check_place(place)
            try:
                partition = self._recognizer.restore(saved)
                key = _read_key(key)
                self._partitions[key] = partition
                partition.due = self._recognizer.deadline(partition)
            except (TypeError, ValueError) as error:
                raise Damaged(f"the state of a row pattern: {error}") from error
            partition.turn = place
            self._pushes = max(self._pushes, place)
            if partition.due is not None:
                self._due.append((partition.due, place, key))
        if len({place for _, place, _ in self._due}) < len(self._due):  # parts of several states, as those of shards
            self._number_again()
        heapify(self._due)

    def _number_again(self) -> None:
        """Give each partition that is due a place of its own, in the order of the places that they have."""
        self._due.sort(key=itemgetter(1))
        self._pushes = len(self._due)
        for place, (due, _, key) in enumerate(self._due, 1):
            self._partitions[key].turn = place
            self._due[place - 1] = due, place, key


def _read_key(value: Any) -> Any:
    """Return a key as it is computed: lists were tuples."""
    return tuple([_read_key(each) for each in value]) if isinstance(value, (list, tuple)) else value


def row_reader(event_type: EventType, properties: Iterable[str], plan: RecognitionPlan) -> Callable[[Event], Row]:
    """Return what makes a row of an event: the properties that are columns, then the keys that are expressions."""
    names = tuple(properties)
    read: Callable[[Event], Any] = attrgetter(*(field_name(name) for name in names)) if names else lambda event: ()
    converts = [
        (place, _utc) for place, name in enumerate(names) if getattr(event_type.properties[name].whole_type, "kind", None) in AWARE
    ]
    compiler = ExpressionCompiler(NO_QUERIES)
    computed: list[Function] = [compiler.compile_expression(each) for each in plan.computed]

    def row(event: Event) -> Row:
        values = read(event)
        values = values if len(names) != 1 else (values,)
        if converts:
            converted = list(values)
            for place, convert in converts:
                if converted[place] is not None:
                    converted[place] = convert(converted[place])
            values = tuple(converted)
        return (*values, *[function(values) for function in computed]) if computed else values

    return row


def _utc(moment: Any) -> datetime.datetime:
    if not isinstance(moment, datetime.datetime):
        raise EplRuntimeError(f"{brief(moment)} is not a time")
    return moment if moment.tzinfo is None else moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)


__all__ = ["RecognitionEntry"]
