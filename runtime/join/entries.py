"""One event for several streams of a join: it makes one delta.

The receivers of the streams let what they take wait in the join; a receiver that comes after them releases it.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

from epl.event_types import EventType
from epl.plan.streams import StreamPlan, stream_filter
from runtime.event_loop.filter_index import FilterEntry
from runtime.event_loop.prepared_filters import ActiveFilter
from runtime.event_loop.receiver_order import Path, Places
from runtime.expressions.generated_steps import EmitSteps
from runtime.join.join import JoinOperator
from runtime.operators.operator_context import OperatorContext
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.store_entry import StoreEntry
from runtime.operators.stream_entry import StreamEntry
from windows.event import Event

Take = Callable[[Sequence[Event], Sequence[Event]], bool]


class Releasing:
    """Receives an event after the join's streams."""

    __slots__ = ("name", "order", "paths", "drop", "write", "_join", "_drops")
    carries = 0
    """The event has reached the statement by another receiver, and is counted there."""

    def __init__(self, join: JoinOperator, context: OperatorContext, order: Places) -> None:
        self.name = context.name
        self.order = order
        self.paths: Sequence[Path] = ()
        self.write: EmitSteps | None = None
        self.drop = self._drops = context.drops
        """Whether the event goes no further: once one of the streams has it."""
        self._join = join

    def receive(self, event: Event) -> None:
        join = self._join
        self.drop = self._drops and join.holding
        if join.holding:
            join.release()


class SharedEntries:
    """The entries, from ``start`` to ``close``, that release what one event brings to several streams; none where no event can."""

    def __init__(
        self, streams: Sequence[StreamPlan], entries: Sequence[object], join: JoinOperator, context: OperatorContext
    ) -> None:
        _hold_windows(entries, join, context)
        receiving = [(stream, entry) for stream, entry in zip(streams, entries, strict=True)
                     if isinstance(entry, (StreamEntry, PartitionEntry))]
        types = [stream_filter(stream).event_type for stream, _ in receiving]
        shared = [_meets_another(number, types) for number in range(len(types))]
        for (_, entry), is_shared in zip(receiving, shared, strict=True):
            if is_shared:
                _hold(entry, join)
        met = [event_type for event_type, is_shared in zip(types, shared) if is_shared]
        roots = dict.fromkeys(each for each in met if not any(each is not other and each.is_a(other) for other in met))
        order = context.order(len(streams))
        held = [entry for (_, entry), is_shared in zip(receiving, shared, strict=True) if is_shared]
        self._partitions = [
            ReleasingPartition(entry, join, context, len(streams)) for entry in held if isinstance(entry, PartitionEntry)]
        if self._partitions:
            roots = {}
        self._filters = context.core.filters
        self._entries = [(root, FilterEntry(Releasing(join, context, order), None, None, (), (), context.environment)) for root in roots]

    def start(self) -> None:
        for event_type, entry in self._entries:
            self._filters.add(event_type, entry)
        for partition in self._partitions:
            partition.start()

    def close(self) -> None:
        for event_type, entry in self._entries:
            self._filters.remove(event_type, entry)
        for partition in self._partitions:
            partition.close()


class ReleasingPartition:
    """In a partition of a context: receives what a stream's entry receives, after all of the join's streams."""

    carries = 0
    """As that of ``Releasing``."""

    def __init__(self, entry: PartitionEntry, join: JoinOperator, context: OperatorContext, number: int) -> None:
        self._specification = entry.specification
        self._join = join
        self._context = context
        self._number = number
        self._active: ActiveFilter | None = None

    def receive(self, event: Event) -> None:
        if self._join.holding:
            self._join.release()

    def start(self) -> None:
        prepared = self._context.prepare(self._specification, self._number, last=True)
        self._active = prepared.activate(self._context.values(prepared), self)
        self._active.partition = self._context.partition

    def close(self) -> None:
        if self._active is not None:
            self._active.deactivate()
            self._active = None


def _meets_another(number: int, types: Sequence[EventType]) -> bool:
    """Return whether an event of the stream may be one of another stream too."""
    mine = types[number]
    return any(mine.is_a(other) or other.is_a(mine) for place, other in enumerate(types) if place != number)


def _hold_windows(entries: Sequence[object], join: JoinOperator, context: OperatorContext) -> None:
    """Let what a named window brings to several streams wait: the last of them releases it."""
    over = [entry for entry in entries if isinstance(entry, StoreEntry)]
    for number, entry in enumerate(over):
        alike = [place for place, other in enumerate(over) if other.store is entry.store]
        if len(alike) > 1:
            entry.take = _hold_rows(entry.take, join, releases=number == alike[-1])  # type: ignore[method-assign, assignment]


def _hold_rows(take: Take, join: JoinOperator, *, releases: bool) -> Take:
    def hold(new: Sequence[Event], old: Sequence[Event]) -> bool:
        join.holding = True
        try:
            return take(new, old)
        finally:
            if releases:
                join.release()

    return hold


def _hold(entry: StreamEntry | PartitionEntry, join: JoinOperator) -> None:
    """Let what the stream's receiver takes wait."""
    receiver = entry.receiver
    receive = receiver.receive

    def hold(event: Event) -> None:
        join.holding = True
        receive(event)

    receiver.receive = hold  # type: ignore[method-assign]
    if isinstance(entry, StreamEntry):
        entry.receiver.drop = False


__all__ = ["SharedEntries"]
