"""Selectors as plain values, for logs."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epl.errors import EplRuntimeError
from runtime.context.selectors import (
    AllPartitions,
    NestedPartitions,
    PartitionsByCategory,
    PartitionsByHash,
    PartitionsById,
    PartitionsByKey,
    PartitionSelector,
)
from windows.protocol import Damaged, State

KINDS: Mapping[str, tuple[type[PartitionSelector], str]] = {
    "id": (PartitionsById, "ids"), "key": (PartitionsByKey, "keys"), "hash": (PartitionsByHash, "hashes"),
    "category": (PartitionsByCategory, "labels"),
}


def selector_state(selector: object) -> State:
    """Return a selector as plain values; raise EplRuntimeError for one that is code."""
    if isinstance(selector, AllPartitions):
        return ["all", None]
    if isinstance(selector, NestedPartitions):
        return ["nested", [[selector_state(each) for each in path] for path in selector.paths]]
    for kind, (selecting, values) in KINDS.items():
        if isinstance(selector, selecting):
            return [kind, list(getattr(selector, values))]
    raise EplRuntimeError(
        f"{type(selector).__name__} cannot be logged", hint="select by ids, keys, hash numbers or labels where a query changes something")


def selector_of_state(state: State) -> PartitionSelector:
    """Return the selector; raise Damaged for what is none."""
    if not isinstance(state, (list, tuple)) or len(state) != 2 or not isinstance(state[0], str):
        raise Damaged("a selector of partitions")
    kind, values = state
    if kind == "all":
        return AllPartitions()
    try:
        if kind == "nested":
            return NestedPartitions([[selector_of_state(each) for each in path] for path in values])
        make: Callable[[Any], PartitionSelector] = KINDS[kind][0]
        return make(values)
    except (KeyError, TypeError) as error:
        raise Damaged(f"a selector of partitions: {error}") from error


__all__ = ["selector_of_state", "selector_state"]
