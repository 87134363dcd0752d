"""Columns of files and records that no statement reads are neither converted nor refused, whatever they hold."""
from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.cli import main
from runtime.connectors import FileSource, KafkaSource, Pipeline, RowSource, column_rows
from runtime.connectors.event_files import EventFile, json_object

TYPE = "@public @buseventtype create schema T(k string, x int, n int, moment java.util.Date, ns int[]);"
READER = f"{TYPE} @name('s') select k, sum(x) as total from T group by k"
TOTALS = [{"k": "a", "total": 1}, {"k": "b", "total": 2}, {"k": "a", "total": 4}]
ODD = [("a", 1, "no", [1], {"deep": 1}), ("b", 2, {"a": [None]}, True, "text"), ("a", 3, 2**70, "yesterday", [["x"]])]
"""Rows whose last three values are of no type that is declared."""


def csv(rows: list[tuple[Any, ...]] = ODD) -> bytes:
    cells = [[k, x, "no number", "never", "[not json"] for k, x, *_ in rows]
    return "\n".join(["k,x,n,moment,ns", *(",".join(map(str, row)) for row in cells)]).encode() + b"\n"


def json_lines() -> bytes:
    return b"".join(json.dumps(dict(zip(("k", "x", "n", "moment", "ns"), row))).encode() + b"\n" for row in ODD)


def parquet_file(**columns: pa.Array[Any]) -> bytes:
    table = pa.table({
        "k": ["a", "b", "a"], "x": pa.array([1, 2, 3], pa.int32()), "n": pa.array([b"\xff", b"2", None]),
        "moment": pa.array([2**60, -(2**60), None], pa.timestamp("us")), "ns": pa.array([{"a": [1]}, None, {"a": []}]), **columns,
    })
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "t.csv": csv, "t.jsonl": json_lines, "t.parquet": parquet_file,
    "padded.csv": lambda: csv().replace(b"k,x,n,moment,ns", b" k, x, n, moment, ns"),
    "bytes.csv": lambda: csv().replace(b"never", b"\xff\xfe"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(source: Any, module: str = READER, listen: Callable[..., None] | None = None, **options: Any) -> list[dict[str, Any]]:
    """Return what the statement ``s`` emits over a source of a pipeline."""
    rows: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.deploy(module, listeners={"s": listen or (lambda new, *_: rows.extend(row.to_dict() for row in new))})
        Pipeline(runtime, [source], {}, **options).run()
    return rows


def commanded(folder: Path, name: str, capsys: pytest.CaptureFixture[str], *options: str, module: str = READER) -> list[dict[str, Any]]:
    (folder / "m.epl").write_text(module)
    assert main(["run", "m.epl", "--events", name, "--format", "json", *options]) == 0
    return [row for line in capsys.readouterr().out.splitlines() for row in json.loads(line)["new"]]


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_bytes(FILES[name]())
    assert ran(FileSource(name)) == TOTALS
    assert commanded(folder, name, capsys) == TOTALS


def test_rows_of_python() -> None:
    assert ran(RowSource(dict(zip(("k", "x", "n", "moment", "ns"), row)) for row in ODD)) == TOTALS


def test_records_of_a_topic() -> None:
    """The reader of a topic gets what a record's JSON is parsed to."""
    runtime = Runtime()
    runtime.deploy(READER)
    reader = KafkaSource("t", "localhost:1").reader(runtime)
    sent = []
    for line in json_lines().splitlines():
        row = json_object(line)
        assert isinstance(row, dict)
        sent += [each.values for each in reader.instructions(row, False)]  # type: ignore[union-attr]
    assert sent == [{"k": k, "x": x} for k, x, *_ in ODD]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "bytes.csv"])
def test_columns_that_are_read_are_refused_as_ever(name: str, folder: Path) -> None:
    (folder / name).write_bytes(FILES[name]())
    for read in ("n", "moment", "ns", "*"):
        if (name, read) != ("bytes.csv", "n"):
            with pytest.raises(EplRuntimeError, match="row 1: "):
                ran(FileSource(name), f"{TYPE} @name('s') select {read} from T")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_only_what_is_read_is_converted(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / name).write_bytes(FILES[name]())
    looked_at: list[str] = []
    original = column_rows.ColumnRows.values

    def values(rows: Any, column: str) -> list[Any]:
        looked_at.append(column)
        return original(rows, column)

    monkeypatch.setattr(column_rows.ColumnRows, "values", values)
    assert ran(FileSource(name, type="T")) == TOTALS
    assert set(looked_at) == {"k", "x"}


@pytest.mark.parametrize(
    ("read", "names"), [({"x"}, ["x"]), ({"k", "ns"}, ["k", "ns"]), (set(), []), (None, ["k", "x", "n", "moment", "ns"])])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_only_what_is_read_is_brought_from_the_file(name: str, read: set[str] | None, names: list[str], folder: Path) -> None:
    (folder / name).write_bytes(FILES[name]())
    (chunk,) = EventFile.open(name).chunks(lambda row: None, read)
    columns = chunk.columns()
    assert columns is not None and columns.schema.names == names and len(columns) == 3
    assert [list(row) for _, row in chunk.rows() if not isinstance(row, EplRuntimeError)] == [names] * 3


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_statements_that_read_no_column_count_rows(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_bytes(FILES[name]())
    module = f"{TYPE} @name('s') select count(*) as c from T"
    assert ran(FileSource(name), module) == commanded(folder, name, capsys, module=module) == [{"c": 1}, {"c": 2}, {"c": 3}]


def test_a_quote_without_end_in_a_column_that_is_not_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "m.epl").write_text(READER)
    (folder / "t.csv").write_bytes(csv() + b'b,1,1,1,"no end\nb,1,1,1,1\n')
    assert main(["run", "m.epl", "--events", "t.csv"]) == 1
    assert "a cell holds the rest of the file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_statement_deployed_meanwhile_gets_its_columns_of_the_rows_after_it(name: str, folder: Path) -> None:
    """Also within a chunk, whose columns have been brought."""
    good: dict[str, list[Any]] = {"k": ["a", "b", "c"], "x": [1, 2, 3], "n": [4, 5, 6]}
    if name == "t.parquet":
        parquet.write_table(pa.table(good), name)
    elif name == "t.csv":
        Path(name).write_text("k,x,n\n" + "".join(f"{k},{x},{n}\n" for k, x, n in zip(*good.values())))
    else:
        Path(name).write_text("".join(json.dumps(dict(zip(good, row))) + "\n" for row in zip(*good.values())))
    seen: list[int | None] = []

    def listen(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        if new[0].k == "a":
            runtime.deploy("@name('late') select n from T", listeners={"late": lambda new, *_: seen.extend(row.n for row in new)})

    ran(FileSource(name, missing="null"), f"{TYPE} @name('s') select k from T", listen)
    assert seen == [5, 6]


def test_undeclared_properties_of_rows_are_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a type that keeps them, each may be read by what is sent on."""
    module = "@public @buseventtype create schema O(k string, unread int); @name('s') select k, late? as late from O"
    (folder / "o.csv").write_text("k,unread,late\na,,1\n")
    (folder / "o.jsonl").write_text('{"k": "a", "late": "1"}\n')
    for name in ("o.csv", "o.jsonl"):
        assert ran(FileSource(name), module) == commanded(folder, name, capsys, module=module) == [{"k": "a", "late": "1"}]


def test_columns_of_several_types(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = "@public @buseventtype create schema U(k string, y int, n int); @name('u') select y from U"
    module = f"{READER}; {other}"
    (folder / "t.csv").write_text("type,k,x,n,moment,ns,y\nT,a,1,?,?,?,?\nU,a,?,?,?,?,2\nT,a,3,?,?,?,?\n")
    assert commanded(folder, "t.csv", capsys, module=module) == [{"k": "a", "total": 1}, {"y": 2}, {"k": "a", "total": 4}]


def test_recordings_have_all_columns(folder: Path) -> None:
    (folder / "m.epl").write_text(READER)
    (folder / "t.csv").write_text("k,x,n,moment,ns\na,1,7,0,[1]\n")
    assert main(["run", "m.epl", "--events", "t.csv", "--record", "m.test.json"]) == 0
    (case,) = json.loads((folder / "m.test.json").read_text())["cases"]
    assert [step["props"]["n"] for step in case["steps"] if step["op"] == "event"] == [7]


def test_the_time_column_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = TYPE.replace("java.util.Date", "long") + "@name('s') select k, current_timestamp() as at from T"
    (folder / "t.csv").write_text("k,x,n,moment,ns\na,?,?,1000,?\nb,?,?,2000,?\n")
    parquet.write_table(pa.table({"k": ["a", "b"], "moment": [1000, 2000]}), "t.parquet")
    for name in ("t.csv", "t.parquet"):
        expected = [{"k": "a", "at": 1000}, {"k": "b", "at": 2000}]
        assert ran(FileSource(name, time="moment", missing="null"), module) == expected
        assert commanded(folder, name, capsys, "--time", "moment", "--missing", "null", module=module) == expected
