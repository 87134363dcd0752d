"""What the killed jobs run: statements, events that come out of order, and the output of an engine that nobody disturbs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from runtime import Runtime

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
DECLARED = "create schema T(k string, v int, n long, ts long);\n"
MODULE = DECLARED + """
@name('sums') select irstream k, sum(v) as s, count(*) as c, max(n) as n from T#time(2 sec) group by k;
@name('rises') select * from T match_recognize (
  partition by k measures A.k as k, A.n as a, last(B.n) as b, C.n as c
  pattern (A B+ C) define B as B.v > prev(B.v), C as C.v < prev(C.v));
@name('ticks') select k, count(*) as c, sum(v) as s, max(n) as n from T group by k output last every 5 seconds;
@name('dips') @Dialect('sql') select * from T match_recognize (
  PARTITION BY k ORDER BY ts MEASURES A.n AS a, FINAL LAST(B.n) AS b, COUNT(*) AS c, SUM(v) AS s
  ALL ROWS PER MATCH PATTERN (A B{2,}) WITHIN INTERVAL '5' SECOND DEFINE B AS v < PREV(v));
@name('answers') @Dialect('alibaba') select k, a, b from T match_recognize (
  PARTITION BY k ORDER BY ts MEASURES A.n AS a, B.n AS b ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A {- X*? -} B) WITHIN INTERVAL '2' SECOND DEFINE A AS A.v = 0, B AS B.v > 7);
create window Asked#keepall as (id long);
@name('asked') select id, count(*) as c from Asked;
"""
NAMES = ("sums", "rises", "ticks", "dips", "answers", "asked")
STREAMS = (("sums", "new"), ("sums", "old"), *((name, "new") for name in NAMES[1:]))
INSERT, COUNT, QUERIES = "insert into Asked values (?::long)", "select count(*) as c from Asked", 20
"""Queries between the micro-batches: rows 0, 1, …, each inserted once and in order, so that ``c`` of row n is n + 1."""
SPREAD = {
    "sums": "@name('spread') select k, sum(v) as s, count(*) as c, max(n) as n from T#time(2 sec) group by k",
    "dips": """@name('spread') select * from T match_recognize (PARTITION BY k ORDER BY ts MEASURES A.n AS a, LAST(B.n) AS b, COUNT(*) AS c
        PATTERN (A B+? C) WITHIN INTERVAL '3' SECOND DEFINE B AS v < PREV(v), C AS v > PREV(v))""",
}
"""A statement that is local to ``k``: windows, and a row pattern of SQL."""

LATE_MS = 2000
"""How far behind a later row a row may come: in time of events, of which there is one a millisecond."""


@attrs.frozen
class Events:
    """``count`` rows in the order they come, ``files`` files of them. ``late_ms``: 0 for rows that come in order, file by file."""

    count: int
    files: int
    keys: int = 300
    seed: int = 1
    late_ms: int = LATE_MS

    @property
    def end(self) -> int:
        """A time behind which nothing is due any more."""
        return self.count + 60_000

    def table(self) -> pa.Table:
        """All rows, in the order in which they come."""
        chance = np.random.default_rng(self.seed)
        number = np.arange(self.count)
        keys = pa.array([f"k{i}" for i in range(self.keys)])
        made = pa.table(
            {
                "k": keys.take(pa.array(chance.integers(0, self.keys, self.count))),
                "v": pa.array(chance.integers(0, 10, self.count), pa.int32()),
                "n": pa.array(number, pa.int64()),
                "ts": pa.array(number, pa.int64()),
            },
            SCHEMA,
        )
        per_file = -(-self.count // self.files)
        come = number + chance.random(self.count) * self.late_ms if self.late_ms else number // per_file + chance.random(self.count)
        return made.take(pa.array(np.argsort(come, kind="stable")))

    def pieces(self) -> list[pa.Table]:
        """The rows by file."""
        table, size = self.table(), -(-self.count // self.files)
        return [table.slice(at, size) for at in range(0, self.count, size)]


def put(folder: Path, number: int, piece: pa.Table) -> None:
    """A file that is there as a whole or not at all; Spark leaves out names that begin with an underscore."""
    hidden = folder / f"_{number:05}.parquet"
    parquet.write_table(piece, hidden)
    hidden.rename(folder / f"{number:05}.parquet")


Output = Mapping[tuple[str, str], pa.Table]
"""Rows by (statement, ``new`` or ``old``)."""


def undisturbed(module: str, events: Events, streams: tuple[tuple[str, str], ...], *, until: int | None) -> Output:
    """What one engine in this process emits, given the rows in order. ``until``: where its clock walks at the end."""
    found: dict[tuple[str, str], list[pa.RecordBatch]] = {each: [] for each in streams}
    with Runtime() as runtime:
        runtime.deploy(module)
        for name in {name for name, _ in streams}:

            def keep(new: pa.RecordBatch | None, old: pa.RecordBatch | None, statement: object, _: Runtime, name: str = name) -> None:
                for stream, batch in (("new", new), ("old", old)):
                    if batch is not None and (name, stream) in found:
                        found[name, stream].append(plain(pa.Table.from_batches([batch])))

            runtime.statement(name).add_batch_listener(keep)
        rows = events.table().sort_by("ts")
        for at in range(0, rows.num_rows, 50_000):
            runtime.send_batch("T", rows.slice(at, 50_000), time="ts", sequence="n")
        for number in range(QUERIES if ("asked", "new") in streams else 0):
            runtime.query(INSERT, [number])
        if until is not None:
            runtime.advance_time_span(until)
    return {each: pa.concat_tables(tables) for each, tables in found.items()}


def plain(table: pa.Table) -> pa.Table:
    """Without dictionaries, which differ from file to file."""
    columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(dict(zip(table.column_names, columns)))


@attrs.frozen
class Difference:
    """Rows that are missing, and rows that there are too many of: rows count as often as they occur."""

    rows: int
    lost: int
    doubled: int


def difference(expected: pa.Table, got: pa.Table) -> Difference:
    """Two multisets of rows, whatever their order."""
    got = got.select(expected.column_names).cast(expected.schema)
    signed = pa.concat_tables(
        [t.append_column("#", pa.array(np.full(t.num_rows, sign), pa.int64())) for t, sign in ((expected, 1), (got, -1))]
    )
    left = signed.group_by(expected.column_names).aggregate([("#", "sum")])["#_sum"]
    lost = pc.sum(pc.if_else(pc.greater(left, 0), left, 0)).as_py() or 0
    doubled = -(pc.sum(pc.if_else(pc.less(left, 0), left, 0)).as_py() or 0)
    return Difference(got.num_rows, lost, doubled)


def read(folder: Path) -> pa.Table:
    """All whole files of a folder."""
    names = sorted(each for each in folder.iterdir() if each.name[0] not in "._" and each.suffix == ".parquet")
    return pa.concat_tables([plain(parquet.read_table(each)) for each in names])
