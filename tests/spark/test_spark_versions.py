"""What PySpark 3.5 and 4.0 lack: only ``transform`` over streaming DataFrames needs it, and says so."""
from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, GroupedData, SparkSession

from runtime import EplUnsupportedError
from runtime.spark import sources, transform

pytestmark = pytest.mark.spark

MEANS = "@name('s') select k, avg(v) as mean from R#time(10 sec) group by k"
NO_OPERATOR = "has no stateful operator for rows: transform over streaming DataFrames needs PySpark 4.1"


def without(monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
    """Take a method from a class and those that it is derived from."""
    for each in kind.__mro__:
        if name in each.__dict__:
            monkeypatch.delattr(each, name)


def test_the_package_is_imported_without_stateful_operators() -> None:
    code = (
        "import sys, pyspark.sql, pyspark.sql.streaming\n"
        "sys.modules['pyspark.sql.streaming.stateful_processor'] = None\n"
        "import runtime.spark\nprint(runtime.spark.transform.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "transform\n"), done.stderr


def test_only_state_over_streams_needs_the_operator(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.sql("select 'a' as k, 1.0D as v, 1000L as ts union all select 'a', 3.0D, 2000L")
    stream = spark.readStream.format("rate").load().selectExpr("'a' as k", "1.0D as v", "value as ts")
    kinds: list[Any] = [GroupedData, type(frame.groupBy("k"))]
    for kind in kinds:
        without(monkeypatch, kind, "transformWithState")
    with pytest.raises(EplUnsupportedError, match=NO_OPERATOR):
        transform(MEANS, {"R": stream}, time="ts")
    assert transform("select k from R(v > 2)", {"R": stream}).isStreaming
    assert [(row.k, row.mean) for row in transform(MEANS, {"R": frame}, time="ts").collect()] == [("a", 1.0), ("a", 2.0)]


@pytest.mark.parametrize("rows", [0, 2])
def test_rows_are_collected_without_to_arrow(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    frame = spark.range(rows).selectExpr("concat('k', id) as k", "if(id = 0, null, cast(id as int)) as v", "array(id) as xs")
    expected = frame.toArrow()
    without(monkeypatch, type(frame), "toArrow")
    assert not hasattr(DataFrame, "toArrow") or "toArrow" not in dir(frame)
    collected = sources.collect(frame)
    assert isinstance(collected, pa.Table) and collected.to_pylist() == expected.to_pylist()
    assert collected.schema.names == expected.schema.names
