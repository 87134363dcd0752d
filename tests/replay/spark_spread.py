"""Traces spread over engines: each statement that several engines may share runs in several, over batch DataFrames of the trace's events.

The insert stream of all engines together is held against that of one engine which gets the same rows, and that against the trace. Events
have the engine time that they have in the trace, as a column; time goes from event to event and to the end of the run by span.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from epl.analysis.partitioning import SplitBy
from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventType
from epl.settings import Settings
from runtime.api.faults import in_words
from runtime.api.runtime import Runtime
from runtime.replay.trace_values import json_row
from runtime.spark.distributed_host.frames import transform
from runtime.spark.schemas import arrow_for_spark
from runtime.spark.wiring import find_unfilled
from tests.replay.runs import Candidate, Cutter, Run
from tests.replay.spark_micro_batches import MicroBatches, table_of_events
from tests.replay.trace_declarations import declarations, one_module
from tests.replay.trace_schema import settings_of
from windows.event import Event

TIME, SEQUENCE = "trace:time", "trace:sequence"
SHARDS = 3


@attrs.frozen
class ReplayedInput:
    """What engines get of a run: module, tables by type, times."""

    epl: str
    statement: str
    tables: Mapping[str, pa.Table]
    start: int
    until: int
    settings: Settings


@attrs.frozen
class SpreadReplay:
    """Spreads the statements of traces over ``shards`` engines."""

    spark: SparkSession
    shards: int = SHARDS

    def replay(self, trace: Mapping[str, Any]) -> dict[str, Any]:
        """Return the trace with ``distributed``: for each select of each run, ``split`` in words; for those that can be split
        either ``skipped``, the reason, or ``rows`` and ``agrees``, with ``only_spread`` and ``only_one`` where it does not; ``recorded``:
        whether one engine with this input gives what the trace has, or why that cannot be said."""
        cutter = Cutter(trace)
        settings = settings_of(trace)
        reports: list[dict[str, Any]] = []
        for run in cutter.runs():
            shareable = [c for c in run.candidates if c.partitionable]
            odd = self._odd(run, cutter) if shareable else None
            for candidate in run.candidates:
                report: dict[str, Any] = dict(zip(("deployment", "statement"), candidate.key))
                report |= {"partitionable": candidate.partitionable, "split": candidate.verdict.describe()}
                if candidate.partitionable:
                    report |= {"skipped": odd} if odd else self._held(run, candidate, cutter, settings)
                reports.append(report)
        return {**trace, "distributed": reports}

    def _odd(self, run: Run, cutter: Cutter) -> str | None:
        """Return why the run cannot be sent as DataFrames."""
        if run.odd is not None or not run.events:
            return run.odd or "it has no events"
        refusals = MicroBatches(self.spark)
        for _, event in run.events:
            reason = refusals.refusal(cutter.player.runtime, event)
            if reason is not None:
                return f"an event is not a row: {reason}"
        return None

    def _held(self, run: Run, candidate: Candidate, cutter: Cutter, settings: Settings) -> dict[str, Any]:
        """Return the candidate in one engine and in several."""
        fed = replayed_input(run, candidate, cutter, settings)
        if not fed.tables:
            return {"skipped": "no event comes that it reads"}
        try:
            one, rows = in_one_engine(fed)
        except EplError as error:
            return {"skipped": f"one engine does not take it as a whole: {error.message}"}
        try:
            spread = counted(self._spread(fed))
        except (EplError, PySparkException) as error:
            return {"rows": sum(one.values()), "agrees": False, "error": str(error)}
        report: dict[str, Any] = {"rows": sum(one.values()), "agrees": spread == one}
        if spread != one:
            report |= {"only_spread": sorted((spread - one).elements()), "only_one": sorted((one - spread).elements())}
        return {**report, "recorded": _recorded(candidate, rows)}

    def _spread(self, fed: ReplayedInput) -> pa.Table:
        tables = {**fed.tables, **_silent(fed)}
        frames = {name: self.spark.createDataFrame(table) for name, table in tables.items()}
        return spread_over(frames, fed, self.shards).toArrow()


def spread_over(frames: Mapping[str, DataFrame], fed: ReplayedInput, shards: int) -> DataFrame:
    """Return the statement's insert stream from several engines; ``frames``: of the rows of ``fed.tables``, batch or streaming. (A stream
    does not end, so that time does not advance after its rows.)"""
    streaming = any(frame.isStreaming for frame in frames.values())
    return transform(
        fed.epl, frames, fed.statement, time=TIME, sequence=SEQUENCE, distribute="always", shards=shards,
        start_time=fed.start, until=None if streaming else fed.until, settings=fed.settings, tier="row",
    )  # fmt: skip


def _silent(fed: ReplayedInput) -> dict[str, pa.Table]:
    """Return tables without rows, for each type that the statement reads and of which no event comes."""
    with Runtime(start_time=fed.start, settings=fed.settings, tier="row") as runtime:
        plan = runtime.deploy(fed.epl)[fed.statement].plan
        plans = [statement.plan for deployment in runtime.deployments.values() for statement in deployment]
        types = {read.name: read for _, read in find_unfilled(plans, [plan], [runtime.event_type(name) for name in fed.tables])}
    more = [pa.field(TIME, pa.int64()), pa.field(SEQUENCE, pa.int64())]
    return {name: pa.schema([*arrow_for_spark(each), *more]).empty_table() for name, each in types.items()}


def replayed_input(run: Run, candidate: Candidate, cutter: Cutter, settings: Settings) -> ReplayedInput:
    """Return what engines get for one statement of the run that ``cutter`` is at."""
    texts = "\n".join(run.texts)
    came = {event.type.name: event.type for _, event in run.events}
    tables = {name: _table(run.events, each) for name, each in came.items() if _is_read(candidate, each, texts)}
    known = cutter.player.types.event_types.values()
    first = declarations(t for t in known if t.is_bus and t.kind != "variant" and (t.name in texts or t.name in tables))
    return ReplayedInput(one_module(first, run.texts), _name(run, candidate, len(first)), tables, run.start, run.until, settings)


def _is_read(candidate: Candidate, event_type: EventType, texts: str) -> bool:
    """Return whether rows of the type may have a part in the output."""
    if isinstance(candidate.verdict, SplitBy):
        return any(t.name in candidate.verdict.keys for t in event_type.lineage())
    return any(t.name in texts for t in event_type.lineage())


def _name(run: Run, candidate: Candidate, before: int) -> str:
    """Return a name for a statement without one: by its place in its module; after others it is another one."""
    name = candidate.key[1]
    return f"stmt-{before + candidate.place}" if name.startswith("stmt-") and name[5:].isdigit() else name


def _table(events: list[tuple[int, Event]], event_type: EventType) -> pa.Table:
    """Return the events of a type, with time and place among all events."""
    chosen = [(place, time, event) for place, (time, event) in enumerate(events) if event.type is event_type]
    columns: dict[str, Any] = {
        TIME: pa.array([time for _, time, _ in chosen], pa.int64()),
        SEQUENCE: pa.array([place for place, _, _ in chosen], pa.int64()),
    }
    if not event_type.properties:
        return pa.table(columns)
    table = table_of_events([event for _, _, event in chosen], event_type)
    for name, values in columns.items():
        table = table.append_column(name, values)
    return table


def in_one_engine(fed: ReplayedInput) -> tuple[Counter[str], list[Any]]:
    """Return the statement's insert stream: rows as Spark has them, counted, and as JSON. Raise EplError, also for what expressions
    raise."""
    raised: list[BaseException] = []
    batches: list[pa.RecordBatch] = []
    rows: list[Any] = []
    with Runtime(
        start_time=fed.start, settings=fed.settings, tier="row", on_error=lambda error, name, event: raised.append(error)
    ) as runtime:
        statement = runtime.deploy(fed.epl)[fed.statement]
        statement.add_listener(lambda new, old, s, r: rows.extend(json_row(row) for row in new))
        statement.add_batch_listener(lambda new, old, s, r: batches.extend([] if new is None else [new]))
        runtime.send_batch(dict(fed.tables), time=TIME, sequence=SEQUENCE)
        if fed.until > runtime.now:
            runtime.advance_time_span(fed.until)
        schema = arrow_for_spark(statement.event_type)
    if raised:
        raise EplRuntimeError(in_words(raised[0]))
    tables = [pa.Table.from_batches([batch]).cast(schema) for batch in batches]
    return counted(pa.concat_tables(tables) if tables else schema.empty_table()), rows


def counted(table: pa.Table) -> Counter[str]:
    """Return rows as text, so that NaN is NaN and -0.0 is not 0.0, and how many there are of each."""
    return Counter(repr(row) for row in table.to_pylist())


def _recorded(candidate: Candidate, rows: list[Any]) -> bool | str:
    """Return whether the rows are those that the trace has, in any order."""
    if not candidate.whole:
        return "no listener heard all of it"
    asked = _texts(rows)
    if asked == _texts(candidate.recorded):
        return True
    return "no: as here event by event" if asked == _texts(candidate.played) else False


def _texts(rows: list[Any]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


__all__ = ["ReplayedInput", "SpreadReplay", "counted", "in_one_engine", "replayed_input", "spread_over"]
