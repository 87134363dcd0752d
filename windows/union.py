"""Several data windows at once, ``retain-union``: an event stays as long as any of them keeps it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from windows.event import NO_EVENTS, Event
from windows.failures import Failures
from windows.group_context import GroupContext
from windows.intersection import IntersectionPart, PartsView
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, COUNT, EVENT, takes

__all__ = ["UnionView"]


class UnionView(PartsView):
    """An event leaves when the last of the windows that kept it lets it go.

    ::

        length(1)#unique(k) retain-union   E1(a)   E2(b)   E3(a)   E4(b)
        contents                           1       1 2     2 3     3 4
        new                                E1      E2      E3      E4
        old                                -       -       E1      E2

    ``holders``: in how many windows each event is, in order of arrival; the contents are its keys (Esper's order differs from run
    to run). ``all_selective``: each of the windows may refuse events (``firstunique`` …). One that all refuse is not in; one that some
    refuse stays for good, as in Esper: those never let it go.
    """

    def __init__(self, views: Sequence[View], context: BuildContext | GroupContext, *, all_selective: bool = False) -> None:
        super().__init__(views, context)
        self.all_selective = all_selective
        self.holders: dict[Event, int] = {}

    def __iter__(self) -> Iterator[Event]:
        return iter(self.holders)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failures = Failures()
        self.withdraw(old, failures)
        for event in old:
            self.holders.pop(event, None)
        gone: list[Event] = []
        if new:
            new = self.update_all(new, failures, self.keyed_first)
            if self.all_selective:
                let_in = {event for part in self.parts for event in part.new}
                new = [event for event in new if event in let_in]
            for event in new:
                self.holders[event] = len(self.parts)
            for part in self.parts:
                gone += self._evict(part.old)
        self.emit(new, [*old, *gone], failures)

    def _evict(self, events: Sequence[Event]) -> list[Event]:
        """Count one window fewer for these events; return those that no window keeps now."""
        gone = []
        for event in events:
            left = self.holders.get(event, 0) - 1
            if left > 0:
                self.holders[event] = left
            elif left == 0:
                del self.holders[event]
                gone.append(event)
        return gone

    def note_timer(self, source: IntersectionPart, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Note that a window's timer let events go."""
        gone = self._evict(old)
        if gone:
            self.child.update(NO_EVENTS, gone)

    def state(self) -> Any:
        return {"windows": super().state(), "holders": [[event, count] for event, count in self.holders.items()]}

    @takes({"windows": ANYTHING, "holders": [(EVENT, COUNT)]})
    def restore(self, state: Any) -> None:
        super().restore(state["windows"])
        self.holders = dict(state["holders"])
