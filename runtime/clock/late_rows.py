"""Rows that come out of order, within a bound: held until no earlier one is expected.

    rows ─▶ accepted ─▶ held ─▶ released, in front of the watermark        watermark = newest time − bound
        └─▶ late: below the watermark, or without a time
        └─▶ ahead: too far beyond the wall clock to be true

A row is released when its time is **below** the watermark: another one of the same time may still come with a lower sequence. The clock is
then moved to the watermark, so that timers which are due at it run before the rows of that time, as they do event by event. Whether a row
is late is decided by the watermark before its batch; within the bound, output does not depend on the order or the cuts in which rows come.
"""
from __future__ import annotations

import time
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from epl.durations import Duration, duration_units
from epl.errors import EplRuntimeError
from runtime.clock.instants import show_instant
from windows.protocol import State

ON_LATE = ("refuse", "drop", "side", "keep")
MAX_BUFFERED = 10_000_000
"""How many rows may be held."""


@attrs.frozen
class LatePolicy:
    """What is late and what is done with it. Times in engine units.

    ``bound``: how much later than the newest row another one may be; None: nothing is held, each batch is ordered by itself, and rows
    below the clock are late. ``on_late``: such rows refuse the batch, are dropped, go to a side output, or (only without a bound) are kept
    at the current time. ``ahead``: how far beyond the wall clock a time may be; None: anything. ``max_buffered``: how many rows may be
    held; when there are more, the oldest are released and the watermark moves past them.
    """

    bound: int | None = None
    on_late: str = attrs.field(default="refuse")
    ahead: int | None = None
    max_buffered: int = attrs.field(default=MAX_BUFFERED)

    @on_late.validator
    def _check_on_late(self, _: Any, value: str) -> None:
        if value not in ON_LATE:
            raise EplRuntimeError(f"on_late is one of {', '.join(ON_LATE)}, not {value!r}")
        if value == "keep" and self.bound is not None:
            raise EplRuntimeError("on_late='keep' is for rows that are not held: omit the bound, late=")

    @max_buffered.validator
    def _check_max_buffered(self, _: Any, value: int) -> None:
        if value < 1:
            raise EplRuntimeError(f"max_buffered is a number of rows, not {value!r}")


@attrs.frozen
class Released:
    """``rows``: to be processed now, in any order; ``until``: where the clock moves after them (None: where the last row's time is);
    ``late``, ``ahead``: rows dropped, as they came."""

    rows: pa.Table
    until: int | None
    late: pa.Table
    ahead: pa.Table


def late_policy(late: Duration | None, on_late: str, ahead: Duration | None, max_buffered: int, units_per_second: int) -> LatePolicy:
    """Return a policy as users write it. Raise EplRuntimeError for what is not a length of time, or no policy."""
    bound, beyond = (None if each is None else duration_units(name, each, units_per_second) for name,
        each in (("late", late), ("ahead", ahead)))
    return LatePolicy(bound, on_late, beyond, max_buffered)


class LateRows(EplRuntimeError):
    """``row``: the first one that is late."""

    def __init__(self, row: int, message: str, *, timeless: bool) -> None:
        leaves = "on_late='drop' leaves such rows out, 'side' keeps them apart"
        super().__init__(message, hint=leaves if timeless else f"a larger bound (late=) waits for them; {leaves}")
        self.row = row


@attrs.define
class LateCounts:
    """How many rows so far: ``rows`` came, ``late`` and ``ahead`` were dropped, ``forced`` were released because too many were held."""

    rows: int = 0
    late: int = 0
    ahead: int = 0
    forced: int = 0


Mark = tuple[int | None, int | None, LateCounts, pa.Table | None]


class ReorderBuffer:
    """The rows that wait. ``time``: the name of the column of engine times; other columns are not looked at. ``per_second``: engine units,
    for messages."""

    def __init__(self, policy: LatePolicy, time: str, watermark: int | None = None, per_second: int = 1000) -> None:
        self.policy = policy
        self.time = time
        self.per_second = per_second
        self.newest: int | None = None
        self.watermark = watermark
        self.counts = LateCounts()
        self._held: pa.Table | None = None

    @property
    def held(self) -> int:
        """How many rows wait."""
        return 0 if self._held is None else self._held.num_rows

    @property
    def oldest(self) -> int | None:
        """The least time of the rows that wait, None where none does."""
        return None if not self.held or self._held is None else int(pc.min(self._held.column(self.time)).as_py())

    def take(self, rows: pa.Table, *, wall: int, newest: int | None = None) -> Released:
        """Take a batch of rows. ``wall``: the time of the wall clock; ``newest``: the newest time that others have seen (other shards).

        Raises LateRows for late rows under ``on_late="refuse"``; nothing has changed then.
        """
        times, none = _times(rows.column(self.time))
        ahead = np.zeros(len(times), np.bool_) if self.policy.ahead is None else ~none & (times > wall + self.policy.ahead)
        late = none if self.watermark is None else none | (times < self.watermark)
        if self.policy.on_late == "keep":
            late = np.zeros(len(times), np.bool_)
        elif self.policy.on_late == "refuse" and late.any():
            self._refuse(times, none, late)
        taken = ~(late | ahead)
        self.counts.rows += len(times)
        self.counts.late += int(late.sum())
        self.counts.ahead += int(ahead.sum())
        accepted = rows if taken.all() else rows.filter(pa.array(taken))
        seen = [t for t in (self.newest, newest, int(times[taken & ~none].max()) if (taken & ~none).any() else None) if t is not None]
        self.newest = max(seen, default=None)
        released, until = self._release(accepted)
        return Released(released, until, rows.filter(pa.array(late)), rows.filter(pa.array(ahead & ~late)))

    def observe_time(self, newest: int) -> Released:
        """Note that others have seen rows of that time; none came here."""
        self.newest = newest if self.newest is None else max(self.newest, newest)
        rows, watermark = self._release(None)
        nothing = rows.slice(0, 0)
        return Released(rows, watermark, nothing, nothing)

    def move(self, until: int) -> Released:
        """Note that no row below ``until`` will come any more: the clock says so, not a row."""
        self.watermark = until if self.watermark is None else max(self.watermark, until)
        rows, watermark = self._release(None)
        nothing = rows.slice(0, 0)
        return Released(rows, watermark, nothing, nothing)

    def _release(self, accepted: pa.Table | None) -> tuple[pa.Table, int | None]:
        parts = [t for t in (self._held, accepted) if t is not None]
        held = pa.concat_tables(parts, promote_options="default") if parts else pa.table({})
        bound = self.policy.bound
        if bound is None:
            self._held = None
            if self.newest is not None:
                self.watermark = self.newest if self.watermark is None else max(self.watermark, self.newest)
            return held, self.watermark
        if self.newest is not None:
            moved = self.newest - bound
            self.watermark = moved if self.watermark is None else max(self.watermark, moved)
        if not held.num_rows:
            self._held = None
            return held, self.watermark
        times = held.column(self.time).to_numpy()
        ready = np.zeros(len(times), np.bool_) if self.watermark is None else times < self.watermark
        excess = len(times) - int(ready.sum()) - self.policy.max_buffered
        if excess > 0:
            last = int(np.partition(times[~ready], excess - 1)[excess - 1])
            self.watermark = last + 1
            forced = ~ready & (times <= last)
            self.counts.forced += int(forced.sum())
            ready |= forced
        self._held = held.filter(pa.array(~ready))
        return held.filter(pa.array(ready)), self.watermark

    def _refuse(self, times: np.ndarray[Any, Any], none: np.ndarray[Any, Any], late: np.ndarray[Any, Any]) -> None:
        row = int(np.flatnonzero(late)[0])
        what = "has no time"
        if not none[row]:
            assert self.watermark is not None
            of, watermark = (show_instant(int(each), self.per_second) for each in (times[row], self.watermark))
            what = f"is of {of}, below the watermark {watermark}"
        raise LateRows(row, f"{int(late.sum())} of {len(times)} rows are late: row {row} {what}", timeless=bool(none[row]))

    # ------------------------------------------------------------------ state

    def mark(self) -> Mark:
        """Return its position, for ``rewind``."""
        return self.newest, self.watermark, attrs.evolve(self.counts), self._held

    def rewind(self, mark: Mark) -> None:
        """Return to a position: what was released since could not be processed."""
        self.newest, self.watermark, self.counts, self._held = mark

    def state(self) -> State:
        """Return everything but the policy, as plain values."""
        return [1, self.newest, self.watermark, attrs.astuple(self.counts), None if self._held is None else ipc(self._held)]

    def restore(self, state: State) -> None:
        """Restore the state as ``state`` gave it; raise EplRuntimeError for another version."""
        version, *rest = state
        if version != 1:
            raise EplRuntimeError(f"reorder buffer version {version} is not known here; this is version 1")
        self.newest, self.watermark, counts, held = rest
        self.counts = LateCounts(*counts)
        self._held = None if held is None else read_stored_table(held)


def _times(column: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Times, and which rows have none."""
    none = column.is_null().to_numpy() if isinstance(column, pa.ChunkedArray) else column.is_null().to_numpy(zero_copy_only=False)
    return pc.fill_null(column, 0).to_numpy(), np.asarray(none, np.bool_)


def wall_clock(units_per_second: int) -> int:
    """Return the clock on the wall in engine units."""
    return time.time_ns() // (1_000_000_000 // units_per_second)


def ipc(table: pa.Table) -> bytes:
    """Return a table as an Arrow IPC stream, compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def read_table(data: bytes) -> pa.Table:
    """Return the table of such bytes."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def read_stored_table(data: bytes) -> pa.Table:
    """Return the table of bytes that come from a store: offsets and lengths are compared with what is there; ValueError where they do not
    fit."""
    table = read_table(data)
    table.validate(full=True)
    return table


__all__ = ["LateCounts", "LatePolicy", "LateRows", "Released", "ReorderBuffer", "ipc", "late_policy", "read_stored_table", "read_table",
    "wall_clock"]
