"""``interval`` and ``or terminated`` in columns against the row tier: what is emitted, when, in which call, and the state that waits."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.available import is_available
from runtime.batch.compiler.kernels import interpret_kernel
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from tests.batch.row_pattern_statements import ALL, HERE, NEXT, ROWS, SCHEMA, by_columns, by_rows, clause, moved, plain, tables

RISE = "B as B.x > prev(B.x), C as C.x < prev(C.x)"


def waiting(text: str, until: str = "interval 4 msec") -> str:
    """The statement with an interval behind its pattern."""
    end = text.index("pattern (") + len("pattern (")
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return f"{text[:end]} {until}{text[end:]}"


PATTERNS = [
    clause("A B*", "A as A.x < 2, B as B.n > 0"),
    clause("A B*", "A as A.x < 2, B as B.x > A.x", by="n"),
    clause("A B+ C?", RISE, "A.x as ap, last(B.x) as bp, C.x as cp, sum(B.n) as s"),
    clause("A* B? C*", "A as A.x > 0, B as B.n > 0, C as C.b", by="b"),
    clause("A? B? C?", "A as A.b, B as B.n > 0"),
    clause("A (B | C)+", "B as B.n > 0, C as C.x > 1", "A.j as a, B.lastOf().j as b, C[0].j as c, count(C.x) as n", by=""),
    clause("A B C", "B as B.x > A.x, C as C.x > B.x"),
    clause("A B* C?", "B as B.x > A.x, C as C.n > B[0].n", by=""),
    *(clause("A B*", "B as B.n > 0", mode=mode, by=by)
      for mode, by in ((f"|{NEXT}", "k"), (f"|{HERE}", "b"), (ALL, ""), (f"{ALL}|{NEXT}", "k"), (f"{ALL}|{HERE}", "n"))),
    clause("A? B* C?", "B as B.n > 0, C as C.x > 0", mode=ALL),
    clause("A B*", "B as B.x > A.x", mode=f"|{NEXT}", over="T#time(4 msec)"),
    clause("A B*", "B as B.n > 0", over="T#length(3)", by="b"), clause("A+ B?", "A as A.b", over="T(n > 0)#ext_timed(ts, 5 msec)"),
]
ORDERED = clause("A B*", "B as B.n > 0", "A.x as ax, A.k as ak, B.countOf() as c", by="b") + " order by ax desc, ak limit 3"
CHOSEN = clause("A B*", "B as B.n > 0", "A.x as ax, A.k as ak, B.countOf() as c", by="b") + " having ax > 0"
UNTIL = "interval 4 msec", "interval 6 msec or terminated"
STATEMENTS = [waiting(text, until) for text in (*PATTERNS, ORDERED, CHOSEN) for until in UNTIL]
CUTS = st.lists(st.integers(0, 29), min_size=1, max_size=4)


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=CUTS)
def test_what_is_told(text: str, rows: list[Any], cuts: list[int]) -> None:
    batches = tables(rows, cuts)
    assert plain(by_columns(text, batches, 100, fast=False)) == plain(by_rows(text, batches, 100))


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=8, deadline=None)
@given(rows=ROWS, cuts=CUTS, where=st.lists(st.booleans(), min_size=6, max_size=6))
def test_what_waits_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], where: list[bool]) -> None:
    batches = tables(rows, cuts)
    assert plain(moved(text, batches, 100, where)) == plain(by_rows(text, batches, 100))


def calls(modules: list[str], tier: str, batches: list[Any], mode: str) -> list[Any]:
    """The calls of row listeners, each with the time and the row at work."""
    runtime = Runtime(tier=tier)
    runtime.deploy(SCHEMA)
    heard: list[Any] = []

    def hear(new: Any, old: Any, statement: Any, runtime: Any) -> None:
        cause = runtime.cause
        heard.append((statement.name, cause.time, cause.row is None, plain([row.to_dict() for row in new]), len(old)))

    for number, text in enumerate(modules):
        runtime.deploy(f"@name('s{number}') {text}")[f"s{number}"].add_listener(hear)
    for table, times in batches:
        runtime.send_batch("T", table.append_column("at_time", times), time="at_time", time_mode=mode)
        heard.append(runtime.next_scheduled_time)
        if mode == "jump":
            runtime.advance_time(runtime.now + 5)
    runtime.advance_time_span(runtime.now + 20)
    return heard


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("mode", ["span", "jump"])
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, cuts=CUTS, which=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=2))
def test_calls(mode: str, rows: list[Any], cuts: list[int], which: list[str]) -> None:
    batches: list[Any] = []
    now = 0
    for table, times in tables(rows, cuts):
        batches.append((table, [times + now]))
        now += 5 if mode == "jump" else 0
    assert calls(which, "batch", batches, mode) == calls(which, "row", batches, mode)


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [STATEMENTS[n] for n in (0, 3, 17)])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough for each array to grow."""
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    text = text.replace("4 msec", "60 msec").replace("6 msec", "90 msec")
    rng = np.random.default_rng(11)
    rows = [
        (rng.choice(["a", "b", "c", "d"]), *(None if rng.random() < 0.05 else v for v in (
            float(rng.integers(-1, 4)), int(rng.integers(-1, 9)), bool(rng.integers(0, 2)))), int(rng.integers(0, 3)),
            int(rng.integers(0, 2)))
        for _ in range(800)
    ]
    batches = tables(rows, [1, 300, 301, *range(400, 800, 100)])
    assert plain(by_columns(text, batches, 10_000, fast=True)) == plain(by_rows(text, batches, 10_000))


@pytest.mark.parametrize(("interval", "reason"), [
    ("interval 1 month", "an interval of months"), ("interval 0 sec", "an interval of no length"), ("interval v sec", "a variable"),
])
def test_what_stays_in_the_row_tier(interval: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(f"{SCHEMA}; create variable int v = 1")
    plan = runtime.compile(f"@name('s0') {waiting(clause('A B'), interval)}").statements[0].body
    with pytest.raises(NotCompilable, match=reason):
        build_run(plan, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), interpret_kernel))
