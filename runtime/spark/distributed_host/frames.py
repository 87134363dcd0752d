"""DataFrames in, DataFrames out: the insert stream of a statement over batch or streaming DataFrames, spread over engines where it can be.

    batch       rows ─▶ by shard, in order of time ─▶ an engine a partition ─▶ rows
    streaming   rows ─▶ packed by shard ─▶ an engine a shard in Spark's stateful operator ─▶ rows

A statement that cannot be split runs in one engine, in one task. Nothing runs before the result is asked for. The workers need epl-spark.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyspark
from pyspark import TaskContext
from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F

from epl.analysis.partitioning import AnySplit, Partitioning, SplitBy, Whole, analyse_partitioning
from epl.analysis.partitioning.recognition_streams import refuse_other_orders
from epl.dialects.front_door import annotate_module
from epl.durations import Duration
from epl.errors import EplError, EplRuntimeError, EplUnsupportedError
from epl.parse import parse_module
from epl.settings import Settings
from epl.syntax import InsertInto, Module, Node, TypeFilter
from epl.syntax.patterns import FilterAtom
from epl.texts import load_text
from runtime.api.runtime import internal_engine
from runtime.arguments import check_arguments
from runtime.clock.instants import Instant, to_instant
from runtime.clock.late_rows import MAX_BUFFERED, late_policy, wall_clock
from runtime.clock.schedule import MAX_STOPS, TimeMode
from runtime.conversion.batch_order import BatchOptions
from runtime.spark.distributed_host.catalyst import NativeSparkPlan, translate_statement
from runtime.spark.distributed_host.packing import BLOB, OUTPUT_DDL, PACKED_DDL, SHARD, Pack, Unpack
from runtime.spark.distributed_host.results import Result, plan_result
from runtime.spark.distributed_host.shards import check_state_store, shard_ids, with_hashes, with_shards
from runtime.spark.distributed_host.workers import settle
from runtime.spark.feed import Feed, FeedRules, FeedStep, LogEntry, is_lenient
from runtime.spark.heartbeat import SYSTEM, Beat
from runtime.spark.historical_sources import HistoricalRegistration, Register
from runtime.spark.metrics import with_totals
from runtime.spark.probe import check_workers
from runtime.spark.pushdown import Wanted, narrow, read_condition
from runtime.spark.sources import ALL_READ, ROW, SEQUENCE, TIME, TYPE, Choice, Sources, check_frames, check_streaming, merge, observe
from runtime.spark.task import Task, choose_statement, infer_schemas, name_error, only_read
from runtime.spark.wiring import check_columns_known, check_filled, check_read
from runtime.state.seal import check_key

if TYPE_CHECKING:
    from runtime.spark.distributed_host.shard_host import ShardProcessor

log = logging.getLogger("epl.spark")

FIRST, LAST = "epl:first", "epl:last"
"""Columns of a merged batch DataFrame: the earliest and the latest time of all rows, for engines that see only some of them."""
DISTRIBUTE = ("auto", "always", "never")


@attrs.frozen
class BatchTask:
    """A partition of a batch DataFrame, in order: → the statement's insert stream. ``until``: where the clock walks at the end."""

    task: Task
    result: Result
    start_time: int | None
    until: int | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return errors_by_partition(self._output(batches))

    def _output(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed: Feed | None = None
        last: int | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            if feed is None:
                feed = self.task.feed(self._start(batch))
                last = batch.column(LAST)[0].as_py() if LAST in batch.schema.names else None
            extra = [name for name in (FIRST, LAST, SHARD, ROW) if name in batch.schema.names]
            yield from self._rows(feed, self._entry(rows=pa.Table.from_batches([batch]).drop_columns(extra)))
        if feed is not None:
            ends = [t for t in (self.until, last) if t is not None and t > feed.runtime.now]
            if ends:
                yield from self._rows(feed, self._entry(until=max(ends)))
            yield from self._tables(feed, feed.finish(lenient=self.task.lenient))

    def _rows(self, feed: Feed, entry: LogEntry) -> Iterator[pa.RecordBatch]:
        yield from self._tables(feed, feed.process(entry))

    def _tables(self, feed: Feed, step: FeedStep) -> Iterator[pa.RecordBatch]:
        for rows in self.result.tables(step, feed.sources):
            yield from rows.to_batches()

    def _entry(self, rows: pa.Table | None = None, until: int | None = None) -> LogEntry:
        return LogEntry(rows, until=until, lenient=self.task.lenient)

    def _start(self, batch: pa.RecordBatch) -> int:
        if self.start_time is not None:
            return self.start_time
        for name in (FIRST, TIME):
            if name in batch.schema.names:
                return int(batch.column(name)[0].as_py() or 0)
        return 0


@attrs.frozen
class StatelessTask:
    """Any rows of a stream, where nothing is kept from row to row: → the statement's insert stream. The clock is each row's time."""

    task: Task
    result: Result

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return errors_by_partition(self._output(batches))

    def _output(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed = self.task.feed(0)
        runtime = feed.runtime
        for batch in batches:
            if batch.num_rows:
                if TIME in batch.schema.names:
                    runtime.advance_time(pc.min(batch.column(TIME)).as_py() or 0)
                wall = wall_clock(runtime.settings.units_per_second)
                step = feed.straight(pa.Table.from_batches([batch]), wall=wall, lenient=self.task.lenient)
                for rows in self.result.tables(step, feed.sources):
                    yield from rows.to_batches()


def errors_by_partition(output: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what a task emits; its errors name the part of the rows that it has."""
    settle()
    try:
        yield from output
    except EplError as error:
        context = TaskContext.get()
        raise name_error(error, "a partition" if context is None else f"partition {context.partitionId()}") from error


@overload
def transform(epl: str | PathLike[str], sources: Mapping[str, DataFrame], statement: str | None = None, **options: Any) -> DataFrame: ...
@overload
def transform(
    epl: str | PathLike[str], sources: None = None, statement: str | None = None, **options: Any
) -> Callable[[DataFrame], DataFrame]: ...
@check_arguments  # type: ignore[misc]
def transform(
    epl: str | PathLike[str], sources: Mapping[str, DataFrame] | None = None, statement: str | None = None, *,
    event_type: str | None = None, time: Choice = None, sequence: Choice = None, time_mode: TimeMode = "span", max_stops: int = MAX_STOPS,
    late: Duration | None = None, on_late: str = "refuse", ahead: Duration | None = None, max_buffered: int = MAX_BUFFERED,
    distribute: str = "auto", shards: int | None = None, start_time: Instant | None = None, until: Instant | None = None,
    clock: str = "events", idle: Duration | None = None, heartbeat: float = 1.0, settings: Settings | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None, tier: str = "auto", on_error: str = "stop",
    snapshot_key: bytes | None = None, tables: Mapping[str, Any] | None = None, register: Register | None = None,
) -> DataFrame | Callable[[DataFrame], DataFrame]:
    """Return the insert stream of a statement over batch or streaming DataFrames, as a DataFrame with the statement's columns. Rows are
    partitioned by key over engines in Spark's workers (docs/spark.md).

    Args:
        epl: A module, or the path of its file, which is read now.
        sources: DataFrames by event type name. A type that the module does not declare has the DataFrame's columns. Without ``sources``, a
            function of one DataFrame is returned, for ``df.transform(transform(epl, …))``.
        statement: The statement whose rows are returned; not needed if only one has any.
        event_type: Without ``sources``: the type of the rows; default: the one that the module reads and does not fill.
        time: As for ``start``.
        sequence: As for ``start``. In batch DataFrames, rows of equal time and sequence keep their order within a key.
        time_mode: As for ``start``.
        max_stops: As for ``start``.
        late: As for ``start``.
        on_late: As for ``start``. In batch DataFrames, and for statements without state, only rows without a time are late. ``"side"``: the
            dropped rows are rows of their own, in the column ``left_out``, ``struct<why, A: struct<…>, …>``, which is null in other rows.
        ahead: As for ``start``.
        max_buffered: As for ``start``.
        distribute: ``"auto"``: over ``shards`` engines if every operator with state is local to a key, else in one; ``"always"``: refuse
            such statements, naming the operator; ``"never"``: in one.
        shards: Engines; default: Spark's shuffle partitions in streams, and as adaptive execution decides over batch DataFrames.
        start_time: The clock at the beginning, in engine units or as a datetime; default: the first row's time in batch DataFrames, 0 in
            streams.
        until: Walk to this time, as of ``start_time``, at the end of a batch DataFrame.
        clock: As for ``start``. Spark then makes a micro-batch at each trigger.
        idle: As for ``start``, from each shard's first row on.
        heartbeat: As for ``start``.
        settings: As for ``Runtime``.
        functions: User functions by name; they are pickled to the workers.
        tier: As for ``Runtime``.
        on_error: As for ``start``.
        snapshot_key: As for ``start``.
        tables: Static tables by name: a frame of Spark, pandas or Arrow, or ``(frame, keys)``. They are collected now, broadcast, and
            indexed once in each worker.
        register: Called with the runtime in each worker, to register methods and databases: connections are opened there.

    Raises:
        EplError: Module, sources or options are wrong. Errors in rows fail the job, with ``[epl:<code>]``, the micro-batch and the shard
            (or partition) in the text.
        TypeError: ``epl`` is neither.

    Examples:
        ```python
        from runtime.spark import session, transform

        frame = session().sql("select 'a' as k, 1.0D as v, 1000L as ts union all select 'a', 3.0D, 2000L")
        means = transform("@name('means') select k, avg(v) as mean from R#time(10 sec) group by k", {"R": frame}, time="ts")
        assert [(row.k, row.mean) for row in means.collect()] == [("a", 1.0), ("a", 2.0)]
        assert frame.transform(transform("select k from R(v > 2)")).count() == 1
        ```
    """
    _check_options(time, sequence, distribute, shards, time_mode, max_stops)
    module, lenient = load_text(epl), is_lenient(on_error)
    historical = HistoricalRegistration.of(tables, register)

    def apply(frames: Mapping[str, DataFrame]) -> DataFrame:
        check_frames(frames)
        streaming = any(frame.isStreaming for frame in frames.values())
        if streaming:
            check_streaming(frames)
        used = settings or Settings()
        text = annotate_module(module, used.dialect).text
        policy = late_policy(late, on_late, ahead, max_buffered, used.units_per_second)
        names, schemas = tuple(frames), infer_schemas(text, frames)
        rules = FeedRules(policy, time_mode, max_stops, at_wall=clock == SYSTEM and time is None)
        key = check_key(snapshot_key)
        task = Task(text, statement or "", names, schemas, used, functions or {}, time, sequence, rules, tier, lenient, key, historical)
        beat = Beat.of(clock, idle, heartbeat, used.units_per_second)
        _check_end(streaming, beat, until)
        begin, end = (
            None if instant is None else to_instant(option, instant, used.units_per_second)
            for option, instant in (("start_time", start_time), ("until", until))
        )
        read: Mapping[str, Collection[str]] = ALL_READ
        if on_late != "side":  # rows that are set aside are whole
            task, read = only_read(task)
        planned = _Planned.of(task, frames, distribute, shards, read)
        if planned.spoken is None:
            check_workers(planned.merged.sparkSession)
        return planned.streaming(begin, beat) if streaming else planned.batch(begin, end)

    if sources is not None:
        return apply(sources)
    written = annotate_module(module, None if settings is None else settings.dialect).text
    name = event_type or only_type(parse_module(written), tables or ())
    return lambda frame: apply({name: frame})


def _check_end(streaming: bool, beat: Beat | None, until: Instant | None) -> None:
    """Raise EplRuntimeError for options about the time at which only streams, or only batch DataFrames, go on."""
    if beat is not None and not streaming:
        raise EplRuntimeError("clock='system' and idle are for streams: batch DataFrames end", hint="until=time advances past the rows")
    if streaming and until is not None:
        raise EplRuntimeError(
            "until is for batch DataFrames: a stream has no end at which the clock could walk there",
            hint="docs/spark.md, 'The end of a stream'; start has job.advance(until)",
        )


def _check_options(
    time: Choice, sequence: Choice, distribute: str, shards: int | None, time_mode: TimeMode, max_stops: int
) -> None:
    BatchOptions(time, sequence, "refuse", time_mode, max_stops)
    if distribute not in DISTRIBUTE:
        raise EplRuntimeError(f"distribute is one of {', '.join(DISTRIBUTE)}, not {distribute!r}")
    if shards is not None and shards < 1:
        raise EplRuntimeError(f"shards is a number of engines, not {shards!r}")


@attrs.frozen
class _Planned:
    """A task that has been checked here and now. ``verdict``: how rows are split, None: not at all; ``shards``: over how many engines,
    None: as Spark chooses (batch DataFrames); ``needed``: which rows any statement reads; ``translate_statement``: the statement in Spark's
    own terms, None where an engine runs it."""

    task: Task
    sources: Sources
    merged: DataFrame
    output: Any
    result: Result
    verdict: Partitioning | None
    shards: int | None
    needed: Wanted
    spoken: NativeSparkPlan | None

    @classmethod
    def of(
        cls, task: Task, frames: Mapping[str, DataFrame], distribute: str, shards: int | None, read: Mapping[str, Collection[str]]
    ) -> _Planned:
        session = next(iter(frames.values())).sparkSession
        with task.runtime(0) as trial:
            statement = choose_statement(trial.deploy(task.epl), task.statement)
            sources = Sources.of(tuple(trial.event_type(name) for name in task.type_names), task.time, task.sequence)
            plans = internal_engine(trial).plans()
            check_read(plans, {name: trial.event_type(name) for name in task.schemas})
            check_filled(plans, [statement.plan], sources.types)
            check_columns_known(plans, statement.plan, task.functions)
            verdict: Partitioning | None = analyse_partitioning(plans, statement.plan, settings=task.settings)
            if isinstance(verdict, SplitBy):
                verdict = refuse_other_orders(verdict, plans, lambda name: time_column(task.time, name))
            batch = not any(frame.isStreaming for frame in frames.values())
            merged = merge(frames, sources, task.settings.time_unit == "microseconds", number_rows=batch, read=read)
            output, result = plan_result(statement.event_type, sources, merged.schema, beside=task.rules.policy.on_late == "side")
        if isinstance(verdict, Whole):
            if distribute == "always":
                raise EplUnsupportedError(f"statement '{statement.name}' cannot be spread: {verdict.describe()}", hint="distribute='auto'")
            log.info("statement '%s' runs in one engine: partitioning: %s", statement.name, verdict.describe())
        whole = distribute == "never" or isinstance(verdict, Whole)
        count = 1 if whole else shards or (None if batch else _shuffle_partitions(session))
        policy = attrs.evolve(task.rules.policy, bound=None, ahead=None) if batch else task.rules.policy
        task = attrs.evolve(task, statement=statement.name, rules=attrs.evolve(task.rules, policy=policy))
        stateless = not whole and isinstance(verdict, AnySplit) and verdict.stateless
        said = translate_statement(statement.plan, plans, sources.types, merged.schema, policy) if stateless else None
        if said is not None:
            log.info("statement '%s' runs in Spark's own terms, without an engine", statement.name)
        needed = read_condition(plans, sources.types)
        return cls(task, sources, merged, output, result, None if whole else verdict, count, needed, said)

    @property
    def _split(self) -> SplitBy | None:
        return self.verdict if isinstance(self.verdict, SplitBy) else None

    def _shard_rows(self, merged: DataFrame, ids: Sequence[int]) -> DataFrame:
        return with_shards(merged, self.sources.types, self._split, ids)

    def _ids(self, count: int) -> tuple[int, ...]:
        session = self.merged.sparkSession
        return shard_ids(session, count, _shuffle_partitions(session))

    def _repartition(self, merged: DataFrame) -> DataFrame:
        """Return a partition an engine. Where Spark chooses how many there are, it makes few of few rows (adaptive execution): an engine
        costs more than some thousands of rows."""
        if self.shards is None:
            return with_hashes(merged, self.sources.types, self._split).repartition(SHARD)
        return self._shard_rows(merged, self._ids(self.shards)).repartition(self.shards, SHARD)

    def batch(self, start_time: int | None, until: int | None) -> DataFrame:
        if self.spoken is not None:
            return self.spoken(self.merged)
        merged = self.merged
        used = ((TIME, self.sources.times), (SEQUENCE, self.sources.sequences))
        order = [F.col(f"`{name}`") for name, column in used if column is not None]
        if self.shards != 1:
            if self.sources.times is not None:
                ends = merged.agg(F.min(f"`{TIME}`").alias(FIRST), F.max(f"`{TIME}`").alias(LAST))
                merged = merged.crossJoin(F.broadcast(ends))
                merged = narrow(merged, self.needed).filter(F.col(f"`{TYPE}`").isNotNull())
            parted = self._repartition(merged)
        else:
            present = [F.col(f"`{name}`").isNotNull() for name in (TYPE, TIME) if name in merged.columns]
            parted = narrow(merged, self.needed).filter(reduce(or_, present)).repartition(1)
        ordered = parted.sortWithinPartitions(*order, F.col(f"`{TYPE}`"), F.col(f"`{ROW}`"))
        return ordered.mapInArrow(BatchTask(self.task, self.result, start_time, until), self.output)

    def streaming(self, start_time: int | None, beat: Beat | None) -> DataFrame:
        merged = self.merged
        if isinstance(self.verdict, AnySplit) and self.verdict.stateless:
            rows = observe(merged)
            if self.spoken is not None:
                return self.spoken(rows)
            condition = self.needed(merged)
            rows = rows if condition is None or condition is False else rows.filter(condition)
            return rows.mapInArrow(StatelessTask(self.task, self.result), self.output)
        shard_processor = _shard_processor()
        check_state_store(merged.sparkSession)
        assert self.shards is not None
        ids = self._ids(self.shards)
        # Observed after the split: Spark then makes both projections one.
        parted = observe(self._shard_rows(narrow(merged, self.needed), ids))
        pack = Pack(ids, self.sources.times is not None, self.task.rules.policy.ahead, self.task.settings.units_per_second)
        packed = parted.mapInArrow(pack, PACKED_DDL)
        processor = shard_processor(self.task, self.result, ids, start_time, uuid.uuid4().hex, beat)
        timers = "None" if beat is None else "ProcessingTime"
        blobs = packed.groupBy(SHARD).transformWithState(processor, OUTPUT_DDL, "append", timers)
        return with_totals(blobs).select(BLOB).mapInArrow(Unpack(), self.output)


def _shard_processor() -> type[ShardProcessor]:
    """Return what runs in Spark's stateful operator, which PySpark has from 4.1 on; nothing else needs it."""
    if not hasattr(GroupedData, "transformWithState"):
        raise EplUnsupportedError(
            f"PySpark {pyspark.__version__} has no stateful operator for rows: transform over streaming DataFrames needs PySpark 4.1",
            hint="start(…) runs the module in one engine on the driver, batch DataFrames and statements without state run as they are",
        )
    from runtime.spark.distributed_host.shard_host import ShardProcessor

    return ShardProcessor


def _shuffle_partitions(session: SparkSession) -> int:
    return int(session.conf.get("spark.sql.shuffle.partitions") or 1)


def time_column(choice: Choice, name: str) -> str | None:
    """Return the column of the times of a source."""
    return choice if choice is None or isinstance(choice, str) else choice.get(name)


def only_type(module: Module, tables: Collection[str] = ()) -> str:
    """Return the one event type that the module reads and does not fill; EplRuntimeError where there are none or several. ``tables``: names
    of static tables."""
    nodes = list(_nodes(module))
    read = {n.type_name for n in nodes if isinstance(n, (TypeFilter, FilterAtom))} - {n.target for n in nodes if isinstance(n, InsertInto)}
    read -= set(tables)
    if len(read) != 1:
        raise EplRuntimeError(
            f"The module reads {len(read)} event types: {', '.join(sorted(read))}", hint="name the DataFrame's: event_type='…'"
        )
    return read.pop()


def _nodes(value: Any) -> Iterator[Node]:
    """Yield all syntax nodes below a value, itself included."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, Node):
        yield value
        for field in attrs.fields(type(value)):
            yield from _nodes(getattr(value, field.name))


__all__ = ["choose_statement", "only_type", "transform"]
