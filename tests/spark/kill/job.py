"""A job that kills itself: ``python -m tests.spark.kill.job FOLDER …``, started by tests.spark.kill.harness in a session of its own.

What dies is the whole of it at once, Python and Spark's JVM, by SIGKILL: no handler, no finally, no flush.

    FOLDER/in        files that come while it runs        FOLDER/complete      there once no more come
    FOLDER/job       the checkpoint                       FOLDER/log.jsonl     what happened when, a line each
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from runtime.spark import session, start, transform
from runtime.spark.driver_host.driver import Job
from tests.spark.kill.workload import COUNT, INSERT, LATE_MS, MODULE, NAMES, QUERIES, SPREAD

COLUMNS = "k string, v int, n bigint, ts bigint"
PARENT = os.getppid()
COMMIT = "commit"
"""The point at which a micro-batch is done here, and Spark has not written that it is."""
QUERY = "query"
"""The point at which a query has returned that inserts a row."""


class EventLog:
    """Lines for those who watch."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, what: str, **more: Any) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps({"what": what, "pid": os.getpid(), "at": time.time(), **more}) + "\n")


class Killer:
    """The job's hook: ends all processes of the group at the ``visit``-th visit of the point."""

    def __init__(self, point: str, visit: int, log: EventLog) -> None:
        self.point, self.visit, self.log = point, visit, log
        self._seen = 0

    def __call__(self, point: str) -> None:
        if point != self.point:
            return
        self._seen += 1
        if self._seen == self.visit:
            self.die()

    def die(self) -> None:
        if os.getpgrp() != os.getpid():
            raise RuntimeError("the job is not alone in its process group: nothing is killed")
        self.log("killed", point=self.point)
        os.killpg(os.getpgrp(), signal.SIGKILL)
        signal.pause()


def watch(job: Job, killer: Killer, commits: Path, log: EventLog) -> None:
    """Tell of the first step that is done; kill between the end of a micro-batch and Spark's commit of it. In a thread of its own."""
    first = before = job.last
    while True:
        # The lock is held for the whole of a step: the one that waits for it gets it as soon as the step is done.
        with job.runtime.lock:
            last = job.last
            if last != before and killer.point == COMMIT and not (commits / str(last)).exists():
                killer(COMMIT)
            if first == before != last:
                log("first step", batch=last)
            before = last
        time.sleep(0.001)


def rest() -> None:
    """Between two looks; a job that nobody watches any more ends."""
    if os.getppid() != PARENT:
        raise SystemExit("the process that started the job is gone")
    time.sleep(0.05)


def ask(job: Job, killer: Killer) -> bool:
    """Insert the next row by a query, the window saying which it is; return whether there was one left."""
    number: int = job.query(COUNT)[0].c
    if number < QUERIES:
        job.query(INSERT, [number])
        killer(QUERY)
    return number < QUERIES


def stream(spark: SparkSession, folder: Path, files: int) -> DataFrame:
    return spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", files).parquet(str(folder / "in"))


def driver_host(spark: SparkSession, folder: Path, asked: argparse.Namespace, log: EventLog) -> None:
    point, _, visit = asked.kill.partition(":")
    killer = Killer(point, int(visit or 1), log)
    began = time.time()
    job = start(
        MODULE, {"T": stream(spark, folder, asked.files)}, time="ts", sequence="n", late=LATE_MS, on_late="refuse",
        checkpoint=f"{folder}/job", outputs=NAMES, hook=killer,
    )
    log("started", step=job.step, seconds=time.time() - began)
    threading.Thread(target=watch, args=(job, killer, folder / "job/spark/commits", log), daemon=True).start()
    while True:
        complete = (folder / "complete").exists()
        job.process_all_available()
        ask(job, killer)
        if complete:
            break
        rest()
    while ask(job, killer):
        pass
    job.advance(asked.until)
    job.stop()
    log("finished", step=job.step)


def spread(spark: SparkSession, folder: Path, asked: argparse.Namespace, log: EventLog) -> None:
    """The distributed host: an engine a shard, in Spark's Python workers."""
    frame = transform(
        SPREAD[asked.statement], {"T": stream(spark, folder, asked.files)}, "spread", time="ts", sequence="n", distribute="always",
        shards=asked.shards,
    )
    query = (
        frame.writeStream.format("parquet").option("path", f"{folder}/out").option("checkpointLocation", f"{folder}/job").start()
    )
    log("started", seconds=0)
    while True:
        complete = (folder / "complete").exists()
        query.processAllAvailable()
        if complete:
            break
        rest()
    query.stop()
    # Only Spark knows which files count.
    spark.read.parquet(f"{folder}/out").coalesce(1).write.mode("overwrite").parquet(f"{folder}/counted")
    log("finished")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", choices=("driver", "spread"), default="driver")
    parser.add_argument("--kill", default="", metavar="POINT[:VISIT]")
    parser.add_argument("--until", type=int, default=0)
    parser.add_argument("--files", type=int, default=2, help="at most so many files a micro-batch")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--statement", choices=tuple(SPREAD), default="sums", help="of the host spread")
    asked = parser.parse_args()
    log = EventLog(asked.folder / "log.jsonl")
    log("spawned")
    # A task whose worker dies is tried again, four times.
    spark = session("killed at any moment", options={"spark.master": "local[2,4]", "spark.ui.enabled": "false"})
    spark.sparkContext.setLogLevel("ERROR")
    (driver_host if asked.host == "driver" else spread)(spark, asked.folder, asked, log)
    spark.stop()


if __name__ == "__main__":
    main()
