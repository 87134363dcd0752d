"""Runs in a binary heap by their first row. Flink keeps them so: which of several runs with one first row is processed or emitted first is
decided by where the heap has them."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar


class Started(Protocol):
    """What has a first row."""

    @property
    def start(self) -> int:
        """The first row."""


S = TypeVar("S", bound=Started)


class RunQueue(list[S]):
    """A heap as a list: the children of ``k`` are ``2k + 1`` and ``2k + 2``. Iterating gives the list's order, ``poll`` the heap's."""

    def __init__(self, runs: Iterable[S] = ()) -> None:
        super().__init__()
        for run in runs:
            self.offer(run)

    def offer(self, run: S) -> None:
        """Add a run: it rises above those that have begun later."""
        self.append(run)
        place = len(self) - 1
        while place > 0:
            parent = (place - 1) // 2
            if run.start >= self[parent].start:
                break
            self[place], place = self[parent], parent
        self[place] = run

    def poll(self) -> S:
        """Remove and return the first run; the last of the list takes its place and sinks."""
        first, last = self[0], self.pop()
        if self:
            self[0] = last
            self._sink(0)
        return first

    def keep(self, condition: Callable[[S], bool]) -> None:
        """Remove the runs for which the condition does not hold."""
        kept = [run for run in self if condition(run)]
        if len(kept) == len(self):
            return
        self[:] = kept
        for place in range(len(self) // 2 - 1, -1, -1):
            self._sink(place)

    def drain(self) -> Iterator[S]:
        """Remove and yield all runs."""
        while self:
            yield self.poll()

    def _sink(self, place: int) -> None:
        run, end = self[place], len(self)
        while (child := 2 * place + 1) < end:
            if child + 1 < end and self[child].start > self[child + 1].start:
                child += 1
            if run.start <= self[child].start:
                break
            self[place], place = self[child], child
        self[place] = run


__all__ = ["RunQueue"]
