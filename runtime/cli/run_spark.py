"""``epl run --spark``: the events of a file through Spark micro-batches."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from epl.event_types import EventType
from runtime.api.runtime import Runtime
from runtime.conversion.arrow import to_batch
from runtime.conversion.from_python import to_event
from runtime.spark import session, spark_schema, start
from runtime.spark.schemas import arrow_for_spark
from windows.event import Event

TIME, SEQUENCE = "epl_time", "epl_sequence"


class SparkFeed:
    """Collects the events with their times, then drives the runtime by a streaming DataFrame a type, cut into ``batches`` micro-batches.

    Raises EplRuntimeError where Spark finds no Java.
    """

    def __init__(self, runtime: Runtime, batches: int) -> None:
        self.runtime = runtime
        self.batches = batches
        self.now = runtime.now
        self.next_due: int | None = None
        self.rows: list[tuple[EventType, int, Event]] = []
        self.spark = session("epl run", options={"spark.ui.showConsoleProgress": "false"})

    def check(self, event_type: str, values: dict[str, Any]) -> object:
        return to_event(self.runtime.event_type(event_type), values)

    def send(self, event_type: str, values: dict[str, Any]) -> None:
        declared = self.runtime.event_type(event_type)
        self.rows.append((declared, self.now, to_event(declared, values)))

    def move(self, target: int) -> None:
        self.now = target

    def finish(self) -> None:
        """Run the query over everything; what ended it is raised as it was, time where the input left it."""
        if self.rows:
            with tempfile.TemporaryDirectory(prefix="epl-run-") as name:
                self._run(Path(name))
        self.runtime.advance_time_span(self.now)
        self.runtime.end_of_input()

    def _run(self, folder: Path) -> None:
        types = list({event_type.name: event_type for event_type, _, _ in self.rows}.values())
        frames = {}
        for event_type in types:
            self._write(folder / event_type.name, event_type)
            schema = spark_schema(event_type).add(TIME, "long").add(SEQUENCE, "long")
            reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
            frames[event_type.name] = reader.parquet(str(folder / event_type.name))
        start(self.runtime, frames, time=TIME, sequence=SEQUENCE, trigger="availableNow").await_termination()

    def _write(self, folder: Path, event_type: EventType) -> None:
        """Write a file for each micro-batch, also where the type has no event in it, so that all types' files go together."""
        folder.mkdir()
        size = -(-len(self.rows) // self.batches)
        schema = arrow_for_spark(event_type)
        for number, begin in enumerate(range(0, len(self.rows), size)):
            part = [(begin + at, now, event) for at, (kind, now, event) in enumerate(self.rows[begin : begin + size]) if kind is event_type]
            table = pa.Table.from_batches([to_batch([event for _, _, event in part], event_type)]).cast(schema)
            table = table.append_column(TIME, pa.array([now for _, now, _ in part], pa.int64()))
            table = table.append_column(SEQUENCE, pa.array([sequence for sequence, _, _ in part], pa.int64()))
            path = folder / f"{number:06}.parquet"
            parquet.write_table(table, path)
            os.utime(path, (number, number))  # Spark takes files in order of their modification times
