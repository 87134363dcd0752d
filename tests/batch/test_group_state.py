"""The state of groups and of output clauses moves between the tiers and through a snapshot, and nothing shows."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.batch.test_group_kernels import STATEMENTS as GROUPED
from tests.batch.test_rate_kernels import STATEMENTS as LIMITED
from tests.batch.two_tiers import ROWS, assert_state_goes_through_a_snapshot, assert_state_moves, batches_of

STATEMENTS = [*GROUPED, *LIMITED]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=15, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_state_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_state_moves(text, batches_of(rows, cuts), at)


@pytest.mark.parametrize("text", [STATEMENTS[i] for i in (1, 5, 8, 12, 18, 20, 24, 26, 28, 33, 38, 40)])
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_a_runs_state_goes_through_a_snapshot(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_state_goes_through_a_snapshot(text, batches_of(rows, cuts), at)
