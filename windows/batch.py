"""What batch windows share: the batch that grows, the batch released last, and prev inside a released batch."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from windows.event import Event, only_events
from windows.paging import Long
from windows.protocol import BuildContext, View
from windows.shape import EVENT, takes


class BatchView(View):
    """Base of windows that release events in batches.

    ``current`` grows; ``last`` was released before and leaves with the next release. The contents that an iterator sees are ``current``,
    from which a batch goes when what is downstream has taken it: an output snapshot that the release brings shows the batch, as in Esper.
    A removal by the parent takes an event out of ``current`` and emits nothing, since it has not been emitted yet.
    It answers prev for the events of the batch released last, by their places in it; for others there is no answer. ``count`` answers in
    rows of the remove stream, too: those of a group have one of its events.
    """

    def __init__(self, context: BuildContext) -> None:
        self.current: dict[Event, None] = {}
        self.last: Sequence[Event] = ()
        self._places: dict[Event, int] | None = None
        context.publish_random_access(self)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.current)

    def drop(self, events: Sequence[Event]) -> None:
        for event in events:
            self.current.pop(event, None)

    def release(self) -> None:
        """Emit the current batch as new rows and the last one as old rows; without either, nothing."""
        if self.current or self.last:
            self.release_even_empty()

    def release_even_empty(self, following: dict[Event, None] | None = None) -> None:
        """Emit both, whatever they hold. ``following``: the batch that an event has begun already, which the contents are then at once."""
        new, old = list(self.current), self.last
        self.last, self._places = new, None
        if following is not None:
            self.current = following
        try:
            self.child.update(new, old)
        finally:
            if following is None:
                self.current = {}

    def _place(self, event: Event) -> int | None:
        if self._places is None:
            self._places = {e: i for i, e in enumerate(self.last)}
        return self._places.get(event)

    def previous(self, event: Event, index: int) -> Event | None:
        place = self._place(event)
        if place is None or index < 0 or index > place:
            return None
        return self.last[place - index]

    def from_tail(self, event: Event, index: int) -> Event | None:
        if self._place(event) is None or not 0 <= index < len(self.last):
            return None
        return self.last[index]

    def count(self, event: Event, insert_stream: bool) -> int | None:
        return None if self._place(event) is None else len(self.last)

    def window(self, event: Event) -> Iterable[Event] | None:
        return None if self._place(event) is None else reversed(self.last)

    def state(self) -> Any:
        return {"current": Long(self.current), "last": Long(self.last)}

    @takes({"current": [EVENT], "last": [EVENT]})
    def restore(self, state: Any) -> None:
        self.current = dict.fromkeys(state["current"])
        self.last = list(state["last"])
        only_events(self.last)
        self._places = None
