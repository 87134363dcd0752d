"""What instances of a pattern's operators have in common."""
from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from windows.event import Event
from windows.protocol import Damaged, State

Match = tuple[Any, ...]
"""The events of the tags, by their places: None, an event, or of a repeated tag the tuple of its events."""


class Parent:
    """What an instance reports to."""

    __slots__ = ()

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        """Take a match of the child. ``ended``: it is the last one, and the child has neither filters nor timers any more."""
        raise NotImplementedError

    def take_failure(self, child: Instance) -> None:
        """Note that the child can match no more; it has neither filters nor timers."""
        raise NotImplementedError


class Instance(Parent):
    __slots__ = ("match", "parent")
    lingers = False
    """Whether it may fail once more: ``every`` keeps it until then."""

    def __init__(self, parent: Parent, match: Match) -> None:
        self.parent = parent
        self.match = match

    def start(self) -> None:
        """Begin to wait; may report a match, or that there will be none, before it returns."""
        raise NotImplementedError

    def quit(self) -> None:
        """End without a word: filters and timers are taken out."""
        raise NotImplementedError

    def note(self, child: Instance, event: Event) -> None:
        """Take note that an event has come to the child, or to one below it."""

    def discard(self, events: Set[Event]) -> None:
        """End what has one of the events, here or below: the instance itself, where it began with one, fails."""
        if holds(self.match, events):
            self.quit()
            self.parent.take_failure(self)
        else:
            self.discard_below(events)

    def discard_below(self, events: Set[Event]) -> None:
        """Do so for what the instance has beside ``match``."""

    def state(self) -> list[State]:
        """Return what is needed beside ``match`` to go on from here, as plain values."""
        raise NotImplementedError


def holds(match: Match, events: Set[Event]) -> bool:
    """Return whether a match has an event of the set."""
    for each in match:
        if each is not None and (any(event in events for event in each) if each.__class__ is tuple else each in events):
            return True
    return False


def match_events(match: Match) -> list[Event]:
    """Return all events of a match."""
    return [event for each in match if each is not None for event in (each if each.__class__ is tuple else (each,))]


def merge_matches(match: Match, other: Match) -> Match:
    """Return the match with all that another one holds.

    >>> merge_matches(("a", "x", None), (None, "b", "c"))
    ('a', 'b', 'c')
    """
    return tuple([mine if others is None else others for mine, others in zip(match, other)])


def part(state: Any, length: int) -> Sequence[Any]:
    """Return a list of the state of an instance; raise Damaged for another value."""
    if not isinstance(state, (list, tuple)) or len(state) != length:
        raise Damaged(f"the state of a pattern where a list of {length} is expected")
    return state


def items(state: Any) -> Sequence[Any]:
    """Return a list of any length; raise Damaged for another value."""
    if not isinstance(state, (list, tuple)):
        raise Damaged(f"a value of type {type(state).__name__} where a list is expected")
    return state


def number(value: Any) -> int:
    if type(value) is not int:
        raise Damaged(f"a value of type {type(value).__name__} where an integer is expected")
    return value


__all__ = ["Instance", "Match", "Parent", "holds", "items", "match_events", "merge_matches", "number", "part"]
