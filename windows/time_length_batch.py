"""``time_length_batch(period, n[, flags])``: a batch when the time is over or n events are there, whichever comes first."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.batch import BatchView
from windows.event import Event
from windows.parameters import Duration, duration_argument, integer_argument, is_scalar, size_value
from windows.protocol import BuildContext
from windows.shape import ANYTHING, COUNT, DUE, takes
from windows.time_batch import BatchFlags, batch_flags

__all__ = ["TimeLengthBatch", "TimeLengthBatchView"]


@attrs.frozen
class TimeLengthBatch(WindowConfig):
    """Collects events and emits them as one batch ``period`` after the first of them (or the last batch), or as soon as there are ``n``.

    ::

        time_length_batch(10 sec, 2)   t=0: E1   t=10   t=12: E2   t=13: E3   t=23
        contents                       1                2
        new                            -         E1     -          E2 E3      -
        old                            -         -      -          E1         E2 E3
    """

    names = ("time_length_batch",)
    reads_whole_events = False
    title = "Time-Length-Batch"
    named_refusals = True
    is_batch = True
    evicts_by_arrival = False
    answers_previous = True

    period: TypedExpression
    size: TypedExpression
    flags: BatchFlags = attrs.field(factory=BatchFlags)

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> TimeLengthBatch:
        message = (
            "Time-Length-Batch view requires a numeric or time period parameter as a time interval size, and an integer parameter as a "
            "maximal number-of-events, and an optional list of control keywords as a string parameter (please see the documentation)"
        )
        if not 2 <= len(arguments) <= 3:
            raise WindowRefused(message)
        flags = BatchFlags()
        if len(arguments) == 3:
            if arguments[2].typed is None or not is_scalar(arguments[2].typed.type, "String"):
                raise WindowRefused(message)
            flags = batch_flags(arguments[2])
        period = duration_argument(arguments[0], 0, cls.title, message)
        size = integer_argument(arguments[1], 1, cls.title, "Time-Length-Batch view requires a single integer-type parameter")
        return cls(period, size, flags)

    def build(self, context: BuildContext) -> TimeLengthBatchView:
        return TimeLengthBatchView(Duration(context, self.period), size_value(context, self.size, self.names[0]), self.flags, context)


class TimeLengthBatchView(BatchView):
    """See TimeLengthBatch. The timer runs from the first event, or the last release, on; it stops after releasing nothing, unless that
    is forced.
    """

    def __init__(self, duration: Duration, size: int, flags: BatchFlags, context: BuildContext) -> None:
        super().__init__(context)
        self.duration = duration
        self.size = size
        self.flags = flags
        self.now = context.now
        self.timer = context.timer(self.release_due)
        if flags.start_eager:
            self._schedule()

    def _schedule(self) -> None:
        self.timer.set(max(self.duration.after(self.now()), self.now() + 1))  # a period of zero does not keep time from going on

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if old:
            self.drop(old)
        if not new:
            return
        for event in new:
            self.current[event] = None
        if len(self.current) >= self.size:
            self._schedule()
            self.release()
        elif self.timer.due is None:
            self._schedule()

    def release_due(self) -> None:
        """Release, as the timer asks, what is there."""
        empty = not self.current and not self.last
        if not empty or self.flags.releases_nothing:
            self._schedule()
            self.release_even_empty()

    def state(self) -> Any:
        return {**super().state(), "size": self.size, "duration": self.duration.state(), "due": self.timer.due}

    @takes({"size": COUNT, "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.size = state["size"]
        self.duration.restore(state["duration"])
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
