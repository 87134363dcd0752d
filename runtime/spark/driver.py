"""The driver host: one streaming query whose micro-batches are fed to a runtime in the driver's process, in order of (time, sequence).

The seam for exactly-once output, snapshots and recovery is ``DriverHost.process_batch(batch_id, table)``: everything of a micro-batch
passes there, under Spark's batch id. Today the runtime's state lives as long as the process; see docs/spark.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from epl.errors import EplError, EplRuntimeError
from epl.event_types import EventType
from runtime.batches import Options
from runtime.engine import Runtime
from runtime.spark.schemas import event_type_of_spark
from runtime.spark.sources import Choice, Sources, check_frames, merge

log = logging.getLogger("epl.spark")

Trigger = str | Mapping[str, str | bool] | None
"""None: a micro-batch as soon as there are rows. ``"5 seconds"``: one every so often. ``"availableNow"``: what is there now, then stop.
Else the keyword arguments of Spark's ``DataStreamWriter.trigger``."""


class MicroBatchError(EplRuntimeError):
    """A micro-batch that was refused: Spark hands on its text alone, which starts with ``[epl:<code>]``; its cause is the error."""


class DriverHost:
    """Feeds micro-batches to a runtime, each once and in order. ``batches``, ``rows``: how many so far; ``error``: what ended the query."""

    def __init__(self, runtime: Runtime, sources: Sources, options: Options) -> None:
        self.runtime = runtime
        self.sources = sources
        self.options = options
        self.batches = 0
        self.rows = 0
        self.last: int | None = None
        self.error: EplError | None = None

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """What foreachBatch calls, on the driver."""
        try:
            self.process_batch(batch_id, frame.toArrow())
        except EplError as error:
            self.error = error
            raise MicroBatchError(f"[epl:{error.code}] micro-batch {batch_id}: {error.message}", hint=error.hint) from error

    def process_batch(self, batch_id: int, table: pa.Table) -> None:
        """The whole of one micro-batch: the merged rows of all types (runtime.spark.sources), in any order.

        Refused before any effect: a batch id that does not follow the last one (a redelivery or a gap), and what ``send_batch`` refuses.
        """
        self._check_order(batch_id)
        options = self.options
        self.runtime.send_batch(
            self.sources.tables(table),
            time=self.sources.times,
            sequence=self.sources.sequences,
            late=options.late,
            time_mode=options.time_mode,
            max_stops=options.max_stops,
        )
        self.last = batch_id
        self.batches += 1
        self.rows += table.num_rows

    def _check_order(self, batch_id: int) -> None:
        if self.last is None:
            if batch_id > 0:
                log.warning(
                    "the checkpoint goes on with micro-batch %d: what earlier ones left in the runtime is not in the checkpoint", batch_id
                )
        elif batch_id != self.last + 1:
            raise EplRuntimeError(f"micro-batch {batch_id} came after {self.last}: expected {self.last + 1}")


def start(
    runtime: Runtime,
    sources: Mapping[str, DataFrame],
    *,
    time: Choice = None,
    sequence: Choice = None,
    checkpoint: str | None = None,
    trigger: Trigger = None,
    late: str = "refuse",
    time_mode: str = "span",
    max_stops: int | None = None,
    query_name: str | None = None,
) -> StreamingQuery:
    """Drive a runtime's deployed statements with streaming DataFrames, ``sources``: {event type name: DataFrame}. Gives Spark's query.

    ``time``, ``sequence``: the columns that order a micro-batch's rows, one name or {type name: name}; time moves by span to each row's
    time. ``late``: rows behind the clock end the query (``"refuse"``) or are processed at the current time (``"keep"``). ``checkpoint``:
    Spark's checkpoint folder. Listeners are called on the driver, in Spark's thread, under the runtime's lock. A type that the runtime does
    not know is registered with the DataFrame's columns; of a known one only its properties' columns are read.

    A micro-batch that is refused ends the query with ``[epl:<code>]`` and the message in Spark's StreamingQueryException;
    ``error_of(query)`` gives the error itself. Raises EplRuntimeError for sources that cannot feed their types.
    """
    check_frames(sources, streaming=True)
    options = Options(time, sequence, late, time_mode, **({} if max_stops is None else {"max_stops": max_stops}))
    types = tuple(_event_type(runtime, name, frame) for name, frame in sources.items())
    described = Sources.of(types, time, sequence)
    merged = merge(sources, described, runtime.settings.time_unit == "microseconds", number_rows=False)
    host = DriverHost(runtime, described, options)
    writer = merged.writeStream.foreachBatch(host)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    if query_name is not None:
        writer = writer.queryName(query_name)
    if trigger is not None:
        writer = writer.trigger(**_trigger(trigger))
    query = writer.start()
    query.epl_host = host  # type: ignore[attr-defined]
    return query


def error_of(query: StreamingQuery) -> EplError | None:
    """The error that ended a query of ``start``, None where none did."""
    host: DriverHost | None = getattr(query, "epl_host", None)
    return None if host is None else host.error


def _event_type(runtime: Runtime, name: str, frame: DataFrame) -> EventType:
    try:
        return runtime.event_type(name)
    except EplRuntimeError:
        return runtime.register_type(event_type_of_spark(name, frame.schema))


def _trigger(trigger: str | Mapping[str, str | bool]) -> dict[str, Any]:
    if isinstance(trigger, Mapping):
        return dict(trigger)
    return {"availableNow": True} if trigger == "availableNow" else {"processingTime": trigger}
