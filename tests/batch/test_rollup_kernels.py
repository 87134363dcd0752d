"""rollup, cube and grouping sets against the row tier."""
from __future__ import annotations

from typing import Any

import pytest

from runtime.batch.available import is_available
from tests.batch.test_group_kernels import many
from tests.batch.two_tiers import assert_same, batches_of, same_in_both_tiers, unmoved

STATEMENTS = [
    "select k, n, sum(x) as s, count(*) as c from T group by rollup(k, n)",
    "select k, n, b, sum(m) as s, grouping(k) as g, grouping_id(k, n) as gi from T group by k, cube(n, b)",
    "select n, sum(x) as s from T group by grouping sets((n), ()) having sum(x) > 1",
    "select irstream k, n, sum(x) as s from T#length(3) group by rollup(k, n)",
    "select irstream k, b, max(x) as hi, min(n) as lo, first(n) as f from T#time(3 msec) group by cube(k, b)",
    "select irstream n, k, count(distinct b) as c, maxever(x) as hi from T#length_batch(3) group by grouping sets((n, k), k)",
    "select irstream k, n, sum(x) as s from T#time_batch(3 msec) group by rollup(k, n) order by k desc, n, sum(x)",
    "select k, sum(n) as s from T group by rollup(k) order by sum(n) limit 1",
    "select k, sum(n) as s, stddev(x) as d from T#unique(k, n) group by rollup(k)",
    "select k, n, sum(x) as s from T#length(4) where x > 0 group by rollup(k, n)",
    "select k, n, sum(x) as s from T group by rollup(k, n) output every 3 msec",
    "select irstream k, n, sum(x) as s, max(n) as hi from T#time(3 msec) group by rollup(k, n) output every 3 msec",
    "select irstream k, sum(x) as s from T#length_batch(2) group by rollup(k) output every 3 events order by sum(x), k",
    "select irstream k, n, sum(x) as s from T group by rollup(k, n)",
    "select irstream k, sum(n) as s from T(x > 0) group by cube(k, b) having count(*) > 1 output every 3 events order by sum(n)",
    "select n, n % 3 as r, m, count(*) as c from T group by cube(n, n % 3, m)",
    "select irstream n % 3 as r, n, count(*) as c from T#length(2) group by rollup(n % 3, n)",
    "select case when n > 0 then 1 else 0 end as p, sum(n) as s from T group by rollup(case when n > 0 then 1 else 0 end)",
]


ONE_ROW = batches_of([("a", 1.0, 4, True, 7, None, 0)], [])


def test_properties_of_keys_that_are_left_out_are_null() -> None:
    """In every column, as Esper has it, whether the level has a key that reads them or not."""
    text = "select n + m as q, n, count(*) as c from T group by cube(n + m, n, m)"
    assert_same(text, ONE_ROW, 10)
    tier, _ = unmoved(text, ONE_ROW)
    assert [(row["q"], row["n"]) for row in tier.output[0]] == [(11, 4), (None, 4), *[(None, None)] * 6]


def test_remove_stream_without_a_window() -> None:
    tier, _ = unmoved(text := "select irstream k, sum(n) as s from T group by rollup(k)", ONE_ROW)
    assert tier.output == ([{"k": "a", "s": 4}, {"k": None, "s": 4}], [{"k": "a", "s": None}, {"k": None, "s": None}])
    assert_same(text, ONE_ROW, 10)


test_both_tiers_do_the_same = same_in_both_tiers(STATEMENTS, 12)


@pytest.mark.parametrize("text", [STATEMENTS[1], STATEMENTS[4].replace("3 msec", "300 msec"), STATEMENTS[10]])
def test_many_groups(text: str) -> None:
    assert_same(text, many(700, 200), 10_000)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[0], STATEMENTS[11].replace("3 msec", "300 msec")])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    assert_same(text, many(3_000, 100), 100_000, fast=True)
