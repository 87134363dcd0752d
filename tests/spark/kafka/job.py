"""Jobs over a broker, in a process whose Spark session has the connector: ``python -m tests.spark.kafka.job PHASE FOLDER SERVERS JARS``.

``first``: rows are written and ``start`` runs over them until a sink of it ends the process by SIGKILL, with Spark's JVM. ``second``: the
other rows are written and the job goes on from its checkpoint; ``transform`` and malformed values beside it. What came of it stands in
FOLDER: ``job`` (the checkpoint) and ``log.jsonl``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from runtime.spark import session, start, transform
from runtime.spark.driver_host.driver import Job
from tests.spark.kafka.workload import END, HALF, LATE, MODULE, NAMES, RISES, ROWS, SCHEMA, of, table
from tests.spark.kill.job import EventLog, Killer

PER_BATCH, PER_SPREAD_BATCH = 60, 150
MALFORMED = [
    '{"k": "a", "v": 1, "n": 1, "ts": "2024-01-01T00:00:01Z"}', '{"k": "b", "v"', "", '{"k": "c", "v": "x", "n": 2, "ts": 7}', None
]
"""Whole, cut off, empty, of other types, no value at all (a tombstone)."""


class Topics:
    """Topics of JSON values as DataFrames."""

    def __init__(self, spark: SparkSession, servers: str) -> None:
        self.spark = spark
        self._servers = {"kafka.bootstrap.servers": servers}

    def write(self, topic: str, rows: DataFrame) -> None:
        """``key`` and ``value``, in order: one partition of Spark's."""
        rows.coalesce(1).write.format("kafka").options(**self._servers, topic=topic).save()

    def put(self, topic: str, rows: list[dict[str, Any]]) -> None:
        frame = self.spark.createDataFrame(table(rows))
        self.write(topic, frame.select(F.col("k").alias("key"), F.to_json(F.struct("*")).alias("value")))

    def stream(self, topics: str, most: int = PER_BATCH) -> DataFrame:
        """The values' columns, of ``most`` records a micro-batch; ``at``: when the broker's client wrote them."""
        options = {**self._servers, "subscribe": topics, "startingOffsets": "earliest", "maxOffsetsPerTrigger": str(most)}
        records = self.spark.readStream.format("kafka").options(**options).load()
        event = F.from_json(F.col("value").cast("string"), SCHEMA).alias("e")
        return records.select(event, F.col("timestamp").alias("at")).select("e.*", "at")

    def read(self, topic: str) -> list[tuple[str, Any]]:
        """All that is there: (key, value), by partition and place."""
        frame = self.spark.read.format("kafka").options(**self._servers, subscribe=topic).load().orderBy("partition", "offset")
        return [(row[0], json.loads(row[1])) for row in frame.selectExpr("cast(key as string)", "cast(value as string)").collect()]

    def to_topic(self, frame: DataFrame, topic: str, checkpoint: Path, numbered: bool) -> int:
        """What is there now, to another topic; how many micro-batches it took. ``numbered``: the micro-batch's number is in the key."""
        values = frame.select(F.col("k").alias("key"), F.to_json(F.struct("*")).alias("value"))
        if numbered:

            def write(rows: DataFrame, batch_id: int) -> None:
                self.write(topic, rows.withColumn("key", F.concat(F.lit(f"{batch_id}:"), "key")))

            writer = values.writeStream.foreachBatch(write)
        else:
            writer = values.writeStream.format("kafka").options(**self._servers, topic=topic)
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()
        return len([each for each in query.recentProgress if each["numInputRows"]])


class KafkaSink:
    """The insert stream of a statement of ``start``. A step that comes again is written again, under the same keys, step and place."""

    def __init__(self, topics: Topics, topic: str, killer: Killer) -> None:
        self.topics, self.topic, self.killer = topics, topic, killer

    def write(self, step: int, new: pa.RecordBatch | None, old: pa.RecordBatch | None) -> None:
        if new is not None:
            keys = pa.array([f"{step}:{place}" for place in range(new.num_rows)])
            frame = self.topics.spark.createDataFrame(pa.Table.from_batches([new]).append_column("key", keys))
            value = F.to_json(F.struct(*new.schema.names))
            self.topics.write(self.topic, frame.select("key", value.alias("value")))
            self.killer("written")


def run(topics: Topics, folder: Path, killer: Killer, log: EventLog) -> None:
    """Two topics, two types, until nothing more is there."""
    job = start(
        MODULE, {"A": topics.stream("a"), "B": topics.stream("b")}, time="ts", sequence="n", late=LATE, checkpoint=f"{folder}/job",
        outputs=NAMES[:2], sinks={"pairs": KafkaSink(topics, "pairs", killer)},
    )
    log("started", step=job.step)
    job.process_all_available()
    job.advance(END)
    job.stop()
    log("finished", step=job.step, rows=job.progress.rows)


def first(topics: Topics, folder: Path, log: EventLog) -> None:
    for name in "AB":
        topics.put(name.lower(), of(name, ROWS[:HALF]))
    run(topics, folder, Killer("written", 2, log), log)


def second(topics: Topics, folder: Path, log: EventLog) -> None:
    rows = topics.stream("a,b", PER_SPREAD_BATCH)
    rises = transform(RISES, {"T": rows}, time="ts", sequence="n", late=LATE, distribute="always", shards=2)
    batches = topics.to_topic(rises, "rises", folder / "rises", numbered=False)
    for name in "AB":
        topics.put(name.lower(), of(name, ROWS[HALF:]))
    run(topics, folder, Killer("", 0, log), log)
    log("pairs", rows=topics.read("pairs"))
    # A row far ahead lets go those that wait for earlier ones.
    topics.put("a", [{"k": "-", "v": 0, "n": len(ROWS), "ts": END}])
    batches += topics.to_topic(rises, "rises", folder / "rises", numbered=True)
    log("rises", rows=topics.read("rises"), batches=batches)
    malformed(topics, folder, log)


def malformed(topics: Topics, folder: Path, log: EventLog) -> None:
    """Values that are not JSON of the schema: their columns are null; the time is the record's, which all have, or the value's."""
    topics.write("m", topics.spark.createDataFrame([(value,) for value in MALFORMED], "value string"))
    heard: list[Any] = []

    def hear(new: Any, *_: Any) -> None:
        heard.extend(row.to_dict() for row in new)

    def over(name: str, **options: Any) -> Job:
        heard.clear()
        epl, checkpoint = "create schema T(k string, v int, n long); @name('s') select k, v, n from T", f"{folder}/{name}"
        job = start(
            epl, {"T": topics.stream("m")}, checkpoint=checkpoint, trigger="availableNow", listeners={"s": hear}, **options
        )
        job.await_termination()
        return job

    over("at", time="at", on_late="keep")
    log("time of the record", heard=heard)
    left_out = over("ts", time="ts", sequence="n", on_late="side").left_out("T")
    log("time of the value", heard=heard, left_out=[] if left_out is None else [row.asDict() for row in left_out.collect()])


def main() -> None:
    phase, folder, servers, jars = sys.argv[1:]
    # Not to optimize what runs so briefly starts sooner.
    brief = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1"}
    spark = session("Kafka", options={"spark.jars": jars, **brief})
    spark.sparkContext.setLogLevel("ERROR")
    {"first": first, "second": second}[phase](Topics(spark, servers), Path(folder), EventLog(Path(folder) / "log.jsonl"))
    spark.stop()


if __name__ == "__main__":
    main()
