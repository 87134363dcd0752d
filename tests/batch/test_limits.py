"""The ends of things: no rows, one row, very many keys, very wide selects."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epl.errors import EplUnsupportedError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.batch.available import is_available
from runtime.batch.compiler.kernels import compile_kernel

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SCHEMA = "@public @buseventtype create schema T(key long, x double);"


def heard(runtime: Runtime, name: str = "a") -> list[Any]:
    found: list[Any] = []
    runtime.statement(name).add_batch_listener(lambda new, old, *_: found.append((new, old)))
    return found


def rows(count: int, first: int = 0) -> pa.Table:
    return pa.table({"key": pa.array(np.arange(first, first + count)), "x": pa.array(np.ones(count))})


def test_no_rows_and_one_row() -> None:
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + "@name('a') select irstream sum(x) as s from T#length(2)")
    found = heard(runtime)
    runtime.send_batch("T", rows(0))
    assert found == []
    runtime.send_batch("T", rows(1))
    ((new, old),) = found
    assert new.to_pylist() == [{"s": 1.0}] and old.to_pylist() == [{"s": None}]


def test_a_batch_without_a_row_moves_time() -> None:
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + "@name('a') select rstream x from T#time(5 msec)")
    found = heard(runtime)
    runtime.send_batch("T", rows(2).append_column("ts", pa.array([1, 2])), time="ts")
    runtime.advance_time_span(10)
    assert [new.num_rows for new, _ in found] == [2] and runtime.next_scheduled_time is None


def test_very_wide_selects_stay_in_the_row_tier() -> None:
    columns = ", ".join(f"x + {n} as c{n}" for n in range(300))
    with pytest.raises(EplUnsupportedError, match="more than 256 columns and aggregations"):
        Runtime(tier="batch").deploy(f"{SCHEMA} @name('a') select {columns} from T")


@pytest.mark.parametrize("keys", [200_000, 10_000_000] if os.environ.get("EPL_LONG") else [200_000])
def test_many_keys(keys: int) -> None:
    """Every key comes twice; each row shows its group's count and sum."""
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + "@name('a') select key, count(*) as c, sum(x) as s from T group by key")
    found = heard(runtime)
    for _ in range(2):
        for first in range(0, keys, 100_000):
            runtime.send_batch("T", rows(100_000, first))
    assert len(found) == 2 * keys // 100_000
    for number, (new, _) in enumerate(found):
        time = 1 if number < keys // 100_000 else 2
        assert set(new["c"].to_numpy()) == {time} and set(new["s"].to_numpy()) == {float(time)}


@pytest.mark.parametrize("keys", [100_000, 10_000_000] if os.environ.get("EPL_LONG") else [100_000])
def test_keys_that_leave_make_room(keys: int) -> None:
    """Groups of a window come and go: the state is that of the window, however many keys there have been."""
    runtime = Runtime(tier="batch")
    runtime.deploy(SCHEMA + "@name('a') select key, count(*) as c from T#length(1000) group by key")
    found = heard(runtime)
    sizes = []
    for first in range(0, keys, 20_000):
        runtime.send_batch("T", rows(20_000, first))
        sizes.append(internal_output(runtime.statement("a")).running.run.memory())  # type: ignore[union-attr]
    assert sizes[-1] == sizes[0]
    assert {count for new, _ in found for count in set(new["c"].to_numpy())} == {0, 1}


def test_longs_wrap_around_when_compiled() -> None:
    """A compiler may take it that signed sums do not overflow, and answer ``y > 0`` with true where it knows that x is: longs are added as
    unsigned ones."""
    heard_by: dict[str, list[Any]] = {}
    for tier in ("row", "batch"):
        runtime = Runtime(tier=tier)
        if internal_engine(runtime).batch_tier is not None:
            internal_engine(runtime).batch_tier.compile = compile_kernel
        runtime.deploy(SCHEMA + "@name('a') select key * key >= 0 as p, key + key > 0 as s, -key < 0 as n, key * key as q from T(key > 0)")
        runtime.deploy("@name('b') select sum(key) as s from T")
        heard_by[tier] = [heard(runtime, name) for name in "ab"]
        runtime.send_batch("T", pa.table({"key": pa.array([3, 2**62, 2**63 - 1, -(2**63), 4294967297]), "x": pa.array(np.ones(5))}))
    first, second = ([[new.to_pylist() for new, _ in each] for each in found] for found in heard_by.values())
    assert second == first


def test_large_keys_behind_many_small_ones() -> None:
    """Keys below 65,536 have places of their own, others are hashed: the table has to hold them when the first of these comes."""
    keys = [*range(300), *range(100_000, 100_300)]
    table = pa.table({"key": pa.array([k for k in keys for _ in range(2)], pa.int64()), "x": pa.array([1.0, 2.0] * len(keys))})
    rows_by: dict[str, list[Any]] = {}
    for tier in ("row", "batch"):
        runtime = Runtime(tier=tier)
        runtime.deploy(SCHEMA)
        runtime.deploy(
            "@public @buseventtype create schema N(key int, x double); @name('a') select * from N match_recognize (partition by key "
            "measures A.key as k, B.x as x pattern (A B) define B as B.x > A.x)"
        )
        found = heard(runtime)
        runtime.send_batch("N", table)
        rows_by[tier] = [new.to_pylist() for new, _ in found]
    assert rows_by["batch"] == rows_by["row"] and len(rows_by["row"][0]) == len(keys)
