"""What output rate limiting keeps between two outputs: by selector (default, all, last, first, snapshot) and shape.

Learnt from recorded output of every combination. ``take`` takes a delta, ``flush`` gives what has been collected, ``skip`` takes a delta
that ``after`` keeps from being emitted.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from runtime.aggregation.factory import Row
from runtime.result_set.projection import OutputRows
from runtime.result_set.shapes import ResultSet
from windows.protocol import State


class OutputBuffer(Protocol):
    """What the output stage asks of whatever gathers."""

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        """Take a delta; whether the output condition is to count it."""
        ...

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None: ...

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        """Process a delta of which nothing is to be emitted, now or later."""
        ...

    @property
    def counts_failures(self) -> bool:
        """Whether the output condition is to count a delta for which ``take`` raised: it is in, but for its rows."""
        ...

    def flush(self, force: bool) -> None: ...

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        """Return what the statement iterates over, given the window's contents."""
        ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class BufferBase:
    """Base: works on the statement's result set. ``calls_for_omitted``: listeners are called where none of the rows that ``last`` has kept
    is emitted, since ``limit`` removes them or no one reads the remove stream. ``repeats_old``: without a row in the remove stream a fully
    aggregated select gives its current one there."""

    counts_failures = True
    calls_for_omitted = False
    repeats_old = True
    _omits_old = False

    def __init__(self, inner: ResultSet) -> None:
        self.inner = inner

    def call_for_omitted(self) -> None:
        """Keep rows of the remove stream also where they are not read."""
        self.calls_for_omitted = True
        self._omits_old = not self.inner.needs_old
        self.inner.needs_old = True

    def take(self, new: Sequence[Row], old: Sequence[Row]) -> bool:
        raise NotImplementedError

    def skip(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.take(new, old)

    def keep(self, new: Sequence[Row], old: Sequence[Row]) -> None:
        self.inner.apply(new, old)

    def flush(self, force: bool) -> None:
        raise NotImplementedError

    def contents(self, contents: Iterable[Row]) -> Iterable[Row]:
        return contents

    def emit(self, new: OutputRows, old: OutputRows, force: bool) -> None:
        """Order, limit and pass the rows on."""
        force = force or (self.calls_for_omitted and bool(new.events or old.events))
        if self._omits_old:
            old = OutputRows()
        self.inner.emit(self.inner.finish(new), self.inner.finish(old), force)

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


__all__ = ["BufferBase", "OutputBuffer"]
