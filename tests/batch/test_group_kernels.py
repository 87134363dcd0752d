"""Grouped select kernels against the row tier: the same rows in the same order, however the input is cut, compiled or as plain Python."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.batch.available import is_available
from tests.batch.two_tiers import ROWS, RowTier, assert_same, batches_of

STATEMENTS: list[str] = [
    "select k, sum(x) as s, count(*) as c from T group by k",
    "select irstream k, sum(n) as s, max(x) as hi, min(m) as lo from T(n is not null) group by k",
    "select k, x, avg(x) as a from T group by k having count(*) > 1",
    "select irstream n, sum(x) as s from T group by n",
    "select n, x, b, count(*) as c from T group by n, x, b",
    "select irstream k, n, count(*) as c from T group by k, n having count(*) < 4",
    "select x, count(*) as c, sum(n, filter: b) as s from T group by x",
    "select n * 2 as twice, count(*) as c from T group by n * 2",
    "select k, avg(x) as a, sum(n) as s, count(*) as c from T#time(4 msec) group by k",
    "select irstream k, avg(x) as a, max(x) as hi, min(n) as lo from T#time(4 msec) group by k",
    "select rstream k, sum(m) as s from T#time(3 msec) group by k having count(*) > 0",
    "select n, sum(x) as s from T#length(3) group by n",
    "select irstream k, n, sum(x) as s from T#length(3) group by k, n",
    "select irstream k, x, maxever(n) as hi, max(n) as top from T#length(2) group by k",
    "select k, x, d, sum(x) as s from T#time(2 msec) group by k",
    "select irstream m, b, count(*) as c from T(x > 0)#time(5 msec) group by m, b",
    "select k, count(*) as c, minever(x) as lo from T#keepall group by k",
    "select irstream x, n, maxever(m) as s from T#time(3 msec) group by x, n",
]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=25, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100)


def many(count: int, keys: int, step: int = 2) -> list[tuple[pa.Table, Any]]:
    """Rows of many groups, in three batches; strings of one to four bytes a character."""
    rng = np.random.default_rng(count)
    names = [f"{'aé€😀'[i % 4]}{i}" for i in range(keys)]
    rows = [
        (names[rng.integers(0, keys)], float(rng.integers(-3, 9)), int(rng.integers(-3, 9)), bool(rng.integers(0, 2)),
         int(rng.integers(0, keys)) << 33, None, int(rng.integers(0, step)))
        for _ in range(count)
    ]
    return [
        (table.slice(at, 701), times[at : at + 701]) for table, times in batches_of(rows, []) for at in range(0, len(table), 701)
    ]


@pytest.mark.parametrize("text", [
    "select x, avg(x / x) as a from T#length(2) group by x", "select x, sum(1 / x) as s from T group by rollup(x)",
])
def test_keys_that_are_zero_divide_as_in_java(text: str) -> None:
    assert_same(text, batches_of([("a", x, 1, True, 1, None, 0) for x in (0.0, -0.0, 2.0, 0.0)], [2]), 10)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [*(STATEMENTS[i] for i in (1, 5)), *(STATEMENTS[i].replace(" msec", "0 msec") for i in (8, 15, 17))])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    assert_same(text, many(4_000, 200), 100_000, fast=True)


@pytest.mark.parametrize("text", [
    "select irstream x, count(*) as c from T group by x",
    "select irstream x, n, count(*) as c from T#time(3 msec) group by x, n",
])
def test_zeros_of_two_signs_are_two_keys(text: str) -> None:
    batches = batches_of([("a", value, 1, True, 1, None, 1) for value in (0.0, -0.0, 0.0, 1.0, -0.0)], [2])
    expected = RowTier(text)
    for batch in batches:
        expected.feed(batch)
    assert [row["c"] for row in expected.output[0]][:2] == [1, 1]
    assert_same(text, batches, 100)
