"""In which order Esper runs what one event completes and what is due when time moves, of several statements and partitions.

An instance of a statement, the only one or that of a partition, has a handle, whose hash is 31 times the number of the statement plus that
of the partition; -1 without a context and for a context itself. Esper gathers the handles in a hash map, one for events and one for time,
and does all that is to be done for a handle before it comes to the next one. So the order is that of a Java HashMap, which never shrinks:
the most handles that there have been at once decide, and are a part of a runtime's state.

Of an event these are the statements over patterns, over several streams of one type, and with ``order by`` (``followers``); all others
get it before. Of time it is all statements.
"""
from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from epl.java_hash import in_hash_order
from runtime.clock.schedule import ScheduledTimer
from runtime.event_loop.receiver_order import Places

Handle = tuple[int, int]
"""(statement, partition), -1 where there is none."""
Each = TypeVar("Each")
MOST_KNOWN = 1000
"""How many sets of receivers are remembered."""


class HandleOrder:
    """``in_contexts``: the numbers of the statements of contexts. ``of_events``, ``of_time``: the most handles that there were at once.
    ``is_followed``: not where execution is prioritized, which goes by priority alone."""

    __slots__ = ("followers", "in_contexts", "is_followed", "of_events", "of_time", "_known")

    def __init__(self, in_contexts: Container[int], *, prioritized: bool) -> None:
        self.in_contexts = in_contexts
        self.is_followed = not prioritized
        self.followers: set[int] = set()
        self.of_events = self.of_time = 0
        self._known: dict[tuple[Places, ...], list[int]] = {}
        """What the places of receivers without contexts come to."""

    def matters(self, statements: Iterable[int]) -> bool:
        """Return whether an event that these statements receive late may meet several handles."""
        numbers = set(statements)
        return self.is_followed and (len(numbers) > 1 or any(number in self.in_contexts for number in numbers))

    def timers(self, due: Sequence[ScheduledTimer]) -> Sequence[ScheduledTimer]:
        """Return the timers by handle; those of one stay in their order."""
        if not self.is_followed:
            return due
        by_handle: dict[Handle, list[ScheduledTimer]] = {}
        for timer in due:
            statement, partition, _ = timer.order
            by_handle.setdefault((statement, partition if statement in self.in_contexts else -1), []).append(timer)
        if len(by_handle) == 1:
            return due
        self.of_time = max(self.of_time, len(by_handle))
        return _in_order(by_handle, self.of_time)

    def statements(self, due: Sequence[int]) -> list[int]:
        """Return numbers of statements without a context, whose timers are due in one step, in the order in which those run."""
        self.of_time = max(self.of_time, len(due))
        return [due[place] for place in in_hash_order((31 * number - 1 for number in due), self.of_time)]

    def follow(self, statement: int) -> None:
        """Let a statement get events after those that are none of the followers."""
        self.followers.add(statement)
        self._known.clear()

    def receivers(self, matched: list[Any]) -> list[Any]:
        """Return the receivers of an event, which are in their places, with followers last among those of one priority, by handle."""
        if not self.is_followed:
            return matched
        orders = tuple([receiver.order for receiver in matched])
        if self.in_contexts:
            partitions = [receiver.partition if order[2] in self.in_contexts else -1 for receiver, order in zip(matched, orders)]
            return [matched[place] for place in self._arrange(orders, partitions)]
        places = self._known.get(orders)
        if places is None:
            places = self._arrange(orders, [-1] * len(orders))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[orders] = places
        return [matched[place] for place in places]

    def _arrange(self, orders: Sequence[Places], partitions: Sequence[int]) -> list[int]:
        """Return the places in ``orders`` in the order in which the receivers get an event."""
        arranged: list[int] = []
        for rank, group in groupby(range(len(orders)), key=lambda place: orders[place][0]):
            if not rank & 1:
                arranged += group
                continue
            by_handle: dict[Handle, list[int]] = {}
            for place in group:
                statement = orders[place][2]
                if statement in self.followers:
                    by_handle.setdefault((statement, partitions[place]), []).append(place)
                else:
                    arranged.append(place)
            if len(by_handle) > self.of_events:
                self.of_events = len(by_handle)
                self._known.clear()
            arranged += _in_order(by_handle, self.of_events)
        return arranged


def _in_order(by_handle: Mapping[Handle, Sequence[Each]], peak: int) -> list[Each]:
    groups = list(by_handle.values())
    order = in_hash_order((31 * statement + partition for statement, partition in by_handle), peak)
    return [each for place in order for each in groups[place]]


__all__ = ["HandleOrder"]
