"""``ext_timed_batch(timestamp, period[, reference])``: all events of a stretch of the events' own time at once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.batch import BatchView
from windows.event import NO_EVENTS, Event
from windows.ext_timed import timestamp_argument
from windows.failures import Failures, pair_keys
from windows.parameters import Duration, duration_argument, is_scalar, refuse_event_properties
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, takes

__all__ = ["ExtTimedBatch", "ExtTimedBatchView"]


@attrs.frozen
class ExtTimedBatch(WindowConfig):
    """Collects events until one arrives whose ``timestamp`` is at or after the next boundary. That event emits the batch and starts the
    next one.

    Boundaries are ``reference``, or the first event's timestamp, plus whole periods. An event with an earlier timestamp joins the batch
    as it is.

    ::

        ext_timed_batch(ts, 10 sec)   E1(ts=0)   E2(ts=9)   E3(ts=10)   E4(ts=35)
        contents                      1          1 2        3           4
        new                           -          -          E1 E2       E3
        old                           -          -          -           E1 E2
    """

    names = ("ext_timed_batch",)
    reads_whole_events = False
    title = "Externally-timed-batch"
    is_batch = True
    evicts_by_arrival = False
    answers_previous = True

    timestamp: TypedExpression
    period: TypedExpression
    reference: TypedExpression | None = None

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> ExtTimedBatch:
        message = (
            "Externally-timed-batch view requires a timestamp expression and a numeric or time period parameter for window size and an "
            "optional long-typed reference point in msec, and an optional list of control keywords as a string parameter "
            "(please see the documentation)"
        )
        if not 2 <= len(arguments) <= 3:
            raise WindowRefused(message, whole=True)
        timestamp = timestamp_argument(arguments[0], cls.title, message)
        period = duration_argument(arguments[1], 1, cls.title, message, whole=True)
        if len(arguments) == 2:
            return cls(timestamp, period)
        refuse_event_properties(arguments[2], 0, cls.title, whole=True)
        reference = arguments[2].typed
        if reference is None or not is_scalar(reference.type, "int", "long", "short", "byte"):
            message = "Externally-timed batch view requires a Long-typed reference point in msec as a third parameter"
            raise WindowRefused(message, whole=True)
        return cls(timestamp, period, reference)

    def build(self, context: BuildContext) -> ExtTimedBatchView:
        reference = None if self.reference is None else context.constant(self.reference)
        return ExtTimedBatchView(self.timestamp, Duration(context, self.period), reference, context)


class ExtTimedBatchView(BatchView):
    """See ExtTimedBatch. Unlike other batch windows it passes removals on at once (as Esper does), whatever it holds.

    ``boundary``: the end of the current batch, None until it is asked for.
    """

    def __init__(self, timestamp: TypedExpression, duration: Duration, reference: int | None, context: BuildContext) -> None:
        super().__init__(context)
        self.timestamp = context.evaluator(timestamp)
        self.duration = duration
        self.reference = reference
        self.boundary: int | None = None

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        if old:
            self.drop(old)
            failures.attempt(self.child.update, NO_EVENTS, old)
        for event, timestamp in pair_keys(new, self.timestamp, failures):
            at = int(timestamp or 0)
            if self.reference is None:
                self.reference = at
            if self.current and at >= self._boundary(self.reference):
                failures.attempt(self.release)
                self.boundary = None
            self.current[event] = None
        failures.settle()

    def _boundary(self, reference: int) -> int:
        """Return the end of the batch: the first boundary after its oldest event."""
        if self.boundary is None:
            oldest = int(self.timestamp(next(iter(self.current))) or 0)
            self.boundary = self.duration.next_boundary(reference, oldest)
        return self.boundary

    def drop(self, events: Sequence[Event]) -> None:
        super().drop(events)
        self.boundary = None

    def state(self) -> Any:
        return {**super().state(), "reference": self.reference, "duration": self.duration.state()}

    @takes({"reference": DUE, "duration": ANYTHING})
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.duration.restore(state["duration"])
        self.reference = state["reference"]
        self.boundary = None
