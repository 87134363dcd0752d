"""The rows that a window holds, as the batches they came in: what passes through a statement is fetched from them, and whole events."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from runtime.batch.storage.arrays import Array
from runtime.batch.storage.fetched import fetch_rows
from runtime.batch.storage.intake import BatchIntake
from windows.event import Event

SPARE = 1024
"""Rows beyond twice those that are held, from which on it is looked which ones can go."""


@attrs.define
class BatchPart:
    """The rows ``begin`` … of one batch; ``rows``: the numbers of those that are still there, ascending, None for all."""

    begin: int
    end: int
    intake: BatchIntake
    rows: Array | None = None

    def places(self, rows: Array) -> Array:
        """Return where the rows are in ``intake``."""
        return rows - self.begin if self.rows is None else np.searchsorted(self.rows, rows)


class RowStore:
    """Rows by number, as long as they are held. A row gives the same event whenever it is asked for."""

    def __init__(self) -> None:
        self._parts: list[BatchPart] = []
        self._size = 0

    def add(self, first: int, intake: BatchIntake) -> None:
        """Add the rows of a batch, numbered from ``first`` on: higher than all before."""
        if intake.rows:
            self._parts.append(BatchPart(first, first + intake.rows, intake))
            self._size += intake.rows

    def keep(self, oldest: int, count: int, held: Callable[[], Array]) -> None:
        """Drop rows before ``oldest``; ``held`` gives the ``count`` numbers of those that are, ascending."""
        while self._parts and self._parts[0].end <= oldest:
            self._size -= self._parts.pop(0).intake.rows
        if self._size > 2 * count + SPARE:
            self._sweep(held())

    def _sweep(self, held: Array) -> None:
        kept = []
        for part in self._parts:
            rows = held[np.searchsorted(held, part.begin) : np.searchsorted(held, part.end)]
            if len(rows) == part.intake.rows:
                kept.append(part)
            elif len(rows):
                kept.append(BatchPart(int(rows[0]), part.end, part.intake.take_rows(part.places(rows)), rows.copy()))
        self._parts = kept
        self._size = sum(part.intake.rows for part in kept)

    def take(self, name: str, rows: Array) -> Any:
        """Return a column's values at the rows, in their order; there is at least one row. Strings as they came, perhaps with a
        dictionary."""
        if len(self._parts) == 1:
            part = self._parts[0]
            return fetch_rows(part.intake.arrow(name), part.places(rows))
        owners = self._owners(rows)
        touched = np.unique(owners)
        if len(touched) == 1:
            part = self._parts[touched[0]]
            return fetch_rows(part.intake.arrow(name), part.places(rows))
        chunks = [fetch_rows(self._parts[n].intake.arrow(name), self._parts[n].places(rows[owners == n])) for n in touched]
        column = _join_arrays(chunks)
        order = np.argsort(owners, kind="stable")
        if (order[1:] > order[:-1]).all():
            return column
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return fetch_rows(column, back)

    def events(self, rows: Array) -> list[Event]:
        """Return the rows as events, in their order; raise EplRuntimeError where one does not fit its type."""
        events: list[Event | None] = [None] * len(rows)
        owners = self._owners(rows)
        for n in np.unique(owners):
            places = np.flatnonzero(owners == n)
            part = self._parts[n]
            for place, event in zip(places.tolist(), part.intake.events(part.places(rows[places]).tolist())):
                events[place] = event
        return events  # type: ignore[return-value]  # every row has an owner

    def _owners(self, rows: Array) -> Array:
        return np.searchsorted(np.array([part.begin for part in self._parts], np.int64), rows, side="right") - 1

    def __len__(self) -> int:
        """The rows that are stored, held or not."""
        return self._size


def _join_arrays(chunks: list[Any]) -> Any:
    """Arrays of one type, as one; dictionaries become one too, and are discarded where only some of the arrays have one."""
    if len({chunk.type for chunk in chunks}) > 1:
        chunks = [chunk.cast(chunk.type.value_type) if kinds.is_dictionary(chunk.type) else chunk for chunk in chunks]
    return pa.chunked_array(chunks).unify_dictionaries().combine_chunks()


__all__ = ["RowStore"]
