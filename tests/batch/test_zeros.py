"""min, max and in-lists of the two zeros: -0.0 is less than 0.0 and does not equal it in either tier, in plain and compiled sources."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.batch.available import is_available
from tests.batch.two_tiers import RowTier, assert_same, assert_state_moves, batches_of, shown

NAN = float("nan")
BOTH = "min(x) as lo, max(x) as hi, min(distinct x) as dlo, max(x, filter: b) as fhi, minever(x) as elo, maxever(x) as ehi"
F = "case when b then n * -1.0f else n * 1.0f end"
FLOATS = f"min({F}) as lo, max({F}) as hi"
STATEMENTS = [
    f"select {BOTH}, min(x, n) as two, max(n, x, 0.0) as three from T",
    *(f"select irstream {BOTH} from T{window}" for window in ("#length(3)", "#time(4 msec)", "#unique(n)", "#keepall", "#length_batch(3)")),
    *(f"select irstream k, {BOTH} from T{window} group by k" for window in ("", "#length(3)", "#unique(n)")),
    *(f"select irstream {FLOATS} from T{window}" for window in ("", "#length(3)", "#unique(n)")),
    "select x, n, x in (n, 1.0) as i, x not in (0.0, 1) as j, x in (x, 5) as l from T(x in (x * -1, n, 0.0) or b)",
    "select k, x from T#length_batch(4) order by x, k desc", "select k, x from T#length_batch(4) order by x desc",
    "select * from T match_recognize (measures min(A.x) as lo, max(A.x) as hi pattern (A A A))",
    "select * from T match_recognize (measures min(A.x - B.x) as lo, max(A.x) as hi pattern (A A B A))",
]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]), st.sampled_from([0.0, -0.0, 1.0, -1.0, NAN, None]), st.sampled_from([0, 1, 2]), st.booleans(),
        st.just(0), st.none(), st.integers(0, 2),
    ),
    max_size=25,
)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=2), at=st.integers(0, 3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    batches = batches_of(rows, cuts)
    assert_same(text, batches, 100)
    assert_state_moves(text, batches, at)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=2))
def test_compiled(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100, fast=True)


def test_the_lesser_zero_is_the_negative_one() -> None:
    tier = RowTier("select min(x) as lo, max(x) as hi from T#length(2)")
    tier.feed(batches_of([("a", x, 1, True, 1, None, 0) for x in (0.0, -0.0, 0.0, 0.0, -0.0, -0.0)], [])[0])
    assert [(row["lo"], row["hi"]) for row in shown(tier.output)[0]] == [
        ("0.0", "0.0"), ("-0.0", "0.0"), ("-0.0", "0.0"), ("0.0", "0.0"), ("-0.0", "0.0"), ("-0.0", "-0.0"),
    ]
