"""Split as the verdict says, several engines emit what one does, time by time; split in spite of it, they do not.

``EPL_LONG=1`` draws twenty times as many examples.
"""
from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.analysis.partitioning import AnySplit, SplitBy
from tests.partitioning.catalogue import IN_ANY_WAY, SPLIT
from tests.partitioning.shards import ROWS, Row, by_key, events, run, verdict_of

EXAMPLES = 10 * (20 if os.environ.get("EPL_LONG") else 1)


def types_of(verdict: SplitBy) -> tuple[str, ...]:
    """What is sent: Base has a sub-type."""
    return tuple(name for key in verdict.keys for name in ((key, "Sub") if key == "Base" else (key,)))


@pytest.mark.parametrize("text", [text for text, _ in SPLIT])
def test_shards_by_key_are_one_engine(text: str) -> None:
    verdict = verdict_of(text)
    assert isinstance(verdict, SplitBy)
    types = types_of(verdict)

    @settings(max_examples=EXAMPLES, deadline=None, database=None)
    @given(ROWS, st.integers(2, 4), st.integers(0, 9))
    def check(rows: list[Row], engines: int, salt: int) -> None:
        whole, split = run(text, verdict.statements, list(events(rows, types)), engines, by_key(verdict, engines, salt))
        assert split == whole

    check()


@pytest.mark.parametrize("text", [text for text, _ in IN_ANY_WAY])
def test_shards_anyhow_are_one_engine(text: str) -> None:
    verdict = verdict_of(text)
    assert isinstance(verdict, AnySplit)

    @settings(max_examples=EXAMPLES, deadline=None, database=None)
    @given(ROWS, st.integers(2, 4), st.randoms(use_true_random=False))
    def check(rows: list[Row], engines: int, random: object) -> None:
        place = random.randrange  # type: ignore[attr-defined]
        whole, split = run(text, verdict.statements, list(events(rows, ("T",))), engines, lambda *_: place(engines))
        assert split == whole

    check()


MANY: list[Row] = [
    ("abcd"[i % 4 if i % 7 else 0], 1 + i % 2, (0.0, 2.0, -1.0, 1.0, 3.0)[i * 3 % 5], i % 4, i * 5 % 9 - 4, (0, 1, 0, 2)[i % 4], i % 3)
    for i in range(60)
]


@pytest.mark.parametrize("text", [text for text, _ in SPLIT])
def test_every_shape_puts_rows_out(text: str) -> None:
    """So that what is compared above is something."""
    verdict = verdict_of(text)
    assert isinstance(verdict, SplitBy)
    whole, split = run(text, verdict.statements, list(events(MANY, types_of(verdict))), 3, by_key(verdict, 3, 0))
    assert split == whole and {name for _, name, _, _ in whole} >= {verdict.statements[-1]}
