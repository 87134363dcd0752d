"""``keepall``: every event."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.event_types import EventType
from epl.plan.windows import Locality, WindowArgument, WindowConfig
from windows.event import Event
from windows.parameters import no_arguments
from windows.protocol import BuildContext
from windows.sliding import SlidingView

__all__ = ["KeepAll", "KeepAllView"]


@attrs.frozen
class KeepAll(WindowConfig):
    """Retains every event until it is deleted.

    ::

        keepall       E1    E2     delete E1
        contents      1     1 2    2
        new           E1    E2     -
        old           -     -      E1
    """

    names = ("keepall",)
    title = "Keep-All"
    named_refusals = True
    answers_previous = True
    leaves_in_order = True
    evicts_by_arrival = False

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> KeepAll:
        no_arguments(arguments, cls.title)
        return cls()

    @property
    def locality(self) -> Locality:
        return Locality()

    def build(self, context: BuildContext) -> KeepAllView:
        return KeepAllView(context)


class KeepAllView(SlidingView):
    """See KeepAll."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else old
        self.add(new)
        if new or gone:
            self.child.update(new, gone)
