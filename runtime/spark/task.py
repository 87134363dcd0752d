"""What workers need to run statements: text, types, options; picklable, and no plan in it. A worker parses and compiles once."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import blake2b
from typing import Any

import attrs
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from epl.errors import EplDeploymentError, EplError, EplRuntimeError
from epl.parse import parse_module
from epl.plan.statements import SelectPlan
from epl.settings import Settings
from epl.syntax import CreateSchema
from epl.unparse import unparse
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.spark.feed import Feed, FeedRules
from runtime.spark.historical_sources import NOTHING, HistoricalRegistration
from runtime.spark.schemas import event_type_of_spark
from runtime.spark.sources import Choice, Sources

BATCH_ID = "streaming.sql.batchId"
"""The property by which a task knows its micro-batch."""


@attrs.frozen
class Task:
    """``statement``: whose insert stream is emitted; ``type_names`` of the sources; ``schemas`` of the types that the module does not
    declare; ``time``, ``sequence``: as for ``Runtime.send_batch``; ``rules``: in engine units; ``lenient``: whether steps go on where
    expressions raise; ``key``: what the state is sealed with."""

    epl: str
    statement: str
    type_names: tuple[str, ...]
    schemas: Mapping[str, spark.StructType]
    settings: Settings
    functions: Mapping[str, Callable[..., Any]]
    time: Choice
    sequence: Choice
    rules: FeedRules
    tier: str = "auto"
    lenient: bool = False
    key: bytes | None = attrs.field(default=None, repr=False)
    historical: HistoricalRegistration = NOTHING
    whole_schemas: Mapping[str, spark.StructType] = attrs.field(factory=dict)
    """Of the types in ``schemas``, with the columns that no statement reads."""

    def digests(self) -> tuple[bytes, ...]:
        """Return what distinguishes this task's state from that of another one: its text as it is understood, the statement, the types and
        what orders their rows. After the first, those of state that was written when columns counted that no statement reads."""
        forms = [self.schemas, self.whole_schemas] if self.whole_schemas else [self.schemas]
        return tuple(self._digest(schemas) for schemas in forms)

    def _digest(self, by_name: Mapping[str, spark.StructType]) -> bytes:
        text = unparse(parse_module(self.epl))
        schemas = {name: schema.json() for name, schema in sorted(by_name.items())}
        order = [choice if choice is None or isinstance(choice, str) else sorted(choice.items()) for choice in (self.time, self.sequence)]
        identity = text, self.statement, self.type_names, schemas, self.settings, order
        return blake2b(repr(identity).encode(), digest_size=16).digest()

    def runtime(self, start_time: int) -> Runtime:
        """Return a runtime that knows types and functions, with nothing deployed."""
        return equip_runtime(start_time, self.settings, self.tier, self.functions, {}, self.schemas, self.historical)

    def feed(self, start_time: int) -> Feed:
        """Return a feed with everything deployed, that gathers the statement's output."""
        runtime = self.runtime(start_time)
        runtime.deploy(self.epl)
        return self._fed(runtime, self.rules, None)

    def restore_feed(self, snapshot: bytes, waiting: bytes | None, rules: FeedRules) -> Feed:
        """Return the same, in the state of another one, and by its rules."""
        runtime = Runtime.restore(
            snapshot, functions=self.functions, tier=self.tier, python_imports=self.settings.python_imports, register=self.historical
        )
        return self._fed(runtime, rules, waiting)

    def _fed(self, runtime: Runtime, rules: FeedRules, waiting: bytes | None) -> Feed:
        types = tuple(runtime.event_type(name) for name in self.type_names)
        sources = Sources.of(types, self.time, self.sequence)
        feed = Feed(runtime, sources, rules, state=waiting)
        for deployment in runtime.deployments.values():
            feed.gather(choose_statement(deployment, self.statement))
        return feed


def equip_runtime(
    start_time: int, settings: Settings, tier: str, functions: Mapping[str, Callable[..., Any]],
    aggregations: Mapping[str, Callable[[], Any]], schemas: Mapping[str, spark.StructType],
    historical: HistoricalRegistration = NOTHING,
) -> Runtime:
    """Return a runtime with functions, aggregations, event types and historical sources by name, nothing deployed."""
    runtime = Runtime(start_time=start_time, settings=settings, tier=tier)
    for name, function in functions.items():
        runtime.register_function(name, function)
    for name, factory in aggregations.items():
        runtime.register_aggregation(name, factory)
    for name, schema in schemas.items():
        runtime.register_type(event_type_of_spark(name, schema))
    historical(runtime)
    return runtime


def only_read(task: Task) -> tuple[Task, dict[str, frozenset[str]]]:
    """Return the task with the columns that statements read in the schemas of types that the module does not declare; and what they read of
    each source. Raise EplError for a module that is refused, or for a column that is read and has a type that EPL does not have."""
    known = {name: _without_unsupported(name, schema) for name, schema in task.schemas.items()}
    with attrs.evolve(task, schemas=known).runtime(0) as trial:
        trial.deploy(task.epl)
        types = [trial.event_type(name) for name in task.type_names]
        read = {t.name: frozenset(name for plan in internal_engine(trial).plans() for name in plan.reads.of(t)) for t in types}
    schemas = {name: _select_fields(schema, read[name]) for name, schema in task.schemas.items()}
    for name, schema in schemas.items():
        event_type_of_spark(name, schema)
    return attrs.evolve(task, schemas=schemas, whole_schemas=task.schemas), read


def drop_unsupported(
    schemas: Mapping[str, spark.StructType], deployed: Callable[[Mapping[str, spark.StructType]], Runtime]
) -> dict[str, spark.StructType]:
    """Return the schemas without columns of types that EPL does not have. Raise EplError for one that a statement reads. ``deployed``:
    gives a runtime with the statements over such types."""
    known = {name: _without_unsupported(name, schema) for name, schema in schemas.items()}
    if known == schemas:
        return dict(schemas)
    with deployed(known) as trial:
        plans = internal_engine(trial).plans()
        for name, schema in schemas.items():
            event_type = trial.event_type(name)
            event_type_of_spark(name, _select_fields(schema, {each for plan in plans for each in plan.reads.of(event_type)}))
    kept = {name: [each.name for each, other in zip(schema, known[name]) if each == other] for name, schema in schemas.items()}
    return {name: _select_fields(schema, kept[name]) for name, schema in schemas.items()}


def _without_unsupported(name: str, schema: spark.StructType) -> spark.StructType:
    """Return the schema with nulls in place of columns of types that EPL does not have."""
    fields = []
    for field in schema.fields:
        try:
            event_type_of_spark(name, spark.StructType([field]))
            fields.append(field)
        except EplDeploymentError:
            fields.append(spark.StructField(field.name, spark.NullType()))
    return spark.StructType(fields)


def _select_fields(schema: spark.StructType, names: Collection[str]) -> spark.StructType:
    return spark.StructType([field for field in schema.fields if field.name in names])


def infer_schemas(epl: str, frames: Mapping[str, DataFrame]) -> dict[str, spark.StructType]:
    """Return the schemas of the sources whose types the module does not declare."""
    declared = {s.body.name for s in parse_module(epl).statements if isinstance(s.body, CreateSchema)}
    return {name: frame.schema for name, frame in frames.items() if name not in declared}


def name_error(error: EplError, part: str) -> EplRuntimeError:
    """Return the error of a task as one whose text says all: Spark hands on nothing else. ``part``: which part of the rows it had."""
    context = TaskContext.get()
    batch = None if context is None else context.getLocalProperty(BATCH_ID)
    work = part if batch is None else f"micro-batch {batch}, {part}"
    return EplRuntimeError(f"[epl:{error.code}] {work}: {error.message}", span=error.span, text=error.text, hint=error.hint)


def choose_statement(deployment: Deployment, name: str) -> Statement:
    """Return the statement of that name; with an empty name the only select, or the only one that is no insert into."""
    if name:
        try:
            return deployment[name]
        except KeyError as error:
            raise EplRuntimeError(str(error.args[0])) from None
    selects = [(s, s.plan.body) for s in deployment if isinstance(s.plan.body, SelectPlan)]
    candidates = [s for s, body in selects if body.insert is None] if len(selects) > 1 else [s for s, _ in selects]
    if len(candidates) != 1:
        names = ", ".join(s.name for s in candidates) or "none"
        raise EplRuntimeError(f"{len(candidates)} statements have output: {names}", hint="name one: statement='…'")
    return candidates[0]


__all__ = ["Task", "choose_statement", "drop_unsupported", "equip_runtime", "infer_schemas", "name_error", "only_read"]
