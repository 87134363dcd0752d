"""Running totals and extremes of the rows of matches, by one loop that is compiled where numba is there."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from runtime.batch.dialects.matching import loop_compiler
from runtime.batch.dialects.vectors import Array

SUM, LEAST, GREATEST = range(3)


def run_totals(kind: int, values: Any, nulls: Any, begins: Any, totals: Any, counts: Any) -> int:
    """Write for each value the total of those from the beginning of its match to it, and how many of them are not null.

    Doubles are added one after the other, as a row at a time does it. ``begins`` has a 1 where a match begins.
    """
    total = values[0]
    many = 0
    for place in range(len(values)):
        if begins[place] == 1:
            many = 0
        if nulls[place] == 0:
            value = values[place]
            if many == 0:
                total = value
            elif kind == 0:
                total = total + value
            elif kind == 1:
                if value < total:
                    total = value
            elif value > total:
                total = value
            many += 1
        totals[place] = total
        counts[place] = many
    return 0


@lru_cache(maxsize=1)
def _loop() -> Any:
    """Return the loop, compiled if numba is there."""
    compiled = loop_compiler()
    return None if compiled is None else compiled(run_totals)


def running(kind: int, values: Array, nulls: Array | None, begins: Array) -> tuple[Array, Array]:
    """Return totals and counts as ``run_totals`` writes them."""
    totals, counts = np.empty_like(values), np.zeros(len(values), np.int64)
    if not len(values):
        return totals, counts
    arguments = (np.ascontiguousarray(values), np.zeros(len(values), np.uint8) if nulls is None else nulls.astype(np.uint8), begins)
    compiled = _loop()
    if compiled is not None:
        compiled(kind, *arguments, totals, counts)
        return totals, counts
    lists = [each.tolist() for each in (*arguments, totals, counts)]
    run_totals(kind, *lists)
    return np.array(lists[3], values.dtype), np.array(lists[4], np.int64)


__all__ = ["GREATEST", "LEAST", "SUM", "running"]
