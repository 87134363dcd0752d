"""Partitions without a partial match are released in columns, and nothing is lost by it."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.compiler.kernels import interpret_kernel
from runtime.batch.match_recognize import partitions as pattern_partitions
from runtime.batch.match_recognize.layout import REGISTERS
from runtime.batch.match_recognize.run import MatchRun
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.conversion.columns import read_columns
from tests.batch.row_pattern_statements import SCHEMA, by_columns, by_rows, clause, plain, tables


@pytest.fixture(autouse=True)
def few_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions are given back from the first slots on."""
    monkeypatch.setattr(pattern_partitions, "FEW_SLOTS", 16)


FEW = [
    clause("A B+ C", "A as A.x > 8, B as B.n > 0, C as C.b"),
    clause("A B* C", "A as A.x > 8, B as B.x > A.x, C as C.n > B[0].n or C.b"),
    clause("A B C", "B as B.x > A.x, C as C.b", over="T#time(40 msec)"),
    clause("A B* C", "B as B.x >= A.x, C as C.n > B[0].n or C.b", over="T#length(30)"),
    clause("A B*", "A as A.x > 8, B as B.n > 0").replace("(A B*)", "(A B*) interval 30 msec"),
    clause("A B*", "A as A.x > 8, B as B.n > 0").replace("(A B*)", "(A B*) interval 30 msec or terminated"),
]
"""Of which few partitions at once have a partial match."""


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


def fed(text: str, rows: list[tuple[Any, ...]]) -> Iterator[MatchRun]:
    """The statement's run after each batch of 100 rows."""
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    run = build_run(plan, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), interpret_kernel))
    assert isinstance(run, MatchRun)
    for table, times in tables(rows, list(range(0, len(rows), 100))):
        run.feed(BatchIntake(runtime.event_type("T"), read_columns(table, "T")), times, int(times[-1]))
        yield run


@pytest.mark.parametrize("text", FEW)
def test_slots_are_used_again(text: str) -> None:
    rows = [(f"key {n}", 9.0 if n % 10 == 0 else 1.0, 1, False, 0, 1) for n in range(2_000)]
    rows = [row for n in range(0, 2_000, 10) for row in (*rows[n : n + 10], (f"key {n}", 0.0, 0, True, 0, 1))]
    *_, run = fed(text, rows)
    assert len(run.arrays["g_key"][0]) <= 128


SELDOM = [
    *FEW,
    clause("A B", "A as A.x > 9"),
    clause("A B C", "A as A.x > 8, B as B.n > 1, C as C.b"),
    clause("A B", "A as A.x > 8, B as B.n > 1").replace("partition by k", ""),
    clause("A B", "A as A.x > 8 and prev(A.x) < 3, B as B.n > 1"),
    clause("A B", "A as A.x > 8, B as B.n > 1").replace("(A B)", "(A B) interval 30 msec"),
    clause("A B", "A as A.x > 8, B as B.n > 1", over="T#time(40 msec)"),
    clause("A B", "A as A.x > 8, B as B.n > 1").replace("pattern", "after match skip to next row pattern"),
    clause("A B", "A as A.x > 8, B as B.n > 1").replace("pattern", "all matches after match skip to current row pattern"),
]
"""Whose first variable takes few rows: the shape of an alarm."""


@pytest.mark.parametrize("by", ["partition by k", "partition by j % 40", "partition by k, b"])
@pytest.mark.parametrize("text", SELDOM)
def test_only_rows_that_a_match_in_progress_needs_are_kept(text: str, by: str) -> None:
    """However many rows come, the state is that of the partial matches: rows, nodes, slots."""
    rng = np.random.default_rng(8)
    rows = [
        (f"key {rng.integers(0, 40)}", float(rng.integers(0, 10)), int(rng.integers(0, 3)), bool(rng.random() < 0.3), int(n % 40), 1)
        for n in range(8_000)
    ]
    stored, sizes = [], []
    for run in fed(text.replace("partition by k", by), rows):
        stored.append(len(run.rows))
        sizes.append(run.memory())
        assert len(run.row_ids()) <= 1_000  # of partial matches: 40 keys by 2, some rows each
    assert sizes[-1] <= 2 * sizes[20], "arrays grow"
    assert max(stored[20:]) <= max(stored[:20]) + 300, "rows are kept"


def test_room_of_a_long_match_serves_other_partitions() -> None:
    """Each partition has one long match, in turn, and rows that begin none."""
    rows = []
    for n in range(300 * 24):
        rows.append((f"key {n // 300 % 12}", 9.0 if n % 300 == 0 else 1.0, 1, n % 300 == 299, 0, 1))
        rows.append((f"key {(n // 300 + 1 + n % 11) % 12}", 1.0, 1, False, 0, 0))
    nodes = [int(run.registers[REGISTERS["nodes"]]) for run in fed(clause("A B* C", "A as A.x > 8, B as B.x < 8, C as C.b"), rows)]
    assert nodes[-1] <= 4 * 512, "twice the longest match, and what it grew through"
