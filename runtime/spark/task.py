"""What workers need to run statements: text, types, options; picklable, and no plan in it. A worker parses and compiles once."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import attrs
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from epl.errors import EplError, EplRuntimeError
from epl.parse import parse_module
from epl.plan.statements import SelectPlan
from epl.settings import Settings
from epl.syntax import CreateSchema
from epl.unparse import unparse
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.spark.feed import Feed, Rules
from runtime.spark.historical_sources import NOTHING, HistoricalRegistration
from runtime.spark.schemas import event_type_of_spark
from runtime.spark.sources import Choice, Sources
from runtime.statements.statement import Statement

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
    rules: Rules
    tier: str = "auto"
    lenient: bool = False
    key: bytes | None = attrs.field(default=None, repr=False)
    historical: HistoricalRegistration = NOTHING

    def digest(self) -> bytes:
        """Return what distinguishes this task's state from that of another one: its text as it is understood, the statement, the types and
        what orders their rows."""
        text = unparse(parse_module(self.epl))
        schemas = {name: schema.json() for name, schema in sorted(self.schemas.items())}
        order = [choice if choice is None or isinstance(choice, str) else sorted(choice.items()) for choice in (self.time, self.sequence)]
        identity = text, self.statement, self.type_names, schemas, self.settings, order
        return blake2b(repr(identity).encode(), digest_size=16).digest()

    def runtime(self, start_time: int) -> Runtime:
        """Return a runtime that knows types and functions, with nothing deployed."""
        return equipped(start_time, self.settings, self.tier, self.functions, {}, self.schemas, self.historical)

    def feed(self, start_time: int) -> Feed:
        """Return a feed with everything deployed, that gathers the statement's output."""
        runtime = self.runtime(start_time)
        runtime.deploy(self.epl)
        return self._fed(runtime, self.rules, None)

    def restored(self, snapshot: bytes, waiting: bytes | None, rules: Rules) -> Feed:
        """Return the same, in the state of another one, and by its rules."""
        runtime = Runtime.restore(
            snapshot, functions=self.functions, tier=self.tier, python_imports=self.settings.python_imports, register=self.historical
        )
        return self._fed(runtime, rules, waiting)

    def _fed(self, runtime: Runtime, rules: Rules, waiting: bytes | None) -> Feed:
        types = tuple(runtime.event_type(name) for name in self.type_names)
        sources = Sources.of(types, self.time, self.sequence)
        feed = Feed(runtime, sources, rules, state=waiting)
        for deployment in runtime.deployments.values():
            feed.gather(chosen(deployment, self.statement))
        return feed


def equipped(
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


def undeclared(epl: str, frames: Mapping[str, DataFrame]) -> dict[str, spark.StructType]:
    """Return the schemas of the sources whose types the module does not declare."""
    declared = {s.body.name for s in parse_module(epl).statements if isinstance(s.body, CreateSchema)}
    return {name: frame.schema for name, frame in frames.items() if name not in declared}


def named(error: EplError, part: str) -> EplRuntimeError:
    """Return the error of a task as one whose text says all: Spark hands on nothing else. ``part``: which part of the rows it had."""
    context = TaskContext.get()
    batch = None if context is None else context.getLocalProperty(BATCH_ID)
    work = part if batch is None else f"micro-batch {batch}, {part}"
    return EplRuntimeError(f"[epl:{error.code}] {work}: {error.message}", hint=error.hint)


def chosen(deployment: Deployment, name: str) -> Statement:
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


__all__ = ["Task", "chosen", "equipped", "named", "undeclared"]
