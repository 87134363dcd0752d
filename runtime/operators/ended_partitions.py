"""What gets an event in place of a partition that has ended before its turn came."""
from __future__ import annotations

from copy import copy

from epl.plan.context.contexts import Context
from runtime.event_loop.loop import EventLoop
from windows.event import Event


class BeginAgain:
    """The event may begin the context's next partition."""

    __slots__ = ("_context", "_core")

    def __init__(self, core: EventLoop, context: Context) -> None:
        self._core = core
        self._context = context

    def receive(self, event: Event) -> None:
        tree = self._core.contexts.get(self._context)
        if tree is not None:
            tree.begin_again(event)


class Redeliveries:
    """The event goes to the statement's partitions that there are, once for each that it has ended.

    Where partitions overlap Esper 9.0.0 evaluates the event again for the statement; those that match it get it then, and once more in
    their own turn. ``copies``: what they get then is an event of its own, since windows hold an event once and Esper's have it twice; not
    those of joins and sub-queries.
    """

    __slots__ = ("_copies", "_core", "_done", "_event", "_statements")

    def __init__(self, core: EventLoop, statement: int, *, copies: bool) -> None:
        self._core = core
        self._copies = copies
        self._statements = {statement}
        self._event: Event | None = None
        self._done: set[int] = set()
        """The partitions for which this has been done with the event."""

    def deliver(self, event: Event, partition: int) -> None:
        if event is not self._event:
            self._event, self._done = event, set()
        if partition not in self._done:
            self._done.add(partition)
            self._core.deliver_to_statements(copy(event) if self._copies else event, self._statements)


class Redelivery:
    """An entry of a partition that has ended: one of several where the statement has several streams or filters."""

    __slots__ = ("_all", "_partition")

    def __init__(self, redeliveries: Redeliveries, partition: int) -> None:
        self._all = redeliveries
        self._partition = partition

    def receive(self, event: Event) -> None:
        self._all.deliver(event, self._partition)


__all__ = ["BeginAgain", "Redeliveries", "Redelivery"]
