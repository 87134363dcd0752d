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

Handle = tuple[int, int]
"""(statement, partition), -1 where there is none."""
Each = TypeVar("Each")


class HandleOrder:
    """``in_contexts``: the numbers of the statements of contexts. ``of_events``, ``of_time``: the most handles that there were at once.
    ``is_followed``: not where execution is prioritized, which goes by priority alone."""

    __slots__ = ("followers", "in_contexts", "is_followed", "of_events", "of_time")

    def __init__(self, in_contexts: Container[int], *, prioritized: bool) -> None:
        self.in_contexts = in_contexts
        self.is_followed = not prioritized
        self.followers: set[int] = set()
        self.of_events = self.of_time = 0

    def matters(self, statements: Iterable[int]) -> bool:
        """Whether an event that these statements receive late may meet several handles."""
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

    def receivers(self, matched: Sequence[Any], *, counts: bool = True) -> list[Any]:
        """Return the receivers of an event, which are in their places, with followers last among those of one priority, by handle.
        ``counts``: one event has all of them."""
        if not self.is_followed:
            return list(matched)
        arranged: list[Any] = []
        for rank, group in groupby(matched, key=_rank):
            if not rank & 1:
                arranged += group
                continue
            by_handle: dict[Handle, list[Any]] = {}
            for receiver in group:
                statement = receiver.order[2]
                if statement in self.followers:
                    partition = receiver.partition if statement in self.in_contexts else -1
                    by_handle.setdefault((statement, partition), []).append(receiver)
                else:
                    arranged.append(receiver)
            if counts and len(by_handle) > self.of_events:
                self.of_events = len(by_handle)
            arranged += _in_order(by_handle, self.of_events)
        return arranged


def _rank(receiver: Any) -> int:
    rank: int = receiver.order[0]
    return rank


def _in_order(by_handle: Mapping[Handle, Sequence[Each]], peak: int) -> list[Each]:
    groups = list(by_handle.values())
    order = in_hash_order((31 * statement + partition for statement, partition in by_handle), peak)
    return [each for place in order for each in groups[place]]


__all__ = ["HandleOrder"]
