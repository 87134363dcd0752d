"""The steps of a job in driver mode: processed, logged, written, repeated after a restart. The base of ``Job``.

A step is a micro-batch, a move of time, a deployment that comes or goes, or a query that changes something. Each is processed, then
written to the input log, then its output goes to the sinks, then perhaps a snapshot is taken; only then Spark's batch is done. So whenever
the process dies, the log has every step whose output may have been seen, and a step that Spark brings again is known by its number.
"""
from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import msgpack
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from epl.errors import EplDeploymentError, EplError, EplRuntimeError
from epl.event_types import EventType
from runtime.api.deployment import Deployment
from runtime.api.faults import in_words
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.clock.late_rows import wall_clock
from runtime.conversion.arrow import arrow_schema
from runtime.spark.driver_host.checkpoint import JobCheckpoint
from runtime.spark.driver_host.job_state import VERSION
from runtime.spark.driver_host.sinks import DroppedRows, Keeping, KeptSink
from runtime.spark.feed import Feed, FeedStep, LogEntry
from runtime.spark.heartbeat import Heartbeat
from runtime.spark.progress import Progress
from runtime.spark.pushdown import Wanted, read_condition, take
from runtime.spark.sources import fetch

log = logging.getLogger("epl.spark")

MOST_STEPS, LEAST_LOG, SNAPSHOTS = 200, 1 << 20, 4
"""A snapshot is taken after so many steps, or when the log has at least so many bytes and to run and log its steps has taken so many
times as long as the last snapshot: snapshots cost a quarter of what the steps do, and a restart replays the log in some four times that."""


class MicroBatchError(EplRuntimeError):
    """A micro-batch that was refused. Spark passes on only its text, which starts with ``[epl:<code>]``; ``Job.error`` is the error itself.

    Examples:
        ```python
        from runtime.spark import MicroBatchError

        assert str(MicroBatchError("[epl:runtime] row 0 is late")).startswith("[epl:runtime]")
        ```
    """


class JobSteps:
    """Internal to epl-spark: what Spark's query and restarts call. It may change in any version; applications use ``Job``."""

    def __init__(
        self, feed: Feed, keeping: Keeping, checkpoint: JobCheckpoint | None = None, wall: Callable[[], int] | None = None, *,
        lenient: bool = True,
    ) -> None:
        self.feed = feed
        self.lenient = lenient
        self.runtime: Runtime = feed.runtime
        self.step = 0
        self.last: int | None = None
        self.error: EplError | None = None
        self.progress = Progress()
        self.dynamic: list[str] = []
        """Ids of the deployments that came while the job ran."""
        self.read: Mapping[str, Collection[str]] = {}
        """The columns that are brought of sources whose types are not declared; all of those that are not there."""
        self._keeping = keeping
        self._checkpoint = checkpoint
        self.wall: Callable[[], int] = wall or partial(wall_clock, self.runtime.settings.units_per_second)
        self._at_work = False
        self._steps_since, self._seconds_since, self._snapshot_seconds = 0, 0.0, 0.0
        self._query: StreamingQuery | None = None
        self._session: SparkSession | None = None
        self._merged: StructType | None = None
        self._heartbeat: Heartbeat | None = None
        self._wanted: tuple[tuple[tuple[Deployment, ...], tuple[EventType, ...]], Wanted] | None = None
        self._left_out = None if keeping.folder is None else DroppedRows(keeping.folder, keeping.hook)
        for name in keeping.sinks:
            self._keep(self.statement(name))

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """What foreachBatch calls, on the driver."""
        ahead = self.feed.rules.policy.ahead
        rows, newest = take(frame, self._pushdown(), None if ahead is None else self.wall() + ahead)
        table = fetch(rows, self.feed.sources)
        try:
            self.process_batch(batch_id, table, newest())
        except EplError as error:
            self.error = error
            raise MicroBatchError(f"[epl:{error.code}] {error.message}", hint=error.hint) from error

    def _pushdown(self) -> Wanted:
        """Return what Spark need not bring, by the statements that are deployed now."""
        basis = tuple(self.runtime.deployments.values()), self.feed.sources.types
        if self._wanted is None or self._wanted[0] != basis:
            self._wanted = basis, read_condition([s.plan for d in basis[0] for s in d], basis[1])
        return self._wanted[1]

    def process_batch(self, batch_id: int, table: pa.Table, newest: int | None = None) -> None:
        """Process the whole of one micro-batch: the merged rows of all types (runtime.spark.sources), in any order; ``newest``: the newest
        time of those and of rows that no statement reads.

        The last micro-batch again has no effect. Refused before any: a number that does not follow, and rows that ``send_batch`` or the
        late policy refuses.
        """
        with self.runtime.lock:
            self.check_whole()
            if self.last is not None and batch_id == self.last and self._checkpoint is not None:
                log.info("micro-batch %d is repeated: it was processed as step %d", batch_id, self.step)
                return
            self._check_order(batch_id)
            self._take(LogEntry(table, newest, wall=self.wall(), batch=batch_id))

    def _check_order(self, batch_id: int) -> None:
        expected = 0 if self.last is None else self.last + 1
        if batch_id == expected:
            return
        if self.last is None:
            if self._checkpoint is None:
                log.warning(
                    "the checkpoint continues with micro-batch %d: what earlier ones left in the runtime is not in the checkpoint", batch_id
                )
                return
            raise EplRuntimeError(
                f"Spark continues with micro-batch {batch_id}, and there is no state of the ones before it",
                hint="the folder 'state' of the checkpoint is missing; begin with an empty checkpoint folder",
            )
        raise EplRuntimeError(f"micro-batch {batch_id} came after {self.last}: expected {expected}")

    def _take(self, entry: LogEntry) -> FeedStep:
        """Return what one step gave, done in the order that makes it happen once. Raises EplError that names the step; where it may have
        had effects the runtime is halted then, and the job takes no other step and writes no state: a restart begins in front of it, or
        writes its output again."""
        started = time.perf_counter()
        entry = attrs.evolve(entry, lenient=self.lenient)
        self.step += 1
        with self._name_errors(entry):
            outer, self._at_work = self._at_work, True
            try:
                packed = b"" if self._checkpoint is None else entry.encode()
                step = self.apply(entry)
            except BaseException:
                self.step -= 1
                raise
            finally:
                self._at_work = outer
        with self._name_errors(entry, "what it led to could not be written: ", halts=True):
            if self._checkpoint is not None:
                self._checkpoint.log(self.step, packed)
                self.feed.last_step.logged = (self._checkpoint.folder, self.step)
            self._seconds_since += time.perf_counter() - started
            self._flush(step)
        self.progress.note(self.step, self.feed, entry, step, time.perf_counter() - started)
        self._snapshot_if_due()
        return step

    @contextmanager
    def _name_errors(self, entry: LogEntry, what: str = "", *, halts: bool = False) -> Iterator[None]:
        """Errors name the step that was at work. ``halts``: whatever is raised leaves the runtime where no other step may follow."""
        was_whole = self.halted is None
        try:
            yield
        except BaseException as error:
            if halts:
                self.feed.last_step.halted = in_words(error)
            if not isinstance(error, Exception) or (entry.change is not None and isinstance(error, EplError)):
                raise
            located = self._locate_error(error, entry, what)
            if self.halted is not None:
                if was_whole:
                    self.feed.last_step.halted = in_words(error)  # which names the step by now
                self.error = self.error or located
            if located is error:
                raise
            raise located from error

    @staticmethod
    def _locate_error(error: Exception, entry: LogEntry, what: str) -> EplError:
        if entry.change is not None:
            work = ", ".join(f"{what} '{entry.change[what]}'" for what in ("name", "undeploy", "query", "fill") if what in entry.change)
        else:
            work = f"moving time to {entry.until}" if entry.batch is None else f"micro-batch {entry.batch}"
        if isinstance(error, EplError):
            error.message = f"{work}: {what}{error.message}"
            return error
        return EplRuntimeError(f"{work}: {what}{in_words(error)}")

    def replay(self, entry: LogEntry) -> None:
        """Replay a step from the input log, after a restart: its output is written again, also where it has none any more (a function was
        fixed). It counts towards the next snapshot, so that the log does not grow from one death to the next."""
        self.step += 1
        self._steps_since += 1
        step = self.apply(entry)
        for name in self._keeping.sinks.keys() - step.outputs.keys():
            self._keeping.sinks[name].write(self.step, None, None)
        self._flush(step)

    def apply(self, entry: LogEntry) -> FeedStep:
        """Apply the step to the runtime."""
        if entry.change is not None and ("deploy" in entry.change or "undeploy" in entry.change):
            self._change(entry.change)
        step = self.feed.process(entry)
        if entry.batch is not None:
            self.last = entry.batch
        return step

    def _change(self, change: Mapping[str, Any]) -> None:
        if "undeploy" in change:
            self.runtime.undeploy(change["undeploy"])
            self.dynamic = [each for each in self.dynamic if each != change["undeploy"]]
            return
        deployment = self.runtime.deploy(change["deploy"], name=change["name"], parameters=dict(change["parameters"]))
        self._check_brought(deployment)
        self.dynamic.append(deployment.id)
        for statement in deployment:
            if statement.name in self._keeping.sinks:
                self._keep(statement)

    def _check_brought(self, deployment: Deployment) -> None:
        """Undeploy, and raise EplDeploymentError for, what reads a column that Spark has not been asked for."""
        for name, brought in self.read.items():
            event_type = self.runtime.event_type(name)
            missing = sorted({each for statement in deployment for each in statement.plan.reads.of(event_type)}.difference(brought))
            if missing:
                deployment.undeploy()
                raise EplDeploymentError(
                    f"the column '{missing[0]}' of the source '{name}' is not read by the job's own statements, and is not brought",
                    hint="stop the job, and start it with the statement in its module; or declare the type: all columns of a declared one "
                    "are brought",
                )

    def _keep(self, statement: Statement) -> None:
        sink = self._keeping.sinks[statement.name]
        if isinstance(sink, KeptSink):
            sink.begin(arrow_schema(statement.event_type))
        self.feed.gather(statement)

    def _flush(self, step: FeedStep) -> None:
        for name, output in step.outputs.items():
            sink = self._keeping.sinks.get(name)
            if sink is not None:
                sink.write(self.step, output.new, output.old)
        for what, rows in (("late", step.late), ("ahead", step.ahead)):
            if rows is not None:
                self._report_dropped(what, rows)

    def _report_dropped(self, what: str, rows: pa.Table) -> None:
        """Log rows that were dropped, and write them to the side output where that was chosen."""
        log.warning("step %d: %d rows dropped: %s", self.step, rows.num_rows, what)
        if self.feed.rules.policy.on_late == "side" and self._left_out is not None:
            self._left_out.write(self.step, what, self.feed.sources.tables(rows))

    def _snapshot_if_due(self) -> None:
        if self._checkpoint is None:
            return
        self._steps_since += 1
        long = self._checkpoint.written >= LEAST_LOG and self._seconds_since >= SNAPSHOTS * self._snapshot_seconds
        if long or self._steps_since >= MOST_STEPS:
            self.snapshot()

    def check_whole(self) -> None:
        """Raise EplRuntimeError where an error has ended the job in the middle of a step."""
        if self.halted is not None:
            raise EplRuntimeError(
                f"the job has ended, and its state here cannot be used: {self.halted}",
                hint="start it again: the checkpoint has the state before that step",
            )

    def _check_between_steps(self) -> None:
        """Raise EplRuntimeError in a listener: what it does comes again with the step, if the process dies."""
        if self._at_work:
            raise EplRuntimeError("A listener cannot run a query that changes something: the step that calls it is not done")

    def _spark(self) -> SparkSession:
        """Return the session of the sources, whatever thread asks."""
        session = self._session or SparkSession.getActiveSession()
        if session is None:
            raise EplRuntimeError("the job has not been started by Spark, and there is no session in this thread")
        return session

    def check_identity(self, folder: str) -> None:
        """Check that Spark's checkpoint in ``folder`` and the state belong together: EplRuntimeError where one was replaced."""
        assert self._checkpoint is not None
        metadata = self._checkpoint.spark_metadata(folder)
        identity = None if metadata is None else json.loads(metadata)["id"]
        if self._checkpoint.identity is not None and identity != self._checkpoint.identity:
            raise EplRuntimeError(
                f"the state in {self._checkpoint.folder} belongs to Spark's query {self._checkpoint.identity}, "
                f"and {folder} holds {identity or 'none'}",
                hint="take both folders from the same copy, or begin with an empty checkpoint folder",
            )

    def attach(self, query: StreamingQuery, merged: DataFrame, heartbeat: Heartbeat | None = None) -> None:
        """Attach Spark's query that brings the micro-batches, the DataFrame that they are of, and the thread that moves time between
        them."""
        self._query, self._session, self._merged, self._heartbeat = query, merged.sparkSession, merged.schema, heartbeat
        if self._checkpoint is not None and self._checkpoint.identity is None:
            self._checkpoint.identity = str(query.id)
        if heartbeat is not None:
            heartbeat.start()

    def _report_waiting(self) -> None:
        """Report rows that a query, which ended in good order, did not release, and what does."""
        buffer = self.feed.buffer
        if buffer is not None and buffer.held:
            log.warning(
                "the query has ended, and %d rows wait for earlier ones, since none is %s newer: job.advance(%d) releases them, "
                "and so does a start with newer rows", buffer.held, buffer.policy.bound, (buffer.newest or 0) + 1,
            )

    def _raise_known(self, failure: Exception) -> None:
        """Raise the error that caused Spark's, if it is known."""
        if self.error is not None:
            failure.__cause__ = self.error.__cause__  # it is shown after Spark's text
            raise self.error from failure

    @property
    def halted(self) -> str | None:
        """What ended the job in the middle of a step, in words: its state cannot be used then."""
        return self.feed.last_step.halted

    def fail(self, error: EplError) -> None:
        """End the query with an error that Spark does not know of."""
        self.error = self.error or error
        self.streaming_query.stop()

    def state(self) -> bytes:
        """Return all that ``restored`` needs, layout of the sources included."""
        self.check_whole()
        progress = self.step, self.last, self.feed.sources.layout, self.feed.rules.encode()
        return bytes(msgpack.packb([VERSION, *progress, self.dynamic, self.feed.state()]))

    if TYPE_CHECKING:  # Job has them

        @property
        def is_active(self) -> bool: ...

        @property
        def streaming_query(self) -> StreamingQuery: ...

        def snapshot(self) -> None: ...

        def statement(self, name: str) -> Statement: ...


__all__ = ["JobSteps", "MicroBatchError"]
