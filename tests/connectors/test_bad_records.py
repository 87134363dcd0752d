"""Whatever one record holds, a run that skips bad rows loses that record at most, and says which it was: drawn files of all formats."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.cli import main
from runtime.clock.instants import LAST
from runtime.connectors import FileSource, KafkaSource, Pipeline, RowSource, event_files
from runtime.connectors.cells import milliseconds
from runtime.connectors.event_files import EventFile

TYPES = {
    "i": "int", "l": "long", "f": "float", "d": "double", "b": "boolean", "s": "string", "y": "byte", "c": "char", "n": "BigInteger",
    "m": "BigDecimal", "t": "java.util.Date", "z": "java.time.ZonedDateTime", "a": "int[]", "o": "java.util.Map", "v": "java.lang.Object",
}
MODULE = f"create schema A(k string, {', '.join(f'{name} {kind}' for name, kind in TYPES.items())});\n@name('s') select k from A;"
NAMES = ["k", *TYPES, "ts"]
DIGITS = "9" * 5000
TEXTS = [
    DIGITS, "-" + DIGITS, "0" * 5000, "1." + DIGITS, "1e999", "-1e999", "1e-999", "NaN", "Infinity", "99999999999999999999",
    "1" + "0" * 400, "x", "-", "+", "1_000", "0x1f", "\u0663", "\x00", "\x85", " ", "2024-13-45", "2024-01-01T99:99:99Z",
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "0000-01-01", "2024-01-01T00:00:00+99:99", "[" * 3000, "{" * 3000,
    '{"a": ' * 2000 + "1" + "}" * 2000, "[1, " + DIGITS + "]", "\U0010ffff", "\ufeff", "null", "true", "1E", "0" * 30 + "1", "\t",
    "\u2028", "1970-01-01T00:00:00." + "1" * 9 + "Z", "1e5", "4611686018427387904", "-9223372036854775808",
]
"""Cells that are hard to read for one type or the other."""
BYTES = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"caf\xe9", b"\xfe\xff"]


@attrs.frozen
class Damage:
    """What is wrong with a row: some columns hold hard texts; ``also``: what else there is."""

    cells: dict[str, Any]
    also: tuple[str, ...] = ()
    bytes: bytes = b""

    @property
    def is_certain(self) -> bool:
        return bool(self.also)


def damages(values: st.SearchStrategy[Any], *also: str) -> st.SearchStrategy[Damage]:
    cells = st.dictionaries(st.sampled_from(NAMES[1:]), values, max_size=3)
    others = st.lists(st.sampled_from(also), max_size=2, unique=True).map(tuple) if also else st.just(())
    return st.builds(Damage, cells, others, st.sampled_from(BYTES))


def rows_of(damage: st.SearchStrategy[Damage]) -> st.SearchStrategy[list[Damage | None]]:
    """Good rows, and damaged ones anywhere among them."""
    return st.lists(st.none() | damage, min_size=1, max_size=8).map(lambda rows: [None, *rows, None])


def values_of(place: int, damage: Damage | None) -> dict[str, Any]:
    values: dict[str, Any] = dict.fromkeys(NAMES)
    cells = {} if damage is None else dict(damage.cells)
    if is_later(cells.get("ts")):
        del cells["ts"]
    return {**values, "k": f"r{place}", "ts": 1000, **cells}


def is_later(value: Any) -> bool:
    """Whether it is a time that is right, after which the good rows would be late."""
    time = milliseconds(value)
    return time is not None and 1000 < time <= LAST


def check(rows: Sequence[Damage | None], seen: Sequence[str], skipped: int, places: Sequence[str], first: int = 0) -> None:
    """All good rows have come, in order; each row has come or is counted; the places are those of the rows that have not."""
    assert [k for k in seen if rows[int(k[1:])] is None] == [f"r{n}" for n, row in enumerate(rows) if row is None]
    assert len(set(seen)) == len(seen) and len(seen) + skipped == len(rows)
    missing = [n for n in range(len(rows)) if f"r{n}" not in seen]
    assert [int(place.split()[-1]) for place in places] == [n + first for n in missing]
    assert not {n for n, row in enumerate(rows) if row is not None and row.is_certain} - set(missing)


def piped(source: Any) -> tuple[list[str], int, list[str]]:
    seen: list[str] = []
    with Runtime() as runtime:
        runtime.deploy(MODULE, listeners={"s": lambda new, *_: seen.extend(row.k for row in new)})
        pipeline = Pipeline(runtime, [source], {}, on_bad="skip", on_late="skip")
        pipeline.run()
        return seen, pipeline.skipped, [each.partition(": ")[2].partition(":")[0] for each in pipeline.first_skipped]


def commanded(name: str, content: bytes) -> tuple[list[str], int, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        module, events = Path(folder, "m.epl"), Path(folder, name)
        module.write_text(MODULE)
        events.write_bytes(content)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            options = ("--time", "ts", "--skip-bad-rows", "--missing", "null", "--format", "json")
            code = main(["run", str(module), "--events", str(events), *options])
        assert code == 0, err.getvalue()
        seen = [row["k"] for line in out.getvalue().splitlines() for row in json.loads(line)["new"]]
        skipped, places = 0, []
        for line in err.getvalue().splitlines():
            if line.endswith(" bad rows skipped"):
                skipped = int(line.split()[-4])
            elif line.startswith("    "):
                places.append(line.strip().partition(":")[0])
        return seen, skipped, places


def of_file(name: str, content: bytes) -> list[tuple[list[str], int, list[str]]]:
    """What comes of a file in a pipeline, and by the command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return [piped(FileSource(path, time="ts", missing="null")), commanded(name, content)]


DRAWN = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("name", ["e.csv", "e.tsv"])
@DRAWN
@given(rows=rows_of(damages(st.sampled_from(TEXTS), "cells", "few", "bytes")))
def test_csv(name: str, rows: list[Damage | None]) -> None:
    sign = "," if name == "e.csv" else "\t"
    text = sign.join(NAMES).encode() + b"\n"
    for place, damage in enumerate(rows):
        out = io.StringIO()
        cells = ["" if value is None else str(value) for value in values_of(place, damage).values()]
        if damage is not None and "cells" in damage.also:
            cells.append("one too many")
        elif damage is not None and "few" in damage.also:
            cells = cells[:2]
        csv.writer(out, delimiter=sign, lineterminator="\n").writerow(cells)
        line = out.getvalue().encode()
        text += line if damage is None or "bytes" not in damage.also else line[:-1] + damage.bytes + b"\n"
    for seen, skipped, places in of_file(name, text):
        check(rows, seen, skipped, places, 1)


VALUES = [
    *TEXTS, int("9" * 30), 2**63, -(2**63) - 1, 2**62, 1e308, 5e-324, True, False, [], {}, [[[]]], {"a": {"b": [None]}}, -1, 3.5, 300,
    [1, "x"], [2**40], "\ud800",
]
"""Values of JSON, ``RAW`` among those that are written as they are."""
RAW = [
    DIGITS, "1e999", "NaN", "-Infinity", "[" * 3000, "{}}", "nul", "1e", '"', '"\\u12"', '"\\ud800"', "'x'", "", "1" + "0" * 400,
    "[" * 500 + "]" * 500, "\x00",
]


def json_line(place: int, damage: Damage | None, raw: dict[str, str]) -> bytes:
    values = {name: json.dumps(value) for name, value in values_of(place, damage).items() if value is not None} | raw
    pairs = [f"{json.dumps(name)}: {value}" for name, value in values.items()]
    line = ("{" + ", ".join(pairs) + "}").encode()
    if damage is not None and "bytes" in damage.also:
        line = line[:-1] + b', "more": "' + damage.bytes + b'"}'
    if damage is not None and "cells" in damage.also:
        line += b" {}"
    return line[: len(line) // 2] if damage is not None and "few" in damage.also else line


raw_values = st.dictionaries(st.sampled_from(NAMES[1:]), st.sampled_from(RAW), max_size=2)
json_rows = st.lists(
    st.tuples(damages(st.sampled_from(VALUES), "cells", "few", "bytes"), raw_values) | st.none(), min_size=1, max_size=8,
).map(lambda rows: [None, *rows, None])


@DRAWN
@given(drawn=json_rows)
def test_json_lines(drawn: list[tuple[Damage, dict[str, str]] | None]) -> None:
    rows = [None if each is None else each[0] for each in drawn]
    lines = [json_line(place, *((None, {}) if each is None else each)) for place, each in enumerate(drawn)]
    for seen, skipped, places in of_file("e.jsonl", b"".join(line + b"\n" for line in lines)):
        check(rows, seen, skipped, places, 1)


TIMES = [-1, 0, 1000, 2**62, 2**63 - 1, -(2**63)]


class Record:
    """A record as the client of Kafka has it."""

    def __init__(self, offset: int, value: bytes | None, time: int) -> None:
        self._offset, self._value, self._time = offset, value, time

    def error(self) -> None:
        return None

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes | None:
        return self._value

    def timestamp(self) -> tuple[int, int]:
        return 1, self._time


def of_topic(records: list[Record], record_time: bool) -> tuple[list[str], int, list[str]]:
    """What comes of the records of a topic, from a source whose client is ours."""

    class Consumer(KafkaSource):
        left = [records]

        def open(self, position: Any) -> None:
            self._kafka = attrs.make_class("Client", ["TIMESTAMP_NOT_AVAILABLE"])(0)
            self._consumer, self._looked = self, float("inf")

        def consume(self, most: int, seconds: float) -> list[Record]:
            return self.left.pop()

        def poll(self, seconds: float) -> Any:
            return super().poll(seconds) if self.left else None

        def committed(self) -> None:
            pass

        def close(self) -> None:
            pass

    return piped(Consumer("t", "localhost:1", record_time=record_time, time=None if record_time else "ts"))


@DRAWN
@given(drawn=json_rows, times=st.none() | st.lists(st.sampled_from(TIMES), min_size=8, max_size=8))
def test_records_of_a_topic(drawn: list[tuple[Damage, dict[str, str]] | None], times: list[int] | None) -> None:
    rows = [None if each is None else each[0] for each in drawn]
    records = [
        Record(n, json_line(n, *((None, {}) if each is None else each)), 1000 if each is None or times is None else times[n - 1])
        for n, each in enumerate(drawn)
    ]
    check(rows, *of_topic(records, times is not None))


PYTHON = [*VALUES, 10**5000, float("nan"), float("inf"), b"\xff", object(), {1: {2}}, (), range(3), "\udfff", 1j, type, Ellipsis]


@DRAWN
@given(rows=rows_of(damages(st.sampled_from(PYTHON))))
def test_rows_of_python(rows: list[Damage | None]) -> None:
    values = [{name: value for name, value in values_of(n, row).items() if value is not None} for n, row in enumerate(rows)]
    check(rows, *piped(RowSource(values, time="ts")))


# ------------------------------------------------------------------ Parquet

COLUMNS: dict[str, list[tuple[pa.DataType, list[Any]]]] = {
    "time": [
        (pa.timestamp("us"), [2**62, -(2**62), 0]), (pa.timestamp("ms", tz="UTC"), [2**60, -(2**60)]), (pa.timestamp("ns"), [-(2**62), 1]),
    ],
    "date": [(pa.date32(), [2**31 - 1, -(2**31), 0]), (pa.date64(), [2**62 - 2**62 % 86_400_000, 0])],
    "whole": [(pa.int64(), [2**63 - 1, -(2**63), 2**62]), (pa.uint64(), [2**64 - 1, 5])],
    "other": [(pa.float64(), [1e308, float("nan"), float("inf")]), (pa.duration("us"), [2**62, 1]), (pa.bool_(), [True, False])],
}
KINDS = [each for group in COLUMNS.values() for each in group]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, list[Damage | None]]:
    """A table in which some cells cannot be read, or are of no use for their property."""
    rows: list[Damage | None] = [None, *(draw(st.lists(st.none() | st.just(Damage({})), min_size=1, max_size=8))), None]
    columns: dict[str, Any] = {"k": pa.array([f"r{n}" for n in range(len(rows))]), "ts": pa.array([1000] * len(rows), pa.int64())}
    for name in draw(st.lists(st.sampled_from([*NAMES[1:]]), max_size=3, unique=True)):
        if draw(st.booleans()) and name != "ts":
            data = [None if row is None else draw(st.sampled_from([*BYTES, b"x", DIGITS.encode()])) for row in rows]
            columns[name] = pa.array(data, pa.binary()).cast(pa.string(), safe=False) if not data else _strings(data)
            continue
        kind, values = draw(st.sampled_from(KINDS))
        good = None if name != "ts" else _moment(kind)
        if name == "ts" and good is None:
            continue
        raw = [good if row is None else draw(st.sampled_from(values)) for row in rows]
        columns[name] = _array(raw, kind)
    return pa.table(columns), rows


def _strings(data: list[bytes | None]) -> pa.Array:
    """Text as a broken writer leaves it: not UTF-8."""
    binary = pa.array(data, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(binary), binary.buffers())


def _array(raw: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pa.array(raw, pa.int32()).view(kind)
    return pa.array(raw, pa.int64()).view(kind) if pa.types.is_temporal(kind) else pa.array(raw, kind)


def _moment(kind: pa.DataType) -> int | None:
    """The good rows' second as a value of the kind."""
    if pa.types.is_timestamp(kind):
        return {"ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}[kind.unit]
    return 1000 if pa.types.is_integer(kind) else None


@DRAWN
@given(drawn=tables())
def test_parquet(drawn: tuple[pa.Table, list[Damage | None]]) -> None:
    table, rows = drawn
    out = io.BytesIO()
    pq.write_table(table, out)
    for seen, skipped, places in of_file("e.parquet", out.getvalue()):
        check(rows, seen, skipped, places, 1)


def test_a_closed_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that comes back while Python shuts down ends the process with SIGABRT."""
    reading: list[int] = []
    read = event_files._Continued.read

    def slowly(file: event_files._Continued, size: int) -> bytes:
        reading.append(size)
        time.sleep(0.1)
        reading.pop()
        return read(file, size)

    monkeypatch.setattr(event_files, "BLOCK", 1 << 12)
    monkeypatch.setattr(event_files._Continued, "read", slowly)
    path = tmp_path / "e.csv"
    path.write_text("ts,k\n" + "1,a\n" * 100_000)
    file = EventFile.open(str(path))
    next(file.chunks(lambda row: None))
    file.close()
    assert not reading
