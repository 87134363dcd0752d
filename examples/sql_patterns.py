"""Row patterns as Trino, Flink and Alibaba write them, over events: in process, or spread over engines on Spark.

    python examples/sql_patterns.py
    python examples/sql_patterns.py --spark
"""
from __future__ import annotations

import sys
from typing import Any

from runtime import Runtime

SCHEMA = "create schema Tick(symbol string, price int, ts long);"

DIP = """
// ORDER BY says that this clause is SQL:2016's: EPL has none
@name('dip') select m.symbol as symbol, top, bottom, back
from Tick match_recognize (
    PARTITION BY symbol ORDER BY ts
    MEASURES STRT.price AS top, LAST(DOWN.price) AS bottom, LAST(UP.price) AS back
    AFTER MATCH SKIP TO LAST UP
    PATTERN (STRT DOWN+ UP+)
    DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
) as m;
"""

OTHERS = """
@name('deep') @Dialect('flink') insert into Deep select symbol, low
from Tick match_recognize (
    PARTITION BY symbol ORDER BY ts
    MEASURES A.price AS high, LAST(B.price) AS low
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A B+? C) WITHIN INTERVAL '10' SECOND
    DEFINE A AS A.price >= 10, B AS B.price < A.price / 2, C AS C.price >= B.price
) as m;

@name('deepest') select symbol, min(low) as low from Deep#keepall group by symbol;

@name('no answer') @Dialect('alibaba') select symbol, asked, answered
from Tick match_recognize (
    PARTITION BY symbol ORDER BY ts
    MEASURES A.ts AS asked, B.ts AS answered
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A {- X*? -} B) WITHIN INTERVAL '5' SECOND
    DEFINE A AS A.price = 0, B AS B.price > 10
) as m;
"""

TICKS = [
    {"symbol": symbol, "price": price, "ts": 1000 * second}
    for second, symbol, price in [
        (0, "A", 12), (1, "B", 20), (2, "A", 9), (3, "A", 4), (4, "A", 6), (5, "B", 0), (6, "A", 13), (7, "A", 11), (8, "B", 8),
    ]
]  # fmt: skip


def in_process() -> list[tuple[int, str, dict[str, Any]]]:
    """Return what each statement emits, with the second: a match is emitted with the first event that decides it."""
    emitted: list[tuple[int, str, dict[str, Any]]] = []
    with Runtime() as runtime:
        for statement in runtime.deploy(SCHEMA + DIP + OTHERS):
            if statement.name in ("dip", "deepest", "no answer"):
                statement.add_listener(
                    lambda new, old, statement, runtime: emitted.extend((runtime.now // 1000, statement.name, dict(row)) for row in new)
                )
        for tick in TICKS:
            runtime.advance_time_span(tick["ts"])
            runtime.send("Tick", tick)
        runtime.advance_time_span(60_000)
        runtime.end_of_input()
    return emitted


def on_spark() -> list[dict[str, Any]]:
    """Return the dips of a DataFrame: each engine has the rows of some symbols."""
    from pyspark.sql import SparkSession

    from runtime.spark import transform

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    ticks = spark.createDataFrame([tuple(tick.values()) for tick in TICKS], "symbol string, price int, ts bigint")
    return [row.asDict() for row in transform(SCHEMA + DIP, {"Tick": ticks}, "dip", time="ts").collect()]


if __name__ == "__main__":
    if "--spark" in sys.argv:
        for row in on_spark():
            print(f"dip  {row}")
    else:
        for second, name, row in in_process():
            print(f"{second:3} s  {name}: {row}")
