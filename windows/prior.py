"""``prior(n, x)``: the event n before another one, in the order in which events came out of the stream's windows."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

from windows.event import Event, only_events
from windows.paging import Long
from windows.protocol import RowReceiver
from windows.shape import EVENT, takes

__all__ = ["PriorBuffer"]


class PriorBuffer:
    """Downstream of a stream's windows; numbers the events of its insert stream.

    So the events of a batch count when the batch is released, and events that a window does not let in do not count at all. An event's
    predecessors stay known as long as it is in the windows, for iterators, and until the delta after the one by which it left, for its
    row in the remove stream and for rows that output rate limiting makes later.

    ::

        length(2)             E1    E2    E3
        new                   E1    E2    E3
        prior(1) of new       -     E1    E2
        old                   -     -     E1
        prior(1) of old       -     -     -

    ``largest``: the largest n that is asked for. ``retains``: whether events leave by the remove stream. Without windows they do not, and
    as in Esper the place of the newest event counts for all rows: of one event's delta, and of those that an output rate has held.
    """

    child: RowReceiver

    def __init__(self, largest: int, *, retains: bool = True) -> None:
        self.retains = retains
        self.largest = largest
        self.latest: deque[Event] = deque(maxlen=largest + 1)
        self.before: dict[Event, tuple[Event, ...]] = {}
        self._left: Sequence[Event] = ()

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self.retains:
            self._note(new, old)
        else:
            self.latest.extendleft(new)
        self.child.update(new, old)

    def _note(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        before, latest, largest = self.before, self.latest, self.largest
        for event in self._left:
            before.pop(event, None)
        self._left = old
        for event in new:
            before[event] = tuple(islice(latest, largest))
            latest.appendleft(event)

    def prior(self, event: Event, index: int, insert_stream: bool = True) -> Event | None:
        """Return the event ``index`` before ``event`` (0: itself); None where there is none, or where ``event`` has not come out yet.

        Where events do not leave, a row of the remove stream has none.
        """
        if not self.retains:
            return self.before_newest(index) if insert_stream else None
        if index == 0:
            return event
        before = self.before.get(event)
        return None if before is None or index > len(before) else before[index - 1]

    def before_newest(self, index: int) -> Event | None:
        """Return the event ``index`` before the newest of all."""
        return self.latest[index] if index < len(self.latest) else None

    def state(self) -> Any:
        before = Long([event, list(before)] for event, before in self.before.items())
        return {"latest": list(self.latest), "before": before, "left": list(self._left)}

    @takes({"latest": [EVENT], "before": [(EVENT, [EVENT])]})
    def restore(self, state: Any) -> None:
        self.latest = deque(state["latest"], maxlen=self.latest.maxlen)
        self.before = {event: tuple(before) for event, before in state["before"]} if self.retains else {}
        self._left = state.get("left", ())
        only_events([*self.latest, *self._left, *self.before, *chain.from_iterable(self.before.values())])
