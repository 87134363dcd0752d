"""``time_accum(period)``: events stay until no event came for a while, then leave together."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig
from windows.event import NO_EVENTS, Event
from windows.parameters import Duration, only_duration
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, takes
from windows.sliding import TimedView

__all__ = ["TimeAccum", "TimeAccumView"]


@attrs.frozen
class TimeAccum(WindowConfig):
    """Emits events as they arrive; all of them expire together when ``period`` has passed without an event. Where the newest is removed,
    the period begins with the newest that is left.

    ::

        time_accum(10 sec)   t=0: E1   t=8: E2   t=18
        contents             1         1 2
        new                  E1        E2        -
        old                  -         -         E1 E2
    """

    names = ("time_accum",)
    keeps_replaced = True
    reads_whole_events = False
    title = "Time-Accumulative-Batch"
    named_refusals = True
    answers_previous = True

    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> TimeAccum:
        message = "Time-Accumulative-Batch view requires a single numeric parameter or time period parameter"
        return cls(only_duration(arguments, cls.title, message))

    def build(self, context: BuildContext) -> TimeAccumView:
        return TimeAccumView(Duration(context, self.period), context)


class TimeAccumView(TimedView):
    """See TimeAccum."""

    def __init__(self, duration: Duration, context: BuildContext) -> None:
        super().__init__(context)
        self.duration = duration
        self.now = context.now
        self.timer = context.timer(self.quiet)
        self.leaving: Sequence[Event] = ()

    def __iter__(self) -> Iterator[Event]:
        return iter(self.leaving) if self.leaving else super().__iter__()

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else old
        if new:
            now = self.now()
            self.timer.set(self.duration.after(now))
            for event in new:
                self.add_timed(event, now)
        elif gone:
            self._begin_with_newest()
        if new or gone:
            self.child.update(new, gone)

    def _begin_with_newest(self) -> None:
        """Forget the newest entries that were removed, and let the period begin with the one before them."""
        entries, times, removed = self.entries, self.times, self.removed
        before = len(entries)
        while entries and entries[-1] in removed:
            removed.discard(entries.pop())
            times.pop()
        if not entries:
            self.timer.cancel()
        elif len(entries) < before:
            self.timer.set(max(self.duration.after(times[-1]), self.now()))

    def quiet(self) -> None:
        """Let everything leave, as the timer asks; an output snapshot that this brings still shows it, as in Esper."""
        self.leaving = gone = list(self)
        super().restore(())
        try:
            if gone:
                self.child.update(NO_EVENTS, gone)
        finally:
            self.leaving = ()

    def state(self) -> Any:
        return {"events": super().state(), "duration": self.duration.state(), "due": self.timer.due}

    @takes({"events": ANYTHING, "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state["events"])
        self.duration.restore(state["duration"])
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
