"""Statements that wait for events and keep nothing between them."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.streams import StreamPlan
from runtime.operators.operator_context import OperatorContext
from runtime.operators.stateful_entry import StatefulEntry
from runtime.pattern.entries import build_entry
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver, State


class Stateless:
    """A running statement without state; what is special about it is how it starts and what it does with events."""

    def __init__(self, context: OperatorContext) -> None:
        self.context = context

    def close(self) -> None:
        self.context.close()

    def iterate(self) -> Iterable[Event]:
        return NO_EVENTS

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing: nothing is kept between events."""


class OnEvent(Stateless):
    """``on T …``: gets a stream's events from its start to its end. Its only state is that of a pattern, or of a match_recognize of a SQL
    dialect, whose matches trigger it."""

    def __init__(self, stream: StreamPlan, context: OperatorContext, sink: RowReceiver) -> None:
        super().__init__(context)
        self.entry = build_entry(stream, context, sink)
        self.entry.repeat()

    def start(self) -> None:
        self.entry.start()

    def close(self) -> None:
        self.entry.close()
        super().close()

    def state(self) -> State:
        return self.entry.state() if isinstance(self.entry, StatefulEntry) else None

    def restore(self, state: State) -> None:
        if isinstance(self.entry, StatefulEntry):
            self.entry.restore(state)


__all__ = ["OnEvent", "Stateless"]
