"""Where a statement's output goes, by step: a step that comes again writes the same again in its own place.

A sink that keeps to that has each row once, whenever the job dies: steps are repeated whose output may or may not have been written.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import attrs
import pyarrow as pa
from pyarrow import parquet

from runtime.spark.driver_host.checkpoint import Files, Hook, no_hook

STREAMS = ("new", "old")


class JobSink(Protocol):
    """``write`` gets the insert and the remove stream of one step, None where empty, and replaces what the step wrote before. Both are
    None only where a step that comes again after a restart emits nothing: what it wrote before, if anything, has to go."""

    def write(self, step: int, new: pa.RecordBatch | None, old: pa.RecordBatch | None) -> None: ...


class KeptSink(JobSink):
    """A sink whose rows ``Job.output`` reads."""

    def begin(self, schema: pa.Schema) -> None:
        """Begin with the columns to come; raise EplUnsupportedError where they cannot be kept. Called before the first step."""

    def check_new(self) -> None:
        """Check that a job begins, whose first step is number 1; raise EplRuntimeError where there is output of another job."""

    def files(self, stream: str = "new") -> list[str]:
        """Return the Parquet files, or folders of them, that hold the stream's rows."""
        raise NotImplementedError


class ParquetSink(KeptSink):
    """A folder of Parquet files, ``new/<step>.parquet`` and ``old/<step>.parquet``: readers never see a half-written one."""

    def __init__(self, folder: str, hook: Hook = no_hook) -> None:
        self.folder = folder
        self._files = {stream: Files(f"{folder}/{stream}", hook) for stream in STREAMS}
        for files in self._files.values():
            files.sweep()
        self._before = {stream: set(files.names(".parquet")) for stream, files in self._files.items()}
        """Of an earlier run."""

    def write(self, step: int, new: pa.RecordBatch | None, old: pa.RecordBatch | None) -> None:
        for stream, batch in zip(STREAMS, (new, old)):
            name = f"{step:012}.parquet"
            if batch is not None:
                self._files[stream].write(name, _encode(batch), "sink")
            elif name in self._before[stream]:
                self._before[stream].remove(name)
                self._files[stream].remove([name])

    def files(self, stream: str = "new") -> list[str]:
        return [f"{self.folder}/{stream}"] if self._files[stream].names(".parquet") else []


class DroppedRows:
    """Rows that were dropped, by ``what`` (``late``, ``ahead``) and event type: files below ``folder``."""

    def __init__(self, folder: str, hook: Hook = no_hook) -> None:
        self._folder, self._hook = folder, hook
        self._sinks: dict[str, ParquetSink] = {}

    def write(self, step: int, what: str, tables: Mapping[str, pa.Table]) -> None:
        """Write the rows that a step dropped, by event type."""
        for name, table in tables.items():
            if table.num_rows:
                self.sink(what, name).write(step, table.combine_chunks().to_batches()[0], None)

    def sink(self, what: str, name: str) -> ParquetSink:
        path = f"{self._folder}/{what}/{name}"
        if path not in self._sinks:
            self._sinks[path] = ParquetSink(path, self._hook)
        return self._sinks[path]


@attrs.frozen
class Keeping:
    """Where a job's output and the rows that it drops go. ``sinks``: by statement; ``folder``: where its own files are, None: nothing is
    kept."""

    sinks: Mapping[str, JobSink]
    folder: str | None = None
    hook: Hook = no_hook


def _encode(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_batches([batch]), sink, coerce_timestamps="us")
    return bytes(sink.getvalue())


__all__ = ["STREAMS", "DroppedRows", "JobSink", "Keeping", "KeptSink", "ParquetSink"]
