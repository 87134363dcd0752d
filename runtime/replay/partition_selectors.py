"""Selectors of context partitions, as steps of traces have them."""
from __future__ import annotations

from collections.abc import Mapping
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


def partition_selector(step: Mapping[str, Any]) -> PartitionSelector:
    """Return the selector that a step describes. What a ``filtered`` one tests is code of the program that was recorded: all pass here."""
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
        return NestedPartitions([[partition_selector(each) for each in path] for path in step["selectors"]])
    if kind == "filtered":
        return PartitionsWhere(lambda properties: True)
    if kind == "all":
        return AllPartitions()
    raise ValueError(f"a context partition selector of kind {kind!r}")


__all__ = ["partition_selector"]
