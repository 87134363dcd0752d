"""Sources of other kinds than files: Spark's rate source on the system clock, a data source written in Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from runtime.spark import start

pytestmark = pytest.mark.spark


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for it, within a time that no machine needs."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.1)


def test_the_rate_source_and_the_system_clock(spark: SparkSession, tmp_path: Path) -> None:
    heard: list[Any] = []

    def hear(new: Any, old: Any, *_: Any) -> None:
        heard.extend([*(("in", row["value"]) for row in new), *(("out", row["value"]) for row in old)])

    job = start(
        "@name('s') select irstream value from Tick#time(1 sec)",
        {"Tick": spark.readStream.format("rate").option("rowsPerSecond", 20).load()},
        time="timestamp", sequence="value", late="100 ms", on_late="drop", clock="system", heartbeat=0.2, checkpoint=str(tmp_path / "c"),
        listeners={"s": hear},
    )
    until(lambda: ("out", 5) in heard)
    job.stop()
    assert not job.is_active and job.error is None
    came, went = ([value for way, value in heard if way == which] for which in ("in", "out"))
    assert came == sorted(came) and went == came[: len(went)]
    assert abs(job.runtime.now - time.time() * 1000) < 60_000


class Counting(DataSource):
    """Rows (n, ts) without end, a hundred a micro-batch."""

    @classmethod
    def name(cls) -> str:
        return "counting"

    def schema(self) -> str:
        return "n bigint, ts bigint"

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
        return CountingReader()


class CountingReader(SimpleDataSourceStreamReader):
    def initialOffset(self) -> dict[str, int]:
        return {"n": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[int, int]], dict[str, int]]:
        first = start["n"]
        return iter([(n, n * 10) for n in range(first, first + 100)]), {"n": first + 100}

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[tuple[int, int]]:
        return iter([(n, n * 10) for n in range(start["n"], end["n"])])


def test_a_data_source_in_python_goes_on_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(Counting)
    epl = "@name('s') select count(*) as c, max(n) as m from T#time(1 sec) output last every 1 sec"
    for least in (300, 800):
        frame = spark.readStream.format("counting").load()
        job = start(epl, {"T": frame}, time="ts", sequence="n", checkpoint=str(tmp_path / "c"), outputs=["s"])
        until(lambda: job.runtime.now > least * 10)  # noqa: B023 - called at once
        job.stop()
    rows = [(r["c"], r["m"]) for r in job.output("s").orderBy("m").collect()]
    assert len(rows) >= 7 and {c for c, _ in rows} == {99}, "an event leaves as the second ends"
    assert [m for _, m in rows[1:]] == [rows[0][1] + 100 * k for k in range(1, len(rows))], "each second once"
