"""Files as sources and sinks: JSON lines, CSV, Parquet; a path, or a URI that fsspec opens."""
from __future__ import annotations

import csv
import io
import json
import select
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from epl.errors import EplRuntimeError, EplWarning
from epl.event_types import EventType
from runtime.arguments import check_arguments
from runtime.connectors.event_files import SUFFIXES, Chunk, EventFile, FileFault
from runtime.connectors.input import Input
from runtime.connectors.locations import has_files, location_name, open_to_read, open_to_write, write_whole
from runtime.connectors.output import OutputRow, check_stream
from runtime.connectors.pacing import Timetable
from runtime.connectors.row_reader import RowOptions, RowReader
from runtime.conversion.rows import jsonable

AT_ONCE = 500
"""Rows of one poll."""
MARKER = ".epl_state"
"""The file of a folder that says of which state its parts are."""
NO_SCHEMA: Any = lambda row: None  # noqa: E731


class RowSource:
    """Rows from Python: any iterable of mappings; after a restart the same rows again, of which those that are processed are skipped.

    Args:
        rows: The rows.
        type: Their event type (default: what ``type_column`` says, else the only one that statements read).
        time: The name of the value that is engine time, ms or ISO 8601.
        name: Names the source in checkpoints and errors.

    Examples:
        >>> from runtime import Runtime
        >>> from runtime.connectors import Pipeline, RowSource, StreamSink
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("create schema A(x int); @name('s') select x from A(x > 1)")
        >>> Pipeline(runtime, [RowSource([{"x": 1}, {"x": 2}])], {"s": StreamSink()}).run()
        {"x": 2}
    """

    @check_arguments
    def __init__(
        self, rows: Iterable[dict[str, Any]], *, type: str | None = None, type_column: str = "type", time: str | None = None,
        missing: str = "refuse", name: str = "rows",
    ) -> None:
        self.name = name
        self._options = RowOptions(type, type_column, time, missing)
        self._rows, self._count = iter(rows), 0

    def open(self, position: Any) -> None:
        """See Source."""
        if position is not None:
            self._count = sum(1 for _ in islice(self._rows, int(position)))

    def reader(self, runtime: Any) -> RowReader:
        """See Source."""
        return RowReader(runtime, self._options, _warner(self.name))

    def poll(self, seconds: float) -> Sequence[Input] | None:
        """See Source."""
        rows = [Input(f"row {self._count + n}", row) for n, row in enumerate(islice(self._rows, AT_ONCE))]
        self._count += len(rows)
        return rows or None

    def position(self) -> int:
        """See Source."""
        return self._count

    def committed(self) -> None:
        """See Source."""

    def close(self) -> None:
        """See Source."""


class FileSource:
    """The rows of a file, or of standard input (``-``), whose lines are processed as they come.

    Args:
        location: A path or URI: JSON lines, CSV (both perhaps compressed) or Parquet.
        input: ``jsonl``, ``csv`` or ``parquet`` where the name does not say it.
        type: The event type of all rows (default: what ``type_column`` says, else the only one that statements read).
        time: The column of engine time, ms or ISO 8601.
        delimiter: What divides the cells of CSV.
        missing: ``"refuse"``, or ``"null"``: properties without a column are null.
        rate: Row k happens k / rate seconds after the runtime's time at the beginning, as with the CSV adapter of EsperIO.
        loop: How many times the file is read; 0: until the pipeline is stopped. Times go on from pass to pass. With a state, a file is not
            read at a rate or again.
        name: Names the source in checkpoints and errors (default: the location).

    Raises:
        EplRuntimeError: From a pipeline: there is no such file, or its columns make no sense.

    Examples:
        >>> source = FileSource("s3://bucket/trades.csv.gz", type="Trade", time="ts")
        >>> source.name
        's3://bucket/trades.csv.gz'
    """

    @check_arguments
    def __init__(
        self, location: str | Path, *, input: str = "auto", type: str | None = None, type_column: str = "type", time: str | None = None,
        delimiter: str | None = None, missing: str = "refuse", rate: float | None = None, loop: int = 1, name: str | None = None,
        stdin: BinaryIO | None = None,
    ) -> None:
        self.location = str(location)
        self.name = name or self.location
        self._options = RowOptions(type, type_column, time, missing)
        self._input, self._delimiter, self._stdin = input, delimiter, stdin
        if loop < 0:
            raise ValueError("loop: at least 1, or 0 for no end, is expected")
        if rate is not None and time is not None:
            raise ValueError("rate gives the times of the rows: time is not expected beside it")
        self._rate, self._passes = rate, loop
        self._replays = rate is not None or loop != 1
        self.times: Timetable | None = Timetable(rate) if self._replays else None
        self._file: EventFile | None = None
        self._chunks: Iterator[Chunk] = iter(())
        self._pending: Iterator[Input] = iter(())
        self._count = 0
        self._may_wait = False

    def open(self, position: Any) -> None:
        """See Source."""
        self._open_file()
        if position is not None and self.location == "-":
            raise EplRuntimeError("standard input cannot be read again", hint="a pipeline over it has no state to go on from")
        while self._count < (position or 0):
            done = sum(1 for _ in islice(self._pending, position - self._count))
            self._count += done
            if not done and not self._next_chunk():
                raise EplRuntimeError(f"{self.location} has {self._count} rows, of which {position} have been processed")

    def _open_file(self) -> None:
        try:
            self._file = EventFile.open(self.location, self._input, self._stdin or sys.stdin.buffer, self._delimiter)
        except FileFault as fault:
            raise _of_fault(self.location, fault) from None
        if self._file.kind == "script":
            raise EplRuntimeError(f"{self.location} is a script of EPL Online", hint="epl run reads scripts, without --to and --state")
        self._chunks = self._file.chunks(NO_SCHEMA)

    def reader(self, runtime: Any) -> RowReader:
        """See Source."""
        assert self._file is not None
        reader = RowReader(runtime, self._options, _warner(self.name), self._file.names, has_header=self._file.kind != "parquet")
        if self._rate is not None:
            self.times = Timetable(self._rate, runtime.now)
        try:
            reader.check_file()
        except FileFault as fault:
            raise _of_fault(self.location, fault) from None
        return reader

    def _next_chunk(self) -> bool:
        try:
            chunk = next(self._chunks, None)
        except FileFault as fault:
            raise _of_fault(self.location, fault) from None
        if chunk is not None:
            self._pending = (Input(f"row {number}", row, chunk.is_text) for number, row in chunk.rows())
        return chunk is not None

    def poll(self, seconds: float) -> Sequence[Input] | None:
        """See Source."""
        rows = list(islice(self._pending, AT_ONCE))
        if not rows:
            if self._may_wait and not _has_more(self._stdin or sys.stdin.buffer, seconds):
                return []
            self._may_wait = self.location == "-"  # the first look has filled a buffer
            if not self._next_chunk() and not self._begins_again():
                return None
            rows = list(islice(self._pending, AT_ONCE))
        self._count += len(rows)
        return rows

    def _begins_again(self) -> bool:
        """Begin the next pass; return whether there is one."""
        if self._passes == 1 or self._file is None or self.times is None:
            return False
        self._passes = max(self._passes - 1, 0)
        self._file.close()
        self._open_file()
        self.times.begin_pass()
        return self._next_chunk()

    def position(self) -> int:
        """See Source."""
        if self._replays:
            raise EplRuntimeError("a file that is read at a rate or again has no position", hint="leave out rate and loop, or the state")
        return self._count

    def committed(self) -> None:
        """See Source."""

    def close(self) -> None:
        """See Source."""
        if self._file is not None:
            self._file.close()
            self._file = None


class StreamSink:
    """JSON lines on a stream (default: standard output), flushed at each delivery. At least once.

    Args:
        out: A text stream.
        stream: Which rows: ``"new"``, ``"old"`` or ``"both"``.
        name: Names the sink in checkpoints and errors.

    Examples:
        >>> StreamSink(stream="both").stream
        'both'
    """

    @check_arguments
    def __init__(self, out: TextIO | None = None, *, stream: str = "new", name: str = "stream") -> None:
        self.name, self.stream = name, check_stream(stream)
        self._out = out

    def open(self, event_type: EventType, state: str | None) -> None:
        """See Sink."""

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """See Sink."""
        out = self._out or sys.stdout
        out.write("".join(f"{row.json()}\n" for row in rows))
        out.flush()

    def close(self) -> None:
        """See Sink."""


class FileSink:
    """Rows as JSON lines, CSV or Parquet.

    Without a state: one file, written as rows come (Parquet: in row groups, and readable once it is closed); one that is there is replaced.
    With a state: a folder with one file a checkpoint, ``part-00000012.jsonl``, each there as a whole or not at all; one that is delivered
    again replaces itself, so that the folder has each row exactly once. The file ``.epl_state`` says which state they are of.

    Args:
        location: A path or URI: of the file, or with a state of the folder.
        format: ``jsonl``, ``csv`` or ``parquet`` (default: by the file's name; ``jsonl`` for folders).
        stream: Which rows: ``"new"``, ``"old"`` or ``"both"``.
        name: Names the sink in checkpoints and errors (default: the location).

    Examples:
        >>> FileSink("alerts.parquet").format, FileSink("s3://bucket/alerts/").format
        ('parquet', 'jsonl')
    """

    @check_arguments
    def __init__(self, location: str | Path, *, format: str | None = None, stream: str = "new", name: str | None = None) -> None:
        self.location, self.stream = str(location), check_stream(stream)
        self.name = name or self.location
        by_name = SUFFIXES.get(Path(location_name(self.location)).suffix.lower(), "jsonl")
        self.format = format or by_name
        if self.format not in FORMATS:
            raise ValueError(f"format: one of {', '.join(FORMATS)} is expected, not {format!r}")
        self._writer: Any = None
        self._folder: _Folder | None = None
        self._type: EventType | None = None
        self.holds: str | None = None
        """See Sink."""

    def open(self, event_type: EventType, state: str | None) -> None:
        """See Sink."""
        self._type = event_type
        if state is None:
            self._writer = FORMATS[self.format](open_to_write(self.location), event_type)
        else:
            self._folder = _Folder(self.location.rstrip("/"), state)
            self.holds = self._folder.holds

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """See Sink."""
        if self._folder is None:
            self._writer.write(rows)
            return
        assert self._type is not None and checkpoint is not None
        content = io.BytesIO()
        writer = FORMATS[self.format](content, self._type)
        writer.write(rows)
        writer.finish()
        self._folder.write(f"{checkpoint:08}.{self.format}", content.getvalue())

    def close(self) -> None:
        """See Sink."""
        writer, self._writer, self._folder = self._writer, None, None
        if writer is not None:
            writer.finish()
            writer.file.close()


class _Folder:
    """A folder of parts of one state. ``holds``: see Sink. Parts beside those of another state have names of their own."""

    def __init__(self, location: str, state: str) -> None:
        self._location, self._state = location, state
        self._prefix = ""
        self._is_marked = False
        mark = self._mark()
        self.holds = None if mark is None or mark[0] == state else mark[0]
        if mark is not None and mark[0] == state:
            self._is_marked, self._prefix = True, mark[1]
        elif mark is not None:
            self._prefix = f"{state[:8]}-"

    def _mark(self) -> tuple[str, str] | None:
        """Return the state of the parts, \"\" where that is not known, and what its parts are called; None where there are none."""
        try:
            with open_to_read(f"{self._location}/{MARKER}")[0] as file:
                state, _, prefix = file.read().decode().strip().partition(" ")
                return state, prefix
        except FileNotFoundError:
            return ("", "") if has_files(self._location, "part-") else None

    def write(self, name: str, content: bytes) -> None:
        if not self._is_marked:
            write_whole(f"{self._location}/{MARKER}", f"{self._state} {self._prefix}\n".encode())
            self._is_marked = True
        write_whole(f"{self._location}/part-{self._prefix}{name}", content)


class _JsonLines:
    def __init__(self, file: Any, event_type: EventType) -> None:
        self.file = file

    def write(self, rows: Sequence[OutputRow]) -> None:
        self.file.write("".join(f"{row.json()}\n" for row in rows).encode("utf-8", "backslashreplace"))
        self.file.flush()

    def finish(self) -> None:
        pass


class _Csv:
    """A header, then rows; null is an empty cell, nested values are JSON."""

    def __init__(self, file: Any, event_type: EventType) -> None:
        self.file = file
        self._names = list(event_type.properties)
        self._line(self._names)

    def _line(self, cells: Sequence[Any]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        self.file.write(text.getvalue().encode("utf-8", "backslashreplace"))

    def write(self, rows: Sequence[OutputRow]) -> None:
        for row in rows:
            self._line([_cell(row.values.get(name)) for name in self._names])
        self.file.flush()

    def finish(self) -> None:
        pass


class _Parquet:
    def __init__(self, file: Any, event_type: EventType) -> None:
        from pyarrow.parquet import ParquetWriter

        from runtime.conversion.arrow import arrow_schema

        self.file = file
        self._type = event_type
        self._writer = ParquetWriter(file, arrow_schema(event_type))

    def write(self, rows: Sequence[OutputRow]) -> None:
        from runtime.conversion.arrow import to_batch
        from runtime.conversion.from_python import to_event

        self._writer.write_batch(to_batch([to_event(self._type, dict(row.values)) for row in rows], self._type))

    def finish(self) -> None:
        self._writer.close()


FORMATS: dict[str, Any] = {"jsonl": _JsonLines, "csv": _Csv, "parquet": _Parquet}


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    plain = jsonable(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _has_more(stream: Any, seconds: float) -> bool:
    """Return whether a read would return at once; True where the system cannot say."""
    try:
        return bool(select.select([stream], [], [], seconds)[0])
    except (OSError, ValueError):  # Windows has it for sockets alone; a stream in memory has no descriptor
        return True


def _of_fault(location: str, fault: FileFault) -> EplRuntimeError:
    where = location if fault.line is None else f"{location}:{fault.line}"
    return EplRuntimeError(f"{where}: {fault.error.message}", hint=fault.error.hint)


def _warner(name: str) -> Any:
    return lambda text: warnings.warn(f"{name}: {text}", EplWarning, stacklevel=2)


__all__ = ["FileSink", "FileSource", "RowSource", "StreamSink"]
