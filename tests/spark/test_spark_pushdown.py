"""What Spark is asked to leave out is never wanted; what it may leave out it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from runtime import Runtime
from runtime.spark import start
from runtime.spark.pushdown import take, wanted_rows
from runtime.spark.sources import Sources, merge, place_of

pytestmark = pytest.mark.spark

NAN = float("nan")
ROWS: list[dict[str, Any]] = [
    {"k": k, "v": v, "p": p, "d": d, "b": b, "ts": n}
    for n, (k, v, p, d, b) in enumerate(
        (k, v, p, d, b)
        for k in ("a", "b", None) for v in (0, 5, None) for p in (0, 7, None) for d in (1.5, -0.0, NAN, None) for b in (True, None)
    )
]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("p", pa.int32()), ("d", pa.float64()), ("b", pa.bool_()), ("ts", pa.int64())])
FILTERS = {
    "v > 3": True, "v >= 3 and d < 2": True, "k = 'a'": True, "k in ('a', 'c')": True, "d > 1": True, "not (d > 1)": False, "p < 3": True,
    "p = 0": True, "b": False, "b = true": True, "v between 2 and 6": False, "v in [2:6]": False, "v > d": True, "v is null": False,
    "k != 'a'": False, "v > 3 or k = 'b'": True, "v > 3 or k like 'b%'": False, "v > 3 and k like 'b%'": True, "ts = 5L": True,
    "ts > 50": True, "3 < v": True, "d = 0": False, "d <= 0": True, "d >= d": True, "1 = 2": False, "v = 5 and 1 = 2": True,
}
"""Conditions, and whether any of it is pushed down."""


def arrived(runtime: Runtime, frame: DataFrame, **columns: str) -> tuple[list[int], int | None]:
    sources = Sources.of((runtime.event_type("T"),), columns.get("time"), None)
    merged = merge({"T": frame}, sources, False, False)
    plans = [s.plan for d in runtime.deployments.values() for s in d]
    rows, newest = take(merged, wanted_rows(plans, sources.types))
    places = [row[place_of(0, "ts")] for row in rows.collect()]
    return sorted(places), newest()


@pytest.mark.parametrize("condition", list(FILTERS))
def test_no_wanted_row_is_left_out(spark: SparkSession, condition: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    found: list[int] = []
    with Runtime() as runtime:
        runtime.deploy(
            "@public @buseventtype create schema T(k string, v int, p int, d double, b boolean, ts long);"
            f"@name('s') select ts from T({condition})"
        )
        runtime.statement("s").add_listener(lambda new, old, s, r: found.extend(row["ts"] for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(ROWS, SCHEMA), time="ts")
        came, newest = arrived(runtime, frame, time="ts")
    assert set(found) <= set(came), condition
    assert (len(came) < len(ROWS)) is FILTERS[condition], condition
    assert newest == (ROWS[-1]["ts"] if FILTERS[condition] else None)


def test_primitive_properties_have_their_default_where_the_column_has_null(spark: SparkSession) -> None:
    import dataclasses

    @dataclasses.dataclass
    class T:
        v: int
        ts: int

    frame = spark.createDataFrame([(None, 0), (3, 1), (9, 2)], "v int, ts bigint")
    with Runtime() as runtime:
        runtime.register("T", T)
        runtime.deploy("@name('s') select ts from T(v < 5)")
        assert arrived(runtime, frame, time="ts") == (([0, 1], 2) if runtime.event_type("T").properties["v"].type.primitive else ([1], 2))  # type: ignore[union-attr]


def test_several_statements_want_what_any_of_them_wants(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(ROWS, SCHEMA))
    with Runtime() as runtime:
        runtime.deploy("@public @buseventtype create schema T(k string, v int, p int, d double, b boolean, ts long)")
        assert arrived(runtime, frame)[0] == [], "nobody reads it"
        runtime.deploy("@name('a') select * from T(v > 3)")
        some = arrived(runtime, frame)[0]
        runtime.deploy("@name('b') select * from T(k = 'a')")
        more = arrived(runtime, frame)[0]
        runtime.deploy("@name('c') select count(*) from T")
        assert set(some) < set(more) and arrived(runtime, frame)[0] == [r["ts"] for r in ROWS]


def test_rows_that_nobody_wants_move_time(spark: SparkSession, stream: Callable[..., DataFrame]) -> None:
    heard: list[Any] = []
    rows = [{"k": "a", "v": 1, "n": n, "ts": ts} for n, ts in enumerate((1000, 1500))] + [{"k": "z", "v": 0, "n": 3, "ts": 90_000}]
    schema = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
    tables = [pa.Table.from_pylist(part, schema) for part in (rows[:2], rows[2:])]
    with Runtime() as runtime:
        schema_of_t = "@public @buseventtype create schema T(k string, v int, n long, ts long);"
        runtime.deploy(schema_of_t + "@name('s') select rstream n from T(v = 1)#time(10)")
        runtime.statement("s").add_listener(lambda new, old, s, r: heard.append((r.now, [row["n"] for row in new])))
        job = start(runtime, {"T": stream("T", *tables)}, time="ts", sequence="n", trigger="availableNow")
        job.await_termination()
        assert runtime.now == 90_000 and job.progress.rows == 2
    assert heard == [(11_000, [0]), (11_500, [1])]
