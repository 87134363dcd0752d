"""Batch DataFrames: statements over all rows of DataFrames, their insert stream as a DataFrame.

The rows of all sources are sorted by (time, sequence, type, place) by Spark and go through one runtime in one task; nothing runs before
the result is asked for, and neither input nor output is ever held as a whole. The workers need epl-spark installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, overload

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from epl.catalog import Settings
from epl.errors import EplRuntimeError
from epl.parse import parse_module
from epl.plan.statements import SelectPlan
from epl.syntax import CreateSchema, InsertInto, Module, Node, TypeFilter
from epl.syntax.patterns import FilterAtom
from runtime.arrow import to_batch
from runtime.batches import MAX_STOPS, Options
from runtime.deployment import Deployment
from runtime.engine import Runtime
from runtime.rows import Rows
from runtime.spark.schemas import arrow_for_spark, event_type_of_spark, spark_schema
from runtime.spark.sources import ROW, SEQUENCE, TIME, Choice, Sources, check_frames, merge
from runtime.statement import Statement
from windows.event import Event


@attrs.frozen
class Job:
    """What the task needs: picklable, without a plan. ``schemas``: of the types that the module does not declare."""

    epl: str
    statement: str
    type_names: tuple[str, ...]
    schemas: Mapping[str, spark.StructType]
    settings: Settings
    functions: Mapping[str, Callable[..., Any]]
    options: Options
    start_time: int | None
    until: int | None

    def runtime(self, start_time: int) -> Runtime:
        """A runtime that knows types and functions, with nothing deployed."""
        made = Runtime(start_time=start_time, settings=self.settings)
        for name, function in self.functions.items():
            made.register_function(name, function)
        for name, schema in self.schemas.items():
            made.register_type(event_type_of_spark(name, schema))
        return made

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The task: merged rows in order → the statement's insert stream."""
        host: _TaskHost | None = None
        for batch in batches:
            if batch.num_rows:
                host = host or _TaskHost.of(self, batch)
                yield from host.process(batch)
        if host is not None and self.until is not None:
            yield from host.advance(self.until)


class _TaskHost:
    """The runtime of one task, and what its statement has put out since the last look."""

    def __init__(self, runtime: Runtime, statement: Statement, sources: Sources, options: Options) -> None:
        self.runtime = runtime
        self.sources = sources
        self.options = options
        self._event_type = statement.event_type
        self._schema = arrow_for_spark(statement.event_type)
        self._out: list[Event] = []
        statement.add_listener(self._keep)

    @classmethod
    def of(cls, job: Job, first: pa.RecordBatch) -> _TaskHost:
        options, start_time = job.options, job.start_time
        if start_time is None:
            start_time = 0 if options.time is None else first.column(TIME)[0].as_py() or 0
        runtime = job.runtime(start_time)
        statement = chosen(runtime.deploy(job.epl), job.statement)
        types = tuple(runtime.event_type(name) for name in job.type_names)
        return cls(runtime, statement, Sources.of(types, options.time, options.sequence), options)

    def process(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        options = self.options
        self.runtime.send_batch(
            self.sources.tables(pa.Table.from_batches([batch])),
            time=self.sources.times,
            sequence=self.sources.sequences,
            late=options.late,
            time_mode=options.time_mode,
            max_stops=options.max_stops,
        )
        yield from self._taken()

    def advance(self, until: int) -> Iterator[pa.RecordBatch]:
        self.runtime.advance_time_span(max(until, self.runtime.now))
        yield from self._taken()

    def _keep(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        self._out.extend(row.event for row in new)

    def _taken(self) -> Iterator[pa.RecordBatch]:
        out, self._out = self._out, []
        if out:
            yield to_batch(out, self._event_type).cast(self._schema)


@overload
def transform(epl: str, sources: Mapping[str, DataFrame], statement: str | None = None, **options: Any) -> DataFrame: ...
@overload
def transform(epl: str, sources: None = None, statement: str | None = None, **options: Any) -> Callable[[DataFrame], DataFrame]: ...
def transform(  # type: ignore[misc]
    epl: str,
    sources: Mapping[str, DataFrame] | None = None,
    statement: str | None = None,
    *,
    event_type: str | None = None,
    time: Choice = None,
    sequence: Choice = None,
    late: str = "refuse",
    time_mode: str = "span",
    max_stops: int = MAX_STOPS,
    start_time: int | None = None,
    until: int | None = None,
    settings: Settings | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> DataFrame | Callable[[DataFrame], DataFrame]:
    """The insert stream of a statement over batch DataFrames, as a DataFrame with the statement's columns.

    ``epl``: a module. ``sources``: {event type name: DataFrame}; a type that the module does not declare has the DataFrame's columns.
    Without ``sources`` a function of one DataFrame comes back, for ``df.transform(transform(epl, …))``: its rows are of ``event_type``, or
    of the one type that the module reads and does not fill. ``statement``: whose output; not needed where only one has any.

    ``time``, ``sequence``, ``late``, ``time_mode``, ``max_stops``: as for ``start``; without ``sequence``, rows of equal time keep the
    order that their DataFrame has. ``start_time``: the clock at the beginning, by default the first row's time; ``until``: the clock walks
    there at the end. ``functions``: user functions by name. Raises EplError for what is wrong with the module, the sources or the options;
    faults in rows fail the job.
    """

    def apply(frames: Mapping[str, DataFrame]) -> DataFrame:
        check_frames(frames, streaming=False)
        options = Options(time, sequence, late, time_mode, max_stops)
        declared = _declared(parse_module(epl))
        schemas = {name: frame.schema for name, frame in frames.items() if name not in declared}
        job = Job(epl, statement or "", tuple(frames), schemas, settings or Settings(), functions or {}, options, start_time, until)
        return _planned(job, frames)

    if sources is not None:
        return apply(sources)
    name = event_type or only_type(parse_module(epl))
    return lambda frame: apply({name: frame})


def _planned(job: Job, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Checks the module here and now; the rest happens when Spark runs."""
    options = job.options
    with job.runtime(job.start_time or 0) as trial:
        found = chosen(trial.deploy(job.epl), job.statement)
        output = spark_schema(found.event_type)
        sources = Sources.of(tuple(trial.event_type(name) for name in frames), options.time, options.sequence)
        job = attrs.evolve(job, statement=found.name)
    merged = merge(frames, sources, job.settings.time_unit == "microseconds", number_rows=True)
    position = F.coalesce(*[F.when(F.col(f"type{i}").isNotNull(), F.lit(i)) for i in range(len(frames))])
    order = [F.col(f"`{name}`") for name, used in ((TIME, sources.times), (SEQUENCE, sources.sequences)) if used is not None]
    ordered = merged.repartition(1).sortWithinPartitions(*order, position, F.col(f"`{ROW}`"))
    return ordered.mapInArrow(job, output)


def chosen(deployment: Deployment, name: str) -> Statement:
    """The statement of that name; with an empty name the only select, or the only one that is no insert into."""
    if name:
        try:
            return deployment[name]
        except KeyError as error:
            raise EplRuntimeError(str(error.args[0])) from None
    selects = [(s, s.plan.body) for s in deployment if isinstance(s.plan.body, SelectPlan)]
    found = [s for s, body in selects if body.insert is None] if len(selects) > 1 else [s for s, _ in selects]
    if len(found) != 1:
        names = ", ".join(s.name for s in found) or "none"
        raise EplRuntimeError(f"{len(found)} statements have output: {names}", hint="name one: statement='…'")
    return found[0]


def only_type(module: Module) -> str:
    """The one event type that the module reads and does not fill; EplRuntimeError where there are none or several."""
    nodes = list(_nodes(module))
    read = {n.type_name for n in nodes if isinstance(n, (TypeFilter, FilterAtom))} - {n.target for n in nodes if isinstance(n, InsertInto)}
    if len(read) != 1:
        raise EplRuntimeError(
            f"The module reads {len(read)} event types: {', '.join(sorted(read))}", hint="name the DataFrame's: event_type='…'"
        )
    return read.pop()


def _nodes(value: Any) -> Iterator[Node]:
    """All syntax nodes below a value, itself included."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, Node):
        yield value
        for field in attrs.fields(type(value)):
            yield from _nodes(getattr(value, field.name))


def _declared(module: Module) -> set[str]:
    return {s.body.name for s in module.statements if isinstance(s.body, CreateSchema)}
