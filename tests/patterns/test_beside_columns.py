"""Rows in batches: a statement over a pattern has its place beside statements in columns, which stay there."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime

SCHEMAS = "create schema Trade(symbol string, price double, volume int); create schema Quote(symbol string, bid double);"
COLUMNS = "@name('sums') select symbol, sum(volume) as s from Trade group by symbol;"
PATTERN = (
    "@name('rises') select a.symbol as symbol, b.price as price "
    "from pattern [every a=Trade -> b=Trade(symbol = a.symbol, price > a.price)];")
QUOTES = "@name('quotes') select a.symbol as symbol from pattern [every a=Quote -> Quote(symbol = a.symbol, bid < a.bid)];"
TRADES = pa.table({
    "symbol": [("AB", "BC", "CA")[n % 3][n % 2] for n in range(400)], "price": [float(n * 7 % 11) for n in range(400)],
    "volume": pa.array([n % 5 for n in range(400)], pa.int32()),
})


def fed(text: str, names: tuple[str, ...], **options: Any) -> tuple[Runtime, dict[str, list[Any]]]:
    runtime = Runtime(**options)
    runtime.deploy(SCHEMAS + text)
    rows: dict[str, list[Any]] = {name: [] for name in names}
    for name in names:
        runtime.statement(name).add_listener(lambda new, old, by, _: rows[by.name].extend(row.to_dict() for row in new))
    for start in range(0, 400, 80):
        runtime.send_batch("Trade", TRADES.slice(start, 80))
    return runtime, rows


def test_statements_over_other_streams_stay_in_columns() -> None:
    runtime, rows = fed(COLUMNS + QUOTES, ("quotes",))
    for _ in range(40):
        runtime.send_batch("Trade", TRADES)
        runtime.send("Quote", {"symbol": "A", "bid": 2.0})
    assert runtime.statement("sums").tier == "batch" and runtime.statement("quotes").tier == "row"
    runtime.send("Quote", {"symbol": "A", "bid": 1.0})
    assert rows["quotes"] == [{"symbol": "A"}] * 40


@pytest.mark.parametrize("timed", [False, True])
def test_statements_over_the_same_stream_stay_in_columns(timed: bool) -> None:
    """What each emits is what it emits alone, row by row; single events between batches reach both once."""

    def run(**options: Any) -> tuple[Runtime, dict[str, list[Any]]]:
        runtime = Runtime(**options)
        runtime.deploy(SCHEMAS + COLUMNS + PATTERN)
        rows: dict[str, list[Any]] = {"sums": [], "rises": []}
        runtime.statement("rises").add_listener(lambda new, *_: rows["rises"].extend(row.to_dict() for row in new))
        runtime.statement("sums").add_batch_listener(lambda new, *_: rows["sums"].extend(() if new is None else new.to_pylist()))
        for round in range(60):
            part = TRADES if not timed else TRADES.append_column("at", pa.array([round * 1000 + n // 4 for n in range(400)], pa.int64()))
            runtime.send_batch("Trade", part, **({"time": "at"} if timed else {}))
            runtime.send("Trade", {"symbol": "A", "price": 3.0 + round, "volume": 1})
        return runtime, rows

    runtime, rows = run()
    assert runtime.statement("sums").tier == "batch" and runtime.statement("rises").tier == "row"
    _, expected = run(tier="row")
    assert rows == expected and len(rows["rises"]) > 1000


def test_a_restart_keeps_both_where_they_are() -> None:
    runtime, _ = fed(COLUMNS + PATTERN, ("rises",))
    for _ in range(40):
        runtime.send_batch("Trade", TRADES)
    assert runtime.statement("sums").tier == "batch"
    restored = Runtime.restore(runtime.snapshot())
    seen: list[list[Any]] = [[], []]
    for each, rows in zip((runtime, restored), seen):
        each.statement("rises").add_listener(lambda new, *_, rows=rows: rows.extend(row.to_dict() for row in new))
        each.send_batch("Trade", TRADES)
    assert seen[0] == seen[1] != []


def test_a_pattern_over_what_statements_insert_shares_their_tier() -> None:
    text = "insert into Big select * from Trade(volume > 1);" + COLUMNS + PATTERN.replace("=Trade", "=Big")
    runtime, rows = fed(text, ("rises",))
    for _ in range(40):
        runtime.send_batch("Trade", TRADES)
    assert runtime.statement("sums").tier == runtime.statement("rises").tier == "row"
    assert rows["rises"]
