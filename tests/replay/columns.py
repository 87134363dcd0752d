"""Replays through the batch tier: the events between two other steps as one batch of columns."""
from __future__ import annotations

from collections.abc import Sequence

import attrs
import pyarrow as pa

from epl.errors import EplError
from epl.event_types import EventType
from runtime.api.runtime import Runtime
from runtime.conversion.arrow import to_batch
from tests.replay.round_trip import changed_property
from windows.event import Event

SEQUENCE = "#sequence"


@attrs.define
class ColumnFeed:
    """A way in for events (tests.replay.player.Feed): ``Runtime.send_batch``."""

    name = "batch"

    def refusal(self, runtime: Runtime, event: Event) -> str | None:
        """Return why the event cannot be a row of a table, None where it can."""
        if event.extra:
            return f"the property '{next(iter(event.extra))}' is not declared, so that there is no column for it"
        if event.origin is not None:
            return "an event of a variant stream"
        try:
            batch = to_batch([event], event.type)
        except (EplError, UnicodeEncodeError) as error:
            return str(error)
        return changed_property(event, batch, runtime.settings.units_per_second)

    def send(self, runtime: Runtime, events: Sequence[Event]) -> None:
        """Send one batch of events in their order."""
        types = dict.fromkeys(event.type for event in events)
        runtime.send_batch({each.name: _numbered(events, each) for each in types}, sequence=SEQUENCE)

    def event_at(self, place: int) -> int:
        """Return the same: all events come."""
        return place


def _numbered(events: Sequence[Event], event_type: EventType) -> pa.RecordBatch:
    places = [place for place, event in enumerate(events) if event.type is event_type]
    batch = to_batch([events[place] for place in places], event_type)
    return batch.append_column(SEQUENCE, pa.array(places, pa.int64()))


__all__ = ["ColumnFeed"]
