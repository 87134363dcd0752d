"""Event files of ``epl run``: JSON lines, CSV, Parquet and EPL Online scripts, all read as instructions of such a script."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

import attrs

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.value_types import ArrayType, CollectionType, EventOf, MapType, Scalar, ValueType
from runtime.cli import UsageError
from runtime.epl_online import At, Instruction, Send, looks_like_script, parse_script

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
BATCH_ROWS = 10_000


@attrs.frozen
class Item:
    """One instruction. ``line``: where it stands, from 1; ``weight``: how much of the file it is (bytes, or rows of Parquet)."""

    line: int
    instruction: Instruction
    weight: int = 1


@attrs.frozen
class RowReader:
    """Turns rows into instructions: which type they are, when they happen, what text cells mean.

    ``type_name``: of every row; None: the row's ``type_column`` says, or, where a row has no such column, ``only_type``.
    """

    event_type: Callable[[str], EventType]
    type_name: str | None
    type_column: str
    only_type: str | None
    time_column: str | None

    def instructions(self, row: dict[str, Any], text_cells: bool = False) -> Iterator[Instruction]:
        """At most a time step, then the event. Raises EplRuntimeError for rows that cannot be events."""
        name = self.type_name
        if name is None and isinstance(row.get(self.type_column), str):
            name = row.pop(self.type_column)
        name = name or self.only_type
        if name is None:
            raise EplRuntimeError(
                f"the row has no column '{self.type_column}' that says its event type",
                hint="name the type with --type, or the column with --type-column",
            )
        declared = self.event_type(name)
        if self.time_column is not None:
            yield At(self._time(row, declared))
        yield Send(name, {k: cell_value(v, declared.type_of(k)) for k, v in row.items()} if text_cells else row)

    def _time(self, row: dict[str, Any], declared: EventType) -> int:
        column = str(self.time_column)
        value = row.get(column)
        if declared.property(column) is None:
            row.pop(column, None)
        if isinstance(value, datetime.datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
            return (aware - EPOCH) // datetime.timedelta(milliseconds=1)
        try:
            return int(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise EplRuntimeError(f"time column '{column}' holds {value!r}, expecting ms") from None


def cell_value(cell: Any, declared: ValueType | None) -> Any:
    """The value of a text cell by the property's type; an empty cell is null.

    What is not understood stays text, and sending it says what is wrong.

    >>> cell_value("1.5", None), cell_value("", None)
    ('1.5', None)
    """
    if not isinstance(cell, str) or cell == "":
        return None if cell == "" else cell
    if isinstance(declared, (ArrayType, CollectionType, MapType, EventOf)) and cell[0] in "[{":
        return json.loads(cell)
    parse = CELLS.get(declared.kind) if isinstance(declared, Scalar) else None
    if parse is None:
        return cell
    try:
        return parse(cell)
    except (ValueError, KeyError, InvalidOperation):
        return cell


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _instant(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


CELLS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("byte", "short", "int", "long", "BigInteger"), int),
    **dict.fromkeys(("float", "double", "Number"), float),
    "BigDecimal": Decimal,
    "boolean": _boolean,
    **dict.fromkeys(("Date", "Calendar"), _instant),
}


def kind_of(path: Path, wanted: str, head: str) -> str:
    """What a file holds: as asked for, else by its name, else by its first line."""
    if wanted != "auto":
        return wanted
    known = SUFFIXES.get(path.suffix.lower())
    if known is not None:
        return known
    if looks_like_script(head):
        return "script"
    return "jsonl" if head.lstrip().startswith("{") else "csv" if "," in head.partition("\n")[0] else "script"


@attrs.frozen
class EventFile:
    """An event file that has been opened. ``total``: the sum of its items' weights, None where it is not known."""

    kind: str
    total: int | None
    _handle: Any

    @classmethod
    def open(cls, path: Path, wanted: str, stdin: TextIO) -> EventFile:
        """UsageError where there is no such file or it is none of the kinds."""
        if wanted == "parquet" or (wanted == "auto" and SUFFIXES.get(path.suffix.lower()) == "parquet"):
            file = _parquet_file(path)
            return cls("parquet", file.metadata.num_rows, file)
        try:
            handle: TextIO = io.StringIO(stdin.read()) if str(path) == "-" else path.open(encoding="utf-8-sig", newline="")
            total = len(handle.getvalue()) if isinstance(handle, io.StringIO) else path.stat().st_size
            head = handle.read(4096)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        handle.seek(0)
        kind = kind_of(path, wanted, head)
        return cls(kind, None if kind == "script" else total, handle)

    def items(self, reader: RowReader) -> Iterator[Item]:
        """Instructions in the file's order. Raises RowError, for scripts EplSyntaxError."""
        if self.kind == "script":
            return _script(self._handle)
        readers: dict[str, Callable[[Any, RowReader], Iterator[Item]]] = {"jsonl": _json_lines, "csv": _csv, "parquet": _parquet}
        return readers[self.kind](self._handle, reader)


def _script(handle: TextIO) -> Iterator[Item]:
    with handle:
        for line, instruction in parse_script(handle.read()):
            yield Item(line, instruction)


def _json_lines(handle: TextIO, reader: RowReader) -> Iterator[Item]:
    with handle:
        for number, line in enumerate(handle, 1):
            if line.strip():
                yield from _located(number, _json_object(number, line), reader, len(line), False)


def _json_object(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise RowError(number, EplRuntimeError(f"not JSON: {error}")) from None
    if not isinstance(row, dict):
        raise RowError(number, EplRuntimeError("a JSON object a line is expected"))
    return row


def _csv(handle: TextIO, reader: RowReader) -> Iterator[Item]:
    with handle:
        rows = csv.DictReader(handle, skipinitialspace=True)
        for row in rows:
            if None in row or None in row.values():
                raise RowError(rows.line_num, EplRuntimeError(f"the row has not the {len(rows.fieldnames or ())} columns of the header"))
            yield from _located(rows.line_num, row, reader, sum(map(len, row.values())) + len(row), True)


def _parquet_file(path: Path) -> Any:
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except (OSError, ArrowInvalid) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def _parquet(file: Any, reader: RowReader) -> Iterator[Item]:
    number = 0
    for batch in file.iter_batches(BATCH_ROWS):
        for row in batch.to_pylist():
            number += 1
            yield from _located(number, row, reader, 1, False)


def _located(number: int, row: dict[str, Any], reader: RowReader, weight: int, text_cells: bool) -> Iterator[Item]:
    try:
        for instruction in reader.instructions(row, text_cells):
            yield Item(number, instruction, weight if isinstance(instruction, Send) else 0)
    except EplRuntimeError as error:
        raise RowError(number, error) from error


class RowError(Exception):
    """A row that is no event: ``line`` from 1 and what is wrong."""

    def __init__(self, line: int, error: EplRuntimeError) -> None:
        super().__init__(f"line {line}: {error.message}")
        self.line = line
        self.error = error
