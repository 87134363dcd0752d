"""Where events and time go."""
from __future__ import annotations

from typing import Any, Protocol

from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime
from runtime.connectors.pacing import Pace
from runtime.replay.epl_online import At, Later, Send


class EventFeed(Protocol):
    """Where events and time go: into the runtime one by one, or collected for Spark."""

    @property
    def now(self) -> int: ...

    @property
    def next_due(self) -> int | None: ...

    def check(self, event_type: str, values: dict[str, Any]) -> object:
        """Raise EplRuntimeError where the values are not an event of the type; nothing is done."""

    def send(self, event_type: str, values: dict[str, Any]) -> None: ...

    def move(self, target: int) -> None: ...

    def finish(self) -> None:
        """Note that the input is at its end."""


class DirectFeed:
    """Each event and time step at once."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.send = runtime.send
        self.move = runtime.advance_time_span
        self.check = runtime.event_of

    @property
    def now(self) -> int:
        return self.runtime.now

    @property
    def next_due(self) -> int | None:
        return self.runtime.next_scheduled_time

    def finish(self) -> None:
        self.runtime.end_of_input()


def execute(instruction: At | Later | Send, feed: EventFeed, pace: Pace) -> None:
    """Send an event, or move time; EplRuntimeError where it would go back."""
    if isinstance(instruction, Send):
        feed.send(instruction.type, instruction.values)
        return
    target = instruction.ms if isinstance(instruction, At) else feed.now + instruction.ms
    if target < feed.now:
        raise EplRuntimeError(f"time goes back from {feed.now} to {target}", hint="sort the rows by time")
    pace.move(feed, target)


__all__ = ["DirectFeed", "EventFeed", "execute"]
