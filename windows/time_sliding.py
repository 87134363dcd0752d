"""``time(period)``: the events of the last stretch of time."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig
from windows.event import NO_EVENTS, Event
from windows.parameters import Duration, only_duration
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, takes
from windows.sliding import TimedView

__all__ = ["Time", "TimeView"]


@attrs.frozen
class Time(WindowConfig):
    """Retains the events of the last ``period``. An event expires when engine time reaches its arrival plus ``period``.

    Events leave in order of arrival: one that came at an earlier clock (a clock may be set back) waits for those before it.

    ::

        time(10 sec)   t=0: E1   t=3: E2   t=10   t=13
        contents       1         1 2       2
        new            E1        E2        -      -
        old            -         -         E1     E2
    """

    names = ("time",)
    title = "Time"
    named_refusals = True
    answers_previous = True
    leaves_in_order = True

    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Time:
        message = "Time view requires a single numeric or time period parameter"
        return cls(only_duration(arguments, cls.title, message))

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> TimeView:
        return TimeView(Duration(context, self.period), context)


class TimeView(TimedView):
    """See Time. Notes each event's time of arrival; the timer is due when the oldest is to leave."""

    def __init__(self, duration: Duration, context: BuildContext) -> None:
        super().__init__(context)
        self.duration = duration
        self.now = context.now
        self.timer = context.timer(self.expire)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else old
        if new:
            now = self.now()
            if not self.times:
                self.timer.set(self.duration.after(now))
            for event in new:
                self.add_at(event, now)
        if new or gone:
            self.child.update(new, gone)

    def expire(self) -> None:
        """The timer: evict what is due, and set the timer for the next."""
        gone = self.evict(self.duration.before(self.now()))
        if self.times:
            self.timer.set(self.duration.after(self.times[0]))
        if gone:
            self.child.update(NO_EVENTS, gone)

    def state(self) -> Any:
        return {"events": super().state(), "duration": self.duration.state(), "due": self.timer.due}

    @takes({"events": ANYTHING, "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state["events"])
        self.duration.restore(state["duration"])
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
