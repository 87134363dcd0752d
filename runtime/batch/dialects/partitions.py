"""Rows of a table in partitions: which row comes where, and where partitions begin."""
from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from epl.dialects.plans import RecognitionPlan
from runtime.batch.dialects.vectors import Array, NotColumnar, Vector


@attrs.frozen(eq=False)
class PartitionLayout:
    """``order``: places of the table's rows, partition by partition; ``bounds``: where partitions begin, and the number of rows."""

    order: Array
    bounds: Array

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.order)

    def within(self, places: Array, shifted: Array) -> Array:
        """Return which of the shifted places are in the partition that the places are in."""
        partition = np.searchsorted(self.bounds, places, "right") - 1
        inside: Array = (shifted >= self.bounds[partition]) & (shifted < self.bounds[partition + 1])
        return inside


def arrange_partitions(plan: RecognitionPlan, column: Callable[[int], Vector], count: int) -> PartitionLayout:
    """Return the rows in partitions; these in the order of their first rows."""
    codes, groups = _codes([column(place) for place in plan.partition], count)
    order = _order(plan, column, codes, groups, count)
    if codes is None:
        return PartitionLayout(order, np.array([0, count] if count else [0], np.int64))
    sizes = np.bincount(codes, minlength=groups)
    return PartitionLayout(order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _codes(keys: list[Vector], count: int) -> tuple[Array | None, int]:
    """Return for each row the number of its partition, by first appearance."""
    if not keys or not count:
        return None, 1
    combined: Array | None = None
    for key in keys:
        if key.values.dtype == np.float64:
            raise NotColumnar("partitions by doubles")
        values = key.values.astype(np.int64)
        numbers = _dense(values)
        if key.nulls is not None:
            numbers = np.where(key.nulls, numbers.max() + 1, numbers)
        combined = numbers if combined is None else _dense(combined * (int(numbers.max()) + 1) + numbers)
    assert combined is not None
    width = int(combined.max()) + 1
    firsts = np.full(width, count, np.int64)
    firsts[combined[::-1]] = np.arange(count - 1, -1, -1)
    present = np.flatnonzero(firsts < count)
    rank = np.empty(width, np.int64)
    rank[present[np.argsort(firsts[present])]] = np.arange(len(present))
    return rank[combined], len(present)


def _dense(values: Array) -> Array:
    """Return small numbers that are equal where the values are."""
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values) + 1024:
        return values - low
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _order(plan: RecognitionPlan, column: Callable[[int], Vector], codes: Array | None, groups: int, count: int) -> Array:
    keys: list[Array] = []
    for place, descending, nulls_first in plan.order:
        key = column(place)
        values = key.values
        if values.dtype == np.float64 and np.isnan(values).any():
            raise NotColumnar("an order by numbers of which one is none")
        if descending:
            values = -values if values.dtype == np.float64 else ~values
        if key.nulls is not None:
            keys += [key.nulls != nulls_first, np.where(key.nulls, values[:1], values)]
        else:
            keys.append(values)
    small = None if codes is None else codes.astype(np.uint16) if groups < 1 << 16 else codes
    if all(_is_sorted(key) for key in keys[:1]) and len(keys) <= 1:
        return np.arange(count) if small is None else np.argsort(small, kind="stable")
    order = np.lexsort(keys[::-1])
    return order if small is None else order[np.argsort(small[order], kind="stable")]


def _is_sorted(values: Array) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


__all__ = ["PartitionLayout", "arrange_partitions"]
