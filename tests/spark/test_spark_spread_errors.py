"""An error in an engine of Spark's workers: what its text says, and that the query goes on in front of it once it is fixed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from runtime.spark import transform

pytestmark = pytest.mark.spark

STATEFUL = """@name('s')
select k, own(v) as w, sum(v) as s from T#groupwin(k)#length(3) group by k"""
STATELESS = "@name('s') select k, own(v) as w, sum_of(k, v) as s from T(v > 0)"
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
ROWS = [{"k": "abc"[n % 3], "v": n + 1, "ts": 4 * n} for n in range(12)]
SUMS = [{"k": r["k"], "w": 10 * r["v"], "s": sum(o["v"] for o in ROWS[: n + 1] if o["k"] == r["k"]) - (r["v"] - 9 if n >= 9 else 0)}
        for n, r in enumerate(ROWS)]
"""Windows of three rows a key: the fourth row's sum lacks the first."""


def own(v: int) -> int:
    return 10 * v


def failing(v: int) -> int:
    if v == 6:
        raise LookupError(f"there is no {v}")
    return 10 * v


def sum_of(k: str, v: int) -> int:
    return v


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def frame(epl: str, source: DataFrame, function: Callable[..., Any], **more: Any) -> DataFrame:
    functions = {"own": function, "sum_of": sum_of}
    return transform(epl, {"T": source}, "s", time="ts", functions=functions, **{"distribute": "always", "shards": 2, **more})


def run(out: DataFrame, folder: Path) -> None:
    query = out.writeStream.format("parquet").option("path", str(folder / "out")).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


def alike(rows: list[Any]) -> list[str]:
    return sorted(map(repr, rows))


def test_a_stream_names_micro_batch_shard_statement_and_event_and_goes_on(spark: SparkSession, folder: Any, tmp_path: Path) -> None:
    source = folder("in").add(table(ROWS[:4]), table(ROWS[4:8]), table(ROWS[8:])).frame()
    message = (
        r"\[epl:runtime\] micro-batch 1, shard -?\d+: statement 's' \(line 2 column 11, own\(v\)\): LookupError: there is no 6; "
        r"while processing T\(k='c', v=6\) at engine time 20"
    )
    for _ in range(2):  # a start that changes nothing fails where the first one did
        with pytest.raises(StreamingQueryException, match=message):
            run(frame(STATEFUL, source, failing), tmp_path)
    run(frame(STATEFUL, source, own), tmp_path)
    found = [row.asDict() for row in spark.read.parquet(str(tmp_path / "out")).collect()]
    assert alike(found) == alike(SUMS)


def test_where_nothing_is_kept_the_partition_is_named(spark: SparkSession, folder: Any, tmp_path: Path) -> None:
    source = folder("in").add(table(ROWS[:4]), table(ROWS[4:])).frame()
    message = r"\[epl:runtime\] micro-batch 1, partition \d+: statement 's' \(line 1 column 22, own\(v\)\): LookupError: .*v=6"
    with pytest.raises(StreamingQueryException, match=message):
        run(frame(STATELESS, source, failing), tmp_path)
    run(frame(STATELESS, source, own), tmp_path)
    assert spark.read.parquet(str(tmp_path / "out")).count() == len(ROWS)


def test_a_batch_dataframe_names_the_partition_or_leaves_the_event_to_the_handler(spark: SparkSession) -> None:
    source = spark.createDataFrame(table(ROWS))
    with pytest.raises(PythonException, match=r"\[epl:runtime\] partition \d+: statement 's' \(line 2 column 11, own\(v\)\): LookupError"):
        frame(STATEFUL, source, failing).collect()
    found = [row.asDict() for row in frame(STATEFUL, source, failing, on_error="handler").collect()]
    assert alike(found) == alike([r for r in SUMS if r["w"] != 60])


def test_late_rows_name_the_shard(folder: Any, tmp_path: Path) -> None:
    source = folder("in").add(table(ROWS[6:]), table(ROWS[:1])).frame()
    message = r"\[epl:runtime\] micro-batch 1, shard -?\d+: Event type 'T': 1 of 1 rows are late: row 0 is of 0 \(.*'v': 1"
    with pytest.raises(StreamingQueryException, match=message):
        run(frame(STATEFUL, source, own), tmp_path)
