"""What statements with match_recognize of a SQL dialect hold, however many rows have come; how these are cut into batches does not show."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime
from runtime.api.statement import internal_output
from runtime.operators.recognition_entry import RecognitionEntry

SCHEMA = "create schema T(g string, x int, n long, ts long);"
CLAUSES = {
    "sql": ("sql", """ORDER BY ts MEASURES FIRST(A.x) AS a, COUNT(*) AS c ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B* C?)
        WITHIN INTERVAL '0.05' SECOND DEFINE A AS x > 2, B AS x > PREV(x), C AS NEXT(x) > 3"""),
    "sql, sorted": ("sql", """ORDER BY ts, x DESC MEASURES FIRST(A.x) AS a, COUNT(*) AS c PATTERN (A B+ C)
        DEFINE B AS x > A.x, C AS x < A.x"""),
    "flink": ("flink", """ORDER BY ts MEASURES A.x AS a, LAST(B.x) AS b PATTERN (A B+? C) WITHIN INTERVAL '0.05' SECOND
        DEFINE B AS B.x > A.x, C AS C.x < A.x"""),
    "alibaba": ("alibaba", """ORDER BY ts MEASURES A.n AS a, B.n AS b ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A {- X*? -} B) WITHIN INTERVAL '0.2' SECOND DEFINE A AS A.x = 0, B AS B.x = 9"""),
    "ydb": ("ydb", """ORDER BY ts MEASURES LAST(A.x) AS a, COUNT(B.x) AS b PATTERN (A B+ C)
        DEFINE B AS B.x > LAST(A.x), C AS C.x < LAST(A.x)"""),
}  # fmt: skip


def statement(name: str) -> str:
    dialect, clause = CLAUSES[name]
    return f"{SCHEMA} @name('s') @Dialect('{dialect}') select * from T match_recognize (PARTITION BY g {clause}) as m"


def drawn_rows(count: int, *, keys: int = 6, seed: int = 1) -> list[dict[str, Any]]:
    drawn = random.Random(seed)
    return [{"g": f"k{drawn.randrange(keys)}", "x": drawn.randrange(10), "n": number, "ts": number // 2 * 3} for number in range(count)]


def held(runtime: Runtime) -> int:
    entry = internal_output(runtime.statement("s")).running.entry  # type: ignore[attr-defined]
    assert isinstance(entry, RecognitionEntry)
    return sum(len(partition.rows.items) for partition in entry._partitions.values()) + len(entry.order.held)


@pytest.mark.parametrize("name", list(CLAUSES))
def test_rows_of_matches_that_come_and_go_are_not_kept(name: str) -> None:
    with Runtime() as runtime:
        runtime.deploy(statement(name))
        most, sizes = 0, []
        for number, row in enumerate(drawn_rows(12_000), 1):
            runtime.send("T", row)
            if number % 100 == 0:
                most = max(most, held(runtime))
            if number % 4_000 == 0:
                sizes.append(len(runtime.snapshot()))
        assert most < 400
        assert max(sizes) < 10_000


def test_rows_that_a_partial_match_ignores_are_not_kept() -> None:
    """An A that waits for a B for ever."""
    clause = (
        "ORDER BY ts MEASURES A.n AS a, B.n AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A {- X*? -} B) DEFINE A AS A.x = 1, B AS B.x = 2"
    )
    with Runtime() as runtime:
        runtime.deploy(f"{SCHEMA} @name('s') @Dialect('alibaba') select * from T match_recognize ({clause}) as m")
        emitted: list[Any] = []
        runtime.statement("s").add_listener(lambda new, *_: emitted.extend(tuple(row.values()) for row in new))
        for number in range(3_000):
            runtime.send("T", {"g": "a", "x": int(number == 0), "n": number, "ts": number})
            assert held(runtime) <= 20
        restored = Runtime.restore(runtime.snapshot())
        assert held(restored) == 1
        runtime.send("T", {"g": "a", "x": 2, "n": 3_000, "ts": 3_000})
        assert emitted == [(0, 3_000)]


def emitted_by(text: str, batches: list[pa.Table], *, restarts: bool) -> list[tuple[Any, ...]]:
    emitted: list[tuple[Any, ...]] = []

    def listen(runtime: Runtime) -> None:
        runtime.statement("s").add_listener(lambda new, *_: emitted.extend(tuple(row.values()) for row in new))

    runtime = Runtime()
    runtime.deploy(text)
    listen(runtime)
    for batch in batches:
        runtime.send_batch("T", batch, time="ts", sequence="n")
        if restarts:
            runtime = Runtime.restore(runtime.snapshot())
            listen(runtime)
    runtime.end_of_input()
    return emitted


@pytest.mark.parametrize("name", list(CLAUSES))
def test_how_rows_are_cut_into_batches_does_not_show(name: str) -> None:
    rows = pa.Table.from_pylist(drawn_rows(400), pa.schema([("g", pa.string()), ("x", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())]))
    whole = emitted_by(statement(name), [rows], restarts=False)
    assert len(whole) > 15
    for seed in range(6):
        drawn = random.Random(seed)
        ends = sorted({*drawn.sample(range(1, 400), drawn.choice((1, 5, 60))), 400})
        cut = [rows.slice(begin, end - begin) for begin, end in zip([0, *ends], ends)]
        assert emitted_by(statement(name), cut, restarts=bool(seed % 2)) == whole, (seed, ends)
