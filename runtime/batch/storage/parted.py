"""One batch parted among statements: each sees the rows that it reads as a batch of its own, without a copy a statement."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import ref

from runtime.batch.storage.arrays import Array
from runtime.batch.storage.fetched import fetch_rows
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from windows.event import Event

WORTH = 4
"""The whole is released when less than one in so many of its rows is in use; parts that are still in use get copies of theirs."""


class RowSelection(BatchIntake):
    """Rows ``low`` … ``high`` of the whole."""

    def __init__(self, parted: Parted, low: int, high: int) -> None:
        self.event_type, self.rows = parted.origin.event_type, high - low
        self._low, self._high = low, high
        self._parted: Parted | None = parted
        self._own: BatchIntake | None = None

    def column(self, name: str, kind: str, pool: StringPool) -> tuple[Array, Array]:
        if self._parted is None:
            return self.own().column(name, kind, pool)
        values, valid = self._parted.column(name, kind, pool)
        return values[self._low : self._high], valid[self._low : self._high]

    def arrow(self, name: str) -> Any:
        if self._parted is None:
            return self.own().arrow(name)
        return self._parted.arrow(name).slice(self._low, self.rows)

    def events(self, rows: Iterable[int]) -> list[Event]:
        if self._parted is None:
            return self.own().events(rows)
        places = self._parted.rows
        return self._parted.origin.events(int(places[self._low + row]) for row in rows)

    def take_rows(self, rows: Array) -> BatchIntake:
        if self._parted is None:
            return self.own().take_rows(rows)
        return self._parted.origin.take_rows(self._parted.rows[self._low + rows])

    def __getattr__(self, name: str) -> Any:
        """What else a batch has."""
        return getattr(self.own(), name)

    def own(self) -> BatchIntake:
        """Return the part as a batch of its own; from now on the whole is not needed."""
        if self._own is None:
            assert self._parted is not None
            self._own = self._parted.origin.take_rows(self._parted.rows[self._low : self._high])
            self._parted = None
        return self._own


class Parted:
    """The ``rows`` of a batch, in this order; each column is put into it once."""

    def __init__(self, origin: BatchIntake, rows: Array) -> None:
        self.origin, self.rows = origin, rows
        self._columns: dict[tuple[str, str], tuple[Array, Array]] = {}
        self._through: dict[str, Any] = {}
        self._parts: list[ref[RowSelection]] = []

    def column(self, name: str, kind: str, pool: StringPool) -> tuple[Array, Array]:
        arrays = self._columns.get((name, kind))
        if arrays is None:
            values, valid = self.origin.column(name, kind, pool)
            arrays = self._columns[name, kind] = (values[self.rows], valid[self.rows])
        return arrays

    def arrow(self, name: str) -> Any:
        array = self._through.get(name)
        if array is None:
            array = self._through[name] = fetch_rows(self.origin.arrow(name), self.rows)
        return array

    def part(self, low: int, high: int) -> RowSelection:
        part = RowSelection(self, low, high)
        self._parts.append(ref(part))
        return part

    def is_held(self) -> bool:
        """Return whether it is worth keeping for the parts that runs still hold; else they have been given their own copies."""
        parts = [part for part in (each() for each in self._parts) if part is not None]
        self._parts = [ref(part) for part in parts]
        if parts and sum(part.rows for part in parts) * WORTH < len(self.rows):
            for part in parts:
                part.own()
            return False
        return bool(parts)


__all__ = ["Parted", "RowSelection"]
