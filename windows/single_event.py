"""``lastevent`` and ``firstevent``: one event."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.windows import WindowArgument, WindowConfig
from windows.event import NO_EVENTS, Event
from windows.parameters import no_arguments
from windows.protocol import BuildContext, View
from windows.shape import EVENT, optional, takes

__all__ = ["FirstEvent", "FirstEventView", "LastEvent", "LastEventView"]


@attrs.frozen
class LastEvent(WindowConfig):
    """Retains the last event.

    ::

        lastevent     E1    E2    delete E2
        contents      1     2
        new           E1    E2    -
        old           -     E1    E2
    """

    names = ("lastevent",)
    passes_nothing = True
    reads_whole_events = False
    namespace = "std"
    title = "lastevent"
    named_refusals = True

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> LastEvent:
        no_arguments(arguments, cls.title)
        return cls()

    def build(self, context: BuildContext) -> LastEventView:
        return LastEventView()


@attrs.frozen
class FirstEvent(WindowConfig):
    """Retains the first event. Only after it is deleted, the next event takes its place.

    ::

        firstevent    E1    E2    delete E1    E3
        contents      1     1                  3
        new           E1    -     -            E3
        old           -     -     E1           -
    """

    names = ("firstevent",)
    reads_whole_events = False
    namespace = "std"
    title = "firstevent"
    named_refusals = True
    is_selective = True

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> FirstEvent:
        no_arguments(arguments, cls.title)
        return cls()

    def build(self, context: BuildContext) -> FirstEventView:
        return FirstEventView()


class SingleEventView(View):
    """Base of the two: at most one event."""

    def __init__(self) -> None:
        self.event: Event | None = None

    def __iter__(self) -> Iterator[Event]:
        return iter(NO_EVENTS if self.event is None else (self.event,))

    def state(self) -> Any:
        return self.event

    @takes(optional(EVENT))
    def restore(self, state: Any) -> None:
        self.event = state


class LastEventView(SingleEventView):
    """See LastEvent. Of several new events at once all but the last are old in the same delta."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = []
        for event in new:
            if self.event is not None:
                gone.append(self.event)
            self.event = event
        for event in old:
            if event is self.event:
                gone.append(event)
                self.event = None
        if new or gone:
            self.child.update(new, gone)


class FirstEventView(SingleEventView):
    """See FirstEvent."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone: list[Event] = []
        for event in old:
            if event is self.event:
                gone.append(event)
                self.event = None
        let_in: Sequence[Event] = NO_EVENTS
        if self.event is None and new:
            self.event = new[0]
            let_in = new[:1]
        if let_in or gone:
            self.child.update(let_in, gone)
