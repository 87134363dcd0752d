"""Where the events of one partition of a context enter a statement: an entry of the filter index that comes and goes with the partition.

What all partitions share is prepared once a statement; an entry brings the values that the filter reads of the partition, its key among
them, so that one look-up finds the partitions of an event.
"""
from __future__ import annotations

from copy import copy

from epl.plan.streams import StreamPlan, filter_of
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.prepared_filters import ActiveFilter, PreparedFilter, Target
from runtime.operators.contained_events import ContainedStage, Containment
from runtime.operators.operator_context import OperatorContext, StatementContext
from runtime.operators.stream_entry import Receive
from windows.event import NO_EVENTS, Event
from windows.protocol import Sink


class PartitionEntry:
    """A stream's entry of one partition, from ``start`` to ``close``; parameters as of StreamEntry. ``receive(event)`` passes an event on,
    unless something else does (``replace``)."""

    __slots__ = ("active", "receive", "_context", "_number", "_target", "specification")

    def __init__(
        self, stream: StreamPlan, context: OperatorContext, first: Sink, *, number: int = 0, quiet: tuple[bool, bool] = (False, False)
    ) -> None:
        specification = filter_of(stream).partitioned
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
        self.active = prepared.activate(context.values(prepared), self._target or self)
        self.active.partition = context.partition
        self.active.turn = context.turn

    def close(self) -> None:
        if self.active is not None:
            self.active.deactivate()
            statement = self._context.statement
            if statement.redelivers:
                self.active.target = Redelivery(self.active.prepared, statement.core)
            elif statement.begins_again:
                self.active.target = BeginAgain(statement)
            self.active = None


class BeginAgain:
    """In place of a partition that has ended before its turn came with an event: the event may begin the next one."""

    __slots__ = ("_statement",)

    def __init__(self, statement: StatementContext) -> None:
        self._statement = statement

    def receive(self, event: Event) -> None:
        statement = self._statement
        tree = statement.core.contexts.get(statement.plan.context)
        if tree is not None:
            tree.begin_again(event)


class Redelivery:
    """In place of a partition that has ended before its turn came with an event: the event goes to the partitions that there are.

    Where partitions overlap Esper 9.0.0 evaluates the event again for the statement; those that match it get it then, and once more in
    their own turn. What they get here is an event of its own, a copy: windows hold an event once.
    """

    __slots__ = ("_core", "_prepared")

    def __init__(self, prepared: PreparedFilter, core: EventLoop) -> None:
        self._prepared = prepared
        self._core = core

    def receive(self, event: Event) -> None:
        matching = self._prepared.matching(event)
        self._core.note_receivers(matching)
        again = copy(event)
        for active in matching:
            try:
                active.receive(again)
            except Exception as error:  # noqa: BLE001 - law 6
                self._core.on_error(error, active.name, event)


__all__ = ["PartitionEntry"]
