"""Columns of a source that no statement reads are not scanned, and may have any type; declared types and those of the source alike."""
from __future__ import annotations

import pathlib
import re

import pytest
from pyspark.sql import DataFrame, SparkSession

from epl.errors import EplError
from runtime.spark import start, transform

pytestmark = pytest.mark.spark

WIDE = (
    "select cast(id % 3 as string) as k, cast(id as double) as p, id * 1000 as ts, 'note' as note, array(1, 2) as arr, "
    "struct(1 as a) as st, "
    "cast('x' as binary) as b, parse_json('1') as v from range(9)"
)
MEANS = "@name('means') select k, sum(p) as total from T#length(2) group by k"


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("wide") / "rows")
    spark.sql(WIDE).write.parquet(path)
    return path


@pytest.fixture
def wide(spark: SparkSession, folder: str) -> DataFrame:
    return spark.read.parquet(folder)


def scanned(frame: DataFrame) -> set[str]:
    plan = frame._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]
    return {field.split(":")[0] for found in re.findall(r"ReadSchema: struct<(.*?)>\n", plan) for field in found.split(",")}


DECLARED = "create schema T(k string, p double, ts long, note int, b string); "


@pytest.mark.parametrize("schema", ["", DECLARED], ids=["of the source", "declared"])
def test_only_what_is_read_is_scanned(wide: DataFrame, schema: str) -> None:
    result = transform(schema + MEANS, {"T": wide}, time="ts", shards=2)
    assert scanned(result) <= {"k", "p", "ts"}
    assert sorted(row.k for row in result.collect() if row.total is not None) == ["0"] * 3 + ["1"] * 3 + ["2"] * 3


def test_a_statement_that_reads_no_column(wide: DataFrame) -> None:
    result = transform("select count(*) as c from T", {"T": wide})
    assert max(row.c for row in result.collect()) == 9
    assert not scanned(result) & {"k", "arr", "st", "b", "v"}


@pytest.mark.parametrize("statement, column", [("select b from T", "T.b"), ("select * from T", "T.b"), ("select v from T", "T.v")])
def test_columns_of_types_that_epl_does_not_have_are_refused_where_they_are_read(
    wide: DataFrame, folder: str, statement: str, column: str
) -> None:
    with pytest.raises(EplError, match=f"{column}: columns of Spark type .* are not supported"):
        transform(statement, {"T": wide})
    with pytest.raises(EplError, match=f"{column}: columns of Spark type .* are not supported"):
        start(statement, {"T": wide.sparkSession.readStream.schema(wide.schema).parquet(folder)})


def test_a_job_brings_what_its_statements_read(spark: SparkSession, folder: str, wide: DataFrame, tmp_path: pathlib.Path) -> None:
    rows: list[object] = []
    stream = spark.readStream.schema(wide.schema).parquet(folder)
    job = start(MEANS, {"T": stream}, time="ts", listeners={"means": lambda new, *_: rows.extend(new)}, checkpoint=str(tmp_path))
    try:
        job.process_all_available()
        assert len(rows) >= 9
        assert job._merged is not None and {name.split(":")[1] for name in job._merged.names if name[0] == "0"} == {"k", "p", "ts"}
        with pytest.raises(EplError, match="the column 'note' of the source 'T' is not read by the job's own statements"):
            job.deploy("@name('more') select note from T")
        job.deploy("@name('fewer') select max(p) as most from T")
    finally:
        job.stop()
    wider = spark.readStream.schema(wide.schema.add("extra", "string")).parquet(folder)
    again = start(MEANS, {"T": wider}, time="ts", checkpoint=str(tmp_path))
    try:
        assert [(row["k"], row["total"]) for row in again.statement("means")] == [("1", 7.0), ("2", 8.0)]
    finally:
        again.stop()
