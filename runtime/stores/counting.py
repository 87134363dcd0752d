"""Counts of what look-ups cost, for tests: switched on around a deployment, and nothing elsewhere."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import attrs

from windows.event import Event


@attrs.define
class Counts:
    """``rows``: rows that indexes or scans gave; ``conditions``: evaluations of a look-up's conditions on a row."""

    rows: int = 0
    conditions: int = 0

    @property
    def operations(self) -> int:
        return self.rows + self.conditions

    def reset(self) -> None:
        self.rows = self.conditions = 0

    def read(self, rows: Iterable[Event]) -> Iterator[Event]:
        """Yield the rows, each counted as it is read."""
        for row in rows:
            self.rows += 1
            yield row

    def count_evaluation(self) -> bool:
        """Count one evaluation; true."""
        self.conditions += 1
        return True


_active: list[Counts] = []


def active() -> Counts | None:
    """Return the counts to which rows created now belong, if any."""
    return _active[-1] if _active else None


@contextmanager
def counting() -> Iterator[Counts]:
    """Count what is read of the rows of windows created inside, for as long as they are."""
    _active.append(Counts())
    try:
        yield _active[-1]
    finally:
        _active.pop()


__all__ = ["Counts", "active", "counting"]
