"""A statement's state moves between the tiers and through a snapshot, and nothing shows."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.batch.available import is_available
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.row_store import RowStore
from runtime.conversion.columns import read_columns
from tests.batch.two_tiers import (
    EMPTY,
    END,
    ROWS,
    ColumnTier,
    RowTier,
    assert_same,
    assert_state_goes_through_a_snapshot,
    assert_state_moves,
    batches_of,
    clock,
    shown,
    unmoved,
)
from tests.batch.window_statements import STATEMENTS


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_state_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_state_moves(text, batches_of(rows, cuts), at)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3), at=st.integers(0, 4))
def test_a_runs_state_goes_through_a_snapshot(text: str, rows: list[Any], cuts: list[int], at: int) -> None:
    assert_state_goes_through_a_snapshot(text, batches_of(rows, cuts), at)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_the_state_is_the_row_tiers(text: str, rows: list[Any], cuts: list[int]) -> None:
    batches = batches_of(rows, cuts)
    tiers = RowTier(text), ColumnTier(text)
    for tier in tiers:
        for batch in batches:
            tier.feed(batch)
    expected, found = (tier.state() for tier in tiers)
    if "group by" in text:  # the order of groups means nothing
        for state in (expected, found):
            state["result_set"][0].sort(key=repr)
    assert repr(found) == repr(expected)
    tier = RowTier(text, clock(batches, len(batches)))
    tier.restore(found)
    assert repr([row.to_dict() for row in tier.statement]) == repr(unmoved(text, batches)[1])


def test_state_is_that_of_now_whenever_it_was_asked_for_before() -> None:
    """Also without a window, whose rows come and go."""
    tier = ColumnTier("select count(distinct k) as c from T")
    for number, key in enumerate("aab"):
        batch, = batches_of([(key, 1.0, 1, True, 1, None, 0)], [])
        tier.feed(batch)
        assert sum(count for _, count in tier.state()["result_set"][0][0][1]) == number + 1


@pytest.mark.parametrize("window", ["", "#length(3)", "#unique(n)"])
def test_zeros_of_both_signs_are_two_values(window: str) -> None:
    text = f"select irstream count(distinct x) as c, stddev(distinct x) as d, avg(distinct x) as a from T{window}"
    batches = batches_of([("a", x, number, True, 1, None, 0) for number, x in enumerate([0.0, -0.0, 0.0, 2.0, -0.0])], [1, 3])
    assert_same(text, batches, END)
    for at in (1, 2, 3):
        assert_state_moves(text, batches, at)


@pytest.mark.parametrize("text", [text for text in STATEMENTS if "time" in text])
@settings(max_examples=5, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 24), max_size=3))
def test_time_may_jump(text: str, rows: list[Any], cuts: list[int]) -> None:
    expected, found = RowTier(text), ColumnTier(text)
    for table, times in batches_of(rows, cuts):
        for row, at in zip(table.to_pylist(), times.tolist()):
            expected.runtime.advance_time(at)
            expected.runtime.send("T", row)
        found.feed((table, times), jump=True)
    expected.runtime.advance_time(END)
    found.feed((EMPTY, np.zeros(0, np.int64)), END, jump=True)
    assert shown(found.output) == shown(expected.output)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [
    "select irstream k, sum(n) as s, min(x) as lo from T#unique(k, n)",
    "select irstream count(distinct k) as d, stddev(x) as s from T#time_batch(3 msec) where n > 0",
])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(3)
    rows = [
        (rng.choice(["a", "b", "ab", "c"]), *(None if rng.random() < 0.1 else v for v in (
            float(rng.integers(-30, 90)) / 7, int(rng.integers(-3, 90)), bool(rng.integers(0, 2)), int(rng.integers(0, 2**40)))), None,
         int(rng.integers(0, 2)))
        for _ in range(1_500)
    ]
    batches = batches_of(rows, [1, 700, 701])
    found = ColumnTier(text, fast=True)
    for batch in batches:
        found.feed(batch)
    found.advance(2_000)
    assert shown(found.output) == shown(unmoved(text, batches, 2_000)[0].output)


def test_rows_that_are_held_no_more_go() -> None:
    tier = ColumnTier("select irstream k, x, m from T(n > 0)#length(10)")
    rows = [("a", 1.0, int(number % 100 == 0), True, number, None, 1) for number in range(6000)]
    for batch in batches_of(rows, list(range(0, 6000, 500))):
        tier.feed(batch)
    assert len(tier.run.ring.store) <= 1500
    assert [event.values()[4] for event in tier.state()["windows"]["events"]] == list(range(5000, 6000, 100))


def test_a_row_is_one_event() -> None:
    tier = ColumnTier("select k from T#keepall")
    (table, _), = batches_of([("a", 1.0, 1, True, number, None, 1) for number in range(3000)], [])
    intake = BatchIntake(tier.type, read_columns(table, "T"))
    store = RowStore()
    store.add(0, intake)
    before = store.events(np.array([2, 5, 7]))
    store.keep(2, 3, lambda: np.array([2, 5, 7]))
    after = store.events(np.array([7, 5, 2]))
    assert len(store) == 3
    assert all(a is b for a, b in zip(before, reversed(after)))
    assert intake.events([5])[0] is before[1]
    assert store.take("m", np.array([7, 2])).to_pylist() == [7, 2]
