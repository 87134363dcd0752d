"""order by, limit and distinct of select kernels against the row tier."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.batch.two_tiers import ROWS, assert_same, assert_state_moves, batches_of

STATEMENTS: list[str] = [
    "select k, x from T#length_batch(4) order by x",
    "select irstream k, x, n from T#time_batch(3 msec) order by k desc, x desc, n",
    "select irstream * from T#length_batch(3) order by n desc",
    "select distinct k from T#length_batch(4)",
    "select irstream distinct k, x, b from T#time_batch(4 msec) order by b, m desc",
    "select distinct x, d, k from T#length_batch(5) order by d desc limit 2",
    "select irstream k from T#length_batch(4) limit 2 offset 1",
    "select k from T#length_batch(4) order by x limit 0",
    "select k, x from T order by x limit 1",
    "select k, sum(n) as s from T#length(3) group by k order by sum(n) desc",
    "select irstream k, x, sum(x) as s from T#time(3 msec) group by k order by k, sum(x)",
    "select k, n, sum(x) as s from T#unique(k) group by k, n order by sum(x) + n, k",
    "select k, sum(n) as s from T#length(2) where x > 0 group by k order by sum(n) desc limit 1",
    "select irstream sum(n) as s from T#length(2) order by sum(n) limit 0",
    "select k, max(x) as hi from T#time_batch(3 msec) group by k having count(*) > 0 order by hi desc, k limit 2",
    "select k, x from T(n > 0) output every 3 msec order by x, k",
    "select distinct k, n from T output every 4 events order by n desc limit 3",
    "select k, sum(n) as s from T group by k output every 3 msec order by sum(n) limit 2",
    "select irstream sum(n) as s from T output every 3 msec limit 2 offset 1",
    "select irstream k, x from T#length(2) output all every 3 msec order by m, x limit 3",
    "select distinct k from T#length(2) output all every 3 events order by k desc",
    "select irstream k, x, sum(n) as s from T#time(3 msec) output every 3 events order by k",
    "select irstream k, sum(n) as s from T#length(2) group by k output last every 3 msec limit 2",
    "select irstream k, x, sum(n) as s from T#time(3 msec) group by k output every 4 events order by x, s",
    "select k, sum(n) as s from T group by k output snapshot every 3 msec order by k limit 2",
    "select k, sum(x) as s from T#time(2 msec) group by k output first every 3 msec order by s",
    "select irstream k, x from T#time_batch(3 msec) order by x desc, k limit 2",
    "select k, x, sum(n) as s from T#length(4) group by k output snapshot every 2 msec order by s, x desc limit 3",
    "select k, sum(n) as s from T#time(4 msec) group by k output snapshot every 3 events order by sum(n) desc, k",
    "select k, x, d from T#length(3) output snapshot every 2 msec order by d, x, b",
    "select sum(n) as s from T output snapshot every 2 msec order by s limit 0",
]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=20, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_state_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_state_moves(text, batches_of(rows, cuts), at)
