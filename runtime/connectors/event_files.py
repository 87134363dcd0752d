"""Event files: JSON lines, CSV and Parquet as chunks of columns, EPL Online scripts as instructions.

A chunk has its rows as columns, read by pyarrow, where they can be read so; its rows one by one, with the line of each, are there in any
case: for what columns cannot hold, and to say which row is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from epl.errors import EplRuntimeError
from runtime.connectors.column_rows import ColumnRows, column_values
from runtime.connectors.locations import is_uri, location_name, open_to_read
from runtime.replay.epl_online import looks_like_script

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
"""How compressed files begin."""
BLOCK = 8 << 20
"""Bytes that are read at once. A CSV row must fit into one."""
CHUNK_ROWS = 20_000
DELIMITERS = ";\t|"
UNCLOSED = "a quote has no end"
LAST_CELL = "\0the end of the file"
"""Begins a record that is read after a CSV file's own: pyarrow takes the end of a file for the end of a quote, and then it is a part
of the last cell."""

NOT_UTF8, NAMED = "\0not UTF-8: byte 0x", "epl-named"
"""In a CSV file that pyarrow reads, begins what is written in place of a byte that is not UTF-8; the codecs' name of what writes it."""

Row = tuple[int, "Mapping[str, Any] | EplRuntimeError"]
"""(number, from 1: a line of JSON, a row of CSV or Parquet; the row, or what is wrong with it)."""


@attrs.frozen(eq=False)
class Chunk:
    """Some rows. ``columns``: makes columns of them, None where they have to be taken one by one; ``is_text``: whether cells are text, to
    be read by the property's type; ``position``: how far the file has been read, in bytes (Parquet: rows)."""

    columns: Callable[[], pa.RecordBatch | None]
    rows: Callable[[], Iterator[Row]]
    is_text: bool = False
    position: int = 0


class FileFault(Exception):
    """A file that cannot be read on: ``line`` from 1 (None: nowhere in particular) and what is wrong."""

    def __init__(self, line: int | None, error: EplRuntimeError) -> None:
        super().__init__(error.message)
        self.line = line
        self.error = error


def file_kind(location: str, requested: str, head: str) -> str:
    """Return what a file holds: as asked for, else by its name, else by its first line."""
    if requested != "auto":
        return requested
    suffixes = [s.lower() for s in Path(location_name(location)).suffixes]
    known = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if known is None and len(suffixes) > 1 and suffixes[-1] in (".gz", ".bz2", ".zst"):
        known = SUFFIXES.get(suffixes[-2])
    if known is not None:
        return known
    if looks_like_script(head):
        return "script"
    return "jsonl" if head.lstrip().startswith("{") else "csv" if "," in head.partition("\n")[0] else "script"


@attrs.define(eq=False)
class EventFile:
    """An event file that has been opened. ``total``: its size (bytes; rows of Parquet), None where it is not known; ``names``: its columns,
    None for JSON, whose rows have their own."""

    location: str
    kind: str
    total: int | None
    delimiter: str = ","
    names: list[str] | None = None
    _raw: Any = None
    _handle: Any = None
    _end_reading: Callable[[], None] = lambda: None

    @classmethod
    def open(cls, location: str, kind: str = "auto", stdin: BinaryIO | None = None, delimiter: str | None = None) -> EventFile:
        """Open the file, or the stream for ``-``; raise EplRuntimeError where there is no such file or it is none of the kinds; FileFault
        where its columns make no sense."""
        suffix = Path(location_name(location)).suffix.lower()
        try:
            if kind == "parquet" or (kind == "auto" and SUFFIXES.get(suffix) == "parquet"):
                return cls._open_parquet(location)
            raw: Any
            raw, total = (_buffer(stdin), None) if location == "-" and stdin is not None else open_to_read(location)
            handle = _decompress(raw)
            head = handle.peek(4096)[:4096].decode("utf-8-sig", "replace")
            file = cls(location, file_kind(location, kind, head), total, delimiter or ("\t" if suffix == ".tsv" else ","))
            file._raw, file._handle = raw, handle
            if file.kind == "csv":
                file._read_header()
        except (OSError, EOFError, zlib.error) as error:
            raise EplRuntimeError(f"cannot read {location}: {_reason(error)}") from None
        return file

    @classmethod
    def _open_parquet(cls, location: str) -> EventFile:
        from pyarrow.parquet import ParquetFile

        try:
            file = ParquetFile(open_to_read(location)[0] if is_uri(location) else location)
        except pa.ArrowException as error:
            raise EplRuntimeError(f"cannot read {location}: {error}") from None
        event_file = cls(location, "parquet", file.metadata.num_rows, names=list(file.schema_arrow.names))
        event_file._handle = file
        return event_file

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.location != "-":
            self._end_reading()
            self._handle.close()

    def chunks(
        self, schema: Callable[[dict[str, Any]], pa.Schema | None], read: Collection[str] | None = None
    ) -> Iterator[Chunk]:
        """Yield the rows in the file's order; FileFault where it cannot be read on. ``schema``: of the first JSON row, the columns that
        rows like it have, or None; ``read``: the columns of CSV and Parquet that rows have (None: all)."""
        try:
            if self.kind == "parquet":
                yield from self._parquet(read)
            elif self.kind == "csv":
                yield from self._csv(read)
            else:
                yield from self._json(schema)
        except pa.ArrowException as error:
            hint = "a row is longer than 8 MiB, or a quote has no end" if "straddl" in str(error) else None
            raise FileFault(None, EplRuntimeError(f"cannot be read: {error}", hint=hint)) from error
        except (OSError, EOFError, zlib.error) as error:
            raise FileFault(None, EplRuntimeError(f"cannot be read: {_reason(error)}")) from error

    def script(self) -> str:
        """Return the text of a script; FileFault where it is not UTF-8."""
        try:
            return str(self._handle.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise FileFault(line, EplRuntimeError(f"not UTF-8: byte 0x{error.object[error.start]:02x}")) from error

    def _position(self) -> int:
        return 0 if self.location == "-" else int(self._raw.tell())

    # ------------------------------------------------------------------ Parquet

    def _parquet(self, read: Collection[str] | None) -> Iterator[Chunk]:
        before = 0
        kept = None if read is None else [name for name in self.names or () if name in read]
        for batch in self._handle.iter_batches(CHUNK_ROWS, columns=kept):
            rows = partial(enumerate, ColumnRows(batch, column_values), before + 1)
            before += len(batch)
            yield Chunk(partial(_itself, batch), rows, position=before)

    # ------------------------------------------------------------------ CSV

    def _read_header(self) -> None:
        lines = (line.decode("utf-8-sig") for line in iter(lambda: self._handle.readline(BLOCK), b""))
        try:
            self.names = next(csv.reader(lines, delimiter=self.delimiter, strict=True), [])
        except UnicodeDecodeError:
            raise FileFault(1, EplRuntimeError("the names of the columns are not UTF-8")) from None
        except csv.Error as error:
            hint = UNCLOSED if "unexpected end" in str(error) else None
            raise FileFault(1, EplRuntimeError(f"the names of the columns cannot be read: {error}", hint=hint)) from None
        self._check_names()

    def _check_names(self) -> None:
        names = self.names or []
        if not names:
            raise FileFault(1, EplRuntimeError("the file is empty: a line with the names of the columns is expected"))
        stripped = [name.strip() for name in names]
        for name in stripped:
            if stripped.count(name) > 1:
                raise FileFault(1, EplRuntimeError(f"more than one column is named '{name}'", hint="each column needs a name of its own"))
        other = next((d for d in DELIMITERS if len(names) == 1 and d in names[0]), None)
        if other is not None:
            shown = "$'\\t'" if other == "\t" else f"'{other}'"
            hint = f"are cells divided by another sign? --delimiter {shown}"
            raise FileFault(1, EplRuntimeError(f"there is only one column, '{names[0]}'", hint=hint))

    def _csv(self, read: Collection[str] | None) -> Iterator[Chunk]:
        assert self.names is not None
        names = [name.strip() for name in self.names]
        kept = names if read is None else [name for name in names if name in read]
        bad: list[tuple[int, EplRuntimeError]] = []
        last = LAST_CELL + self.delimiter * len(names)  # one cell too many: read as a record, it is none of the file's rows

        def refuse(row: Any) -> Literal["skip"]:
            if row.text != last:
                hint = UNCLOSED if row.text.count('"') % 2 else None
                columns = f"expected {_columns(row.expected_columns)}, found {row.actual_columns}"
                bad.append((row.number, EplRuntimeError(columns, hint=hint)))
            return "skip"

        if not self._handle.peek(1):
            return
        try:
            continued = _Continued(self._handle, f"\n{last}".encode())
            reader = pyarrow.csv.open_csv(
                cast(Any, pa.PythonFile(cast(Any, continued), "r")),
                pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names),
                pyarrow.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refuse),
                pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.binary()), null_values=[""], strings_can_be_null=True, check_utf8=False,
                    include_columns=kept if kept[-1:] == names[-1:] else [*kept, names[-1]],
                ),
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return
            raise
        self._end_reading = lambda: continued.end(reader)
        padded = any(name != name.strip() for name in self.names)
        record = 0
        for block in reader:
            is_unclosed = bool(len(block)) and (block.columns[-1][-1].as_py() or b"").endswith(last.encode())
            for start in range(0, len(block) - is_unclosed, CHUNK_ROWS):
                batch = block.slice(start, min(CHUNK_ROWS, len(block) - is_unclosed - start)).select(kept)
                within = _within(bad, record, len(batch))
                record += len(batch) + len(within)
                yield self._csv_chunk(batch, record - len(batch) - len(within) + 1, within, padded)
            if is_unclosed:
                bad.append((record + len(bad) + 1, EplRuntimeError("a cell holds the rest of the file", hint=UNCLOSED)))
        if bad:
            yield self._csv_chunk(pa.RecordBatch.from_pylist([], schema=reader.schema), record + 1, _within(bad, record, 0), False)

    def _csv_chunk(self, batch: pa.RecordBatch, first: int, bad: dict[int, EplRuntimeError], padded: bool) -> Chunk:
        """Return a chunk that begins with the file's record ``first``, from 1; ``bad``: records of it that are not rows."""

        def rows() -> Iterator[Row]:
            number = first
            for row in chain(ColumnRows(batch, _strip_values if padded else _cells), (None,)):
                while number in bad:
                    yield number, bad[number]
                    number += 1
                if row is not None:
                    yield number, row
                    number += 1

        return Chunk(partial(_as_text, None if bad or padded else batch), rows, is_text=True, position=self._position())

    def row_line(self, number: int) -> int:
        """Return the line in which a row ends that a chunk gives this number. CSV rows are counted: the file is read again to see where
        each ends, or, where it was a stream, each is taken to have one line."""
        if self.kind != "csv" or self.location == "-":
            return number + (self.kind == "csv")
        csv.field_size_limit(1 << 31)
        with open_to_read(self.location)[0] as raw:
            reader = csv.reader(io.TextIOWrapper(_decompress(raw), "utf-8-sig", "replace", newline=""), delimiter=self.delimiter)
            lines = (reader.line_num for row in reader if row)
            return next(islice(lines, number, None), number + 1)

    # ------------------------------------------------------------------ JSON lines

    def _json(self, schema: Callable[[dict[str, Any]], pa.Schema | None]) -> Iterator[Chunk]:
        line, rest = 1, b""
        arrow_schema: pa.Schema | None = None
        is_first = True
        while True:
            block = self._read_some()
            rest += block
            cut = rest.rfind(b"\n") + 1 if block else len(rest)
            if cut:
                taken, rest = rest[:cut], rest[cut:]
                if is_first:
                    taken, is_first = taken.removeprefix(b"\xef\xbb\xbf"), False
                    arrow_schema = _schema_of_first(taken, schema)
                yield Chunk(partial(_json_columns, taken, arrow_schema), _json_rows(taken, line), position=self._position())
                line += taken.count(b"\n")
            if not block:
                return


    def _read_some(self) -> bytes:
        """Return the next bytes; of a stream what is there, so that its lines are processed as they come."""
        return bytes(self._handle.read1(BLOCK // 4) if self.location == "-" else self._handle.read(BLOCK // 4))


def _name_bytes(error: UnicodeError) -> tuple[str, int]:
    """Write each byte that is not UTF-8 as text."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"{NOT_UTF8}{byte:02x}\0" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(NAMED, _name_bytes)


def _buffer(stream: Any) -> Any:
    """Return a binary stream that can be looked into."""
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)


class _Continued:
    """A file as pyarrow reads it: what is not UTF-8 becomes ``NOT_UTF8`` with the byte, since pyarrow ends where it cannot decode a row
    that it is to skip; and there are some more bytes after the file's own."""

    def __init__(self, file: Any, more: bytes) -> None:
        self.file = file
        self._more: bytes | None = more
        self._decoder = codecs.getincrementaldecoder("utf-8")(NAMED)
        self._ahead = b""
        self._is_ended = False

    @property
    def closed(self) -> bool:
        return bool(self.file.closed)

    def end(self, reader: Iterator[Any]) -> None:
        """End the file here, and wait for what ``reader`` reads ahead: its thread would end the process with a signal (SIGABRT) if it
        came back to Python while Python shuts down."""
        self._is_ended = True
        with suppress(pa.ArrowException):
            deque(reader, maxlen=0)

    def read(self, size: int) -> bytes:
        if self._is_ended:
            return b""
        while not self._ahead and self._more is not None:
            data: bytes = self.file.read(size)
            self._ahead = self._decoder.decode(data, not data).encode()
            if not data:
                self._ahead, self._more = self._ahead + self._more, None
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        return taken

    def close(self) -> None:
        self.file.close()


def _decompress(raw: Any) -> Any:
    """Return a file's content as a buffered stream, decompressed where its first bytes say that it is compressed."""
    head = raw.peek(4)[:4]
    codec = next((name for magic, name in PACKED.items() if head.startswith(magic)), None)
    if codec is None:
        return raw
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), codec), BLOCK)  # type: ignore[arg-type]


def _itself(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"


def _within(bad: list[tuple[int, EplRuntimeError]], before: int, rows: int) -> dict[int, EplRuntimeError]:
    """Take out the records that are not rows among the next ones: ``before`` records precede, ``rows`` are good."""
    errors: dict[int, EplRuntimeError] = {}
    last = before + rows
    while bad and (bad[0][0] <= last + 1 if rows == 0 else bad[0][0] <= last):
        number, error = bad.pop(0)
        errors[number] = error
        last += 1
    return errors


def _as_text(batch: pa.RecordBatch | None) -> pa.RecordBatch | None:
    """Return the cells as strings; None where one was not UTF-8, or where there are no columns."""
    if batch is None:
        return None
    columns: Sequence[Any] = [column.cast(pa.string()) for column in batch.columns]
    if any(pc.any(pc.match_substring(column, NOT_UTF8)).as_py() for column in columns):
        return None
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names) if columns else batch


def _cells(name: str, column: Any) -> list[Any]:
    """Return the cells of a column as text."""
    return [_fault(cell) if cell is not None and NOT_UTF8 in cell else cell for cell in column.cast(pa.string()).to_pylist()]


def _strip_values(name: str, column: Any) -> list[Any]:
    return [cell.strip() if isinstance(cell, str) else cell for cell in _cells(name, column)]


def _fault(cell: str) -> EplRuntimeError:
    what = cell[cell.index(NOT_UTF8) + 1 :].partition("\0")[0]
    return EplRuntimeError(what, hint="convert the file: iconv -f ISO-8859-1 -t UTF-8")


def _schema_of_first(block: bytes, schema: Callable[[dict[str, Any]], pa.Schema | None]) -> pa.Schema | None:
    for _, row in _json_rows(block, 1)():
        return schema(row) if isinstance(row, dict) else None
    return None


def _json_columns(block: bytes, schema: pa.Schema | None) -> pa.RecordBatch | None:
    """Return the lines as columns of a schema of plain values; None where a line has anything else. Unknown names are refused by the
    reader: it would go as deep into their values as they are nested."""
    if schema is None:
        return None
    try:
        table = pyarrow.json.read_json(
            io.BytesIO(block),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
    except pa.ArrowException:
        return None
    lines = sum(1 for line in block.splitlines() if line.strip())
    batches = table.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 and len(batches[0]) == lines else None


def _json_rows(block: bytes, first: int) -> Callable[[], Iterator[Row]]:
    def rows() -> Iterator[Row]:
        for number, line in enumerate(block.split(b"\n"), first):
            if line.strip():
                yield number, json_object(line)

    return rows


def json_object(line: bytes) -> dict[str, Any] | EplRuntimeError:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return EplRuntimeError(f"not UTF-8: byte 0x{error.object[error.start]:02x}")
    except json.JSONDecodeError as error:
        hint = "a JSON array is not read: jq -c '.[]' FILE makes a line of each element" if line.lstrip().startswith(b"[") else None
        return EplRuntimeError(f"not JSON: {error}", hint=hint)
    except ValueError:
        return EplRuntimeError("a number has too many digits")
    except RecursionError:
        return EplRuntimeError("JSON nested too deeply")
    if isinstance(row, list):
        return EplRuntimeError("a JSON object a line is expected", hint="jq -c '.[]' FILE makes a line of each element of an array")
    return row if isinstance(row, dict) else EplRuntimeError("a JSON object a line is expected")


__all__ = ["Chunk", "EventFile", "FileFault", "json_object"]
