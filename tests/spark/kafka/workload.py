"""What the Kafka tests run: statements, and rows of two types in one order of time."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

MODULE = """
create schema A(k string, v int, n long);
create schema B(k string, v int, n long);
insert into C select 'a' as src, k, v, n from A;
insert into C select 'b' as src, k, v, n from B;
@name('sums') select irstream k, sum(v) as s, count(*) as c, max(n) as n from C#time(3 sec) group by k;
@name('runs') select * from C match_recognize (
  partition by k measures a.k as k, a.n as an, last(b.n) as bn, count(b.n) as c
  pattern (a b+) interval 2 seconds define a as a.src = 'a', b as b.src = 'b');
@name('pairs') select k, src, n from C match_recognize (
  measures x.k as k, y.src as src, y.n as n pattern (x y) define y as y.k = x.k and y.src != x.src);
"""
NAMES = ("sums", "runs", "pairs")
RISES = """
create schema T(k string, v int, n long);
@name('rises') select * from T match_recognize (
  partition by k measures A.k as k, A.n as a, last(B.n) as b, C.n as c
  pattern (A B+ C) define B as B.v > prev(B.v), C as C.v < prev(C.v));
"""
BEGIN = 1_704_067_200_000
"""Milliseconds: 2024 in UTC."""
CHANCE = random.Random(5)
ROWS = [
    {"type": CHANCE.choice("AB"), "k": CHANCE.choice("uvwxyz"), "v": CHANCE.randrange(10), "n": n, "ts": BEGIN + n // 2 * 90}
    for n in range(480)
]
"""In order of time and ``n``; two rows share a time."""
HALF = 300
"""So many rows come before the job dies."""
END = BEGIN + 3_600_000
"""Nothing is due any more."""
LATE = "8 seconds"
"""More than topics and partitions can be apart when Spark takes a part of each."""
SCHEMA = "k string, v int, n bigint, ts timestamp"


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """As a stream of Parquet files has them."""
    times = pa.array([row["ts"] for row in rows], pa.int64()).cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
    fields = (("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()))
    return pa.table({**{name: pa.array([row[name] for row in rows], kind) for name, kind in fields}, "ts": times})


def of(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one type."""
    return [row for row in rows if row["type"] == name]
