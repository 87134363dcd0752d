"""What a statement reads of its events: other properties make no difference to it."""
from __future__ import annotations

import attrs

from epl.event_types import EventType


@attrs.frozen
class Reads:
    """``sources``: the types that the statement's filters name, those of sub-queries and patterns among them. ``names``: the properties
    that are read of any of them, in lower case. ``whole``: the types of which every property is read. ``everything``: so are all of all
    sources.
    """

    sources: tuple[EventType, ...] = ()
    names: frozenset[str] = frozenset()
    whole: tuple[EventType, ...] = ()
    everything: bool = False

    def reaches(self, event_type: EventType) -> bool:
        """Return whether events of the type may reach the statement."""
        return any(event_type.is_a(each) for source in self.sources for each in (source, *source.members))

    def is_whole(self, event_type: EventType) -> bool:
        """Return whether every property of events of the type is read, should they reach the statement."""
        return self.everything or any(event_type.is_a(each) or each.is_a(event_type) for each in self.whole)

    def of(self, event_type: EventType) -> frozenset[str]:
        """Return the properties of events of the type that are read; none where no such event reaches the statement."""
        if not self.reaches(event_type):
            return frozenset()
        return self.if_reached(event_type)

    def if_reached(self, event_type: EventType) -> frozenset[str]:
        """Return the properties of events of the type that are read, should they reach the statement."""
        if self.is_whole(event_type):
            return frozenset(event_type.properties)
        times = (event_type.start_timestamp, event_type.end_timestamp)
        return frozenset(name for name in event_type.properties if name.lower() in self.names or name in times)


READS_NOTHING = Reads()

__all__ = ["READS_NOTHING", "Reads"]
