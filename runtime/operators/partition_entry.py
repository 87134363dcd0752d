"""Where the events of one partition of a context enter a statement: an entry of the filter index that comes and goes with the partition.

What all partitions share is prepared once a statement; an entry brings the values that the filter reads of the partition, its key among
them, so that one look-up finds the partitions of an event.
"""
from __future__ import annotations

from epl.plan.streams import StreamPlan, stream_filter
from runtime.event_loop.prepared_filters import ActiveFilter, Target
from runtime.operators.contained_events import ContainedStage, Containment
from runtime.operators.operator_context import OperatorContext
from runtime.operators.stream_entry import Receive
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver


class PartitionEntry:
    """A stream's entry of one partition, from ``start`` to ``close``; parameters as of StreamEntry. ``receive(event)`` passes an event on,
    unless something else does (``replace``)."""

    __slots__ = ("active", "receive", "_context", "_number", "_target", "specification")

    def __init__(
        self, stream: StreamPlan, context: OperatorContext, first: RowReceiver, *, number: int = 0,
        quiet: tuple[bool, bool] = (False, False)
    ) -> None:
        specification = stream_filter(stream).partitioned
        assert specification is not None
        self.specification = specification
        self._context = context
        self._number = number
        self.active: ActiveFilter | None = None
        if stream.contained is not None:
            first = ContainedStage(Containment(stream.contained, context.environment), first, quiet=quiet)
        update = first.update

        def receive(event: Event) -> None:
            update((event,), NO_EVENTS)

        self.receive: Receive = receive
        self._target: Target | None = None

    @property
    def receiver(self) -> PartitionEntry:
        return self

    def repeat(self) -> None:
        """Do nothing: entries of in-lists that hold a value twice see to it themselves."""

    def replace(self, target: Target) -> None:
        """Let another object receive the events."""
        self._target = target
        del self.receive

    def start(self) -> None:
        context = self._context
        prepared = context.prepare(self.specification, self._number)
        prepared.calls_listeners = hasattr(self._target, "receive_alone")
        self.active = prepared.activate(context.values(prepared), context.in_turn(self._target or self))
        self.active.partition = context.partition
        self.active.turn = context.turn

    def close(self) -> None:
        if self.active is not None:
            self.active.deactivate()
            self.active.target = self._context.after_end() or self.active.target
            self.active = None


__all__ = ["PartitionEntry"]
