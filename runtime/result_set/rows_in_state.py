"""Rows in saved state: events, or tuples of events that may come back as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.aggregation.factory import Row
from windows.shape import ROW


def restore_row(saved: Any) -> Row:
    """Return a row out of state; a tuple has None where an outer join has no event."""
    row = tuple(saved) if isinstance(saved, list) else saved
    ROW(row)
    return row


def delta_out(delta: tuple[Sequence[Row], Sequence[Row]]) -> Any:
    return [list(delta[0]), list(delta[1])]


def restore_delta(saved: Any) -> tuple[list[Row], list[Row]]:
    return [restore_row(row) for row in saved[0]], [restore_row(row) for row in saved[1]]
