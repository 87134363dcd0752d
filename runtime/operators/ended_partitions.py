"""What gets an event in place of a partition that has ended, or whose filters have changed, before its turn came."""
from __future__ import annotations

from copy import copy

from epl.plan.context.contexts import Context
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.prepared_filters import Target
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
    """The event goes to the statement's partitions that there are, once for each that it has ended; not if the context has looked at its
    distinct values by then.

    Where partitions overlap Esper 9.0.0 evaluates the event again for the statement; those that match it get it then, and once more in
    their own turn. Where a pattern starts or stops filters in this way the event is evaluated again in place of that turn, too.
    ``copies``: what they get then is an event of its own, since windows hold an event once and Esper's have it twice; not those of joins
    and sub-queries.
    """

    __slots__ = ("_changed", "_context", "_copies", "_core", "_done", "_event", "_is_delivering", "_statements")

    def __init__(self, core: EventLoop, statement: int, context: Context, *, copies: bool) -> None:
        self._core = core
        self._context = context
        self._copies = copies
        self._statements = {statement}
        self._event: Event | None = None
        self._done: set[int] = set()
        """The partitions for which this has been done with the event."""
        self._changed: set[int] = set()
        """The partitions whose filters this has changed."""
        self._is_delivering = False

    def deliver(self, event: Event, partition: int) -> None:
        if event is not self._event:
            self._event, self._done, self._changed = event, set(), set()
        tree = self._core.contexts.get(self._context)
        if tree is None or event is tree.tested or partition in self._done:
            return
        self._done.add(partition)
        outer, self._is_delivering = self._is_delivering, True
        self._core.end_turns()
        try:
            self._core.deliver_to_statements(copy(event) if self._copies else event, self._statements)
        finally:
            self._core.end_turns()
            self._is_delivering = outer

    def note_change(self, partition: int) -> None:
        """Note that a filter of a partition starts or stops."""
        if self._is_delivering:
            self._changed.add(partition)

    def has_changed(self, event: Event, partition: int) -> bool:
        """Return whether a partition has changed by this before its turn with the event came."""
        return not self._is_delivering and event is self._event and partition in self._changed


class Redelivery:
    """An entry of a partition that has ended: one of several where the statement has several streams or filters."""

    __slots__ = ("_all", "_partition")

    def __init__(self, redeliveries: Redeliveries, partition: int) -> None:
        self._all = redeliveries
        self._partition = partition

    def receive(self, event: Event) -> None:
        self._all.deliver(event, self._partition)


class Turn:
    """That of a partition of a statement with patterns, in place of whose filters it gets an event where they have stopped."""

    __slots__ = ("_all", "_partition")

    def __init__(self, redeliveries: Redeliveries, partition: int) -> None:
        self._all = redeliveries
        self._partition = partition

    def note_change(self) -> None:
        self._all.note_change(self._partition)

    def takes(self, event: Event) -> bool:
        """Deliver the event again if filters have changed by that; return whether they have."""
        changed = self._all.has_changed(event, self._partition)
        if changed:
            self._all.deliver(event, self._partition)
        return changed

    def receive(self, event: Event) -> None:
        self.takes(event)


class InTurn:
    """An entry whose ``target`` gets the event unless its turn takes it."""

    __slots__ = ("_target", "_turn")

    def __init__(self, turn: Turn, target: Target) -> None:
        self._turn = turn
        self._target = target

    def receive(self, event: Event) -> None:
        if not self._turn.takes(event):
            self._target.receive(event)


__all__ = ["BeginAgain", "InTurn", "Redeliveries", "Redelivery", "Turn"]
