"""match_recognize of SQL dialects on Spark: jobs that die and go on, engines that share the rows of a DataFrame or a stream."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplUnsupportedError
from epl.settings import Settings
from runtime import Runtime
from runtime.spark import transform
from tests.spark import test_spark_job as jobs
from tests.spark.test_spark_distributed import ROWS as SPREAD_ROWS
from tests.spark.test_spark_distributed import SCHEMA, MakeFolder, alike, dicts, pieces, run

pytestmark = pytest.mark.spark

SQL = """partition by k order by ts measures FIRST(n) as a, COUNT(*) as c all rows per match omit empty matches
    pattern (A B* C?) define A as v > 6, B as v < PREV(v), C as NEXT(v) > v"""
FLINK = """partition by k order by ts measures A.n as a, LAST(B.n) as b after match skip past last row pattern (A B+? C)
    within interval '0.1' second define B as B.v > A.v, C as C.v < A.v"""
ONE_ROW = """partition by k order by ts, n measures LAST(A.n) as a, SUM(v) as s pattern (A+ B) within interval '0.2' second
    define A as v >= PREV(v) OR PREV(v) IS NULL"""
MODULE = f"""
create schema T(k string, v int, n long, ts long);
insert into U select k, v, n, ts from T(v >= 0);
@name('sums') @Dialect('sql') select k, v, a, c from U match_recognize ({SQL}) as m;
@name('rises') @Dialect('flink') select irstream * from U match_recognize ({FLINK})#length(3);
@name('ticks') select k, a, s from T match_recognize ({ONE_ROW}) as m;
"""
"""The names are those that the tests of jobs read the output of."""


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: Any) -> Any:
    job = jobs.made(tmp_path_factory.mktemp("whole"), MODULE)
    job.process_batch(0, jobs.merged(job, jobs.ROWS))
    found = jobs.output(spark, job)
    assert all(len(found[name, "new"]) > 10 for name in jobs.NAMES) and found["rises", "old"]
    return found


@pytest.mark.parametrize("point", ["log.during", "sink.rename", "snapshot.rename"])
def test_a_job_that_dies_goes_on_within_matches(spark: SparkSession, undisturbed: Any, tmp_path: Path, point: str) -> None:
    seen = itertools.count()
    alive = False

    def hook(name: str) -> None:
        if name == point and alive and next(seen) in (2, 5, 11):
            raise jobs.Died(point)

    job = jobs.made(tmp_path, MODULE, hook=hook)
    batches = jobs.cut(jobs.ROWS, 23)
    done = died = 0
    while done < len(batches):
        alive = True
        try:
            job.process_batch(done, jobs.merged(job, batches[done]))
            if done % 2:
                job.snapshot()
            done += 1
        except jobs.Died:
            died += 1
            alive = False
            job = jobs.made(tmp_path, MODULE, hook=hook)
    assert died >= 2
    assert jobs.output(spark, job) == undisturbed


def statement(clause: str, dialect: str) -> str:
    return f"@name('s') @Dialect('{dialect}') select * from T match_recognize ({clause}) as m"


def in_one_engine(epl: str, *, ends: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.deploy("create schema T(k string, v int, n long, ts long);" + epl)
        runtime.statement("s").add_listener(lambda new, old, s, r: found.extend(row.to_dict() for row in new))
        runtime.send_batch("T", pa.Table.from_pylist(SPREAD_ROWS, SCHEMA), time="ts", sequence="n")
        if ends:
            runtime.end_of_input()
    return found


CLAUSES = [("sql", SQL), ("flink", FLINK), ("sql", ONE_ROW)]


@pytest.mark.parametrize(("dialect", "clause"), CLAUSES)
def test_a_dataframe_spread_gives_what_one_engine_gives(spark: SparkSession, dialect: str, clause: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(SPREAD_ROWS, SCHEMA)).repartition(3)
    epl = statement(clause, dialect)
    spread = transform(epl, {"T": frame}, "s", time="ts", sequence="n", distribute="always", shards=3)
    expected = in_one_engine(epl, ends=True)
    assert len(expected) > 20 and alike(dicts(spread)) == alike(expected)


def test_a_stream_spread_gives_what_one_engine_gives_over_a_restart(spark: SparkSession, folder: MakeFolder, tmp_path: Path) -> None:
    stream = folder("in")
    tables = pieces(300, 1)
    epl = statement(SQL, "sql")
    for part in (tables[:2], tables[2:]):
        frame = stream.add(*part).frame()
        run(transform(epl, {"T": frame}, "s", time="ts", sequence="n", distribute="always", shards=2), tmp_path / "out", tmp_path / "state")
    assert alike(dicts(spark.read.parquet(str(tmp_path / "out")))) == alike(in_one_engine(epl, ends=False))


def test_what_cannot_be_split_says_why_and_the_settings_give_the_dialect(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(SPREAD_ROWS[:50], SCHEMA))
    with pytest.raises(EplUnsupportedError, match="its rows are not in the order of time="):
        transform(statement(SQL, "sql"), {"T": frame}, "s", time="n", distribute="always")
    with pytest.raises(EplUnsupportedError, match="without PARTITION BY"):
        transform(statement(SQL.replace("partition by k", ""), "sql"), {"T": frame}, "s", time="ts", distribute="always")
    plain = statement("order by ts measures A.n as a pattern (A) define A as A.v > 5", "flink").replace("@Dialect('flink') ", "")
    rows = dicts(transform(plain, {"T": frame}, "s", time="ts", settings=Settings(dialect="flink")))
    assert rows == [{"a": row["n"]} for row in SPREAD_ROWS[:50] if row["v"] > 5]
