"""How many events may follow from one event from outside: statements that insert into what they read themselves never end.

Events that are routed while routed ones are processed are counted; those that a single event, window or timer routes at once are not, but
each adds ``SHARE`` to what the count may reach, so that a window's release may take its way through many statements.
"""
from __future__ import annotations

from math import inf

from epl.errors import EplRuntimeError
from windows.event import Event

SHARE = 100
Fault = tuple[EplRuntimeError, str, Event]


class RoutedEvents:
    """Counts them; what is beyond the limit is refused, and one error a statement says how many events were."""

    __slots__ = ("limit", "count", "most", "working", "refused")

    def __init__(self, limit: int | None) -> None:
        self.limit: float = inf if limit is None else limit
        self.count = 0
        self.most = self.limit
        self.working = False
        """Whether routed events are being processed."""
        self.refused: dict[str, tuple[int, Event]] = {}
        """By statement: how many events, and the first of them."""

    def take(self, event: Event, statement: str | None) -> bool:
        """Return whether one more event may be routed. Raise EplRuntimeError where no statement emits it."""
        if not self.working:
            self.most += SHARE
            return True
        self.count += 1
        if self.count <= self.most:
            return True
        if statement is None:
            raise self._error(1, event)
        number, first = self.refused.get(statement, (0, event))
        self.refused[statement] = number + 1, first
        return False

    def begin(self) -> bool:
        """Begin to process routed events; gives what ``end`` is to be called with: whether that is going on already."""
        outer, self.working = self.working, True
        if outer:  # a listener sends: that is an event from outside
            self.most += SHARE
        return outer

    def end(self, outer: bool) -> None:
        self.working = outer
        if not outer:
            self.count, self.most = 0, self.limit

    def faults(self) -> list[Fault]:
        """Return an error for each statement that was refused events, which are forgotten."""
        faults: list[Fault] = [(self._error(number, event), name, event) for name, (number, event) in self.refused.items()]
        self.refused.clear()
        return faults

    def _error(self, number: int, event: Event) -> EplRuntimeError:
        events = "event is" if number == 1 else "events are"
        return EplRuntimeError(
            f"Insert into '{event.type.name}': {number} {events} not processed, since one event led to more than {self.limit:.0f} others",
            hint="statements that insert into what they read, directly or by others, never end; Settings(max_routed=…) sets the limit")
