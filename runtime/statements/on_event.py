"""Statements that wait for events and keep nothing between them."""
from __future__ import annotations

from collections.abc import Iterable

from epl.plan.streams import StreamPlan
from runtime.operators.operator_context import OperatorContext
from runtime.operators.store_entry import stream_entry
from windows.event import NO_EVENTS, Event
from windows.protocol import Sink, State


class Stateless:
    """A running statement without state; what is special about it is how it starts and what it does with events."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def close(self) -> None:
        self._context.close()

    def iterate(self) -> Iterable[Event]:
        return NO_EVENTS

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Do nothing: nothing is kept between events."""


class OnEvent(Stateless):
    """``on T …``: gets a stream's events from its start to its end."""

    def __init__(self, stream: StreamPlan, context: OperatorContext, sink: Sink) -> None:
        super().__init__(context)
        self._entry = stream_entry(stream, context, sink)
        self._entry.repeat()

    def start(self) -> None:
        self._entry.start()

    def close(self) -> None:
        self._entry.close()
        super().close()


__all__ = ["OnEvent", "Stateless"]
