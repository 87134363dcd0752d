"""Select kernels with an output clause against the row tier: the same rows in the same order, however the input is cut."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.plan.statements import SelectPlan
from runtime import Runtime
from runtime.batch.available import is_available
from runtime.batch.refusals import NotCompilable
from runtime.batch.select_statement.kernel import select_kernel
from tests.batch.test_group_kernels import many
from tests.batch.two_tiers import ROWS, SCHEMA, assert_same, batches_of

STATEMENTS: list[str] = [
    "select k, sum(n) as s from T group by k output last every 3 msec",
    "select irstream k, sum(n) as s from T group by k having sum(n) > 0 output last every 2 events",
    "select irstream k, sum(x) as s, max(n) as hi from T#time(3 msec) group by k output last every 2 msec",
    "select k, count(*) as c from T#length(2) group by k output last every 3 events",
    "select rstream k, n, count(*) as c from T#time(2 msec) group by k, n output last every 3 msec",
    "select k, x, sum(n) as s from T group by k output last every 3 events",
    "select irstream k, x, sum(n) as s from T group by k having count(*) < 3 output last every 4 msec",
    "select k, sum(n) as s from T group by k output all every 3 msec",
    "select k, count(*) as c from T#time(3 msec) group by k having count(*) > 0 output all every 2 events",
    "select k, sum(n) as s from T group by k output first every 3 msec",
    "select irstream k, sum(n) as s from T group by k output first every 2 events",
    "select irstream k, sum(x) as s from T#length(2) group by k having sum(x) > 0 output first every 2 events",
    "select k, sum(x) as s from T#time(2 msec) group by k output first every 3 msec",
    "select k, x, sum(n) as s from T group by k output first every 3 msec",
    "select irstream k, x, sum(n) as s from T#time(3 msec) group by k having sum(n) > 0 output first every 2 events",
    "select k, sum(n) as s from T group by k output snapshot every 3 msec",
    "select k, sum(n) as s from T#length(4) group by k output snapshot every 2 events",
    "select irstream k, x, sum(n) as s from T#time(3 msec) group by k output snapshot every 2 msec",
    "select k, x from T#length(3) output snapshot every 3 msec",
    "select sum(x) as s, count(*) as c from T output snapshot every 2 msec",
    "select irstream sum(x) as s, count(*) as c from T output last every 2 msec",
    "select sum(n) as s from T#time(2 msec) having sum(n) > 0 output last every 3 events",
    "select irstream sum(n) as s from T#length(2) output all every 3 msec",
    "select irstream k, x, d from T#time(2 msec) output all every 3 msec",
    "select k, x from T(n > 0) output last every 3 msec",
    "select irstream k, sum(x) as s from T#length(2) output last every 3 events",
    "select irstream k, sum(x) as s from T#length(2) output first every 3 events",
    "select irstream sum(x) as s from T having sum(x) > 1 output first every 4 msec",
    "select * from T(b) output first every 3 msec",
    "select * from T(n > 0) output every 3 msec",
    "select irstream k, x * 2 as v, sum(n) as s from T where b output every 2 events",
    "select irstream sum(x) as s, max(n) as hi from T having sum(x) > 0 output every 3 msec",
    "select irstream k, sum(x) as s from T(x is not null) group by k output every 2 events",
    "select k, n, count(*) as c, current_timestamp() as at from T group by k, n output every 4 msec",
    "select k, x, min(x) as lo from T group by k having count(*) > 1 output every 3 events",
    "select irstream k, count(distinct n) as c from T#length(2) group by k output last every 3 events",
    "select irstream count(distinct b) as c, max(distinct n) as hi from T#time(1 msec) output every 2 events",
]


def test_events_that_leave_count_beside_distinct_values() -> None:
    text = "select irstream n, count(distinct x) as c from T#time(1 msec) group by n output last every 2 events"
    assert_same(text, batches_of([("a", 1.0, number, True, 1, None, 1) for number in (1, 1, 2, 3, 3)], []), 100)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=20, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[i].replace(" msec", "00 msec") for i in (0, 2, 12, 33)])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    assert_same(text, many(3_000, 100), 100_000, fast=True)


@pytest.mark.parametrize(("text", "reason"), [
    ("select k from T output at (*/5, *, *, *, *)", "output at"),
    ("select k, sum(x) as s from T group by k output after 3 events", "output after without a rate counts what is emitted"),
    ("select k, sum(x) as s from T group by k output after 3 events first every 2 events", "output first of groups when or after"),
    ("select k, sum(x) as s from T group by k output last every 1 month", "output every variable, month or year"),
    ("select k from T#unique(k) output every 3 events", "output every after a window whose events leave in another order"),
])
def test_what_stays_in_the_row_tier(text: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    assert isinstance(plan, SelectPlan)
    with pytest.raises(NotCompilable, match=reason):
        select_kernel(plan)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [
    "select k, sum(n) as s from T group by k output last every 4 msec",
    "select irstream k, n from T#time(3 msec) output all every 2 msec",
    "select k, n from T(n > 7)#time(2 msec) output snapshot every 5 msec",
    "select k, n from T(n > 6) output every 5 msec",
])
def test_listeners_are_told_that_nothing_is_put_out(text: str) -> None:
    batches = many(30, 3, 8)
    by_tier = []
    for tier in ("row", "batch"):
        runtime = Runtime(tier=tier)
        runtime.deploy(SCHEMA)
        calls: list[Any] = []
        runtime.deploy(f"@name('s0') {text}")["s0"].add_listener(
            lambda new, old, *_, calls=calls: calls.append([[r.to_dict() for r in part or ()] for part in (new, old)])
        )
        for table, times in batches:
            runtime.send_batch("T", table.append_column("at_time", pa.array(times)), time="at_time")
        runtime.advance_time_span(200)
        by_tier.append(calls)
    assert by_tier[0] == by_tier[1]
    assert [[], []] in by_tier[0]
