"""``keepall``: every event."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.windows import Locality, WindowArgument, WindowConfig
from windows.buckets import is_sparse
from windows.event import Event
from windows.parameters import no_arguments
from windows.protocol import BuildContext
from windows.shape import EVENT, takes
from windows.sliding import NONE_YET, SlidingView

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
    passes_nothing = True
    reads_whole_events = False
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
    """See KeepAll. ``entries`` are the events until the parent removes one; from then on ``kept``, in which that is one step."""

    def __init__(self, context: BuildContext) -> None:
        super().__init__(context)
        self.kept: dict[Event, None] | None = None

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone = self.remove(old) if old else old
        kept = self.kept
        if kept is None:
            self.add(new)
        else:
            for event in new:
                kept[event] = None
        if new or gone:
            self.child.update(new, gone)

    def remove(self, events: Sequence[Event]) -> list[Event]:
        kept = self.kept
        if kept is None:
            kept = self.kept = dict.fromkeys(self.entries)
            self.entries = NONE_YET
        gone = [event for event in events if kept.pop(event, self) is None]
        count = len(kept)
        if not count & (count - 1) and is_sparse(kept):  # as is_sparse does, without a call
            self.kept = dict(kept)
        return gone

    def __len__(self) -> int:
        return len(self.entries if self.kept is None else self.kept)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.entries if self.kept is None else self.kept)

    def _newest_first(self) -> Iterator[Event]:
        return reversed(self.entries if self.kept is None else self.kept)

    @takes([EVENT])
    def restore(self, state: Any) -> None:
        super().restore(state)
        self.kept = None
