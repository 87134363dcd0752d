"""Where the rows of a SQL dialect's match_recognize enter a statement: events → rows in order of time → machines → events of its table."""
from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import attrgetter, itemgetter
from typing import Any

from epl.dialects.plans import RecognitionPlan
from epl.dialects.values import EPOCH
from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.streams import StreamPlan
from epl.reprs import brief
from runtime.dialects.execution import hashable
from runtime.dialects.expressions import ExpressionCompiler, Function
from runtime.dialects.sorting import sort
from runtime.dialects.streaming.flink_partition import FlinkRecognizer
from runtime.dialects.streaming.partition import NO_QUERIES, Recognizer, Row
from runtime.dialects.streaming.sql_partition import SqlRecognizer
from runtime.dialects.streaming.ydb_partition import YdbRecognizer
from runtime.operators.operator_context import OperatorContext
from runtime.operators.stateful_entry import StatefulEntry
from runtime.operators.store_entry import stream_entry
from windows.event import NO_EVENTS, Event, event_class
from windows.paging import Paged
from windows.protocol import Damaged, Sink, State
from windows.shape import ANYTHING, COUNT, INTEGER, optional, takes

log = logging.getLogger("epl")

RECOGNIZERS: dict[str, Any] = {"sql": SqlRecognizer, "flink": FlinkRecognizer, "alibaba": FlinkRecognizer, "ydb": YdbRecognizer}
MICROSECOND = datetime.timedelta(microseconds=1)
AWARE = ("Date", "Calendar", "ZonedDateTime", "OffsetDateTime")
"""Kinds of properties whose values have a zone; as columns they are in UTC without one."""


class RecognitionEntry(StatefulEntry):
    """The rows of a clause as events of a stream, from ``start`` to ``close``; ``first`` receives them.

    Rows are in order of time where ORDER BY says so: its first key is the time, and a row whose time is below one that was processed
    before is late and dropped. Where there are further keys the rows of one time wait until a later time is known, by a row or by the
    clock. ``passed``: the newest time that is known; ``waiting``: rows of that time that wait.
    """

    kept_as = "row_pattern"

    def __init__(self, stream: StreamPlan, context: OperatorContext, first: Sink, *, number: int = 0) -> None:
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
        self._key = self._key_reader()
        self._partitions: dict[Any, Any] = {}
        self._pages = Paged("row patterns", lambda: self._partitions, self._values_of, lambda key, each: self._recognizer.state(each))
        self._sorts = len(self.plan.order) > 1
        self._time = None if self.plan.time is None else self.plan.time
        self.passed: int | None = None
        self.waiting: list[Row] = []
        self.late, self._logs_at = 0, 1
        self._due: list[tuple[int, int, Any]] = []
        self._pushes = 0
        self._timer = context.timer(self._fire)
        self._inner = stream_entry(source.input, context, self, number=number)

    def _key_reader(self) -> Callable[[Row], Any]:
        places = self.plan.partition
        if not places:
            return lambda row: ()
        read = itemgetter(*places)
        kinds = [each.type.name for each in self.plan.input.columns] + [each.type.name for each in self.plan.computed]
        if any(kinds[place] in ("array", "map") for place in places):
            return lambda row: hashable(read(row))
        return read

    def _values_of(self, key: Any) -> Any:
        """Return a key as plain values."""
        return key

    # ------------------------------------------------------------------ rows

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take events of the input; emit the rows of what is final now as one delta, then raise the first error of an expression."""
        output: list[Row] = []
        failures: list[Exception] = []
        for event in new:
            try:
                self._take(self._row(event), output, failures)
            except Exception as error:  # noqa: BLE001 - law 6: a row that cannot be made is as if it had not come
                failures.append(error)
        self._settle(output, failures)

    def _take(self, row: Row, output: list[Row], failures: list[Exception]) -> None:
        if self._time is None:
            self._process(row, 0, output, failures)
            return
        time = self._time_of(row[self._time])
        passed = self.passed
        if time is None or (passed is not None and time < passed):
            self._drop(time)
            return
        if passed is None or time > passed:
            self._release(output, failures)
            self.passed = time
            self._advance(time, output, failures)
        if self._sorts:
            self.waiting.append(row)
        else:
            self._process(row, time, output, failures)

    def _drop(self, time: int | None) -> None:
        """Count a row that comes too late, or has no time; log the first one, the tenth, the hundredth, …"""
        self.late += 1
        if self.late == self._logs_at:
            self._logs_at *= 10
            why = "without a time" if time is None else f"of time {time} after one of {self.passed}"
            log.warning(
                "statement '%s': a row %s is dropped, %d so far: match_recognize is in the order of time",
                self._context.name, why, self.late,
            )

    def _release(self, output: list[Row], failures: list[Exception]) -> None:
        """Process the rows that wait, in the order of the further keys."""
        if not self.waiting:
            return
        rows, self.waiting = self.waiting, []
        sort(rows, [(itemgetter(place), descending, nulls_first) for place, descending, nulls_first in self.plan.order[1:]])
        assert self.passed is not None
        for row in rows:
            self._process(row, self.passed, output, failures)

    def _process(self, row: Row, time: int, output: list[Row], failures: list[Exception]) -> None:
        key = self._key(row)
        partition = self._partitions.get(key)
        if partition is None:
            partition = self._partitions[key] = self._recognizer.partition()
        output += self._recognizer.process(partition, row, time)
        self._after(key, partition, failures)

    def _advance(self, now: int, output: list[Row], failures: list[Exception]) -> None:
        """No row before ``now`` comes any more: emit what is final by that, partition by partition in the order of their times."""
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
                self._pushes += 1
                heappush(self._due, (deadline, self._pushes, key))
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

    def _time_of(self, value: Any) -> int | None:
        """Return a time in engine units."""
        if value is None or value.__class__ is int:
            return value
        if isinstance(value, datetime.datetime):
            return (value - EPOCH) // MICROSECOND * self._units // 1_000_000
        return int(value)

    def _set_timer(self) -> None:
        """Look again when the clock reaches the next time that decides something; a time that is behind the clock already does not come:
        what depends on it is decided by the rows."""
        if not self._due and not self.waiting:
            if self._timer.due is not None:
                self._timer.cancel()
            return
        now = self._context.now()
        times = [self.passed + 1] if self.waiting and self.passed is not None else []
        if self._due:
            times.append(self._due[0][0])
        due = min((time for time in times if time > now), default=None)
        if due is None:
            self._timer.cancel()
        else:
            self._timer.set(due)

    def _fire(self) -> None:
        now = self._context.now()
        output: list[Row] = []
        failures: list[Exception] = []
        if self.passed is not None and self.passed < now:
            self._release(output, failures)
        self._advance(now, output, failures)
        self._settle(output, failures)

    def finish(self) -> None:
        """The input has ended: emit what waits for a row or a time that does not come."""
        output: list[Row] = []
        failures: list[Exception] = []
        self._release(output, failures)
        for key, partition in list(self._partitions.items()):
            output += self._recognizer.finish(partition)
            self._after(key, partition, failures)
        self._settle(output, failures)

    # ------------------------------------------------------------------ life

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
        return {
            "partitions": self._pages, "waiting": [list(row) for row in self.waiting], "passed": self.passed, "late": self.late,
            "due": self._timer.due,
        }  # fmt: skip

    @takes({"partitions": [(ANYTHING, ANYTHING)], "waiting": [[ANYTHING]], "passed": optional(INTEGER), "late": COUNT,
            "due": optional(INTEGER)})
    def restore(self, state: State) -> None:
        self.waiting = [tuple(row) for row in state["waiting"]]
        self.passed, self.late = state["passed"], state["late"]
        self._logs_at = 10 ** len(str(self.late)) if self.late else 1
        for key, saved in state["partitions"]:
            try:
                partition = self._recognizer.restore(saved)
                key = _key_of(key)
                self._partitions[key] = partition
                partition.due = self._recognizer.deadline(partition)
            except (TypeError, ValueError, IndexError, AttributeError) as error:
                raise Damaged(f"the state of a row pattern: {error}") from error
            if partition.due is not None:
                self._pushes += 1
                heappush(self._due, (partition.due, self._pushes, key))
        if state["due"] is not None:
            self._timer.set(state["due"])


def _key_of(value: Any) -> Any:
    """Return a key as it is computed: lists were tuples."""
    return tuple([_key_of(each) for each in value]) if isinstance(value, (list, tuple)) else value


def row_reader(event_type: EventType, properties: Iterable[str], plan: RecognitionPlan) -> Callable[[Event], Row]:
    """Return what makes a row of an event: the properties that are columns, then the keys that are expressions."""
    names = tuple(properties)
    read: Callable[[Event], Any] = attrgetter(*(field_name(name) for name in names)) if names else lambda event: ()
    converts = [
        (place, _utc) for place, name in enumerate(names) if getattr(event_type.properties[name].whole_type, "kind", None) in AWARE
    ]
    compiler = ExpressionCompiler(NO_QUERIES)
    computed: list[Function] = [compiler.compiled(each) for each in plan.computed]

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
