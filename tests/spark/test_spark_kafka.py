"""Both hosts over a real broker of Kafka, in processes of their own: a JVM that runs takes no connector."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from runtime import Runtime
from runtime.spark import start
from tests.spark.kafka.broker import Broker
from tests.spark.kafka.jars import Jars, NotToBeHad, connects_to, jars
from tests.spark.kafka.workload import END, LATE, MODULE, NAMES, RISES, ROWS, of, table
from tests.spark.kill.processes import PROC, kill, launch, wait_until_gone
from tests.spark.kill.workload import read

pytestmark = [pytest.mark.spark, pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are found in /proc")]

PATIENCE = 600.0
"""Seconds after which a job that neither died nor ended is a fault."""


@pytest.fixture(scope="module")
def found() -> Jars:
    (major, minor), (spark_major, spark_minor) = connects_to(), map(int, spark_version.split(".")[:2])
    if spark_major != major or spark_minor < minor:
        pytest.skip(f"tests/spark/kafka/pom.xml has the connector of Spark {major}.{minor}, this is PySpark {spark_version}")
    try:
        return jars()
    except NotToBeHad as error:
        pytest.skip(str(error))


@attrs.frozen
class Left:
    """What both lives of the jobs left. ``ended``: their exit codes."""

    folder: Path
    ended: tuple[int, ...]

    def entries(self, what: str) -> list[dict[str, Any]]:
        lines = map(json.loads, (self.folder / "log.jsonl").read_text().splitlines())
        return [line for line in lines if line["what"] == what]


@pytest.fixture(scope="module")
def left(found: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    folder = tmp_path_factory.mktemp("kafka")
    with Broker(found, folder) as broker:
        ended = []
        for phase in ("first", "second"):
            connector = ",".join(map(str, found.connector))
            process = launch(["-m", "tests.spark.kafka.job", phase, str(folder), broker.servers, connector], folder / "log.txt")
            try:
                ended.append(process.wait(PATIENCE))
            finally:
                kill(process.pid)
                wait_until_gone(process.pid)
        assert ended == [-signal.SIGKILL, 0], (folder / "log.txt").read_text()[-4000:]
        yield Left(folder, tuple(ended))


@pytest.fixture(scope="module")
def from_frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a job that got the same rows as DataFrames of files."""
    folder = tmp_path_factory.mktemp("frames")
    sources = {}
    for name in "AB":
        frame = spark.createDataFrame(table(of(name, ROWS)))
        frame.coalesce(1).write.parquet(f"{folder}/{name}")
        sources[name] = spark.readStream.schema(frame.schema).parquet(f"{folder}/{name}")
    job = start(MODULE, sources, time="ts", sequence="n", late=LATE, checkpoint=f"{folder}/job", outputs=NAMES)
    job.process_all_available()
    job.advance(END)
    job.stop()
    return folder / "job"


def check_two_topics_give_what_dataframes_give_through_a_kill(left: Left, from_frames: Path) -> None:
    for name, stream in (("sums", "new"), ("sums", "old"), ("runs", "new")):
        expected = read(from_frames / "output" / name / stream).to_pylist()
        assert len(expected) >= 60, name
        assert read(left.folder / "job/output" / name / stream).to_pylist() == expected, (name, stream)
    assert [line["point"] for line in left.entries("killed")] == ["written"]
    before, after = (line["step"] for line in left.entries("started"))
    assert before == 0 < after < left.entries("finished")[0]["step"], "it died in the middle and went on"


def check_a_step_that_is_written_to_a_topic_again_has_the_same_keys(left: Left, from_frames: Path) -> None:
    records = [(tuple(map(int, key.split(":"))), value) for key, value in left.entries("pairs")[0]["rows"]]
    once = dict(records)
    assert len(records) > len(once), "the step that was not reported to Spark came again"
    assert all(once[key] == value for key, value in records)
    expected = read(from_frames / "output/pairs/new").to_pylist()
    assert [once[key] for key in sorted(once)] == expected and len(expected) >= 20


def check_transform_from_topics_to_a_topic_goes_on_from_its_checkpoint(left: Left) -> None:
    expected: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.deploy(RISES, listeners={"rises": lambda new, *_: expected.extend(row.to_dict() for row in new)})
        runtime.send_batch("T", table(ROWS), time="ts", sequence="n")
    rises = left.entries("rises")[0]
    assert sorted((row for _, row in rises["rows"]), key=str) == sorted(expected, key=str) and len(expected) >= 40
    plain, numbered = ([(key, row["k"]) for key, row in rises["rows"] if (":" in key) is with_number] for with_number in (False, True))
    assert len(plain) >= 20 and all(key == k for key, k in plain)
    assert len(numbered) >= 20 and all(key.endswith(f":{k}") and int(key.partition(":")[0]) >= 2 for key, k in numbered)
    assert rises["batches"] >= 4, "more than one micro-batch before the restart, and behind it"


def check_malformed_values_are_columns_of_null(left: Left) -> None:
    whole, nulls, partly = {"k": "a", "v": 1, "n": 1}, {"k": None, "v": None, "n": None}, {"k": "c", "v": None, "n": 2}
    heard = left.entries("time of the record")[0]["heard"]
    assert sorted(heard, key=str) == sorted([whole, nulls, nulls, partly, nulls], key=str)
    by_value = left.entries("time of the value")[0]
    assert by_value["heard"] == [partly, whole], "7 is read as a time in 1970"
    assert [{name: row[name] for name in "kvn"} for row in by_value["left_out"]] == [nulls] * 3


def test_both_hosts_over_a_broker(left: Left, from_frames: Path) -> None:
    """One test, so that there is one broker however tests are dealt out to workers."""
    check_two_topics_give_what_dataframes_give_through_a_kill(left, from_frames)
    check_a_step_that_is_written_to_a_topic_again_has_the_same_keys(left, from_frames)
    check_transform_from_topics_to_a_topic_goes_on_from_its_checkpoint(left)
    check_malformed_values_are_columns_of_null(left)
