"""One engine a shard, inside Spark's stateful operator: its state is a snapshot and the input log after it, in Spark's own state store.

Whatever worker gets a shard finds it again in one of three ways: the engine that it kept is the one that the state names; or the engine
that it kept is some steps back in the log, and catches up by those steps alone; or it is built from the snapshot and the log. What a
batch writes is its own input, or a snapshot once running and logging the steps after the last one has taken as long as it did: snapshots
cost no more than the steps do, and a worker that has nothing reads the log in no more time than a snapshot takes. The log of the steps up
to the snapshot stays until the next one: an engine that another worker kept catches up by it sooner than one is built from the snapshot.
"""
from __future__ import annotations

import time
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import attrs
import msgpack
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from epl.errors import EplError, EplRuntimeError
from runtime.clock.late_rows import ipc, wall_clock
from runtime.spark.distributed_host.differences import difference
from runtime.spark.distributed_host.packing import BLOB, NEWEST, REPORTED, join_blobs
from runtime.spark.distributed_host.results import Result
from runtime.spark.distributed_host.workers import look_again, settle
from runtime.spark.feed import Feed, FeedRules, FeedStep, LogEntry, split_state
from runtime.spark.heartbeat import Beat, Quiet
from runtime.spark.task import Task, name_error
from runtime.state.seal import reading, seal_payload, unseal_payload

NO_REPORT = dict.fromkeys(REPORTED)
CHUNK = 4 << 20
MOST_STEPS = 500
"""The log after a snapshot is no longer than that."""

VERSION = 5
KEPT = 64
"""How many engines a worker keeps."""

_kept: OrderedDict[tuple[str, int], KeptEngine] = OrderedDict()
"""The engines that this worker process has run. A shard may land on any worker at any batch, so that what is here may be old: an engine is
used only if its id is in the state, and it is taken out before it is changed."""


@attrs.frozen
class Head:
    """The small part of a shard's state. ``step``: the last one; ``base``: the one of the snapshot; ``ids``: random names of the
    last steps, from the snapshot before the last one on, so that no other history can be taken for this one: the log has all of them but
    the first; bytes of the log in front of the snapshot and after it, and the seconds that the steps after it took; bytes of the snapshot
    and the seconds that it took; ``shards``: the ids of all of them; ``task``: what it runs (Task.digest); ``rules``: by which
    the log is processed; ``quiet``: since when no rows have come, here or elsewhere."""

    step: int
    base: int
    ids: tuple[bytes, ...]
    old_bytes: int
    log_bytes: int
    log_seconds: float
    snapshot_bytes: int
    snapshot_seconds: float
    shards: tuple[int, ...]
    task: bytes
    rules: FeedRules
    quiet: Quiet

    @property
    def first(self) -> int:
        """The oldest step from which the log leads on."""
        return self.step - len(self.ids) + 1

    @property
    def size(self) -> int:
        """Bytes of snapshot and log."""
        return self.snapshot_bytes + self.old_bytes + self.log_bytes

    def step_id(self, step: int) -> bytes | None:
        """Return the name of a step, None for one that the log does not lead on from."""
        return self.ids[step - self.first] if self.first <= step <= self.step else None

    def encode(self) -> bytes:
        *counters, rules, quiet = attrs.astuple(self, recurse=False)
        return bytes(msgpack.packb([VERSION, *counters, rules.encode(), attrs.astuple(quiet)]))

    @classmethod
    def decode(cls, data: bytes) -> Head:
        with reading("the head of the shard's state"):
            version, *counters = msgpack.unpackb(data, use_list=False)
            if version != VERSION:
                raise EplRuntimeError(f"shard state version {version} is not known here; this is version {VERSION}")
            named = dict(zip((f.name for f in attrs.fields(cls)), counters, strict=True))
            return cls(**{**named, "rules": FeedRules.decode(named["rules"]), "quiet": Quiet(*named["quiet"])})


@attrs.frozen(eq=False)
class KeptEngine:
    """An engine and the step that it has done."""

    step: int
    id: bytes
    feed: Feed


class ShardProcessor(StatefulProcessor):
    """What ``transformWithState`` runs for each shard. ``result``: how rows go out; ``shards``: the ids of all; ``start_time``: None where
    none was given; ``name``: of the plan, so that a worker distinguishes engines of different queries; ``beat``: when time goes on without
    rows; a timer of Spark's looks, one a shard, from the first row on."""

    def __init__(
        self, task: Task, result: Result, shards: tuple[int, ...], start_time: int | None, name: str, beat: Beat | None = None
    ) -> None:
        self.task, self.result, self.shards, self.start_time, self.name, self.beat = task, result, shards, start_time, name, beat
        self.digest, *self.former_digests = task.digests()

    def init(self, handle: StatefulProcessorHandle) -> None:
        settle()
        self.handle = handle
        self.head = handle.getValueState("head", "value binary")
        self.snapshot = handle.getListState("snapshot", "value binary")
        self.log = handle.getMapState("log", "step long", "value binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        shard = int(key[0])
        try:
            yield from self._batch(shard, rows, timerValues)
        except EplError as error:
            raise name_error(error, f"shard {shard}") from error

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:
        shard = int(key[0])
        try:
            yield from self._time(shard, timerValues)
        except EplError as error:
            raise name_error(error, f"shard {shard}") from error

    def close(self) -> None:
        """Do nothing: nothing is held open."""

    def _batch(self, shard: int, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        blobs, newest = [], None
        for row in rows:
            if row[BLOB] is not None:
                blobs.append(bytes(row[BLOB]))
            if row[NEWEST] is not None:
                newest = row[NEWEST] if newest is None else max(newest, row[NEWEST])
        table = join_blobs(blobs)
        head = self._head(shard)  # it is looked at where nothing has come too: the shards may be others
        if newest is None and table is None:
            return
        wall = wall_clock(self.task.settings.units_per_second)
        feed = self.task.feed(self._begins(wall)) if head is None else self._find_feed(shard, head)
        yield from self._step(shard, head, LogEntry(table, newest, wall=wall, lenient=self.task.lenient), feed)
        if head is None:
            self._look_later(timers)

    def _begins(self, wall: int) -> int:
        """Return the clock in front of the first row."""
        if self.start_time is not None:
            return self.start_time
        return wall if self.task.rules.at_wall else 0

    def _time(self, shard: int, timers: Any) -> Iterator[Row]:
        """Yield no rows, but let time go by."""
        head = self._head(shard)
        if head is None or self.beat is None:
            return
        feed = self._find_feed(shard, head)
        wall = wall_clock(self.task.settings.units_per_second)
        until = self.beat.target(feed, wall, head.quiet)
        if until is None:
            self._keep(shard, head, feed)
        else:
            yield from self._step(shard, head, LogEntry(until=until, wall=wall, lenient=self.task.lenient), feed)
        self._look_later(timers)

    def _look_later(self, timers: Any) -> None:
        if self.beat is not None:
            self.handle.registerTimer(timers.getCurrentProcessingTimeInMs() + int(self.beat.every * 1000))

    def _step(self, shard: int, head: Head | None, entry: LogEntry, feed: Feed) -> Iterator[Row]:
        begun = time.perf_counter()
        step = feed.process(entry)
        quiet = head.quiet if head is not None and entry.until is not None else Quiet.since(entry.wall, feed)
        state = self._write(shard, head, entry, time.perf_counter() - begun, quiet, feed)
        for rows in self.result.tables(step, feed.sources):
            yield Row(**{BLOB: ipc(rows), **NO_REPORT})
        yield Row(**{BLOB: None, **_counters(step, feed, state)})

    # ------------------------------------------------------------------ finding the engine

    def _seal(self, payload: bytes, shard: int, part: str) -> bytes:
        return seal_payload(payload, f"{part} of shard {shard}", self.task.key)

    def _unseal(self, data: Any, shard: int, part: str) -> bytes:
        return unseal_payload(bytes(data), f"{part} of shard {shard}", self.task.key)

    def _head(self, shard: int) -> Head | None:
        row = self.head.get()
        head = None if row is None else Head.decode(self._unseal(row[0], shard, "head"))
        if head is not None and head.shards != self.shards:
            before, now = len(head.shards), len(self.shards)
            if before == now:
                raise EplRuntimeError(
                    "the checkpoint's shards were chosen for another number of shuffle partitions",
                    hint="continue with the spark.sql.shuffle.partitions that the query was begun with",
                )
            raise EplRuntimeError(
                f"the checkpoint was made with {before} shards, and there are {now} now", hint=f"continue with shards={before}"
            )
        if head is not None and head.task != self.digest and head.task not in self.former_digests:
            what = difference(self.task, split_state(self._shard_snapshot(shard))[0])
            raise EplRuntimeError(
                "the checkpoint was made with another module, statement, schema, time or sequence" + (f": {what}" if what else ""),
                hint="begin with an empty checkpoint folder",
            )
        return head

    def _shard_snapshot(self, shard: int) -> bytes:
        packed = self._unseal(b"".join(bytes(each[0]) for each in self.snapshot.get()), shard, "snapshot")
        with reading("the snapshot of the shard"):
            return zlib.decompress(packed)

    def _find_feed(self, shard: int, head: Head) -> Feed:
        """Return the shard's engine after its last step; from here on it follows the rules of this run."""
        kept = _kept.pop((self.name, shard), None)
        if kept is not None and head.step_id(kept.step) == kept.id:
            feed, behind = kept.feed, kept.step
            feed.follow(head.rules)
        else:
            if kept is not None:
                look_again()
            feed, behind = self.task.restore_feed(*split_state(self._shard_snapshot(shard)), head.rules), head.base
        for step in range(behind + 1, head.step + 1):
            row = self.log.getValue((step,))
            if row is None:
                raise EplRuntimeError(f"the state of the shard is damaged: step {step} of its log is missing")
            feed.process(LogEntry.decode(self._unseal(row[0], shard, f"step {step} of the log")))
        feed.follow(self.task.rules)
        return feed

    # ------------------------------------------------------------------ writing

    def _write(self, shard: int, head: Head | None, entry: LogEntry, seconds: float, quiet: Quiet, feed: Feed) -> int:
        """``seconds``: that the entry took. → bytes that the state has now. A log is of one set of rules."""
        if head is None or head.rules != feed.rules:
            self.log.clear()
            step = 1 if head is None else head.step + 1
            written = Head(step, step, (uuid.uuid4().bytes,), 0, 0, 0.0, 0, 0.0, self.shards, self.digest, feed.rules, quiet)
        else:
            begun = time.perf_counter()
            packed = self._seal(entry.encode(), shard, f"step {head.step + 1} of the log")
            self.log.updateValue((head.step + 1,), (packed,))
            seconds += head.log_seconds + time.perf_counter() - begun
            written = attrs.evolve(
                head, step=head.step + 1, ids=(*head.ids, uuid.uuid4().bytes), log_bytes=head.log_bytes + len(packed), log_seconds=seconds,
                quiet=quiet,
            )
        if written.base == written.step or _is_due(written):
            written = self._snapshot(shard, written, feed)
        self.head.update((self._seal(written.encode(), shard, "head"),))
        self._keep(shard, written, feed)
        return written.size

    def _snapshot(self, shard: int, head: Head, feed: Feed) -> Head:
        """Let the log go back to the snapshot before this one from here on."""
        begun = time.perf_counter()
        data = self._seal(zlib.compress(feed.state(), 1), shard, "snapshot")
        self.snapshot.put([(data[at : at + CHUNK],) for at in range(0, len(data), CHUNK)])
        for step in range(head.first + 1, head.base + 1):
            self.log.removeKey((step,))
        return attrs.evolve(
            head, base=head.step, ids=head.ids[head.base - head.first :], old_bytes=head.log_bytes, log_bytes=0, log_seconds=0.0,
            snapshot_bytes=len(data), snapshot_seconds=time.perf_counter() - begun,
        )

    def _keep(self, shard: int, head: Head, feed: Feed) -> None:
        """Keep the engine that wrote the state, for the next batch that comes to this worker."""
        _kept[self.name, shard] = KeptEngine(head.step, head.ids[-1], feed)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def _is_due(head: Head) -> bool:
    """Return whether a snapshot is worth its time."""
    return head.log_seconds >= head.snapshot_seconds or head.step - head.base >= MOST_STEPS


def _counters(step: FeedStep, feed: Feed, state: int) -> dict[str, int]:
    """Return what packing.REPORTED names."""
    late, ahead = (0 if rows is None else rows.num_rows for rows in (step.late, step.ahead))
    waiting = 0 if feed.buffer is None else feed.buffer.held
    done = step.rows, late, ahead, step.output_rows, step.faults, 1
    runtime = feed.runtime
    held = runtime.matches_in_progress, runtime.subexpressions_in_progress
    return dict(zip(REPORTED, (*done, *held, waiting, state, runtime.now), strict=True))


__all__ = ["Head", "ShardProcessor"]
