"""Conditions and partition keys that raise for some rows of a delivery (law 6): the delivery's other rows are taken."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine

VALUES = st.lists(st.sampled_from([1, 2, 3, 13]), min_size=4, max_size=40)
SHAPES = {
    "layers": "pattern (A B) define A as f(A.v) = 1, B as f(B.v) = 2",
    "looks back": "pattern (A B) define A as f(A.v) = 1, B as f(B.v) = A.v + 1",
    "key": "partition by f(v) > 0 pattern (A B) define A as A.v = 1, B as B.v = 2",
}


class Run:
    """A statement over ``window`` in which ``f`` raises for 13."""

    def __init__(self, window: str, clauses: str, **settings: Any) -> None:
        self.reported: list[int] = []
        self.rows: list[tuple[int, int]] = []
        self.runtime = Runtime(on_error=lambda error, statement, event: self.reported.append(int(str(error))))
        self.runtime.register_function("f", f)
        self.runtime.register("T", {"n": int, "v": int})
        head, pattern = clauses.split("pattern ")
        self.runtime.deploy(
            f"@name('s0') select * from T{window} match_recognize ({head} measures A.n as a, B.n as b pattern {pattern})",
            listeners={"s0": lambda new, *_: self.rows.extend((r["a"], r["b"]) for r in new)},
        )

    def feed(self, values: list[int]) -> Run:
        for n, v in enumerate(values):
            self.runtime.send("T", {"n": n, "v": v})
        return self

    @property
    def states(self) -> int:
        return internal_engine(self.runtime).core.match_states.count


def f(v: int) -> int:
    if v == 13:
        raise ValueError(v)
    return v


def pairs(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(a, b) of each 1 with a 2 behind it, among rows of which none fails."""
    sound = [row for row in rows if row[1] != 13]
    return [(one[0], two[0]) for one, two in pairwise(sound) if one[1] == 1 and two[1] == 2]


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40, deadline=None)
@given(values=VALUES)
def test_other_rows_of_a_batch_are_matched(shape: str, values: list[int]) -> None:
    run = Run("#length_batch(4)", SHAPES[shape]).feed(values)
    rows = list(enumerate(values))
    batches = [rows[at:at + 4] for at in range(0, len(rows) - 3, 4)]
    assert run.rows == [pair for batch in batches for pair in pairs(batch)]
    assert len(run.reported) == sum(any(v == 13 for _, v in batch) for batch in batches)
    assert set(run.reported) <= {13}


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40, deadline=None)
@given(values=VALUES)
def test_a_failing_row_leaves_no_states_behind(shape: str, values: list[int]) -> None:
    run = Run("#keepall", SHAPES[shape]).feed(values)
    sound = [v for v in values if v != 13]
    assert run.rows == pairs(list(enumerate(values)))
    assert run.reported == [13] * values.count(13)
    assert run.states == (1 if sound and sound[-1] == 1 else 0)


def test_prev_looks_past_a_row_without_a_key() -> None:
    run = Run("#keepall", "partition by f(v) > 0 pattern (A B) define A as A.v = 1, B as B.v = prev(B.v) + 1")
    run.feed([1, 13, 2, 1, 2])
    assert run.reported == [13]
    assert run.rows == [(0, 2), (3, 4)]
