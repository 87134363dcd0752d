"""Categories begin their partitions at deploy: nested levels of them have the limit that preallocated hash contexts have."""
from __future__ import annotations

import pytest

from epl.errors import EplUnsupportedError
from runtime import Runtime


def _context(levels: int, categories: int, outer: str = "") -> str:
    listed = ", ".join(f"group n = {number} as c{number}" for number in range(categories))
    nested = ", ".join(f"context L{level} {listed} from A" for level in range(levels))
    return f"create schema A(n int); create context C {outer}{nested}; context C select count(*) from A"


@pytest.mark.parametrize(("levels", "categories", "outer", "count"), [
    (4, 20, "", 160_000), (5, 11, "", 161_051),
    (2, 100, "context H coalesce by consistent_hash_crc32(n) from A granularity 16 preallocate, ", 160_000),
])
def test_too_many_partitions_at_once_are_refused(levels: int, categories: int, outer: str, count: int) -> None:
    with pytest.raises(EplUnsupportedError, match=f"{count} partitions of categories"):
        Runtime().deploy(_context(levels, categories, outer))


def test_levels_that_begin_with_events_do_not_count() -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(_context(2, 20, "context K partition by n from A, "))
    runtime.send("A", {"n": 3})
    assert runtime.context_partitions == {"C": 400}
