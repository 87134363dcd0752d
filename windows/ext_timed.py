"""``ext_timed(timestamp, period)``: the events of the last stretch of the events' own time."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from epl.value_types import is_numeric
from windows.event import Event
from windows.failures import Failures, pair_keys
from windows.parameters import Duration, constant_refused, duration_argument, is_literal
from windows.protocol import BuildContext
from windows.shape import ANYTHING, takes
from windows.sliding import TimedView

__all__ = ["ExtTimed", "ExtTimedView"]


@attrs.frozen
class ExtTimed(WindowConfig):
    """Retains the events whose ``timestamp`` is less than ``period`` before that of the last event; independent of engine time.

    Events leave in order of arrival: one that came with an earlier timestamp waits for those before it. An event without a timestamp
    counts as time 0.

    ::

        ext_timed(ts, 10 sec)   E1(ts=0)   E2(ts=3)   E3(ts=10)   E4(ts=20)
        contents                1          1 2        2 3         4
        new                     E1         E2         E3          E4
        old                     -          -          E1          E2 E3
    """

    names = ("ext_timed",)
    passes_nothing = True
    reads_whole_events = False
    title = "Externally-timed"
    answers_previous = True
    leaves_in_order = True

    timestamp: TypedExpression
    period: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> ExtTimed:
        message = "Externally-timed view requires a timestamp expression and a numeric or time period parameter for window size"
        if len(arguments) != 2:
            raise WindowRefused(message, whole=True)
        return cls(timestamp_argument(arguments[0], cls.title, message), duration_argument(arguments[1], 1, cls.title, message, whole=True))

    def build(self, context: BuildContext) -> ExtTimedView:
        return ExtTimedView(self.timestamp, Duration(context, self.period), context)


def timestamp_argument(argument: WindowArgument, title: str, message: str) -> TypedExpression:
    """Return a numeric expression over the event, milliseconds."""
    if argument.typed is None or not is_numeric(argument.typed.type):
        raise WindowRefused(message, whole=True)
    if is_literal(argument):
        raise constant_refused(0, title)
    return argument.typed


LOWEST = -(1 << 63) - 1
"""Below it the first timestamp that stays is below what a long holds, and wraps around as Java's does: nearly all leave."""


class ExtTimedView(TimedView):
    """See ExtTimed. Notes each event's timestamp."""

    may_refuse = True

    def __init__(self, timestamp: TypedExpression, duration: Duration, context: BuildContext) -> None:
        super().__init__(context)
        self.timestamp = context.evaluator(timestamp)
        self.duration = duration

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        gone = self.remove(old) if old else []
        let_in = []
        for event, at in pair_keys(new, self.timestamp, failures):
            self.add_timed(event, int(at or 0))
            let_in.append(event)
        if let_in:
            limit = self.duration.before(self.times[-1])
            gone += self.evict(limit if limit >= LOWEST else limit + (1 << 64))
        if let_in or gone:
            failures.attempt(self.child.update, let_in, gone)
        failures.settle()

    def state(self) -> Any:
        return {"duration": self.duration.state(), "events": super().state()}

    @takes({"duration": ANYTHING, "events": ANYTHING})
    def restore(self, state: Any) -> None:
        self.duration.restore(state["duration"])
        super().restore(state["events"])
