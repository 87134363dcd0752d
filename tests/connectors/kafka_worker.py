"""A pipeline from Kafka to Kafka, a database and a folder, in a process that kills itself at a chosen point.

``python -m tests.connectors.kafka_worker SERVERS FOLDER POINT CHECKPOINT``: POINT is ``never``, ``written`` (the checkpoint's file is
there, nothing is delivered), ``delivered`` (the sink over Kafka has committed, others have not), or ``done`` (all have; the group's offsets
are not committed).
"""
from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

from runtime import Runtime
from runtime.connectors import DatabaseSink, FileSink, KafkaSink, KafkaSource, Pipeline

MODULE = """
@public @buseventtype create schema Trade(symbol string, n int);
@name('totals') select symbol, count(*) as c, sum(n) as total from Trade group by symbol;
@name('all') select count(*) as c from Trade;
"""
ROWS = 4000
"""So many records come; the worker stops when they are processed."""


def main(servers: str, folder: Path, point: str, checkpoint: int) -> None:
    """Run until all records are processed, or the point is reached."""
    totals = KafkaSink("totals", servers, key="symbol", transactional_id="totals-writer")
    rows = DatabaseSink(lambda: sqlite3.connect(folder / "rows.db"), "insert into totals values (${symbol}, ${c}, ${total})")
    files = FileSink(folder / "parts", format="jsonl", name="files")

    def start() -> Runtime:
        runtime = Runtime()
        runtime.deploy(MODULE)
        return runtime

    source = KafkaSource("trades", servers, group="totals")
    pipeline = Pipeline(start, [source], {"totals": [totals, rows, files]}, state=folder / "state", every="50 milliseconds")
    kill_at(point, checkpoint, pipeline, totals, source)
    threading.Thread(target=stop_at_end, args=(pipeline,), daemon=True).start()
    pipeline.run()


def stop_at_end(pipeline: Pipeline) -> None:
    while True:
        time.sleep(0.05)
        if pipeline.runtime is not None and pipeline.runtime.deployments:
            if sum(row["c"] for row in pipeline.runtime.statement("all")) >= ROWS:
                pipeline.stop()
                return


def kill_at(point: str, checkpoint: int, pipeline: Any, sink: Any, source: Any) -> None:
    """Wrap what comes just before the point."""
    written, delivered, committed = pipeline._folder.write, sink.deliver, source.committed

    def write(entry: Any) -> None:
        written(entry)
        if point == "written" and entry.number >= checkpoint and any(entry.outbox.values()):
            os.kill(os.getpid(), signal.SIGKILL)

    def deliver(rows: Any, number: Any) -> None:
        delivered(rows, number)
        if point == "delivered" and number >= checkpoint:
            os.kill(os.getpid(), signal.SIGKILL)

    def commit() -> None:
        if point == "done" and pipeline._number >= checkpoint:
            os.kill(os.getpid(), signal.SIGKILL)
        committed()

    pipeline._folder.write, sink.deliver, source.committed = write, deliver, commit


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
