"""Select kernels against the row tier: the same rows in the same order, however the input is cut, compiled or as plain Python."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.batch.available import is_available
from runtime.batch.refusals import NotCompilable
from runtime.batch.select_statement.kernel import select_kernel
from tests.batch.two_tiers import ROWS, SCHEMA, assert_same, batches_of

STATEMENTS: list[str] = [
    "select k, x from T(x > 2)",
    "select * from T(k = 'a' or n in (1, 2))",
    "select k, x * 2 + n as v, n + n as w, m * m as q, -n as minus from T",
    "select x / n as v, n % 3 as r, x % 2.0 as f from T",
    "select case when x > n then x when b then 1.0 end as v, coalesce(x, n, 0) as c from T",
    "select max(x, 2.5) as hi, min(n, 1) as lo, x between 1 and 3 as inside, n not between 2 and 1 as out from T",
    "select x = 2 as e, x is null as u, n is not null as i, b is not x > 1 as p, not b as nb from T",
    "select k like 'a%' as l, k regexp '[ab]+' as r, k in ('a', 'c') as i, k < 'b' as lt, k || k = 'bb' as two from T",
    "select x > 1 and b as a, b or n > 2 as o from T(b is null or x > 0)",
    "select d as at, d as again from T(n > 0)",
    "select x * 0.0 as z, x * -0.0 as minus from T",
    "select case n when 1 then null when 2 then 'x' when 3 then k end as s, coalesce(k, 'y') as c from T",
    "select case when n > 1 then k end as g, count(*) as c from T group by case when n > 1 then k end",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > 2",
    "select k, sum(x) as t from T(n > 0)",
    "select irstream k, x from T#length(3)",
    "select avg(x) as a, max(x) as hi, min(n) as lo, count(*) as c from T#length(3)",
    "select irstream sum(x) as t, sum(n) as s, sum(m) as q from T(b)#length(2)",
    "select irstream k, n, sum(n, filter: b) as s, max(m) as hi from T#length(4) having sum(n) > 1",
    "select rstream * from T#time(5 msec)",
    "select irstream k, x * 2 as w from T(n > 0)#time(3 msec)",
    "select irstream avg(x) as a, count(k) as c, max(n) as hi, min(x) as lo from T#time(4 msec)",
    "select irstream k, count(*) as c from T#keepall",
]

@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[i] for i in (2, 7, 19, 22)])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(7)
    rows = [
        (rng.choice(["a", "b", "ab", "c"]), *(None if rng.random() < 0.1 else v for v in (
            float(rng.integers(-3, 9)), int(rng.integers(-3, 9)), bool(rng.integers(0, 2)), int(rng.integers(0, 2**40)))), None,
         int(rng.integers(0, 3)))
        for _ in range(2_000)
    ]
    assert_same(text, batches_of(rows, [1, 700, 701]), 10_000, fast=True)
    assert list(tmp_path.glob("epl_*"))


@pytest.mark.parametrize(("text", "reason"), [
    ("select n % n as r from T", "a remainder of integers by a value that may be zero"),
    ("select * from T#sort(3, x)", "the window sort"),
    ("select sum(x) as s from T#time(1 month)", "a window of months or years"),
])
def test_what_stays_in_the_row_tier(text: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    with pytest.raises(NotCompilable, match=reason):
        select_kernel(runtime.compile(f"@name('s0') {text}").statements[0].body)  # type: ignore[arg-type]
