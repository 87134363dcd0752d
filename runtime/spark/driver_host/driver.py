"""Driver mode: one streaming query whose micro-batches are sent to a runtime in the driver's process, in order of (time, sequence).

``start`` makes the job, or brings it back from its checkpoint; docs/spark.md is the manual, docs/operations.md for those who keep it
running.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import chain
from os import PathLike
from typing import Any

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark
from pyspark.sql.streaming.query import StreamingQuery

from epl.dialects.front_door import annotate_module
from epl.durations import Duration
from epl.errors import EplDeploymentError, EplError, EplRuntimeError
from epl.event_types import EventType
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from epl.texts import load_text
from runtime.api.adoption import adopt
from runtime.api.runtime import Runtime, internal_engine
from runtime.arguments import check_arguments
from runtime.clock.instants import Instant, to_instant
from runtime.clock.late_rows import MAX_BUFFERED, LatePolicy, late_policy, wall_clock
from runtime.clock.schedule import MAX_STOPS, TimeMode
from runtime.conversion.batch_order import BatchOptions
from runtime.spark.driver_host.checkpoint import Hook, JobCheckpoint, no_hook
from runtime.spark.driver_host.job import Job, MicroBatchError
from runtime.spark.driver_host.job_state import JobState
from runtime.spark.driver_host.sinks import JobSink, Keeping, KeptSink, ParquetSink
from runtime.spark.feed import Feed, FeedRules, LogEntry, find_last_step, is_lenient
from runtime.spark.heartbeat import SYSTEM, Beat, Heartbeat
from runtime.spark.historical_sources import NOTHING, HistoricalRegistration, Register
from runtime.spark.schemas import event_type_of_spark
from runtime.spark.sources import Choice, Sources, check_frames, check_streaming, merge, observe
from runtime.spark.task import drop_unsupported, equip_runtime, infer_schemas
from runtime.spark.wiring import check_columns_known, check_filled, check_read
from runtime.statements.callables import check_listeners
from runtime.statements.statement_output import Listener

Trigger = str | Mapping[str, str | bool] | None
"""None: a micro-batch as soon as there are rows. ``"5 seconds"``: one every so often. ``"availableNow"``: what is there now, then stop.
Else the keyword arguments of Spark's ``DataStreamWriter.trigger``."""



@attrs.frozen
class JobModule:
    """What a job runs: a module's text with all that it needs by name, or a runtime that was made and deployed already."""

    source: str | Runtime
    frames: Mapping[str, DataFrame]
    settings: Settings
    functions: Mapping[str, Callable[..., Any]]
    aggregations: Mapping[str, Callable[[], Any]]
    tier: str
    historical: HistoricalRegistration = NOTHING

    @property
    def text(self) -> str | None:
        return self.source if isinstance(self.source, str) else None

    def runtime(self, start_time: int | None) -> Runtime:
        """Return the runtime, deployed, at ``start_time``, with nothing sent; types without a declaration have their DataFrames'
        columns."""
        if isinstance(self.source, Runtime):
            halted = find_last_step(self.source).halted
            if halted is not None:
                raise EplRuntimeError(
                    f"an error left the runtime in the middle of a step: {halted}",
                    hint="deploy a new one: it restores the state before that step from the checkpoint",
                )
            if start_time is not None and start_time != self.source.now:
                self.source.advance_time(start_time)
            self.register(self.source)
            return self.source
        schemas = self.schemas(self.source)
        runtime = self._deploy(self.source, schemas, start_time)
        plans = internal_engine(runtime).plans()
        check_read(plans, {name: runtime.event_type(name) for name in schemas})
        check_filled(plans, plans, [runtime.event_type(name) for name in self.frames])
        return runtime

    def schemas(self, text: str) -> dict[str, spark.StructType]:
        """Return the schemas of the sources whose types the text does not declare, without columns of types that EPL does not have. Raise
        EplError for such a column where a statement reads it."""
        return drop_unsupported(infer_schemas(text, self.frames), partial(self._deploy, text))

    def _deploy(self, text: str, schemas: Mapping[str, spark.StructType], start_time: int | None = None) -> Runtime:
        runtime = equip_runtime(start_time or 0, self.settings, self.tier, self.functions, self.aggregations, schemas, self.historical)
        runtime.deploy(text)
        return runtime

    def read(self, runtime: Runtime) -> dict[str, frozenset[str]]:
        """Return which columns statements read of each source whose type has the columns of its DataFrame. Of declared types all are read:
        statements that are deployed later may."""
        if not isinstance(self.source, str):
            return {}
        types = [runtime.event_type(name) for name in infer_schemas(self.source, self.frames)]
        return {t.name: frozenset(name for plan in internal_engine(runtime).plans() for name in plan.reads.of(t)) for t in types}

    def register(self, runtime: Runtime) -> None:
        """Register the types of sources that the runtime does not know; EplRuntimeError, with none registered, where no statement reads
        one. (Its statements may read types without a source: the owner of the runtime can send their events.)"""
        unknown: dict[str, EventType] = {}
        for name, frame in self.frames.items():
            try:
                runtime.event_type(name)
            except EplRuntimeError:
                unknown[name] = event_type_of_spark(name, frame.schema)
        check_read(internal_engine(runtime).plans(), unknown)
        for event_type in unknown.values():
            runtime.register_type(event_type)

    def restore_runtime(self, snapshot: bytes) -> Runtime:
        """Restore the runtime as the snapshot has it, old texts included."""
        functions, aggregations, tier, settings = self.functions, self.aggregations, self.tier, self.settings
        windows: Collection[type[WindowConfig]] = ()
        register: Callable[[Runtime], object] = self.historical
        if isinstance(self.source, Runtime):
            state = internal_engine(self.source).state()
            functions, aggregations, tier = state.functions, state.aggregations, self.source.tier
            settings, windows = state.settings, set(state.windows.values())
            register = self.source.share_sources
        return Runtime.restore(
            snapshot, functions=functions, aggregations=aggregations, tier=tier, python_imports=settings.python_imports, windows=windows,
            register=register,
        )


def in_settings(module: str | PathLike[str] | Runtime, settings: Settings | None) -> str | Runtime:
    """Return a module's text with the dialect that the settings say; raise TypeError for what is no module."""
    if isinstance(module, Runtime):
        return module
    return annotate_module(load_text(module, others="a Runtime"), None if settings is None else settings.dialect).text


@attrs.frozen
class Setup:
    """How a job reads its input and keeps its state, whatever it runs."""

    module: JobModule
    policy: Callable[[Runtime], LatePolicy]
    choice: tuple[Choice, Choice]
    options: Mapping[str, Any]
    keeping: Keeping
    checkpoint: JobCheckpoint | None
    forget: Collection[str]
    wall: Callable[[], int] | None
    lenient: bool = False
    start_time: int | None = None
    fill: Mapping[str, Any] = attrs.field(factory=dict)

    def begins(self) -> int | None:
        """Return the clock at the very beginning, None where the module says it."""
        if self.start_time is not None or not self.options.get("at_wall"):
            return self.start_time
        settings = self.module.source.settings if isinstance(self.module.source, Runtime) else self.module.settings
        return wall_clock(settings.units_per_second) if self.wall is None else self.wall()

    def rules(self, runtime: Runtime) -> FeedRules:
        """Return the rules by which the job's entries become steps."""
        return FeedRules(self.policy(runtime), **self.options)

    def job(self, runtime: Runtime) -> Job:
        """Return a job over a runtime."""
        feed = Feed(runtime, self.sources(runtime), self.rules(runtime))
        for statement in (s for d in runtime.deployments.values() for s in d):
            if isinstance(self.keeping.sinks.get(statement.name), KeptSink):
                check_columns_known(internal_engine(runtime).plans(), statement.plan, internal_engine(runtime).definitions.user_functions)
        return Job(feed, self.keeping, self.checkpoint, self.wall, lenient=self.lenient)

    def sources(self, runtime: Runtime) -> Sources:
        """Return the sources that the job has now, by the runtime's types."""
        types = tuple(runtime.event_type(name) for name in self.module.frames)
        return Sources.of(types, *self.choice, self.module.frames)

    def former(self, runtime: Runtime, state: JobState) -> Job:
        """Return the job as it was, sources and rules included, so that the log means what it meant."""
        sources = Sources.of_layout(state.layout, runtime.event_type)
        job = Job(Feed(runtime, sources, state.rules, state=state.waiting), _statement_sinks(self.keeping, runtime), self.checkpoint,
            self.wall,
                  lenient=self.lenient)
        job.step, job.last, job.dynamic = state.step, state.last, list(state.dynamic)
        return job


@check_arguments
def start(
    module: str | PathLike[str] | Runtime, sources: Mapping[str, DataFrame], *,
    time: Choice = None, sequence: Choice = None, time_mode: TimeMode = "span", max_stops: int = MAX_STOPS,
    start_time: Instant | None = None, late: Duration | None = None, on_late: str = "refuse", ahead: Duration | None = None,
    max_buffered: int = MAX_BUFFERED,
    clock: str = "events", idle: Duration | None = None, heartbeat: float = 1.0, wall: Callable[[], int] | None = None,
    checkpoint: str | None = None, outputs: Collection[str] = (), sinks: Mapping[str, JobSink] | None = None,
    listeners: Mapping[str, Listener] | None = None, trigger: Trigger = None, query_name: str | None = None,
    settings: Settings | None = None, functions: Mapping[str, Callable[..., Any]] | None = None,
    aggregations: Mapping[str, Callable[[], Any]] | None = None, tier: str = "auto", on_error: str = "stop",
    forget: Collection[str] = (), snapshot_key: bytes | None = None, tables: Mapping[str, Any] | None = None,
    register: Register | None = None, fill: Mapping[str, Any] | None = None, hook: Hook = no_hook,
) -> Job:
    """Run a module over streaming DataFrames, in one engine on the driver (docs/spark.md); return the running job.

    Args:
        module: EPL text, the path of its file, or a Runtime with statements deployed.
        sources: Streaming DataFrames by event type name. A type that is not declared has the DataFrame's columns; of a declared one, only
            the columns of its properties are read.
        time: The column with each row's time (timestamps, or integers in engine units), one name or ``{type: name}``. Time walks to it,
            through all timers. None: no clock moves.
        sequence: The column that orders rows of equal time, one name or ``{type: name}``.
        time_mode: As for ``Runtime.send_batch``.
        max_stops: As for ``Runtime.send_batch``.
        start_time: The clock at the very beginning, in engine units or as a datetime (default 0); a job that is restarted has its own.
        late: How long rows wait, in event time, for earlier ones: ``"5 seconds"``. None: not beyond the micro-batch.
        on_late: What happens to rows that come later still: ``"refuse"``, ``"drop"``, ``"side"`` or ``"keep"``.
        ahead: Drop rows whose time is further than this beyond the wall clock.
        max_buffered: The most rows that wait.
        clock: ``"events"``, or ``"system"``: engine time follows the wall clock, minus ``late``.
        idle: Let time advance with the wall clock once no row has come for this long.
        heartbeat: Seconds between two looks at ``clock`` and ``idle``.
        wall: The wall clock, in engine units; for tests.
        checkpoint: A folder or URI for Spark's checkpoint, the job's state and its files. With it, state and output are exactly once.
        outputs: Statements whose output is written there as Parquet files.
        sinks: Other sinks by statement, such as ``DeltaSink``.
        listeners: Listeners by statement; each is called at least once per step.
        trigger: Spark's trigger, ``{"processingTime": "1 second"}``.
        query_name: Spark's name of the query; default: the module's, else that of its first statement with a name.
        settings: For a text, as for ``Runtime``. ``python_imports`` names what the module of a checkpoint imports.
        functions: For a text: user functions by name.
        aggregations: For a text: user aggregations by name.
        tier: For a text, as for ``Runtime``.
        on_error: ``"stop"``: an expression that raises ends the query before the micro-batch has an effect, naming statement, position and
            event; ``"handler"``: the runtime's error handler gets it, and the event is lost to that statement.
        forget: Statements whose state in the checkpoint is discarded. Others of the same name and text keep theirs; a changed one is
            refused.
        snapshot_key: Seals the state: for folders that others can write to.
        tables: For a text, as for ``transform``.
        register: For a text, as for ``transform``.
        fill: Frames by named window: its first rows, if the job has no state yet. They cause no output.
        hook: Called at each write; for tests.

    Raises:
        EplError: Module, sources, options or checkpoint are wrong; nothing has run. A micro-batch that is refused ends the query later:
            Spark's StreamingQueryException begins with ``[epl:<code>]``, and ``Job.error`` is the error.
        TypeError: ``module`` is something else, or a listener cannot be called with ``(new, old, statement, runtime)``.

    Examples:
        ```python
        import tempfile

        from runtime.spark import session, start

        spark, folder = session(), tempfile.mkdtemp()
        spark.sql("select 'a' as k, 1 as x").write.parquet(folder, mode="append")
        job = start("@name('all') select k, x from N", {"N": spark.readStream.schema("k string, x int").parquet(folder)},
                    listeners={"all": lambda new, old, statement, runtime: print(new)})
        job.process_all_available()                      # [{'k': 'a', 'x': 1}]
        job.stop()
        ```
    """
    text = in_settings(module, settings)
    check_listeners(listeners)
    check_frames(sources)
    check_streaming(sources)
    lenient, keeps, waits = is_lenient(on_error), bool(outputs) or on_late == "side", late is not None or ahead is not None
    _check_options(time, sequence, time_mode, checkpoint, keeps=keeps, waits=waits)
    Beat.of(clock, idle, heartbeat, 1000)  # refused before anything is made
    used = text.settings if isinstance(text, Runtime) else settings or Settings()
    began = None if start_time is None else to_instant("start_time", start_time, used.units_per_second)
    setup = Setup(
        JobModule(
            text, sources, settings or Settings(), functions or {}, aggregations or {}, tier,
            HistoricalRegistration.of(tables, register),
        ),
        lambda runtime: late_policy(late, on_late, ahead, max_buffered, runtime.settings.units_per_second), (time, sequence),
        {"time_mode": time_mode, "max_stops": max_stops, "at_wall": clock == SYSTEM and time is None},
        _keeping(outputs, sinks or {}, checkpoint, hook),
        None if checkpoint is None else JobCheckpoint(f"{checkpoint}/state", hook, snapshot_key), forget,
        wall, lenient, began, fill or {},
    )
    job = resume(setup, listeners or {})
    job.progress.update_state(job.feed)
    beat = Beat.of(clock, idle, heartbeat, job.runtime.settings.units_per_second)
    if job.feed.rules.policy.on_late != "side":  # rows that are set aside are whole
        job.read = setup.module.read(job.runtime)
    _begin(job, sources, beat, lambda merged: _query(job, merged, checkpoint, query_name, trigger))
    return job


def _keeping(outputs: Collection[str], sinks: Mapping[str, JobSink], checkpoint: str | None, hook: Hook) -> Keeping:
    """Return what becomes of the output: that of ``outputs`` is kept as files in the checkpoint's folder."""
    folder = None if checkpoint is None else f"{checkpoint}/output"
    kept: dict[str, JobSink] = {name: ParquetSink(f"{folder}/{name}", hook) for name in outputs}
    return Keeping({**kept, **sinks}, folder, hook)


def _begin(job: Job, sources: Mapping[str, DataFrame], beat: Beat | None, query: Callable[[DataFrame], StreamingQuery]) -> None:
    """Run the job: ``query`` makes the query over all its sources."""
    beats = None if beat is None else Heartbeat(job, beat)
    merged = merge(sources, job.feed.sources, job.runtime.settings.time_unit == "microseconds", number_rows=False, read=job.read)
    job.attach(query(merged), merged, beats)


def _check_options(
    time: Choice, sequence: Choice, time_mode: TimeMode, checkpoint: str | None, *, keeps: bool, waits: bool
) -> None:
    """``keeps``: files are asked for; ``waits``: bounds in time are."""
    BatchOptions(time, sequence, "refuse", time_mode)
    if keeps and checkpoint is None:
        raise EplRuntimeError("files are kept in the checkpoint's folder", hint="start(…, checkpoint=folder)")
    if time is None and waits:
        raise EplRuntimeError("late and ahead need a time", hint="start(…, time=column)")


def _query(job: Job, merged: DataFrame, checkpoint: str | None, name: str | None, trigger: Trigger) -> StreamingQuery:
    """Spark's query over all sources, the job's input."""
    writer = observe(merged).writeStream.foreachBatch(job)
    if checkpoint is not None:
        job.check_identity(f"{checkpoint}/spark")
        writer = writer.option("checkpointLocation", f"{checkpoint}/spark")
    name = name or _free_name(job, merged.sparkSession)
    if name is not None:
        writer = writer.queryName(name)
    if trigger is not None:
        writer = writer.trigger(**_trigger(trigger))
    return writer.start()


def _free_name(job: Job, session: SparkSession) -> str | None:
    """Return the name of the job's module, or of its first statement with a name, for Spark's UI and metrics; None where there is none, or
    an active query has it: Spark refuses two of one name."""
    deployments = job.runtime.deployments.values()
    modules = (d.plan.name for d in deployments if d.plan.name)
    statements = (s.name for d in deployments for s in d if s.plan.is_named)
    name = next(chain(modules, statements), None)
    return None if name in {query.name for query in session.streams.active} else name


# ------------------------------------------------------------------ coming back


def resume(setup: Setup, listeners: Mapping[str, Listener]) -> Job:
    """Return a new job, or the one that the checkpoint holds: snapshot, then the log after it, then what changed in the module."""
    if setup.checkpoint is not None:
        setup.checkpoint.claim()
    newest = None if setup.checkpoint is None else setup.checkpoint.newest()
    if newest is None:
        runtime = setup.module.runtime(setup.begins())
        for name, frame in setup.fill.items():
            runtime.fill(name, frame)
        job = setup.job(runtime)
        for sink in setup.keeping.sinks.values():
            if isinstance(sink, KeptSink):
                sink.check_new()
        _listen(job, listeners)
        if setup.checkpoint is not None:
            job.snapshot()
        return job
    state = JobState.decode(newest[1])
    before = setup.module.restore_runtime(state.snapshot)
    job = setup.former(before, state)
    job.progress.state_bytes = len(newest[1])
    assert setup.checkpoint is not None
    for _, data in setup.checkpoint.entries(state.step):
        job.replay(LogEntry.decode(data))
    # Listeners have had these steps: a step is logged after their calls.
    if not _is_unchanged(setup, before, state):
        return _change_job(setup, job, listeners)
    sources = setup.sources(before)
    sources.check_forms(job.feed.sources)
    job.feed.sources = sources
    _listen(job, listeners)
    if setup.rules(before) != state.rules:
        job.feed.follow(setup.rules(before))
        job.snapshot()
    return job


def _is_unchanged(setup: Setup, before: Runtime, state: JobState) -> bool:
    """Return whether the runtime of the snapshot is the one that the module asks for."""
    module = setup.module
    texts = [d.plan.text for d in before.deployments.values() if d.id not in state.dynamic]
    if module.text is None or texts != [module.text] or module.settings != before.settings or list(module.frames) != state.layout[0]:
        return False
    if setup.sources(before).layout[:3] != state.layout[:3]:
        return False
    renewed = {name: event_type_of_spark(name, schema) for name, schema in module.schemas(module.text).items()}
    return all(_alike(before.event_type(name), each) for name, each in renewed.items())


def _alike(one: EventType, other: EventType) -> bool:
    return {n: str(p.type) for n, p in one.properties.items()} == {n: str(p.type) for n, p in other.properties.items()}


def _change_job(setup: Setup, old: Job, listeners: Mapping[str, Listener]) -> Job:
    """Return the job that the module asks for now, with the state of what did not change; the log in front of it is the old one's."""
    assert setup.checkpoint is not None
    before = old.runtime
    runtime = setup.module.runtime(before.now)
    for deployment_id in old.dynamic:
        if deployment_id in runtime.deployments:
            continue  # it is the runtime that ran them
        deployment = internal_engine(before).deployer.deployments[deployment_id]
        runtime.deploy(deployment.plan.text, name=deployment_id, parameters=dict(deployment.parameters))
    if find_last_step(runtime).logged != (setup.checkpoint.folder, old.step):
        adopt(runtime, before, setup.forget)
    job = setup.job(runtime)
    job.feed.sources.check_forms(old.feed.sources)
    _take_over_waiting(old, job)
    job.step, job.last, job.dynamic = old.step, old.last, old.dynamic
    _listen(job, listeners)
    job.snapshot()
    return job


def _take_over_waiting(old: Job, job: Job) -> None:
    """Rows that wait, in the layout of the new sources."""
    if old.feed.buffer is None or job.feed.buffer is None:
        if old.feed.buffer is not None and old.feed.buffer.held:
            raise EplDeploymentError("rows wait for earlier ones, and the sources have no time column any more")
        return
    if old.feed.buffer.held and not job.feed.sources.is_continued(old.feed.sources):
        raise EplDeploymentError(
            f"{old.feed.buffer.held} rows wait for earlier ones, and the sources are not the ones they came from",
            hint="continue with the old sources until none wait",
        )
    job.feed.buffer.restore(old.feed.buffer.state())


def _statement_sinks(keeping: Keeping, runtime: Runtime) -> Keeping:
    """Sinks of the statements that the runtime has."""
    names = {s.name for d in runtime.deployments.values() for s in d}
    return attrs.evolve(keeping, sinks={n: sink for n, sink in keeping.sinks.items() if n in names})


def _listen(job: Job, listeners: Mapping[str, Listener]) -> None:
    for name, listener in listeners.items():
        job.statement(name).add_listener(listener)


@check_arguments
def error_of(job: Job) -> EplError | None:
    """Return the error that ended a job's query; None if none did.

    Args:
        job: Of ``start``.

    Examples:
        ```python
        from runtime.spark import Job, error_of

        def ended_well(job: Job) -> bool:
            return error_of(job) is None
        ```
    """
    return job.error


def _trigger(trigger: str | Mapping[str, str | bool]) -> dict[str, Any]:
    if isinstance(trigger, Mapping):
        return dict(trigger)
    return {"availableNow": True} if trigger == "availableNow" else {"processingTime": trigger}


__all__ = ["JobModule", "MicroBatchError", "Setup", "error_of", "resume", "start"]
