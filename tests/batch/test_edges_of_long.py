"""ext_timed at the ends of long, where a period before a timestamp wraps around as Java's arithmetic does: the same in both tiers."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available
from runtime.batch.refusals import NotInBatchTier
from tests.batch.two_tiers import RowTier, assert_same, assert_state_moves, batches_of

MIN, MAX = -(2**63), 2**63 - 1
STAMPS = st.sampled_from([MIN, MIN + 1, MIN + 8, MIN + 9, MIN + 10, MIN + 11, -5, 0, 7, MAX - 10, MAX - 9, MAX - 1, MAX, None])
ROWS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.none(), st.integers(0, 9), st.none(), STAMPS, st.none(), st.just(0)), max_size=12)
SELECTS = [
    "select irstream n, m from T#ext_timed(m, 10 msec)",
    "select irstream k, count(*) as c, max(n) as hi from T#ext_timed(m, 10 msec) group by k",
]
PATTERN = "select * from T#ext_timed(m, 10 msec) match_recognize (measures A.n as a, B.n as b pattern (A B))"


@pytest.mark.parametrize("text", SELECTS)
@settings(max_examples=50, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 11), max_size=2), at=st.integers(0, 2))
def test_plain_source(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_same(text, batches_of(rows, cuts), 100)
    assert_state_moves(text, batches_of(rows, cuts), at)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", SELECTS)
@settings(max_examples=50, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 11), max_size=2))
def test_compiled(text: str, rows: list[Any], cuts: list[int]) -> None:
    assert_same(text, batches_of(rows, cuts), 100, fast=True)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@settings(max_examples=80, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 11), max_size=2))
def test_patterns_go_to_the_row_tier_for_rows_that_go_as_they_come(rows: list[Any], cuts: list[int]) -> None:
    expected, found = RowTier(PATTERN), RowTier(PATTERN)
    found.runtime.close()
    found.runtime = Runtime(tier="auto")
    found.runtime.deploy("@public @buseventtype create schema T(k string, x double, n int, b boolean, m long, d Date)")
    found._listen(found.runtime.deploy(f"@name('s0') {PATTERN}", name="d")["s0"])
    tier = internal_engine(found.runtime).columnar()
    assert tier is not None
    tier._refresh()
    (component,) = dict.fromkeys(tier._components.values())
    for batch in batches_of(rows, cuts):
        if component.chain is None:
            component.reason = None
            tier.promote(component)
        expected.feed(batch)
        found.feed(batch)
        assert repr(found.output) == repr(expected.output)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
def test_the_batch_tier_refuses_such_rows_before_a_pattern() -> None:
    with Runtime(tier="batch") as runtime:
        runtime.deploy(f"@public @buseventtype create schema T(n int, m long); @name('s0') {PATTERN}")
        runtime.send_batch("T", pa.table({"n": pa.array([1], pa.int32()), "m": [MIN + 9]}))
        with pytest.raises(NotInBatchTier, match="lowest end of long"):
            runtime.send_batch("T", pa.table({"n": pa.array([1], pa.int32()), "m": [MIN + 8]}))
