"""Order of rows: several keys with directions and places of nulls."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


def sortable(value: Any) -> Any:
    """Return what a value is ordered by: NaN is the greatest number, nulls in lists come last."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0.0)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (0, value)
    if isinstance(value, list):
        return [(1, 0) if each is None else (0, sortable(each)) for each in value]
    return value


def sort(rows: list[Any], keys: Sequence[tuple[Callable[[Any], Any], bool, bool]]) -> None:
    """Sort rows by keys (function, descending, nulls first), the first key counting most; equal rows stay as they are."""
    for read, descending, nulls_first in reversed(keys):
        values = [(row, read(row)) for row in rows]
        present = [(row, sortable(value)) for row, value in values if value is not None]
        absent = [row for row, value in values if value is None]
        present.sort(key=lambda pair: pair[1], reverse=descending)
        ordered = [row for row, _ in present]
        rows[:] = [*absent, *ordered] if nulls_first else [*ordered, *absent]


__all__ = ["sort", "sortable"]
