"""What caused each row of a batch listener's record batches, as columns beside the statement's own."""
from __future__ import annotations

from typing import Any

import pyarrow as pa

from runtime.event_loop.cause import Cause

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("cause.call", pa.int64()), ("cause.time", pa.int64()), ("cause.type", pa.string()), ("cause.row", pa.int64()),
)
"""Number of the call that a row listener would have got, one sequence over all statements; engine time; the input's event type and its row
(from 0) in the table given for the type, null where a timer was at work or the event was sent by itself."""


class CauseColumns:
    """The causes of the rows that wait for a statement's batch listeners, in their order."""

    def __init__(self) -> None:
        self._new: list[Cause] = []
        self._old: list[Cause] = []

    def note(self, cause: Cause, new: int, old: int) -> None:
        """Note that so many rows of insert and remove stream come of it."""
        self._new += [cause] * new
        self._old += [cause] * old

    def beside(self, new: pa.RecordBatch | None, old: pa.RecordBatch | None) -> tuple[Any, Any]:
        """Return the batches with the columns of COLUMNS after their own; the causes are computed once."""
        batches = _beside(new, self._new), _beside(old, self._old)
        self._new, self._old = [], []
        return batches


def _beside(batch: pa.RecordBatch | None, causes: list[Cause]) -> pa.RecordBatch | None:
    if batch is None:
        return None
    values: list[list[Any]] = [[c.call for c in causes], [c.time for c in causes], [c.event_type for c in causes], [c.row for c in causes]]
    for (name, arrow), each in zip(COLUMNS, values):
        column: Any = pa.array(each)
        batch = batch.append_column(name, column.cast(arrow))
    return batch


__all__ = ["COLUMNS", "CauseColumns"]
