"""Rows between Spark's stages as Arrow blobs: a stateful operator hands rows on one by one, a blob as one.

    merged rows with a shard each ─▶ (shard, newest, blob): a blob for each shard that has rows, and a word on time to every shard ─▶
    engine ─▶ blobs ─▶ rows
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from runtime.clock.late_rows import read_table, wall_clock
from runtime.spark.distributed_host.workers import settle
from runtime.spark.sources import TIME, TYPE

SHARD, NEWEST, BLOB = "shard", "newest", "blob"
PACKED_TYPES: dict[str, pa.DataType] = {SHARD: pa.int32(), NEWEST: pa.int64(), BLOB: pa.binary()}
PACKED = pa.schema(PACKED_TYPES)
PACKED_DDL = f"{SHARD} int, {NEWEST} bigint, {BLOB} binary"
REPORTED = ("fed", "late", "ahead", "out", "faults", "shards", "matches", "subexpressions", "waiting", "state", "time")
"""What a shard reports of a step, in a row of its own: rows processed and dropped, output rows, exceptions that were left to the handler;
one for itself; then its state: partial matches, sub-expressions of patterns, rows that wait, bytes of
state, engine time."""
OUTPUT_DDL = ", ".join([f"{BLOB} binary", *(f"{name} bigint" for name in REPORTED)])
ROWS_A_BLOB = 200_000
"""How many rows are gathered before they are packed."""


@attrs.frozen
class Pack:
    """The first stage, for ``mapInArrow``: merged rows with the column ``shard``. Every shard hears the newest time of every partition, so
    that all of them move time alike. ``shards``: their ids; ``timed``: whether there is a time column; ``ahead``: how far beyond the wall
    clock a time may be to count, by ``per_second`` engine units a second."""

    shards: tuple[int, ...]
    timed: bool
    ahead: int | None = None
    per_second: int = 1000

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        gathered: list[pa.RecordBatch] = []
        rows = 0
        newest: int | None = None
        for batch in batches:
            if self.timed and batch.num_rows:
                last = self._last(batch.column(TIME))
                newest = last if newest is None or (last is not None and last > newest) else newest
            if batch.column(TYPE).null_count:  # its time was all that it had
                batch = batch.filter(batch.column(TYPE).is_valid())
            gathered.append(batch)
            rows += batch.num_rows
            if rows >= ROWS_A_BLOB:
                yield from self._pack(gathered)
                gathered, rows = [], 0
        yield from self._pack(gathered)
        count = len(self.shards)
        yield pa.RecordBatch.from_arrays(
            [pa.array(self.shards, pa.int32()), pa.array([newest] * count, pa.int64()), pa.nulls(count, pa.binary())], schema=PACKED
        )

    def _last(self, times: pa.Array[Any]) -> int | None:
        if self.ahead is not None:
            times = times.filter(pc.less_equal(times, pa.scalar(wall_clock(self.per_second) + self.ahead)))
        latest: int | None = pc.max(times).as_py()
        return latest

    def _pack(self, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not batches:
            return
        table = pa.Table.from_batches(batches).combine_chunks()
        if not table.num_rows:
            return
        shards = table.column(SHARD).to_numpy()
        rows = table.drop_columns([SHARD])
        order = np.argsort(shards, kind="stable")
        rows, shards = rows.take(order), shards[order]
        begins = np.flatnonzero(np.r_[True, shards[1:] != shards[:-1]])
        ends = np.r_[begins[1:], len(shards)]
        blobs = [_blob(rows.slice(begin, end - begin)) for begin, end in zip(begins.tolist(), ends.tolist())]
        chosen = pa.array(shards[begins], pa.int32())
        yield pa.RecordBatch.from_arrays([chosen, pa.nulls(len(blobs), pa.int64()), pa.array(blobs, pa.binary())], schema=PACKED)


@attrs.frozen
class Unpack:
    """The last stage, for ``mapInArrow``: blobs → rows."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        for batch in batches:
            for blob in batch.column(BLOB).drop_null():
                yield from read_table(blob.as_buffer()).to_batches()


def _blob(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def join_blobs(blobs: list[bytes]) -> pa.Table | None:
    """Return blobs of one shard as one table."""
    tables = [read_table(blob) for blob in blobs]
    return pa.concat_tables(tables, promote_options="default") if tables else None


__all__ = ["BLOB", "NEWEST", "OUTPUT_DDL", "PACKED_DDL", "REPORTED", "SHARD", "Pack", "Unpack", "join_blobs"]
