"""``size[(extra properties)]``: how many events there are."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.windows import WindowArgument
from windows.derived import LONG, DerivedValues, DerivedView, extra_values, row_event_type
from windows.event import Event
from windows.protocol import BuildContext
from windows.shape import INTEGER, compile_check

__all__ = ["Size", "SizeView"]


@attrs.frozen
class Size(DerivedValues):
    """One row with the number of events, emitted when the number changes.

    ::

        length(2)#size   E1          E2          E3
        new              {size: 1}   {size: 2}   -
        old              {size: 0}   {size: 1}   -
    """

    names = ("size",)
    reads_whole_events = False
    namespace = "std"
    title = "size"
    has_first_row = True

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Size:
        extras = extra_values(arguments, event_type, ("size",))
        return cls(extras, row_event_type("size_view", [("size", LONG)], extras))

    def build(self, context: BuildContext) -> SizeView:
        return SizeView(self, context)


class SizeView(DerivedView):
    """See Size."""

    sums_shape = staticmethod(compile_check(INTEGER))

    size = 0

    def numbers(self) -> tuple[Any, ...]:
        return (self.size,)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        before, count = self.emitted or self.row(), self.size
        self.size = count + len(new) - len(old)
        if new and self.values:
            self.take_values(new[-1])
        if self.size != count:
            self.emit(before)

    def sums(self) -> Any:
        return self.size

    def restore_sums(self, state: Any) -> None:
        self.size = state
