"""What is asked of a statement's plan again and again: plans are frozen, and a restore builds the ones again that it built before."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import ref

T = TypeVar("T")


def once_per_plan(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return the function of a statement's plan, which is called once a plan. Its results may not refer to the plan: they would keep it."""
    kept: dict[int, tuple[ref[Any], T]] = {}

    @wraps(function)
    def look_up(plan: Any) -> T:
        key = id(plan)
        entry = kept.get(key)
        if entry is None or entry[0]() is not plan:
            entry = kept[key] = ref(plan, lambda _: kept.pop(key, None)), function(plan)
        return entry[1]

    return look_up


__all__ = ["once_per_plan"]
