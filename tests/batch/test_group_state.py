"""The state of groups and of output clauses moves between the tiers and through a snapshot, and nothing shows."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_group_kernels import STATEMENTS as GROUPED
from test_rate_kernels import STATEMENTS as LIMITED
from test_select_state import clock, moved, unmoved
from two_tiers import ROWS, ColumnTier, RowTier, batches_of, shown

STATEMENTS = [*GROUPED, *LIMITED]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_state_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    batches = batches_of(rows, cuts)
    expected = shown(unmoved(text, batches)[0].output)
    now = clock(batches, at)
    assert moved(RowTier(text), ColumnTier(text, now), batches, at) == expected
    assert moved(ColumnTier(text), RowTier(text, now), batches, at) == expected
    assert moved(ColumnTier(text), ColumnTier(text, now), batches, at) == expected


@pytest.mark.parametrize("text", [STATEMENTS[i] for i in (1, 5, 8, 12, 18, 20, 24, 26, 28, 33, 38, 40)])
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_a_runs_state_goes_through_a_snapshot(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    batches = batches_of(rows, cuts)
    expected = shown(unmoved(text, batches)[0].output)
    target = RowTier(text, clock(batches, at))
    assert moved(ColumnTier(text, beside=target), target, batches, at, through_bytes=True) == expected
