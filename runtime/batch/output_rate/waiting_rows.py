"""The rows that wait for output: as the arrays that a kernel goes on with, and as output events."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.event_types import EventType
from runtime.batch.printing.python_values import from_python, to_python
from runtime.batch.result_set.shapes import OutputColumn
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.computed import build_column
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import DTYPES, TEXTS
from runtime.batch.storage.strings import StringPool
from runtime.conversion.arrow import arrow_schema
from runtime.conversion.columns import read_columns
from windows.event import Event
from windows.protocol import State
from windows.shape import ANYTHING, EVENT, compile_check

FIRST_COLUMN = 6
"""The output arrays before: stream flags, row numbers and four for causes."""


@attrs.frozen
class WaitingRow:
    """An output event, whether it is of the insert stream, and the values that it is ordered by."""

    event: Event
    new: bool
    key: tuple[Any, ...] = ()


def batch_out(rows: Sequence[WaitingRow]) -> State:
    """Return rows as ``runtime.result_set.projection.OutputRows`` has them in its state."""
    return [[row.event for row in rows], [list(row.key) for row in rows if row.key]]


BATCH = compile_check(([EVENT], [[ANYTHING]]))


def batch_rows(state: State, new: bool) -> list[WaitingRow]:
    """Return the rows of a batch."""
    BATCH(state)
    events, keys = state
    return [WaitingRow(event, new, tuple(key)) for event, key in zip(events, keys or [()] * len(events), strict=True)]


@attrs.define
class WaitingStreams:
    """``flagged``: whether flags give the streams, else all rows are of the one that is given. ``swaps``: rows of the remove stream are put
    out as new ones. Columns are all computed; the ``keys`` follow them."""

    columns: tuple[OutputColumn, ...]
    keys: tuple[OutputColumn, ...]
    streams: tuple[bool, ...]
    swaps: bool
    output_type: EventType
    pool: StringPool
    units_per_second: int
    arrays: list[Array] = attrs.field(factory=list)

    def __len__(self) -> int:
        return max(map(len, self.arrays), default=0)

    def keep(self, outputs: Sequence[Array], begin: int, end: int) -> None:
        """Keep rows of the output arrays, which are to wait."""
        self.arrays = [a[:0] if 0 < place < FIRST_COLUMN else a[begin:end].copy() for place, a in enumerate(outputs)]

    def resume(self, outputs: Sequence[Array]) -> int:
        """Put them in front; how many there are."""
        for array, waiting in zip(outputs, self.arrays):
            array[: len(waiting)] = waiting
        return len(self)

    def rows(self) -> list[WaitingRow]:
        """Return the rows as output events."""
        count = len(self)
        if count == 0:
            return []
        computed = iter(self.arrays[FIRST_COLUMN:])
        fields = arrow_schema(self.output_type)
        columns = [build_column(c.kind, next(computed), next(computed), f.type, self.pool) for c, f in zip(self.columns, fields)]
        batch = pa.RecordBatch.from_arrays(columns, [c.name for c in self.columns])
        events = BatchIntake(self.output_type, read_columns(batch, self.output_type.name), self.units_per_second).events(range(count))
        keys = [self._values(key.kind, next(computed), next(computed)) for key in self.keys]
        return [WaitingRow(*row) for row in zip(events, self._inserts(), zip(*keys) if keys else [()] * count, strict=True)]

    def _values(self, kind: str, values: Array, valid: Array) -> list[Any]:
        there = valid.tolist() if len(valid) else [True] * len(values)
        return [to_python(value, kind, self.pool) if present else None for value, present in zip(values, there)]

    def _inserts(self) -> list[bool]:
        """Return whether each is of the insert stream, before the streams are swapped."""
        if len(self.streams) > 1:
            return [flag is not self.swaps for flag in self.arrays[0].tolist()]
        return [self.streams[0] is not self.swaps] * len(self)

    def of_stream(self, new: bool) -> list[WaitingRow]:
        """Return the rows of one stream."""
        return [row for row in self.rows() if row.new is new]

    def put(self, rows: Sequence[WaitingRow]) -> None:
        """Keep these rows, which wait; raise Declined where a column cannot hold them."""
        if not rows:
            return
        intake = BatchIntake.of(self.output_type, [row.event for row in rows], self.units_per_second)
        flags = [row.new is not self.swaps for row in rows] if len(self.streams) > 1 else []
        self.arrays = [np.array(flags, np.bool_), *(np.zeros(0, d) for d in (np.int64, np.int64, np.bool_, np.int64, np.int64))]
        for column in self.columns:
            values, valid = intake.column(column.name, column.kind, self.pool)
            self.arrays += [values, valid if column.nullable else valid[:0]]
        for place, key in enumerate(self.keys):
            kept = [row.key[place] for row in rows]
            nothing = -1 if key.kind in TEXTS else 0
            stored = [nothing if value is None else from_python(value, key.kind, self.pool) for value in kept]
            valid = np.array([value is not None for value in kept], np.bool_)
            self.arrays += [np.array(stored, DTYPES[key.kind]), valid if key.nullable else valid[:0]]


__all__ = ["WaitingRow", "WaitingStreams", "batch_out", "batch_rows"]
