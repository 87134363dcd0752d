"""``output all`` of groups in kernels against the row tier."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime
from runtime.batch.available import is_available
from runtime.batch.refusals import NotInBatchTier
from tests.batch.test_group_kernels import many
from tests.batch.two_tiers import assert_same, same_in_both_tiers

STATEMENTS = [
    "select irstream k, sum(n) as s from T group by k output all every 3 msec",
    "select k, n, sum(x) as s from T#length(2) group by k, n having count(*) > 0 output all every 2 events",
    "select rstream k, sum(x) as s, max(n) as hi from T#time(3 msec) group by k output all every 4 msec",
    "select irstream k, count(*) as c from T#length_batch(2) group by k output all every 3 events",
    "select irstream k, count(*) as c from T#unique(n) group by k output all every 3 msec",
    "select k, x, sum(n) as s from T group by k output all every 3 msec",
    "select irstream k, x, b, d, sum(n) as s from T#length(3) group by k output all every 3 events",
    "select k, x, m, sum(x) as s from T#time(2 msec) group by k having count(*) > 0 output all every 3 msec",
    "select irstream k, n, max(x) as hi from T#length_batch(3) group by k output all every 3 msec",
    "select irstream n, k, sum(x) as s from T#time_batch(2 msec) where b group by n output all every 3 events",
    "select k, x, b, sum(n) as s from T#unique(b) group by k output all every 2 events",
]


test_both_tiers_do_the_same = same_in_both_tiers(STATEMENTS, 15)


@pytest.mark.parametrize("text", [STATEMENTS[1].replace("(2)", "(200)"), STATEMENTS[7].replace("2 msec", "200 msec")])
def test_many_groups(text: str) -> None:
    assert_same(text, many(500, 100), 1_000)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[0], STATEMENTS[6]])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    assert_same(text, many(700, 60), 1_000, fast=True)


@pytest.mark.parametrize("text, reason", [
    ("select k, sum(n) as s from T group by k output all every 3 events order by k", "of aggregations with order by"),
    ("select sum(n) as s from T output last every 3 events order by s", "order by"),
    ("@Hint('disable_outputlimit_opt') select k, sum(n) as s from T group by k output last every 3 events", "not optimized"),
    ("select k, current_timestamp as t from T output all every 3 events", "of values that may change until the output"),
    ("select k, v from T output last every 3 events", "of values that may change until the output"),
    ("select irstream k, countever(*) as c from T#length(2) group by k output all every 3 events", "where rows leave no …ever aggregation"),
    ("@Hint('disable_reclaim_group') select k, sum(n) as c from T#length(2) group by k output all every 3 events", "reclaimed groups"),
])
def test_what_waits_for_the_output_runs_in_rows(text: str, reason: str) -> None:
    """In Esper such rows are made at the output; in columns they would be made as events come."""
    schema = "create schema T(k string, n int); create variable int v = 1; "
    with pytest.raises(NotInBatchTier, match=reason):
        Runtime(tier="batch").deploy(schema + text)
    Runtime(tier="auto").deploy(schema + text)
