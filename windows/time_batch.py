"""``time_batch(period[, reference][, flags])``: all events of a stretch of time at once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig, WindowRefused
from windows.batch import BatchView
from windows.event import Event
from windows.parameters import Duration, duration_argument, is_scalar, refuse_event_properties
from windows.protocol import BuildContext
from windows.shape import ANYTHING, DUE, takes

__all__ = ["BatchFlags", "TimeBatch", "TimeBatchView", "batch_flags"]


@attrs.frozen
class BatchFlags:
    """``force_update``: release at each boundary, even nothing. ``start_eager``: the clock of the window starts with the statement (and
    forces too).
    """

    force_update: bool = False
    start_eager: bool = False

    @property
    def releases_nothing(self) -> bool:
        return self.force_update or self.start_eager


def batch_flags(argument: WindowArgument) -> BatchFlags:
    """Return the control keywords of a string constant, separated by commas; any case."""
    text = argument.typed.value if isinstance(argument.typed, Constant) else ""
    force = eager = False
    for word in str(text).lower().split(","):
        match word.strip():
            case "force_update":
                force = True
            case "start_eager":
                eager = True
            case other:
                valid = "valid control keywords are: force_update,start_eager"
                raise WindowRefused(f"Time-batch encountered an invalid keyword '{other}', {valid}")
    return BatchFlags(force, eager)


@attrs.frozen
class TimeBatch(WindowConfig):
    """Collects events and emits them as one batch at each boundary: whole periods from ``reference``, or from the first event.

    With ``start_eager`` the reference is the statement's start, whatever was written.

    ::

        time_batch(10 sec)   t=2: E1   t=5: E2   t=12      t=22     t=32
        contents             1         1 2
        new                  -         -         E1 E2     -        (with force_update: an empty delta)
        old                  -         -         -         E1 E2
    """

    names = ("time_batch",)
    reads_whole_events = False
    title = "Time-Batch"
    named_refusals = True
    is_batch = True
    evicts_by_arrival = False
    answers_previous = True

    period: TypedExpression
    reference: TypedExpression | None = None
    flags: BatchFlags = attrs.field(factory=BatchFlags)

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> TimeBatch:
        message = (
            "Time-Batch view requires a single numeric or time period parameter, and an optional long-typed reference point in msec, "
            "and an optional list of control keywords as a string parameter (please see the documentation)"
        )
        if not 1 <= len(arguments) <= 3:
            raise WindowRefused(message)
        for argument in arguments:
            refuse_event_properties(argument, 0, cls.title)
        flags = BatchFlags()
        rest = list(arguments[1:])
        if rest and _is_text(rest[-1]) and (len(rest) == 1 or not _is_text(rest[0])):
            flags = batch_flags(rest.pop())
        if len(rest) == 2 and is_integer(rest[0]):
            raise WindowRefused(message)
        if rest and not is_integer(rest[0]):
            raise WindowRefused("Time-Batch view requires a Long-typed reference point in msec as a second parameter")
        return cls(duration_argument(arguments[0], 0, cls.title, message), rest[0].typed if rest else None, flags)

    @property
    def locality(self) -> Locality | None:
        return None if self.reference is None or self.flags.releases_nothing else Locality()

    def build(self, context: BuildContext) -> TimeBatchView:
        reference = None if self.reference is None else context.constant(self.reference)
        return TimeBatchView(Duration(context, self.period), reference, self.flags, context)


def _is_text(argument: WindowArgument) -> bool:
    return argument.typed is not None and is_scalar(argument.typed.type, "String")


def is_integer(argument: WindowArgument) -> bool:
    return argument.typed is not None and is_scalar(argument.typed.type, "int", "long", "short", "byte")


class TimeBatchView(BatchView):
    """See TimeBatch. The timer stops after a boundary with nothing to release, and starts again with the next event, on the same
    boundaries.
    """

    def __init__(self, duration: Duration, reference: int | None, flags: BatchFlags, context: BuildContext) -> None:
        super().__init__(context)
        self.duration = duration
        self.reference = reference
        self.flags = flags
        self.now = context.now
        self.timer = context.timer(self.boundary)
        if flags.start_eager:
            self.reference = None
            self._schedule()

    def _schedule(self) -> None:
        now = self.now()
        if self.reference is None:
            self.reference = now
        self.timer.set(self.duration.next_boundary(self.reference, now))

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if old:
            self.drop(old)
        if not new:
            return
        if self.timer.due is None:
            self._schedule()
        for event in new:
            self.current[event] = None

    def boundary(self) -> None:
        """Release, as the timer asks, and wait for the next boundary."""
        empty = not self.current and not self.last
        if not empty or self.flags.releases_nothing:
            self._schedule()
            self.release_even_empty()

    def state(self) -> Any:
        return {**super().state(), "reference": self.reference, "duration": self.duration.state(), "due": self.timer.due}

    @takes({"reference": DUE, "duration": ANYTHING, "due": DUE})
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.duration.restore(state["duration"])
        self.reference = state["reference"]
        self.timer.cancel()
        if state["due"] is not None:
            self.timer.set(state["due"])

    def close(self) -> None:
        self.timer.cancel()
