"""``length_batch(n)``: n events at once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.batch import BatchView
from windows.event import Event
from windows.parameters import integer_argument, size_value
from windows.protocol import BuildContext
from windows.shape import COUNT, takes

__all__ = ["LengthBatch", "LengthBatchView"]


@attrs.frozen
class LengthBatch(WindowConfig):
    """Collects ``n`` events and emits them as one batch; the previous batch expires at that moment.

    ::

        length_batch(2)  E1    E2        E3    E4
        contents         1               3
        new              -     E1 E2     -     E3 E4
        old              -     -         -     E1 E2
    """

    names = ("length_batch",)
    reads_whole_events = False
    title = "Length-Batch"
    named_refusals = True
    is_batch = True
    evicts_by_arrival = False
    answers_previous = True

    size: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> LengthBatch:
        message = "Length-Batch view requires a single integer-type parameter"
        if len(arguments) != 1:
            raise WindowRefused(message)
        return cls(integer_argument(arguments[0], 0, cls.title, message))

    def build(self, context: BuildContext) -> LengthBatchView:
        return LengthBatchView(size_value(context, self.size, self.names[0]), context)


class LengthBatchView(BatchView):
    """See LengthBatch."""

    def __init__(self, size: int, context: BuildContext) -> None:
        super().__init__(context)
        self.size = size

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if old:
            self.drop(old)
        for event in new:
            self.current[event] = None
        if len(self.current) >= self.size:
            self.release()

    def state(self) -> Any:
        return {**super().state(), "size": self.size}

    @takes({"size": COUNT})
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.size = state["size"]
