"""The join of a statement: deltas of its streams → a delta of rows, each a tuple of events.

Old rows are found for what leaves before it is gone from any stream; new rows for what enters once every stream has it. What an event
brings to several streams of the statement, and what several of its timers evict at one time, makes one delta: it waits for ``release``.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

from epl.plan.join.joins import JoinPlan
from epl.plan.join.lookups import LookupPlan
from epl.plan.patterns.pattern import stream_pattern
from epl.plan.statements import SelectPlan
from runtime.event_loop.delivery import Delivery
from runtime.join.contents import Joined, JoinedCall, JoinedStream, build_stream
from runtime.join.drive import JoinedRow, LookUp, compile_drive
from runtime.join.loops import compile_loops, step_chain
from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.failures import Failures
from windows.protocol import State, View
from windows.shape import ANYTHING, takes

NO_ROWS: Sequence[JoinedRow] = ()


class RowSink(Protocol):
    """Whatever takes a delta of rows."""

    def update(self, new: Sequence[JoinedRow], old: Sequence[JoinedRow]) -> None: ...


class Delta:
    """What has changed in one stream."""

    __slots__ = ("stream", "new", "old")

    def __init__(self, stream: Joined, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.stream = stream
        self.new = new
        self.old = old


class JoinOperator(Delivery):
    """See above. ``streams``: where the deltas of each stream go; ``child`` gets those of rows. ``name``: the statement's."""

    child: RowSink
    ends_turn = True

    def __init__(self, plan: SelectPlan, context: OperatorContext) -> None:
        assert plan.join is not None
        self.plan: JoinPlan = plan.join
        self.name = context.name
        self._context = context
        self._loop = context.core
        environment = context.environment
        self.streams: tuple[Joined, ...] = tuple(
            build_stream(number, stream, plan.join, environment, self._take) for number, stream in enumerate(plan.streams)
        )
        self.calls = [stream.historical for stream in self.streams if isinstance(stream, JoinedCall)]
        self._drives: list[Callable[[Iterable[Event]], list[JoinedRow]] | None] = [None] * len(plan.streams)
        for drive in plan.join.drives:
            chain = step_chain(drive)
            rows = [stream.rows for stream in self.streams if isinstance(stream, JoinedStream)]
            self._drives[drive.stream] = (
                compile_loops(drive, chain, rows, environment) if chain is not None and len(rows) == len(self.streams)
                else compile_drive(drive, plan.join, self._look_up, environment))
        self._needs_old = not _only_new(plan)
        self._routed = self._loop.routed
        self.holding = False
        """Whether what comes waits for ``release``: the same event is on its way to other streams of the join."""
        self._gathers = any(stream_pattern(stream) is not None for stream in plan.streams)
        """Whether what one event brings waits until all statements have had it: it may complete several matches."""
        self._waiting: dict[int, Delta] = {}
        self._withheld = False

    def _look_up(self, plan: LookupPlan) -> LookUp:
        """Return what a step asks for the events of a stream."""
        return self.streams[plan.sought].look_up(plan)

    # ------------------------------------------------------------------ deltas

    def _take(self, stream: int, new: Sequence[Event], old: Sequence[Event]) -> None:
        if old and stream in self.plan.unidirectional:  # of a named window: what leaves it was never kept here
            if not new:
                return
            old = ()
        after_timers = self._loop.after_timers
        if not self.holding and after_timers is None and not self._gathers:
            self._process_one(self.streams[stream], new, old)
            return
        waiting = self._waiting.get(stream)
        if waiting is None:
            self._waiting[stream] = Delta(self.streams[stream], list(new), list(old))
        else:
            waiting.new = [*waiting.new, *new]
            waiting.old = [*waiting.old, *old]
        self._withheld = self._withheld or self._context.withholding
        if self.holding:
            return
        if after_timers is not None:
            after_timers[self] = None
        else:
            self._loop.pending[self] = None

    def release(self) -> bool:
        """Process what waits, at once or when all statements have had the event; return whether anything came."""
        self.holding = False
        if not self._waiting:
            return False
        if self._gathers:
            self._loop.pending[self] = None
        else:
            self.deliver()
        return True

    def deliver(self) -> None:
        """Process what waits."""
        waiting, self._waiting = self._waiting, {}
        withheld, self._withheld = self._withheld, False
        if waiting:
            deltas = [waiting[stream] for stream in sorted(waiting)]
            if withheld:
                self._context.withholding, outer = True, self._context.withholding
                try:
                    self._process(deltas)
                finally:
                    self._context.withholding = outer
            else:
                self._process(deltas)

    def begin(self, fill: Callable[[], None]) -> Sequence[JoinedRow]:
        """Take what ``fill`` brings to the streams; return the rows that they make then, each once."""
        self.holding = True
        fill()
        self.holding = self._withheld = False
        deltas, self._waiting = self._waiting, {}
        for delta in deltas.values():
            delta.stream.apply(delta.new, delta.old)
        failures = Failures()
        rows = self._rows([(delta.stream, delta.new) for _, delta in sorted(deltas.items())], failures)
        for delta in deltas.values():
            delta.stream.settle(delta.new)
        failures.settle()
        return rows

    def _process_one(self, stream: Joined, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Do as ``_process`` for a delta of one stream, which is most of them."""
        drive = self._drives[stream.number]
        if drive is None:
            self._process((Delta(stream, new, old),))
            return
        failures = None
        old_rows = new_rows = NO_ROWS
        if old and self._needs_old:
            try:
                old_rows = drive(old)
            except Exception as error:  # noqa: BLE001 - raised once all is done
                failures = Failures()
                failures.note(error)
        stream.apply(new, old)
        if new:
            try:
                new_rows = drive(new)
            except Exception as error:  # noqa: BLE001
                failures = failures or Failures()
                failures.note(error)
        if stream.passes:
            stream.settle(new)
        if new_rows or old_rows:
            if self._routed.working:
                self._routed.read(len(new_rows) + len(old_rows))
            self.child.update(new_rows, old_rows)
        if failures is not None:
            failures.settle()

    def _process(self, deltas: Sequence[Delta]) -> None:
        failures = Failures()
        old_rows = self._rows([(delta.stream, delta.old) for delta in deltas], failures) if self._needs_old else NO_ROWS
        for delta in deltas:
            delta.stream.apply(delta.new, delta.old)
        new_rows = self._rows([(delta.stream, delta.new) for delta in deltas], failures)
        for delta in deltas:
            delta.stream.settle(delta.new)
        if new_rows or old_rows:
            if self._routed.working:
                self._routed.read(len(new_rows) + len(old_rows))
            self.child.update(new_rows, old_rows)
        failures.settle()

    def _rows(self, parts: Sequence[tuple[Joined, Sequence[Event]]], failures: Failures) -> Sequence[JoinedRow]:
        """Return the rows that the events are part of; each once, though events of several streams find it."""
        rows: list[JoinedRow] = []
        for stream, events in parts:
            drive = self._drives[stream.number]
            if events and drive is not None:
                try:
                    rows += drive(events)
                except Exception as error:  # noqa: BLE001 - raised once all is done
                    failures.note(error)
        return rows if len(parts) == 1 else tuple(dict.fromkeys(rows))

    # ------------------------------------------------------------------ contents

    @property
    def reads_one_window(self) -> bool:
        """Whether the iterator reads the window of the only stream beside a call."""
        return len(self.streams) == 2 and any(not call.is_table for call in self.calls)

    @property
    def is_beside_calls(self) -> bool:
        """Whether all streams but one are looked up as its events come."""
        return len(self.calls) == len(self.streams) - 1

    @property
    def can_iterate(self) -> bool:
        """Whether the streams have contents to join."""
        beside_a_call = self.reads_one_window
        return beside_a_call or not (self.plan.unidirectional or any(stream.passes for stream in self.streams))

    def __iter__(self) -> Iterator[JoinedRow]:
        """The rows that the streams make now; of a unidirectional join none."""
        if not self.can_iterate:
            return iter(NO_ROWS)
        with ExitStack() as iteration:
            for call in self.calls:
                iteration.enter_context(call.one_iteration())
            return iter(self._current())

    def _current(self) -> Sequence[JoinedRow]:
        parts = [(self.streams[drive.stream], tuple(self.streams[drive.stream].contents())) for drive in self.plan.iterated]
        failures = Failures()
        rows = self._rows(parts, failures)
        failures.settle()
        return rows

    def close(self) -> None:
        """Release the indexes of tables."""
        for stream in self.streams:
            if isinstance(stream, JoinedCall):
                stream.close()

    def state(self) -> State:
        return [stream.state() for stream in self.streams]

    @takes([ANYTHING])
    def restore(self, state: State, windows: Sequence[View]) -> None:
        for stream, saved, window in zip(self.streams, state, windows, strict=True):
            stream.restore(saved, window)


def _only_new(plan: SelectPlan) -> bool:
    """Return whether the remove stream is of no use to anything after the join. Groups without an aggregation are: Esper emits none for the
    rows that leave a join."""
    rows = plan.result_set
    return not rows.aggregations and rows.into is None and rows.selector == "istream" and not rows.raw and rows.output is None


__all__ = ["JoinOperator", "RowSink"]
