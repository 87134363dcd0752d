"""@SuppressOverlappingMatches and @DiscardPartialsOnMatch: of the matches that have passed windows and where, as in Esper."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.patterns.pattern import PatternPlan
from runtime.pattern.machine import PatternMachine
from windows.event import Event
from windows.protocol import RowReceiver, State
from windows.shape import EVENT, takes


class Overlaps:
    """Of the matches that come together those that share no event with one before them go on (``suppress``); the partial matches that hold
    an event of one end (``discard``). A match that has not gone on is not in the remove stream either."""

    child: RowReceiver

    def __init__(self, plan: PatternPlan, machine: PatternMachine, *, matches_leave: bool) -> None:
        self._plan = plan
        self._machine = machine
        self._matches_leave = matches_leave
        self._suppressed: dict[Event, None] = {}

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        root = self._machine.root
        if self._plan.discard and new and root is not None:
            root.discard({event for match in new for event in all_events(match)})
        if self._suppressed:
            left = [match for match in old if match not in self._suppressed]
            for match in old:
                self._suppressed.pop(match, None)
            old = left
        if self._plan.suppress and len(new) > 1:
            new = self._without_overlapping(new)
        if new or old:
            self.child.update(new, old)

    def _without_overlapping(self, matches: Sequence[Event]) -> list[Event]:
        kept: list[Event] = []
        seen: set[Event] = set()
        for match in matches:
            events = all_events(match)
            if seen.isdisjoint(events):
                kept.append(match)
                seen.update(events)
            elif self._matches_leave:
                self._suppressed[match] = None
        return kept

    def state(self) -> State:
        return list(self._suppressed)

    @takes([EVENT])
    def restore(self, state: State) -> None:
        self._suppressed = dict.fromkeys(state)


def all_events(match: Event) -> list[Event]:
    """Return all events of a match."""
    values = [value for value in match.values() if value is not None]
    return [event for value in values for event in (value if isinstance(value, (list, tuple)) else (value,))]


__all__ = ["Overlaps"]
