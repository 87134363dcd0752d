"""Row pattern kernels against the row tier: the same matches in the same order, however the input is cut, compiled or as plain Python."""
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
UNBOUND = [
    clause("A B+ C", f"A as A.x < 2, {RISE}"),
    clause("A B+ C", RISE, "A.x as ap, last(B.x) as bp, C.x as cp"),
    clause("A B+ C", RISE, "sum(B.x) as s, avg(B.n) as v, count(B.x) as c, max(B.n) as hi, min(B.x - C.x) as lo, first(B.n) as f",
           by="n"),
    clause("A B+ C", RISE, "A.k as ak, B[1].x as b1, B.firstOf().k as bk, B.countOf() + 1 as bc, C.x - A.x as d", by="n, b"),
    clause("A B? C", "A as A.b, C as C.n > 1", by=""),
    clause("A B* C", "A as A.n > 0, B as B.n > 1"),
    clause("A* B* C", "A as A.x > 0, B as B.n > 0, C as C.b"),
    clause("A? B? C?", "A as A.b, B as B.n > 0"),
    clause("A B* C*", "A as A.b, B as B.x > prev(B.x, 2), C as C.n > 0", by="b"),
    clause("(A | B) C", "A as A.n > 0, B as B.x > 0"),
    clause("(A B)+ C", "A as A.n > 0, B as B.x > 0"),
    clause("A B+? C", "B as B.x > 0, C as C.n > 0"),
    clause("match_recognize_permute(A, B)", "A as A.n > 0, B as B.x > 0"),
    *(clause("A B+ C", RISE, mode=mode) for mode in (f"|{NEXT}", f"|{HERE}", ALL, f"{ALL}|{NEXT}", f"{ALL}|{HERE}")),
    clause("A B* C*", "A as A.n > 0, C as C.x > 0", mode=f"|{NEXT}"),
    clause("A? B? C", "C as C.n > 0", mode=f"{ALL}|{HERE}"),
    clause("A B", "A as Math.abs(A.n - 1) = 1, B as B.n in (prev(B.n), prev(B.n, 2), B.j - 3)", "A.j as a, B.n in (A.n, B.j) as i"),
    clause("A B", "B as B.n not in (prev(B.n), 1) or B.x in (prev(B.x), null)",
           "Math.abs(B.x - A.x) as d, B.n not in (A.n, 2) as i, Math.max(A.n, B.n) as m, Math.floor(A.x / B.x) as f"),
    clause("A B", by="x"), clause("A B", by="ts, x"), clause("A B", by="j % 3, k"), clause("A B", by="(n - 1) * 65535"),
    clause("A B", "A as A.k = 'a', B as B.k != prev(B.k)", "A.k as ak, B.k as bk, B.b as bb", by=""),
]
LOOKING = [
    clause("A B C D", "B as B.x > A.x, C as C.x > B.x, D as D.x > C.x"),
    clause("A B C", "B as B.x > A.x, C as C.x > B.x", mode=f"|{NEXT}"),
    clause("A B C", "B as B.x > A.x, C as C.x > B.x", mode=f"{ALL}|{HERE}", by="n"),
    clause("A B* C", "B as B.x > A.x, C as C.n > A.n", mode=ALL),
    clause("A B* C", "B as B.x > A.x, C as C.n > B[0].n"),
    clause("A B+ C?", "B as B.x > A.x, C as C.n > B[1].n and C.x < B.lastOf().x", mode=f"|{HERE}"),
    clause("A B? C* D", "B as B.n > A.n, C as C.x > B.x or B.x is null, D as D.x > A.x", by="b"),
    clause("A B", "B as B.k = A.k and B.x > prev(B.x)", "A.k as ak, B.k as bk, A.b as ab", by=""),
]
WINDOWS = ["T#time(4 msec)", "T#length(3)", "T#ext_timed(ts, 5 msec)", "T(n > 0)#length(4)", "T#keepall"]
WINDOWED = [
    text.replace("from T ", f"from {window} ") for n, text in enumerate([*UNBOUND[:8:2], UNBOUND[13], UNBOUND[16], *LOOKING[:6]])
    for window in (WINDOWS[n % 5], WINDOWS[(n + 2) % 5])
]
STATEMENTS = [
    *UNBOUND, *LOOKING, *WINDOWED,
    clause("A B", "B as B.x > A.x") + " order by A0",
    clause("A B*", "B as B.x > A.x", "A.x as ax, B.lastOf().k as bk, count(B.x) as c", mode=ALL, by="") + " having c > 1 or bk = 'a'",
    clause("A B", "B as B.x > A.x", "A.x as ax, B.n as bn").replace("*", "ax") + " having bn > 0 order by bn",
    clause("A B*", "B as B.x > A.x", "A.x as ax, B.lastOf().k as bk, count(B.x) as c", mode=ALL, by="") + " order by bk desc, ax, c",
    clause("A B*", "B as B.x > A.x", "A.x as ax, B.lastOf().k as bk", mode=f"{ALL}|{NEXT}", by="b") + " order by ax desc limit 2 offset 1",
    clause("A B*", "B as B.n > 0", "A.k as ak, B.countOf() as c", mode=ALL, by="").replace("select *", "select distinct ak"),
    clause("A B*", "B as B.n > 0", "A.x as ax, A.k as ak", mode=ALL, by="").replace("select *", "select distinct *"),
    "select cp * 2 as twice, cp, ap from T match_recognize (measures A.x as ap, B.x as cp pattern (A B) define B as B.x > A.x)",
]


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 29), max_size=3))
def test_plain_source(text: str, rows: list[Any], cuts: list[int]) -> None:
    batches = tables(rows, cuts)
    assert plain(by_columns(text, batches, 100, fast=False)) == plain(by_rows(text, batches, 100))


@pytest.mark.parametrize("text", STATEMENTS)
@settings(max_examples=12, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 29), min_size=1, max_size=5), where=st.lists(st.booleans(), min_size=6, max_size=6))
def test_state_moves_between_the_tiers(text: str, rows: list[Any], cuts: list[int], where: list[bool]) -> None:
    batches = tables(rows, cuts)
    assert plain(moved(text, batches, 100, where)) == plain(by_rows(text, batches, 100))


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [UNBOUND[1], UNBOUND[3], UNBOUND[6], UNBOUND[15], LOOKING[0], LOOKING[4], WINDOWED[0], WINDOWED[-3]])
def test_compiled(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(7)
    rows = [
        (rng.choice(["a", "b", "c", "d"]), *(None if rng.random() < 0.05 else v for v in (
            float(rng.integers(-3, 9)), int(rng.integers(-3, 9)), bool(rng.integers(0, 2)))), int(rng.integers(0, 3)),
            int(rng.integers(0, 2)))
        for _ in range(3_000)
    ]
    batches = tables(rows, [1, 700, 701, *range(800, 3_000, 100)])
    assert plain(by_columns(text, batches, 10_000, fast=True)) == plain(by_rows(text, batches, 10_000))


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
@pytest.mark.parametrize("text", [
    clause("A B+ C", "A as A.x < 10, B as B.x > prev(B.x), C as C.x < prev(C.x) and C.x < 50", "A.x as ap, last(B.x) as bp, C.x as cp"),
    clause("A B+ C", RISE, "A.x as ap, last(B.x) as bp, C.x as cp"),
    clause("A B C D", "B as B.x > A.x, C as C.x > B.x, D as D.x > C.x", "A.k as a, B.j as b, C.k as c, D.j as d", over="T#time(1 sec)",
           by="n"),
])
def test_many_partitions(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Peaks and rises of random prices, as the benchmarks look for them."""
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(20240601)
    drawn = zip(rng.integers(0, 100, 20_000).tolist(), rng.random(20_000).tolist())
    rows = [(f"S{n}", round(x * 100, 2), n, None, 0, 1) for n, x in drawn]
    batches = tables(rows, list(range(0, 20_000, 3_000)))
    found = by_columns(text, batches, 20_000, fast=True)
    assert len(found) > 10
    assert plain(found) == plain(by_rows(text, batches, 20_000))


@pytest.mark.parametrize(("text", "reason"), [
    (clause("A B", over="T#length_batch(3)"), "the window length_batch"),
    (clause("A B", measures="A as a"), "values of type T"),
])
def test_what_stays_in_the_row_tier(text: str, reason: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA)
    plan = runtime.compile(f"@name('s0') {text}").statements[0].body
    with pytest.raises(NotCompilable, match=reason):
        build_run(plan, RunContext(StringPool(), internal_engine(runtime).deployer.environment({}), interpret_kernel))
