"""Aggregations with groups of their own (``group_by:``) in kernels against the row tier."""
from __future__ import annotations

from typing import Any

import pytest

from runtime.batch.available import is_available
from tests.batch.test_group_kernels import many
from tests.batch.two_tiers import assert_same, same_in_both_tiers

STATEMENTS = [
    "select k, sum(x, group_by: k) as s, sum(n) as t, count(*, group_by: (k, b)) as c from T",
    "select sum(x, group_by: k) as s from T having sum(x, group_by: k) > 2",
    "select irstream k, max(x, group_by: b) as hi, first(n, group_by: k) as f, sum(m) as s from T#length(3)",
    "select irstream k, n, sum(x, group_by: n) as s, min(n, group_by: ()) as lo, avg(x) as a from T#time(3 msec) group by k",
    "select irstream k, sum(x, group_by: (n, k)) as s, sum(n) as t, sum(n, group_by: ()) as u from T group by k, n",
    "select k, count(distinct b, group_by: k) as d, sum(x) as s from T#length_batch(3) group by n",
    "select irstream x, sum(x, group_by: k) as s from T#length(4) where n > 0 output every 3 events",
    "select k, stddev(x, group_by: k) as s, lastever(n, group_by: b) as l from T#unique(n) order by x",
]


test_both_tiers_do_the_same = same_in_both_tiers(STATEMENTS, 15)


@pytest.mark.parametrize("text", [STATEMENTS[0], STATEMENTS[3].replace("3 msec", "300 msec")])
def test_many_groups(text: str) -> None:
    assert_same(text, many(600, 100), 1_000)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
def test_compiled(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    assert_same(STATEMENTS[3].replace("3 msec", "300 msec"), many(700, 60), 1_000, fast=True)
