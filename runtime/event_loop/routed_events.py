"""How much may follow from one event from outside: statements that insert into what they read, or change it, never end.

Counted are events that are routed while routed ones are processed, rows that enter a named window because rows of named windows have
changed, and, a hundred as one, rows that on-statements and joins read meanwhile. Those that a single event, window or timer routes or
changes at once are not, but each adds ``SHARE`` to what the count may reach, so that a window's release may take its way through many
statements. Events that wait when the limit is reached are still processed, unless they alone lead to as many again: a statement that
inserts all rows of a window for each of its rows would compute them for each. Timers that are due again and again at one instant are
counted by ``Instant``, against the same setting and ``MOST_STOPS``.
"""
from __future__ import annotations

from math import inf

from epl.errors import EplRuntimeError
from windows.event import Event

SHARE = 100
MOST_STOPS = 10_000
"""Stops at one instant: each runs all timers that are due, so this is how often a timer may be due again at once."""
Fault = tuple[EplRuntimeError, str, "Event | None"]
HINT = "statements that insert into what they read, or change it, directly or by others, never end; Settings(max_routed=…) sets the limit"


class Refused(EplRuntimeError):
    """A change of a named window is beyond the limit. One error for each statement reports how many are."""

    window = ""


class Instant:
    """How often time has stopped at one instant: a timer that is due at once each time it has run never ends."""

    __slots__ = ("limit", "time", "stops")

    def __init__(self, limit: int | None) -> None:
        self.limit: float = inf if limit is None else min(limit, MOST_STOPS)
        self.time: int | None = None
        self.stops = 0

    def stop(self, now: int) -> bool:
        """Count a stop at this time; return whether there may be one."""
        if now != self.time:
            self.time, self.stops = now, 0
        self.stops += 1
        return self.stops <= self.limit

    def error(self, timers: int) -> EplRuntimeError:
        """Return the error of a statement whose timers no longer run."""
        run = "a timer does" if timers == 1 else f"{timers} timers do"
        return EplRuntimeError(
            f"At {self.time}: {run} not run any more, since timers were due again at the same time more than {self.limit:.0f} times",
            hint="a period of 0 that begins again when it ends never ends; Settings(max_routed=…) sets the limit")


class RoutedEvents:
    """Counts them; what is beyond the limit is refused, and one error a statement says how many events were."""

    __slots__ = ("limit", "count", "most", "working", "refused", "unchanged", "dropped", "_refusals")

    def __init__(self, limit: int | None) -> None:
        self.limit: float = inf if limit is None else limit
        self.count = 0
        self.most = self.limit
        self.working = False
        """Whether routed events are being processed."""
        self.refused: dict[str, tuple[int, Event]] = {}
        """By statement: how many events, and the first of them."""
        self.unchanged: dict[str, tuple[int, str]] = {}
        """By statement: how many changes of a named window were refused, and the name of the first."""
        self.dropped: dict[str, int] = {}
        """By the statement that was refused as many events as there may be: how many others waited then, and are not processed."""
        self._refusals = 0

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
        self._refusals += 1
        return False

    @property
    def is_exhausted(self) -> bool:
        """Whether as many events were refused as there may be: those that wait are not processed either."""
        return self._refusals > self.limit

    def drop(self, waiting: int, statement: str) -> None:
        """Note that events that waited are not processed, since the statement was refused too many."""
        self.dropped[statement] = self.dropped.get(statement, 0) + waiting

    def read(self, rows: int) -> None:
        """Count rows that a statement reads for a routed event, ``SHARE`` of them as one: a loop that inserts into the window that it reads
        takes the square of its events."""
        self.count += rows // SHARE

    def allow(self, rows: int) -> None:
        """Note that rows have entered or left named windows."""
        if not self.working:
            self.most += SHARE * rows

    def change(self, window: str, rows: int) -> None:
        """Count rows that are to enter a named window since rows of named windows have changed; raise Refused beyond the limit."""
        self.count += rows
        if self.count > self.most:
            error = Refused(f"a change of '{window}'")
            error.window = window
            raise error

    def note_refused(self, statement: str, window: str) -> None:
        """Note that a change of the window by the statement was refused."""
        number, first = self.unchanged.get(statement, (0, window))
        self.unchanged[statement] = number + 1, first

    def begin(self) -> bool:
        """Begin to process routed events; gives what ``end`` is to be called with: whether that is going on already."""
        outer, self.working = self.working, True
        if outer:  # a listener sends: that is an event from outside
            self.most += SHARE
        return outer

    def end(self, outer: bool) -> None:
        self.working = outer
        if not outer:
            self.count, self.most, self._refusals = 0, self.limit, 0

    def faults(self) -> list[Fault]:
        """Return an error for each statement that was refused events, which are forgotten."""
        faults: list[Fault] = [
            (self._error(number, event, self.dropped.get(name, 0)), name, event) for name, (number, event) in self.refused.items()]
        faults += [(self._too_many_events_error(number, window), name, None) for name, (number, window) in self.unchanged.items()]
        self.refused.clear()
        self.unchanged.clear()
        self.dropped.clear()
        return faults

    def _error(self, number: int, event: Event, dropped: int = 0) -> EplRuntimeError:
        events = "event is" if number == 1 else "events are"
        others = f", and with {'it' if number == 1 else 'them'} {dropped} that waited" if dropped else ""
        return EplRuntimeError(
            f"Insert into '{event.type.name}': {number} {events} not processed, since one event led to more than {self.limit:.0f} others"
            f"{others}", hint=HINT)

    def _too_many_events_error(self, number: int, window: str) -> EplRuntimeError:
        changes = "1 change of it is" if number == 1 else f"{number} changes of it are"
        return EplRuntimeError(
            f"Named window '{window}': {changes} not made, since one event led to more than {self.limit:.0f} others", hint=HINT)
