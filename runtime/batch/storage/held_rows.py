"""Rows that are held past their batch, by id: whole batches at first, later what of them is still held."""
from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from runtime.batch.storage.arrays import Array
from runtime.batch.storage.fetched import fetch_rows
from runtime.batch.storage.intake import BatchIntake
from windows.event import Event

FEW_SEGMENTS = 8
SPARE_ROWS = 1 << 16
"""Rows beyond twice those that the last ``tidy`` left, from which on it is looked which ones can go."""


@attrs.define
class Segment:
    """``ids`` ascend; None for the ids ``begin`` … in a row."""

    begin: int
    intake: BatchIntake
    ids: Array | None = None

    @property
    def end(self) -> int:
        """The id after the last one."""
        return self.begin + self.intake.rows if self.ids is None else int(self.ids[-1]) + 1

    def places(self, ids: Array) -> Array:
        return ids - self.begin if self.ids is None else np.searchsorted(self.ids, ids)


class RowsById:
    """The rows by id. ``tidy`` discards what is not held any more; until then a batch stays as a whole."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._most = FEW_SEGMENTS
        self._size = 0
        self._most_rows = SPARE_ROWS

    def add(self, begin: int, intake: BatchIntake) -> None:
        """Add a batch whose rows have the ids from ``begin`` on."""
        if intake.rows:
            self.segments.append(Segment(begin, intake))
            self._size += intake.rows

    def put(self, ids: Array, intake: BatchIntake) -> None:
        """Put rows with ascending ids below all others."""
        if intake.rows:
            self.segments.insert(0, Segment(int(ids[0]), intake, ids))
            self._size += intake.rows

    @property
    def crowded(self) -> bool:
        """Whether it is worth a ``tidy``: twice as many rows, or segments, are stored as the last one left."""
        return len(self.segments) > self._most or self._size > self._most_rows

    def __len__(self) -> int:
        """The rows that are stored, held or not."""
        return self._size

    def tidy(self, held: Array) -> None:
        """Drop what is not held; ``held``: the ids that are held, ascending."""
        kept: list[Segment] = []
        small: list[tuple[Array, BatchIntake]] = []
        for segment in self.segments:
            low, high = np.searchsorted(held, (segment.begin, segment.end))
            ids = held[low:high]
            if 4 * len(ids) > segment.intake.rows:
                _merge(small, kept)
                kept.append(segment)
            elif len(ids):
                small.append((ids, segment.intake.take_rows(segment.places(ids))))
        _merge(small, kept)
        self.segments = kept
        self._size = sum(segment.intake.rows for segment in kept)
        self._most, self._most_rows = 2 * len(kept) + FEW_SEGMENTS, 2 * self._size + SPARE_ROWS

    def _owners(self, ids: Array) -> Array:
        return np.searchsorted(np.array([s.begin for s in self.segments]), ids, side="right") - 1

    def take(self, name: str, ids: Array) -> Any:
        """Return a column's values at the ids, in their order."""
        if len(ids) == 0 or ids.min() >= self.segments[-1].begin:
            last = self.segments[-1]
            return fetch_rows(last.intake.arrow(name), last.places(ids))
        parts, places = [], np.empty(len(ids), np.int64)
        begin = 0
        for segment in self.segments[int(self._owners(ids.min())) :]:
            chosen = np.flatnonzero((ids >= segment.begin) & (ids < segment.end))
            if len(chosen):
                parts.append(plain(fetch_rows(segment.intake.arrow(name), segment.places(ids[chosen]))))
                places[chosen] = np.arange(begin, begin + len(chosen))
                begin += len(chosen)
        return fetch_rows(pa.concat_arrays(parts), places)

    def events(self, ids: Array) -> dict[int, Event]:
        """Return the rows as objects, the same one for the same row."""
        events: dict[int, Event] = {}
        owners = self._owners(ids)
        for number in np.unique(owners):
            segment, chosen = self.segments[number], ids[owners == number]
            events.update(zip(chosen.tolist(), segment.intake.events(segment.places(chosen).tolist())))
        return events


def _merge(small: list[tuple[Array, BatchIntake]], kept: list[Segment]) -> None:
    """Neighbouring remainders become one segment."""
    if small:
        ids = np.concatenate([ids for ids, _ in small])
        kept.append(Segment(int(ids[0]), BatchIntake.join_batches([intake for _, intake in small]), ids))
        small.clear()


def plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """Return the column without a dictionary."""
    return column.cast(column.type.value_type) if kinds.is_dictionary(column.type) else column


__all__ = ["RowsById"]
