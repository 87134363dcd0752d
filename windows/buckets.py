"""Hash tables of several items a key, each item once: what indexes of rows and tables of filters keep."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Bucket = Iterable[Any]
"""The items of one key in the order in which they came: a tuple of one, or a dict of several whose keys they are."""


def put(buckets: dict[Any, Any], key: Any, item: Any) -> bool:
    """Add the item to the bucket of the key; return whether it is the first."""
    bucket = buckets.get(key)
    if bucket is None:
        buckets[key] = (item,)
        return True
    if type(bucket) is tuple:
        bucket = buckets[key] = {bucket[0]: None}
    bucket[item] = None
    return False


def take(buckets: dict[Any, Any], key: Any, item: Any) -> bool:
    """Remove the item from the bucket of the key, where it is there; return whether it was the last."""
    bucket = buckets.get(key)
    if type(bucket) is dict:
        bucket.pop(item, None)
        if bucket:
            if is_sparse(bucket):
                buckets[key] = dict(bucket)
            return False
    elif bucket is None or bucket[0] != item:
        return False
    del buckets[key]
    return True


def is_sparse(items: dict[Any, Any]) -> bool:
    """Return whether to copy a dict from which an item was removed: it keeps the places of removed items, which iteration passes over."""
    count = len(items)
    return not count & (count - 1) and items.__sizeof__() > SPARSE * count + 1024


SPARSE = 400
"""Bytes for each item of a dict that has become sparse; one that only grows has at most 110."""

__all__ = ["Bucket", "is_sparse", "put", "take"]
