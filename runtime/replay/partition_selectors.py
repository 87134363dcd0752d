"""Selectors of context partitions, as steps of traces have them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.context.selectors import (
    AllPartitions,
    NestedPartitions,
    PartitionsByCategory,
    PartitionsByHash,
    PartitionsById,
    PartitionsByKey,
    PartitionSelector,
    PartitionsWhere,
)


def partition_selectors(steps: Sequence[Mapping[str, Any] | None] | None) -> list[PartitionSelector | None] | None:
    """Return the selectors of a query, one for each named window or table."""
    return None if steps is None else [partition_selector(step) for step in steps]


def partition_selector(step: Mapping[str, Any] | None) -> PartitionSelector | None:
    """Return the selector that a step describes. What a ``filtered`` one tests is code of the program that was recorded: all pass here."""
    if step is None:
        return None
    kind = step["kind"]
    if kind == "id":
        return PartitionsById(step["ids"])
    if kind == "segmented":
        return PartitionsByKey(step["keys"])
    if kind == "hash":
        return PartitionsByHash(step["hashes"])
    if kind == "category":
        return PartitionsByCategory(step["labels"])
    if kind == "nested":
        return NestedPartitions([[_part(each) for each in path] for path in step["selectors"]])
    if kind == "filtered":
        return PartitionsWhere(lambda partition: True)
    if kind == "all":
        return AllPartitions()
    raise ValueError(f"a context partition selector of kind {kind!r}")


def _part(step: Mapping[str, Any]) -> PartitionSelector:
    selector = partition_selector(step)
    assert selector is not None
    return selector


__all__ = ["partition_selector", "partition_selectors"]
