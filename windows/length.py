"""``length(n)``: the last n events."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import attrs

from epl.attribute_text import name_attributes, name_class_attributes, once_a_class
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from windows.event import Event
from windows.generated_steps import WindowSteps
from windows.parameters import integer_argument, size_value
from windows.protocol import BuildContext
from windows.shape import ANYTHING, COUNT, takes
from windows.sliding import SlidingView

__all__ = ["Length", "LengthView"]


@attrs.frozen
class Length(WindowConfig):
    """Retains the last ``n`` events. An event that enters evicts the oldest one in the same delta.

    ::

        length(2)     E1    E2    E3         delete E2
        contents      1     1 2   2 3        3
        new           E1    E2    E3         -
        old           -     -     E1         E2
    """

    names = ("length",)
    passes_nothing = True
    keeps_replaced = True
    reads_whole_events = False
    title = "Length"
    named_refusals = True
    answers_previous = True
    leaves_in_order = True

    size: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Length:
        message = "Length view requires a single integer-type parameter"
        if len(arguments) != 1:
            raise WindowRefused(message)
        return cls(integer_argument(arguments[0], 0, cls.title, message))

    def build(self, context: BuildContext) -> LengthView:
        return LengthView(size_value(context, self.size, self.names[0]), context)


class LengthView(SlidingView):
    """See Length."""

    def __init__(self, size: int, context: BuildContext) -> None:
        super().__init__(context)
        self.size = size

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else []
        self.add(new)
        for _ in range(len(self.entries) - len(self.removed) - self.size):
            gone.append(self.pop_oldest())
        if new or gone:
            self.child.update(new, gone)

    def steps(self) -> WindowSteps:
        return WindowSteps(guards=self.rare_text(), oldest=self._oldest_lines(), enter=self._enter_lines)

    def objects(self) -> dict[str, Any]:
        return {"view": self}

    @once_a_class
    def _oldest_lines(self) -> Sequence[str]:
        view = name_attributes("view", self)
        return f"entries = {view.entries}", f"o = entries[0] if len(entries) >= {view.size} else None"

    @once_a_class
    def _enter_lines(self, time: str) -> Sequence[str]:
        view, entries = name_attributes("view", self), name_class_attributes("entries", deque[Event])
        return f"if not entries: entries = {view.begin}()", f"{entries.append}(e)", f"if o is not None: {entries.popleft}()"

    def state(self) -> Any:
        return {"size": self.size, "events": super().state()}

    @takes({"size": COUNT, "events": ANYTHING})
    def restore(self, state: Any) -> None:
        self.size = state["size"]
        super().restore(state["events"])
