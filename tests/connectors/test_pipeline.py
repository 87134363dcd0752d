"""Pipelines over files, streams and databases."""
from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import duckdb
import fsspec
import pyarrow.parquet
import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime, Settings
from runtime.connectors import DatabaseSink, FileSink, FileSource, Input, KafkaSink, KafkaSource, OutputRow, Pipeline, RowSource, StreamSink

MODULE = """
@public @buseventtype create schema A(k string, x int, ts long);
@name('sums') select k, sum(x) as total, ts from A group by k;
@name('window') select irstream x from A#length(1);
"""
ROWS = [{"k": "ab"[n % 2], "x": n, "ts": 1000 * n} for n in range(6)]


def started() -> Runtime:
    runtime = Runtime()
    runtime.deploy(MODULE)
    return runtime


def expected(rows: Sequence[dict[str, Any]] = ROWS) -> list[dict[str, Any]]:
    totals: dict[str, int] = {}
    out = []
    for row in rows:
        totals[row["k"]] = totals.get(row["k"], 0) + row["x"]
        out.append({"k": row["k"], "total": totals[row["k"]], "ts": row["ts"]})
    return out


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("place", ["{}/", "file://{}/", "memory://{}/"])
def test_files_go_in_and_out_by_path_and_uri(tmp_path: Path, place: str, format: str) -> None:
    root = place.format(tmp_path)
    first, last = f"{root}in.jsonl", f"{root}out.{format}"
    with fsspec.open(first, "w") as file:
        file.write("".join(json.dumps(row) + "\n" for row in ROWS))
    Pipeline(started(), [FileSource(first, time="ts")], {"sums": FileSink(last)}).run()
    seen: list[Any] = []
    runtime = Runtime()
    runtime.deploy(
        "@public @buseventtype create schema S(k string, total int, ts long); @name('s') select * from S",
        listeners={"s": lambda new, *_: seen.extend(row.to_dict() for row in new)})
    pipeline = Pipeline(runtime, [FileSource(last, time="ts")], {})
    pipeline.run()
    assert seen == expected() and runtime.now == 5000


def test_csv_has_a_header_and_nested_values_as_json(tmp_path: Path) -> None:
    runtime = Runtime()
    runtime.deploy("create schema B(t string, l int[]); @name('s') select t, l, t is null as n from B")
    Pipeline(runtime, [RowSource([{"t": 'a,"b', "l": [1, 2]}, {"t": None, "l": None}])], {"s": FileSink(tmp_path / "o.csv")}).run()
    assert (tmp_path / "o.csv").read_text() == 't,l,n\n"a,""b","[1, 2]",false\n,,true\n'


def test_streams_are_chosen(tmp_path: Path) -> None:
    outs = {stream: io.StringIO() for stream in ("new", "old", "both")}
    sinks = [StreamSink(out, stream=stream, name=stream) for stream, out in outs.items()]
    Pipeline(started(), [RowSource(ROWS[:3])], {"window": sinks}).run()
    found = {stream: [json.loads(line)["x"] for line in out.getvalue().splitlines()] for stream, out in outs.items()}
    assert found == {"new": [0, 1, 2], "old": [0, 1], "both": [0, 1, 0, 2, 1]}


class Failing:
    """A sink that raises at its nth delivery, before or after the rows are where they belong."""

    stream = "new"

    def __init__(self, inner: Any, at: int, *, after: bool) -> None:
        self.inner, self.at, self.after, self.count, self.is_closed = inner, at, after, 0, False
        self.name = inner.name

    def open(self, event_type: Any, state: str | None) -> int | None:
        return self.inner.open(event_type, state)

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        self.count += 1
        if self.count == self.at and not self.after:
            raise OSError("no space left")
        self.inner.deliver(rows, checkpoint)
        if self.count == self.at:
            raise OSError("no space left")

    def close(self) -> None:
        self.is_closed = True
        self.inner.close()


def test_sinks_may_be_left_to_listeners() -> None:
    rows: list[Any] = []

    def start() -> Runtime:
        runtime = Runtime()
        statement = runtime.deploy("create schema A(x int); @name('s') select x from A")["s"]
        statement.add_listener(lambda new, old, statement, runtime: rows.extend(new))
        return runtime

    Pipeline(start, [RowSource([{"x": 1}, {"x": 2}], type="A")]).run()
    assert rows == [{"x": 1}, {"x": 2}]


def test_a_sink_that_raises_ends_it_and_is_named() -> None:
    sink = Failing(StreamSink(io.StringIO(), name="out"), 1, after=False)
    source = RowSource(ROWS)
    with pytest.raises(EplRuntimeError, match="sink 'out' of statement 'sums': OSError: no space left") as raised:
        Pipeline(started(), [source], {"sums": sink}).run()
    assert isinstance(raised.value.__cause__, OSError) and sink.is_closed


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 4])
def test_failures_lose_and_double_nothing_with_a_state(tmp_path: Path, at: int, after: bool) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("create table sums(k text, total int, ts int)")
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS * 300))

    def pipeline(fail: bool) -> Pipeline:
        files: Any = FileSink(tmp_path / "parts", format="jsonl")
        rows: Any = DatabaseSink(lambda: sqlite3.connect(tmp_path / "d.db"), "insert into sums values (${k}, ${total}, ${ts})")
        sinks = [Failing(files, at, after=after), rows] if fail else [files, rows]
        return Pipeline(started, [FileSource(source)], {"sums": sinks}, state=tmp_path / "state", every=0)

    with pytest.raises(EplRuntimeError, match="no space left"):
        pipeline(fail=True).run()
    pipeline(fail=False).run()
    assert [row for part in sorted(tmp_path.glob("parts/part-*")) for row in lines(part)] == expected(ROWS * 300)
    assert database.execute("select k, total, ts from sums").fetchall() == [tuple(row.values()) for row in expected(ROWS * 300)]
    pipeline(fail=False).run()
    assert database.execute("select count(*) from sums").fetchone() == (1800,), "at its end nothing comes again"


def test_upserts_write_a_row_by_its_key(tmp_path: Path) -> None:
    for connect in (lambda: sqlite3.connect(tmp_path / "s.db"), lambda: duckdb.connect(str(tmp_path / "d.db"))):
        database = connect()
        database.execute("create table sums(k varchar(10) primary key, total int)")
        database.commit()
        database.close()
        sink = DatabaseSink(
            connect, "insert into sums values (${k}, ${total})", update="update sums set total = ${total} where k = ${k}",
            paramstyle="qmark")
        Pipeline(started, [RowSource(ROWS)], {"sums": sink}, state=tmp_path / connect().__class__.__module__).run()
        assert connect().execute("select * from sums order by k").fetchall() == [("a", 6), ("b", 9)]


def test_values_never_become_text_of_a_statement(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("create table names(k text)")
    hostile = "x'); drop table names; --"
    sink = DatabaseSink(lambda: sqlite3.connect(tmp_path / "d.db"), "insert into names values (${k})")
    Pipeline(started(), [RowSource([{"k": hostile, "x": 1, "ts": 0}])], {"sums": sink}).run()
    assert database.execute("select k from names").fetchall() == [(hostile,)]


@pytest.mark.parametrize(("sink", "message"), [
    (DatabaseSink(lambda: sqlite3.connect(":memory:"), "insert into t values (${y})"), r"\$\{y\}: there is no such column"),
    (DatabaseSink(lambda: sqlite3.connect(":memory:"), "insert into t values (${x})"), "OperationalError: no such table: t"),
    (FileSink("unknown://x/a.jsonl"), "unknown://x/a.jsonl cannot be opened: Protocol not known"),
])
def test_what_a_sink_cannot_do_is_said(sink: Any, message: str) -> None:
    with pytest.raises(EplRuntimeError, match=message):
        Pipeline(started(), [RowSource(ROWS)], {"window": sink}).run()


@pytest.mark.parametrize(("rows", "options", "message"), [
    ([{"k": "a", "x": "one", "ts": 0}], {}, "source 'rows': row 0: .*x"),
    ([{"k": "a", "x": 1, "ts": 5}, {"k": "a", "x": 1, "ts": 4}], {"time": "ts"}, "'rows': row 1: its time 4 is before the runtime's, 5"),
    ([{"k": "a", "x": 1, "ts": "soon"}], {"time": "ts"}, "time column 'ts' holds 'soon'"),
    ([{"k": "a"}], {"type": "B"}, "row 0: .*B"),
])
def test_bad_rows_are_refused_with_their_place(rows: list[dict[str, Any]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(EplRuntimeError, match=message):
        Pipeline(started(), [RowSource(rows, **options)], {}).run()


def test_bad_and_late_rows_can_be_skipped_or_kept() -> None:
    rows = [*ROWS[:2], {"k": "a", "x": "?", "ts": 9000}, {"k": "a", "x": 7, "ts": 0}]
    for on_late, skipped, last in (("skip", 2, 1), ("keep", 1, 7)):
        out = io.StringIO()
        pipeline = Pipeline(
            started(), [RowSource(rows, time="ts")], {"window": StreamSink(out)}, on_bad="skip", on_late=on_late)
        pipeline.run()
        assert (pipeline.skipped, json.loads(out.getvalue().splitlines()[-1])["x"]) == (skipped, last)
        assert pipeline.runtime is not None and pipeline.runtime.now == 1000, "a bad row moves no clock"


class Endless:
    """A source without end."""

    name = "endless"

    def __init__(self, *, state: bool = False) -> None:
        self.count = 0

    def open(self, position: Any) -> None:
        self.count = position or 0

    def reader(self, runtime: Any) -> Any:
        return RowSource([]).reader(runtime)

    def poll(self, seconds: float) -> Sequence[Input]:
        self.count += 1
        return [Input(str(self.count), {"k": "a", "x": 1, "ts": 0})]

    def position(self) -> int:
        return self.count

    def committed(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_it_stops_gracefully_and_goes_on(tmp_path: Path) -> None:
    for _ in range(2):
        pipeline = Pipeline(started, [Endless()], {"sums": FileSink(tmp_path / "parts")}, state=tmp_path / "s", every="20 milliseconds")
        threading.Timer(0.5, pipeline.stop).start()
        pipeline.run()
    totals = [row["total"] for part in sorted(tmp_path.glob("parts/part-*")) for row in lines(part)]
    assert totals == list(range(1, len(totals) + 1)) and len(totals) > 10


def test_a_state_is_of_one_pipeline_and_one_label(tmp_path: Path) -> None:
    state = tmp_path / "s"
    first = Pipeline(started, [Endless()], {}, state=state, label="one")
    thread = threading.Thread(target=first.run)
    thread.start()
    while not (state / "pipeline.checkpoint").exists():
        pass
    with pytest.raises(EplRuntimeError, match="in use by another pipeline"):
        Pipeline(started, [], {}, state=state, label="one").run()
    first.stop()
    thread.join()
    with pytest.raises(EplRuntimeError, match="is of 'one', not of 'two'"):
        Pipeline(started, [], {}, state=state, label="two").run()
    whole = (state / "pipeline.checkpoint").read_bytes()
    (state / "pipeline.checkpoint").write_bytes(whole[:-20] + b"x" * 20)
    with pytest.raises(EplRuntimeError, match="damaged"):
        Pipeline(started, [], {}, state=state, label="one").run()


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EplRuntimeError, match="no statement named 'nope'"):
        Pipeline(started(), [], {"nope": StreamSink()}).run()
    with pytest.raises(ValueError, match="with a state, the runtime comes from a function"):
        Pipeline(started(), [], {}, state=tmp_path)
    with pytest.raises(ValueError, match="two sources have the same name"):
        Pipeline(started(), [RowSource([]), RowSource([])], {})
    with pytest.raises(EplRuntimeError, match=r"no-such\.jsonl"):
        Pipeline(started(), [FileSource(tmp_path / "no-such.jsonl")], {}).run()
    for make in (lambda: StreamSink(stream="all"), lambda: FileSink("a", format="xml"), lambda: DatabaseSink(lambda: None, "")):
        with pytest.raises(ValueError, match="expected"):
            make()


def test_sources_are_never_read_ahead() -> None:
    """Back-pressure: the next rows are asked for when those before have been delivered."""
    delivered: list[int] = []

    def rows() -> Iterator[dict[str, Any]]:
        for n in range(2000):
            assert n - len(delivered) <= 500
            yield {"k": "a", "x": n, "ts": n}

    class Slow(StreamSink):
        def deliver(self, batch: Sequence[OutputRow], checkpoint: int | None) -> None:
            delivered.extend(row.values["total"] for row in batch)

    Pipeline(started(), [RowSource(rows())], {"sums": Slow()}).run()
    assert len(delivered) == 2000


def test_settings_stay_and_what_is_delivered_is_not_delivered_again(tmp_path: Path) -> None:
    def start() -> Runtime:
        runtime = Runtime(settings=Settings(integer_division=True))
        runtime.deploy("@public @buseventtype create schema A(x int); @name('s') select 3 / 2 as h, count(*) as c from A")
        return runtime

    for count in (1, 2):
        out = io.StringIO()
        Pipeline(start, [RowSource([{"x": 1}] * count)], {"s": StreamSink(out)}, state=tmp_path).run()
        assert lines_of(out) == [{"h": 1, "c": count}]


def lines_of(out: io.StringIO) -> list[Any]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_parquet_keeps_types(tmp_path: Path) -> None:
    Pipeline(started(), [RowSource(ROWS)], {"sums": FileSink(tmp_path / "o.parquet")}).run()
    table = pyarrow.parquet.read_table(tmp_path / "o.parquet")
    assert [str(field.type) for field in table.schema] == ["string", "int32", "int64"] and table.num_rows == 6


def test_files_are_replayed_at_a_rate_and_again(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def times(start: int, **options: Any) -> list[int]:
        seen: list[int] = []
        runtime = Runtime(start_time=start)
        runtime.deploy(MODULE, listeners={"window": lambda new, old, statement, runtime: seen.append(runtime.now)})
        Pipeline(runtime, [FileSource(path, **options)], {}).run()
        return seen

    assert times(100, rate=4, loop=2) == [100 + 250 * n for n in range(12)]
    assert times(0, time="ts", loop=2) == [0, 1000, 2000, 3000, 4000, 5000, 5000, 6000, 7000, 8000, 9000, 10000]
    with pytest.raises(EplRuntimeError, match="has no position"):
        Pipeline(started, [FileSource(path, rate=4)], {}, state=tmp_path / "s").run()
    for options in ({"rate": 1, "time": "ts"}, {"rate": 0}, {"loop": -1}):
        with pytest.raises(ValueError, match=r"expected|greater than 0"):
            FileSource(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [(), "k", ("k", "total")])
def test_a_table_has_all_columns(tmp_path: Path, key: Any) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute('create table "all sums"(k text, total int, ts int)')
    sink = DatabaseSink(lambda: sqlite3.connect(tmp_path / "d.db"), table="all sums", key=key)
    rows = [*ROWS, {"k": "a", "x": 0, "ts": 9}]
    Pipeline(started(), [RowSource(rows)], {"sums": sink}).run()
    written = database.execute('select k, total, ts from "all sums"').fetchall()
    every = [tuple(row.values()) for row in expected(rows)]
    if key == ():
        assert written == every
    elif key == "k":
        assert written == [("a", 6, 9), ("b", 9, 5000)]
    else:
        assert written == [("a", 6, 9) if row[:2] == ("a", 6) else row for row in every[:-1]]
    with pytest.raises(EplRuntimeError, match="key: there is no column 'nope'"):
        Pipeline(started(), [], {"sums": DatabaseSink(lambda: sqlite3.connect(":memory:"), table="t", key="nope")}).run()


def test_statements_without_values_are_executed_for_each_row(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("create table n(x int)")
    sink = DatabaseSink(lambda: sqlite3.connect(tmp_path / "d.db"), "insert into n values (1)")
    Pipeline(started(), [RowSource(ROWS)], {"sums": sink}).run()
    assert database.execute("select count(*) from n").fetchone() == (6,)


@pytest.mark.parametrize(("package", "source", "message"), [
    ("confluent_kafka", KafkaSource("t", "localhost:1"), "Kafka needs confluent-kafka"),
    ("fsspec", FileSource("memory://a.jsonl"), "memory://a.jsonl is a URI, and fsspec is not installed"),
])
def test_a_missing_package_is_named_with_its_extra(
    package: str, source: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [package, *(each for each in sys.modules if each.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(EplRuntimeError, match=message) as raised:
        Pipeline(started(), [source], {}).run()
    assert "pip install '" in str(raised.value.hint)


# ------------------------------------------------------------------ sinks with rows of another state


def table(path: Path) -> DatabaseSink:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table if not exists sums(x int, total int)")
    return DatabaseSink(lambda: sqlite3.connect(path), table="sums")


def contents(path: Path) -> int:
    """How many rows a database or folder has."""
    if path.is_dir():
        return sum(len(part.read_text().splitlines()) for part in path.glob("part-*"))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("select count(*) from sums").fetchone()[0])


@pytest.mark.parametrize("kind", ["database", "folder"])
def test_a_state_that_begins_does_not_fill_sinks_again(kind: str, tmp_path: Path) -> None:
    def start() -> Runtime:
        runtime = Runtime()
        runtime.deploy("create schema A(x int); @name('sums') select x, sum(x) as total from A")
        return runtime

    place = tmp_path / "filled"

    def run(state: str, rows: int, append: bool = False) -> None:
        sink = table(place) if kind == "database" else FileSink(place)
        source = RowSource([{"x": n} for n in range(rows)])
        Pipeline(start, [source], {"sums": sink}, state=tmp_path / state, append=append, every=0).run()

    run("one", 3)
    run("one", 5)
    assert contents(place) == 5
    for _ in range(2):  # what was refused has begun nothing
        message = r"it has rows of another state \(.{8}…\) than the one in .*two: rows would come twice"
        with pytest.raises(EplRuntimeError, match=message) as error:
            run("two", 5)
        assert "append=True" in str(error.value.hint)
        assert contents(place) == 5
    run("one", 6)
    assert contents(place) == 6
    run("two", 4, append=True)
    assert contents(place) == 10
    run("two", 6)  # it is that one's now
    assert contents(place) == 12
    with pytest.raises(EplRuntimeError, match="it has rows of another state"):
        run("one", 7)


def test_a_folder_of_parts_that_say_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000001.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(EplRuntimeError, match="it has rows of another state than the one in"):
        Pipeline(started, [RowSource(ROWS)], {"sums": FileSink(tmp_path / "out")}, state=tmp_path / "s").run()
    Pipeline(started, [RowSource(ROWS)], {"sums": FileSink(tmp_path / "out")}, state=tmp_path / "s", append=True).run()
    assert (tmp_path / "out" / "part-00000001.jsonl").read_text() == '{"x": 1}\n' and len(list((tmp_path / "out").glob("part-*"))) > 1


def test_folders_in_stores_know_their_state(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    place = f"memory://of-states-{tmp_path.name}/out"
    Pipeline(started, [RowSource(ROWS)], {"sums": FileSink(place)}, state=tmp_path / "one").run()
    Pipeline(started, [RowSource(ROWS)], {"sums": FileSink(place)}, state=tmp_path / "one").run()
    with pytest.raises(EplRuntimeError, match="it has rows of another state"):
        Pipeline(started, [RowSource(ROWS)], {"sums": FileSink(place)}, state=tmp_path / "two").run()


def test_a_topic_knows_its_state() -> None:
    place = attrs.make_class("Place", ["offset", "metadata"])
    marker = attrs.make_class("Marker", ["place"], bases=(_Committed,))
    cases = ((place(-1, ""), None, None), (place(7, "mine"), None, 7), (place(7, "other"), "other", None), (place(7, ""), "", None))
    for committed, holds, delivered in cases:
        sink: Any = KafkaSink("t", "localhost:1", transactional_id="x")
        sink._state, sink._marker = "mine", marker(committed)
        sink._kafka = attrs.make_class("Client", ["KafkaException", "TopicPartition"])(ValueError, lambda *_: None)
        assert (sink._last_delivery(), sink.holds) == (delivered, holds)


class _Committed:
    place: Any

    def committed(self, *_: Any) -> list[Any]:
        return [self.place]
