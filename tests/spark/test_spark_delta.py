"""Output as Delta tables: each row once, whenever the job dies; other rows where a step comes out differently; what Delta cannot hold."""
from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.settings import Settings
from runtime.clock.late_rows import LatePolicy
from runtime.spark.driver_host.checkpoint import JobCheckpoint, no_hook
from runtime.spark.driver_host.driver import JobModule, Setup, resume, start
from runtime.spark.driver_host.job import Job
from runtime.spark.driver_host.sinks import JobSink, Keeping, ParquetSink

deltalake = pytest.importorskip("deltalake")
from runtime.spark import DeltaSink  # noqa: E402
from runtime.spark.driver_host.delta import STEP  # noqa: E402

pytestmark = pytest.mark.spark

MODULE = """
create schema T(k string, v int, ts long);
@name('sums') select irstream k, sum(v) as s, avg(v) as a from T#length(3) group by k;
"""
CHANCE = random.Random(5)
ROWS = [{"k": CHANCE.choice("abc"), "v": CHANCE.randrange(10), "ts": n} for n in range(60)]
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("ts", pa.int64())])
MakeSink = Callable[[str], JobSink]


class Died(BaseException):
    """What a process that is killed does in these tests: nothing catches it."""


def made(
    folder: Path, sink: MakeSink, *, hook: Callable[[str], None] = no_hook, module: str = MODULE, functions: Any = None
) -> Job:
    """A job as ``start`` makes it, without a query of Spark: micro-batches are brought by hand."""
    frames: Any = {"T": None}
    setup = Setup(
        JobModule(module, frames, Settings(), functions or {}, {}, "auto"), lambda _: LatePolicy(), ("ts", None), {},
        Keeping({"sums": sink(f"{folder}/sums")}), JobCheckpoint(f"{folder}/state", hook), (), lambda: 0,
    )
    return resume(setup, {})


def feed(job: Job, number: int, rows: list[dict[str, Any]]) -> None:
    job.process_batch(number, job.feed.sources.merge_tables({"T": pa.Table.from_pylist(rows, SCHEMA)}))


def output(job: Job) -> dict[str, list[dict[str, Any]]]:
    sink = job._keeping.sinks["sums"]
    if isinstance(sink, ParquetSink):
        names = [(s, f"{sink.folder}/{s}/{name}") for s in ("new", "old") for name in sink._files[s].names()]
        return {s: [row for t, path in names if t == s for row in pa.parquet.read_table(path).to_pylist()] for s in ("new", "old")}
    assert isinstance(sink, DeltaSink)
    return {s: rows_of(f"{sink.folder}/{s}") for s in ("new", "old")}


def rows_of(path: str) -> list[dict[str, Any]]:
    """The table's rows by step, without its number."""
    rows = deltalake.DeltaTable(path).to_pyarrow_table().to_pylist()
    return [{k: v for k, v in row.items() if k != STEP} for row in sorted(rows, key=lambda row: row[STEP])]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: Any) -> dict[str, list[dict[str, Any]]]:
    job = made(tmp_path_factory.mktemp("files"), ParquetSink)
    for number in range(10):
        feed(job, number, ROWS[number * 6 : number * 6 + 6])
    found = output(job)
    assert len(found["new"]) > 60 and found["old"]
    return found


class DyingSink(DeltaSink):
    """Dies in front of a commit, between the two tables, or behind both."""

    place = ""
    seen = itertools.count()

    def _die(self, place: str) -> None:
        if place == self.place and next(DyingSink.seen) in (2, 5):
            raise Died(place)

    def write(self, step: int, new: Any, old: Any) -> None:
        self._die("before")
        if self.place == "between":
            super().write(step, new, None if step > self._last("old") else old)
            self._die("between")
        super().write(step, new, old)
        self._die("after")


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_a_job_that_dies_around_a_commit_has_each_row_once(expected: Any, tmp_path: Path, place: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(DyingSink, "place", place)
    monkeypatch.setattr(DyingSink, "seen", itertools.count())
    job = None
    done = died = 0
    while done < 10:
        try:
            job = job or made(tmp_path, DyingSink)  # which writes again what was logged, and may die in turn
            feed(job, done, ROWS[done * 6 : done * 6 + 6])
            done += 1
        except Died:
            died, job = died + 1, None
    assert died == 2 and job is not None
    assert output(job) == expected


def test_steps_that_come_again_commit_nothing(expected: Any, tmp_path: Path) -> None:
    job = made(tmp_path, DeltaSink)
    for number in range(10):
        feed(job, number, ROWS[number * 6 : number * 6 + 6])
    versions = {s: deltalake.DeltaTable(f"{tmp_path}/sums/{s}").version() for s in ("new", "old")}
    job = made(tmp_path, DeltaSink)  # the log is fed again
    assert job.step == 10
    assert {s: deltalake.DeltaTable(f"{tmp_path}/sums/{s}").version() for s in ("new", "old")} == versions
    assert output(job) == expected


def test_a_step_with_other_rows_replaces_its_own(tmp_path: Path) -> None:
    module = "create schema T(k string, v int, ts long); @name('sums') select k, f(v) as s from T(f(v) > 0)"

    def wrong(v: int) -> int:
        return 1 if v > 4 else 2

    def fixed(v: int) -> int:
        return v - 5

    job = made(tmp_path, DeltaSink, module=module, functions={"f": wrong})
    for number in range(10):
        feed(job, number, ROWS[number * 6 : number * 6 + 6])
    assert len(rows_of(f"{tmp_path}/sums/new")) == 60
    made(tmp_path, DeltaSink, module=module, functions={"f": fixed})
    assert rows_of(f"{tmp_path}/sums/new") == [{"k": r["k"], "s": r["v"] - 5} for r in ROWS if r["v"] > 5]


def test_a_query_writes_them_and_reads_them_back(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pa.parquet.write_table(pa.Table.from_pylist(ROWS, SCHEMA), tmp_path / "in" / "a.parquet")
    source = spark.readStream.schema("k string, v int, ts long").parquet(str(tmp_path / "in"))
    job = start(
        "@name('ups') select k, v from T(v > 4)", {"T": source}, time="ts", checkpoint=str(tmp_path / "job"),
        sinks={"ups": DeltaSink(str(tmp_path / "ups"))}, trigger={"availableNow": True},
    )
    job.await_termination()
    expected = [(r["k"], r["v"]) for r in ROWS if r["v"] > 4]
    assert [tuple(row) for row in job.output("ups").collect()] == expected
    assert job.output("ups", "old").count() == 0
    assert [(r["k"], r["v"]) for r in rows_of(str(tmp_path / "ups" / "new"))] == expected


def test_another_job_cannot_begin_over_them(tmp_path: Path) -> None:
    job = made(tmp_path, DeltaSink)
    feed(job, 0, ROWS[:6])
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    with pytest.raises(EplRuntimeError, match="hold the output of another job"):
        made(tmp_path, DeltaSink)


def test_other_columns_are_refused_before_the_first_step(tmp_path: Path) -> None:
    first, other = (f"create schema T(k string, v int, ts long); @name('sums') select {columns} from T" for columns in ("k, v", "v, k, ts"))
    feed(made(tmp_path, DeltaSink, module=first), 0, ROWS[:6])
    with pytest.raises(EplRuntimeError, match="sums/new' has other columns: k string, v integer, epl_step long"):
        made(tmp_path, DeltaSink, module=other)
    assert len(rows_of(f"{tmp_path}/sums/new")) == 6
    feed(made(tmp_path, DeltaSink, module=first), 1, ROWS[6:9])
    assert len(rows_of(f"{tmp_path}/sums/new")) == 9


def test_rows_are_found_after_others_have_put_the_files_together(spark: SparkSession, tmp_path: Path) -> None:
    job = made(tmp_path, DeltaSink, module="create schema T(k string, v int, ts long); @name('sums') select k, v / 0.0 as q from T")
    for number in range(3):
        feed(job, number, ROWS[number * 6 : number * 6 + 6])
    table = deltalake.DeltaTable(f"{tmp_path}/sums/new")
    table.optimize.compact()
    table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert job.output("sums").count() == 18
    feed(job, 3, ROWS[18:24])
    again = made(tmp_path, DeltaSink, module="create schema T(k string, v int, ts long); @name('sums') select k, v / 0.0 as q from T")
    assert again.output("sums").count() == 24, "steps with NaN are written again in their places"


@pytest.mark.parametrize(("select", "message"), [
    ("v as epl_step", "'epl_step' is the column of step numbers in Delta tables"),
    ("null as n", "Delta tables hold no column of the type null: 'n'"),
])
def test_columns_that_cannot_be_kept_are_refused_before_the_first_step(tmp_path: Path, select: str, message: str) -> None:
    with pytest.raises(EplUnsupportedError, match=message):
        made(tmp_path, DeltaSink, module=f"create schema T(k string, v int, ts long); @name('sums') select {select} from T")


def test_without_the_package(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(EplUnsupportedError, match="Delta tables need the package deltalake"):
        DeltaSink(str(tmp_path))
