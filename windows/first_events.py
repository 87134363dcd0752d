"""``firstlength(n)`` and ``firsttime(period)``: the first events of all."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig, WindowRefused
from windows.event import NO_EVENTS, Event
from windows.parameters import Duration, integer_argument, only_duration, size_value
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, COUNT, DUE, EVENT, takes

__all__ = ["FirstLength", "FirstLengthView", "FirstTime", "FirstTimeView"]


@attrs.frozen
class FirstLength(WindowConfig):
    """Retains the first ``n`` events. Deleting one frees a place.

    ::

        firstlength(2)   E1    E2     E3     delete E1   E4
        contents         1     1 2    1 2    2           2 4
        new              E1    E2     -      -           E4
        old              -     -      -      E1          -
    """

    names = ("firstlength",)
    reads_whole_events = False
    title = "First-Length"
    named_refusals = True
    is_selective = True

    size: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> FirstLength:
        message = "First-Length view requires a single integer-type parameter"
        if len(arguments) != 1:
            raise WindowRefused(message)
        return cls(integer_argument(arguments[0], 0, cls.title, message))

    def build(self, context: BuildContext) -> FirstLengthView:
        return FirstLengthView(size_value(context, self.size, self.names[0]))


@attrs.frozen
class FirstTime(WindowConfig):
    """Retains the events of the first ``period`` after the statement started; they never expire.

    ::

        firsttime(10 sec)  t=2: E1   t=9: E2   t=10   t=11: E3   delete E1
        contents           1         1 2       1 2    1 2        2
        new                E1        E2        -      -          -
        old                -         -         -      -          E1
    """

    names = ("firsttime",)
    reads_whole_events = False
    title = "First-Time"
    named_refusals = True
    is_selective = True
    leaves_in_order = True

    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> FirstTime:
        message = "First-Time view requires a single numeric or time period parameter"
        return cls(only_duration(arguments, cls.title, message))

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> FirstTimeView:
        return FirstTimeView(Duration(context, self.period), context)


class FirstEventsView(View):
    """Base of the two: events in order of arrival."""

    def __init__(self) -> None:
        self.events: dict[Event, None] = {}

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def drop(self, events: Sequence[Event]) -> list[Event]:
        gone = [e for e in events if e in self.events]
        for event in gone:
            self.events.pop(event, None)
        return gone

    def state(self) -> Any:
        return list(self.events)

    @takes([EVENT])
    def restore(self, state: Any) -> None:
        self.events = dict.fromkeys(state)


class FirstLengthView(FirstEventsView):
    """See FirstLength."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        let_in = new[: max(0, self.size - len(self.events))]  # what leaves at once frees no place: an update empties a full window
        gone = self.drop(old) if old else old
        for event in let_in:
            self.events[event] = None
        if let_in or gone:
            self.child.update(let_in, gone)

    def state(self) -> Any:
        return {"size": self.size, "events": super().state()}

    @takes({"size": COUNT, "events": ANYTHING})
    def restore(self, state: Any) -> None:
        self.size = state["size"]
        super().restore(state["events"])


class FirstTimeView(FirstEventsView):
    """See FirstTime. The timer only closes the door."""

    def __init__(self, duration: Duration, context: BuildContext) -> None:
        super().__init__()
        self.open = True
        self.timer = context.timer(self.shut)
        self.timer.set(duration.after(context.now()))

    def shut(self) -> None:
        self.open = False

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.drop(old) if old else old
        let_in = new if self.open else NO_EVENTS
        for event in let_in:
            self.events[event] = None
        if let_in or gone:
            self.child.update(let_in, gone)

    def state(self) -> Any:
        return {"events": list(self.events), "due": self.timer.due if self.open else None}

    @takes({"events": [EVENT], "due": DUE})
    def restore(self, state: Any) -> None:
        self.events = dict.fromkeys(state["events"])
        self.open = state["due"] is not None
        self.timer.cancel()
        if self.open:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
