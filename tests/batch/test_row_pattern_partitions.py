"""Partitions without a match in progress are given back in columns, and nothing is lost by it."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runtime import Runtime
from runtime.batch.build import build_run
from runtime.batch.intake import Intake
from runtime.batch.kernels import interpreted
from runtime.batch.run import Surroundings
from runtime.batch.strings import StringPool
from runtime.columns import columns_of
from tests.batch.row_pattern_statements import SCHEMA, by_columns, by_rows, clause, plain, tables

FEW = [
    clause("A B+ C", "A as A.x > 8, B as B.n > 0, C as C.b"),
    clause("A B* C", "A as A.x > 8, B as B.x > A.x, C as C.n > B[0].n or C.b"),
    clause("A B C", "B as B.x > A.x, C as C.b", over="T#time(40 msec)"),
    clause("A B* C", "B as B.x >= A.x, C as C.n > B[0].n or C.b", over="T#length(30)"),
    clause("A B*", "A as A.x > 8, B as B.n > 0").replace("(A B*)", "(A B*) interval 30 msec"),
    clause("A B*", "A as A.x > 8, B as B.n > 0").replace("(A B*)", "(A B*) interval 30 msec or terminated"),
]
"""Of which few partitions at once have a match in progress."""


def drawn(count: int) -> list[tuple[Any, ...]]:
    """Each key is seen some times within 30 rows, and never again."""
    rng = np.random.default_rng(5)
    return [
        (f"key {(n // 30) * 10 + rng.integers(0, 10)}", float(rng.integers(0, 10)), int(rng.integers(0, 3)), bool(rng.random() < 0.3), 0,
         1)
        for n in range(count)
    ]


@pytest.mark.parametrize("by", ["k", "(j - j % 7) * 100000", "j - j % 7", "k, n"])
@pytest.mark.parametrize("text", FEW)
def test_nothing_is_lost(text: str, by: str) -> None:
    text = text.replace("partition by k", f"partition by {by}")
    batches = tables(drawn(1_500), list(range(100, 1_500, 170)))
    found = plain(by_columns(text, batches, 10_000, fast=False))
    assert found == plain(by_rows(text, batches, 10_000))
    assert found


@pytest.mark.parametrize("text", FEW)
def test_slots_are_used_again(text: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    run = build_run(plan, Surroundings(StringPool(), runtime._environment({}), interpreted))
    rows = [(f"key {n}", 9.0 if n % 10 == 0 else 1.0, 1, False, 0, 1) for n in range(2_000)]
    rows = [row for n in range(0, 2_000, 10) for row in (*rows[n : n + 10], (f"key {n}", 0.0, 0, True, 0, 1))]
    for table, times in tables(rows, list(range(0, len(rows), 100))):
        run.feed(Intake(runtime.event_type("T"), columns_of(table, "T")), times, int(times[-1]))
    assert len(run.arrays["g_key"][0]) <= 128  # type: ignore[attr-defined]
