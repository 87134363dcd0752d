"""Driver mode as a long-running job: what applications ask of it. runtime.spark.driver_host.job_steps processes its micro-batches."""
from __future__ import annotations

import time
from collections.abc import Mapping
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructField, StructType

from epl.analysis.names.suggestions import did_you_mean
from epl.errors import EplRuntimeError
from epl.texts import load_text
from runtime.api.deployment import Deployment
from runtime.api.queried_partitions import Selectors
from runtime.api.queries import Parameters, QueryRows
from runtime.api.statement import Statement, internal_output
from runtime.arguments import check_methods
from runtime.clock.instants import Instant, show_instant, to_instant
from runtime.clock.late_rows import ipc
from runtime.spark.driver_host.job_steps import JobSteps, MicroBatchError
from runtime.spark.driver_host.sinks import KeptSink
from runtime.spark.feed import LogEntry, query_entry
from runtime.spark.schemas import spark_schema
from runtime.spark.sources import to_arrow_table
from runtime.statements.running import EVERY_PARTITION, Selector

if TYPE_CHECKING:
    from runtime.live.job_view import LiveJobView


@check_methods()
class Job(JobSteps):
    '''A job in driver mode, which ``start`` returns: what its statements hold and have emitted, its progress, and its end.

    Attributes:
        runtime: The ``Runtime``, for listeners, iteration and queries; each of them sees the end of a step.
        step: The number of the step that is being processed, or was processed last. Listeners are called at least once per step and
            recognise repeated calls by it.
        error: The error that ended the query, or None.
        progress: Counts of the last steps, and totals; ``progress.prometheus()`` is Prometheus text.
        lenient: Whether exceptions in expressions go to the runtime's error handler (``on_error="handler"``) instead of ending the query.

    Examples:
        ```python
        import tempfile

        import pyarrow as pa

        from runtime.spark import error_of, session, start

        spark, folder = session(), tempfile.mkdtemp()
        spark.sql("select 'a' as k, 1 as x, 1000L as ts union all select 'b', 2, 9000L").write.parquet(f"{folder}/in")
        numbers = spark.readStream.schema("k string, x int, ts long").parquet(f"{folder}/in")
        job = start("""
            create window W#keepall as (k string, x int);
            insert into W select k, x from N;
            @name('total') select sum(x) as total from N""", {"N": numbers},
            time="ts", late="5 seconds", on_late="side", checkpoint=f"{folder}/job", outputs=["total"])
        job.process_all_available()
        assert job.iterate("total") == [{"total": 1}]                 # the row at 9 s waits
        job.advance(9_001)                                            # for rows before it; now it does not
        assert job.statement("total").to_pandas()["total"].tolist() == [3]
        assert sorted(row.total for row in job.output("total").collect()) == [1, 3]
        assert job.left_out("N").count() == 0
        view = job.live("total")                                      # a widget in a notebook
        assert job.fill("W", pa.table({"k": ["c"], "x": pa.array([7], pa.int32())})) == 1
        assert job.query("select x from W where k = ?::string", ["b"]) == [{"x": 2}]
        assert job.window("W").count() == 3
        deployment = job.deploy("@name('big') select * from N(x > 10)", name="more")
        job.undeploy("more")
        job.snapshot()
        assert (job.status, job.is_active, job.streaming_query.isActive) == ("running", True, True)
        view.close()
        job.stop()
        assert job.await_termination(10) and error_of(job) is None
        ```
    '''

    # ------------------------------------------------------------------ steps

    def advance(self, until: Instant) -> None:
        """Advance time without rows: timers up to then run, and rows that come later with an earlier time are late.

        Args:
            until: Engine units (ms) since 1970, or a datetime.

        Raises:
            EplRuntimeError: ``until`` is neither; nothing has happened.
        """
        target = to_instant("until", until, self.runtime.settings.units_per_second)
        with self.runtime.lock:
            self._take(LogEntry(until=target, wall=self.wall()))

    def deploy(
        self, module: str | PathLike[str], *, name: str | None = None, parameters: Mapping[str | int, Any] | None = None
    ) -> Deployment:
        """Deploy a module between two micro-batches; a restart knows it. The state of other statements stays.

        Args:
            module: EPL text, or the path of its file, which is read now.
            name: The deployment's id.
            parameters: As for ``Runtime.deploy``.

        Raises:
            EplError: The module is refused; the job goes on.
            TypeError: ``module`` is neither.
        """
        module = load_text(module)
        with self.runtime.lock:
            deployment_id = name or f"job-{self.step + 1}"
            self._take(LogEntry(change={"deploy": module, "name": deployment_id, "parameters": list((parameters or {}).items())}))
            return self.runtime.deployments[deployment_id]

    def undeploy(self, name: str) -> None:
        """Undeploy between two micro-batches.

        Args:
            name: The deployment's id.

        Raises:
            EplDeploymentError: As for ``Runtime.undeploy``.
        """
        with self.runtime.lock:
            self._take(LogEntry(change={"undeploy": name}))

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> None:
        """Write the state now, so that a restart replays no log.

        Raises:
            EplRuntimeError: The job has no checkpoint, or an error has ended it in the middle of a step.
        """
        if self._checkpoint is None:
            raise EplRuntimeError("the job has no checkpoint to write to", hint="start(…, checkpoint=folder)")
        with self.runtime.lock:
            begun = time.monotonic()
            state = self.state()
            self._checkpoint.snapshot(self.step, state)
            self._snapshot_seconds = time.monotonic() - begun
            self.progress.state_bytes, self._steps_since, self._seconds_since = len(state), 0, 0.0

    # ------------------------------------------------------------------ what users ask

    def statement(self, name: str) -> Statement:
        """Return the statement of a name.

        Args:
            name: Of ``@name('…')``.

        Raises:
            EplRuntimeError: There is none, or there are several.
        """
        statements = [s for d in self.runtime.deployments.values() for s in d if s.name == name]
        if len(statements) != 1:
            names = ", ".join(s.name for d in self.runtime.deployments.values() for s in d)
            raise EplRuntimeError(f"there are {len(statements)} statements named '{name}'", hint=f"there are {names}")
        return statements[0]

    def iterate(self, name: str, *, partitions: Selector | None = EVERY_PARTITION) -> list[Any]:
        """Return the rows of a statement after the last step.

        Args:
            name: Of ``@name('…')``.
            partitions: As for ``Statement.rows``.

        Raises:
            EplRuntimeError: There is no such statement, or the job has failed in the middle of a step.
        """
        with self.runtime.lock:
            self.check_whole()
            return list(self.statement(name).rows(partitions))

    def query(self, text: str | PathLike[str], parameters: Parameters = (), *, partitions: Selectors = EVERY_PARTITION) -> QueryRows:
        """Run a fire-and-forget query over the state after the last step. One that changes something is a step of its own: whenever the
        process dies, it has taken effect once, in its place among the micro-batches.

        Args:
            text: EPL text, or the path of its file.
            parameters: As for ``Runtime.query``.
            partitions: As for ``Runtime.query``.

        Raises:
            EplError: The query is refused or fails; or it changes something and a listener runs it.
            TypeError: ``text`` is neither.
        """
        text = load_text(text)
        with self.runtime.lock:
            self.check_whole()
            plan = self.runtime.compile_query(text)
            if not plan.changes:
                return self.runtime.query(plan, parameters, partitions=partitions)
            self._check_between_steps()
            values = parameters if isinstance(parameters, Mapping) else dict(enumerate(parameters, 1))
            rows: QueryRows = self._take(query_entry(text, values, partitions)).result
            return rows

    def fill(self, name: str, frame: Any) -> int:
        """Insert the rows of a frame into a named window, as ``Runtime.fill`` does: a step of its own.

        Args:
            name: The named window.
            frame: As for ``Runtime.fill``.

        Returns:
            The number of rows.
        """
        with self.runtime.lock:
            self.check_whole()
            self._check_between_steps()
            rows: int = self._take(LogEntry(change={"fill": name, "rows": ipc(to_arrow_table(frame, name))})).result
            return rows

    def window(self, name: str) -> DataFrame:
        """Return the rows of a named window after the last step, as a batch DataFrame.

        Args:
            name: The named window.
        """
        rows = self.query(f"select * from {name}")
        schema, session = spark_schema(rows.event_type), self._spark()
        return session.createDataFrame(rows.to_arrow().to_pylist(), schema)

    def output(self, name: str, stream: str = "new") -> DataFrame:
        """Return what a statement has emitted so far, each row once, as a batch DataFrame over the files that the job writes
        (``outputs=``).

        Args:
            name: Of ``@name('…')``.
            stream: ``"new"`` or ``"old"``: the insert or the remove stream.

        Raises:
            EplRuntimeError: The job writes no files for the statement.
        """
        sink = self._keeping.sinks.get(name)
        if not isinstance(sink, KeptSink):
            raise EplRuntimeError(f"the output of '{name}' is not kept as files", hint=f"start(…, outputs=[{name!r}], checkpoint=folder)")
        schema, files = spark_schema(self.statement(name).event_type), sink.files(stream)
        return self._spark().read.schema(schema).parquet(*files) if files else self._spark().createDataFrame([], schema)

    def left_out(self, name: str, why: str = "late") -> DataFrame:
        """Return the rows of an event type that were dropped, as a batch DataFrame; with ``on_late="side"``. It has no rows if none were.

        Args:
            name: The event type.
            why: ``"late"``, or ``"ahead"``: beyond the wall clock.

        Raises:
            EplRuntimeError: The type has no source, or dropped rows are not kept.
        """
        if self._left_out is None:
            raise EplRuntimeError("rows that are dropped are not kept", hint="start(…, on_late='side', checkpoint=folder)")
        if why not in ("late", "ahead"):
            raise EplRuntimeError(f"why is 'late' or 'ahead', not {why!r}")
        sources = self.feed.sources
        names = [each.name for each in sources.types]
        if name not in names:
            raise EplRuntimeError(f"There is no source '{name}'{did_you_mean(name, names)}", hint=f"there are {', '.join(names)}")
        files = self._left_out.sink(why, name).files()
        if files:
            return self._spark().read.parquet(*files)
        if self._merged is None:
            raise EplRuntimeError("the job has not been started by Spark")
        fields = [StructField(to, self._merged[column].dataType) for to, column in sources.columns(names.index(name)).items()]
        return self._spark().createDataFrame([], StructType(fields))

    # ------------------------------------------------------------------ Spark's query

    @property
    def streaming_query(self) -> StreamingQuery:
        """Spark's StreamingQuery."""
        if self._query is None:
            raise EplRuntimeError("the job has not been started by Spark")
        return self._query

    def await_termination(self, timeout: float | None = None) -> bool | None:
        """Wait until the query ends.

        Args:
            timeout: Seconds; None waits without limit.

        Returns:
            With a timeout, whether it has ended.

        Raises:
            EplError: What ended the query.
        """
        try:
            ended = self.streaming_query.awaitTermination(timeout)  # type: ignore[arg-type]
        except Exception as failure:
            self._raise_known(failure)
            raise
        if self.error is not None and not self.is_active:  # a heartbeat's: Spark knows of no failure
            raise self.error
        if not self.is_active:
            self._report_waiting()
        return ended

    def process_all_available(self) -> None:
        """Wait until all rows that are available now have been processed.

        Raises:
            EplError: What ended the query.
        """
        try:
            self.streaming_query.processAllAvailable()
        except Exception as failure:
            self._raise_known(failure)
            raise
        if self.error is not None and not self.is_active:
            raise self.error

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return self.streaming_query.isActive

    def stop(self) -> None:
        """End the query after the current micro-batch and write the state, unless an error has ended it before."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self.streaming_query.stop()
        if self._checkpoint is not None and self._checkpoint.is_mine and self.error is None and self.halted is None:
            self.snapshot()

    # ------------------------------------------------------------------ how it shows itself

    @property
    def status(self) -> str:
        """``"running"``, ``"stopped"``, ``"failed"``, or ``"not started"`` by Spark."""
        if self.error is not None or self.halted is not None:
            return "failed"
        if self._query is None:
            return "not started"
        return "running" if self.is_active else "stopped"

    def live(self, *names: str, rows: int = 20) -> LiveJobView:
        """Return a widget for notebooks that shows the job's progress and the latest rows of statements while it runs, until ``close()`` or
        the job's end. It costs a step what a batch listener costs, and statements stay in their tier.

        Args:
            names: Of statements; without names, those whose output is written (``outputs=``).
            rows: How many rows it shows.

        Raises:
            ImportError: without anywidget, which the extra ``live`` brings.
            EplRuntimeError: There is no such statement.
        """
        from runtime.live.job_view import LiveJobView

        with self.runtime.lock:
            return LiveJobView([self.statement(name) for name in names or self._keeping.sinks], self._facts, shown=rows)

    def _facts(self) -> dict[str, str]:
        """Return what there is to know of it at a glance."""
        progress, sources = self.progress, self.feed.sources
        waiting = 0 if self.feed.buffer is None else self.feed.buffer.held
        facts = {
            "status": self.status,
            "step": str(self.step),
            "engine time": show_instant(self.runtime.now, self.runtime.settings.units_per_second),
            "sources": ", ".join(each.name for each in sources.types),
            "rows": f"{progress.rows} in, {progress.out} out, {waiting} waiting, {progress.late} late, {progress.ahead} ahead",
        }
        if self._checkpoint is not None:
            facts["checkpoint"] = self._checkpoint.folder.removesuffix("/state")
        if self.error is not None:
            facts["error"] = self.error.message
        return facts

    def __repr__(self) -> str:
        return f"Job({', '.join(f'{name}: {value}' for name, value in self._facts().items())})"

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._facts().items())
        statements = "".join(
            f"<tr><td>{escape(s.name)}</td><td>{'files' if isinstance(sink, KeptSink) else 'a sink' if sink else ''}</td>"
            f"<td>{internal_output(s).listener_count - (s in self.feed.listeners)}</td></tr>"
            for d in self.runtime.deployments.values() for s in d if s.plan.body.output_type is not None
            for sink in [self._keeping.sinks.get(s.name)]
        )
        head = "<tr><th>statement</th><th>output</th><th>listeners</th></tr>"
        return f"<b>Job</b><table>{facts}</table><table>{head}{statements}</table>{self._pictures()}"

    def _pictures(self) -> str:
        """Return how events flow between the statements."""
        from runtime.explain.notebook_html import fold_html, picture_html

        return "".join(fold_html(f"deployment {d.id}", picture_html(d.graph())) for d in self.runtime.deployments.values())

    # ------------------------------------------------------------------ state

__all__ = ["Job", "MicroBatchError"]
