"""The rows that wait for output: as the arrays that a kernel goes on with, and as output events."""
from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import pyarrow as pa

from epl.event_types import EventType
from runtime.arrow import arrow_schema
from runtime.batch.arrays import Array
from runtime.batch.computed import computed_column
from runtime.batch.intake import Intake
from runtime.batch.result_sets import OutputColumn
from runtime.batch.strings import StringPool
from runtime.columns import columns_of
from windows.event import Event

FIRST_COLUMN = 6
"""The output arrays before: stream flags, row numbers and four that tell causes."""


@attrs.define
class Waiting:
    """``flagged``: whether flags tell the streams, else all rows are of the one that is given. ``swaps``: rows of the remove stream are put
    out as new ones. Columns are all computed."""

    columns: tuple[OutputColumn, ...]
    streams: tuple[bool, ...]
    swaps: bool
    output_type: EventType
    pool: StringPool
    units_per_second: int
    arrays: list[Array] = attrs.field(factory=list)

    def __len__(self) -> int:
        return max(map(len, self.arrays), default=0)

    def keep(self, outputs: Sequence[Array], begin: int, end: int) -> None:
        """Rows of the output arrays are to wait."""
        self.arrays = [a[:0] if 0 < place < FIRST_COLUMN else a[begin:end].copy() for place, a in enumerate(outputs)]

    def resume(self, outputs: Sequence[Array]) -> int:
        """Put them in front; how many there are."""
        for array, waiting in zip(outputs, self.arrays):
            array[: len(waiting)] = waiting
        return len(self)

    def events(self) -> list[Event]:
        """As output events."""
        count = len(self)
        if count == 0:
            return []
        computed = iter(self.arrays[FIRST_COLUMN:])
        fields = arrow_schema(self.output_type)
        made = [computed_column(c.kind, next(computed), next(computed), f.type, self.pool) for c, f in zip(self.columns, fields)]
        batch = pa.RecordBatch.from_arrays(made, [c.name for c in self.columns])
        return Intake(self.output_type, columns_of(batch, self.output_type.name), self.units_per_second).events(range(count))

    def inserts(self) -> list[bool]:
        """Whether each is of the insert stream, before the streams are swapped."""
        if len(self.streams) > 1:
            return [flag is not self.swaps for flag in self.arrays[0].tolist()]
        return [self.streams[0] is not self.swaps] * len(self)

    def of_stream(self, new: bool) -> list[Event]:
        """The rows of one stream."""
        return [event for event, insert in zip(self.events(), self.inserts() if len(self) else ()) if insert is new]

    def put(self, rows: Sequence[tuple[Event, bool]]) -> None:
        """These rows wait, each of the insert stream or not; raises Declined where a column cannot hold them."""
        if not rows:
            return
        intake = Intake.of(self.output_type, [event for event, _ in rows], self.units_per_second)
        flags = [new is not self.swaps for _, new in rows] if len(self.streams) > 1 else []
        self.arrays = [np.array(flags, np.bool_), *(np.zeros(0, d) for d in (np.int64, np.int64, np.bool_, np.int64, np.int64))]
        for column in self.columns:
            values, valid = intake.column(column.name, column.kind, self.pool)
            self.arrays += [values, valid if column.nullable else valid[:0]]


__all__ = ["Waiting"]
