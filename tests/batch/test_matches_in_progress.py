"""How many matches are in progress: the same number in both tiers, behind any batch."""
from __future__ import annotations

import random

import pytest

from runtime import Runtime
from runtime.batch.available import is_available
from tests.batch.row_pattern_statements import ALL, HERE, NEXT, SCHEMA, clause, tables

STATEMENTS = [
    clause("A B+ C", "A as A.x < 2, B as B.x > prev(B.x), C as C.x < prev(C.x)"),
    clause("A B* C", "A as A.n > 0, B as B.n > 1", mode=f"|{NEXT}"),
    clause("A B C", "B as B.x > A.x, C as C.x > B.x", mode=f"{ALL}|{HERE}"),
    clause("A B* C", "A as A.n > 0, B as B.n > 1", over="T#length(5)"),
    clause("A B C D", "B as B.x > A.x, C as C.x > B.x, D as D.x > C.x", over="T#time(6 msec)"),
]
SHARING_A_STEP = 4
"""Behind the window, a step that took a row stands for matches of which some may have left."""


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_both_tiers_count_alike(number: int) -> None:
    chance = random.Random(number)
    rows = [
        (chance.choice("abc"), chance.random() * 4, chance.randrange(3), chance.random() < 0.5, 0, chance.randrange(4)) for _ in range(120)
    ]
    runtimes = []
    for tier in ("row", "batch"):
        runtime = Runtime(tier=tier)
        runtime.deploy(f"{SCHEMA}; {STATEMENTS[number]}")
        runtimes.append(runtime)
    assert [r.matches_in_progress for r in runtimes] == [0, 0]
    seen = set()
    for table, _ in tables(rows, [7, 20, 21, 60, 90]):
        for runtime in runtimes:
            runtime.send_batch("T", table, time="ts")
        by_row, by_column = (r.matches_in_progress for r in runtimes)
        assert by_row <= by_column if number == SHARING_A_STEP else by_row == by_column
        seen.add(by_row)
    assert max(seen) > 1
    runtimes[1].undeploy_all()
    assert runtimes[1].matches_in_progress == 0
