"""One engine that processes merged rows: driver mode has one, distributed mode one a shard.

An ``LogEntry`` is all that a step depends on: rows, what others have seen of time, the wall clock. Entries are what input logs hold: the
same entries give the same state and the same output, whenever they are processed (law 2).
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import msgpack
import pyarrow as pa

from epl.errors import EplRuntimeError
from runtime.api.faults import StatementFault, build_fault, in_words, show_event
from runtime.api.queried_partitions import Selectors
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.clock.late_rows import LatePolicy, LateRows, Released, ReorderBuffer, ipc, read_stored_table
from runtime.clock.schedule import MAX_STOPS, Late, TimeMode
from runtime.context.selector_states import selector_of_state, selector_state
from runtime.spark.sources import TIME, Sources
from runtime.state.codec import Decoder, Encoder, as_list, unpack
from runtime.state.seal import reading
from runtime.statements.running import EVERY_PARTITION
from runtime.statements.statement_output import BatchListener


@attrs.frozen(eq=False)
class LogEntry:
    """One step. ``rows``: merged rows (runtime.spark.sources) in any order, None for a step of time alone; ``newest``: the newest time
    that was seen anywhere, ``until``: that time goes on to without rows, in engine units; ``wall``: the wall clock, in engine units;
    ``change``: a deployment that comes or goes, a query or a fill, as ``Runtime`` names it; ``batch``: Spark's number of the micro-batch;
    ``lenient``: whether what expressions raise is left to the runtime's error handler, or ends the step."""

    rows: pa.Table | None = None
    newest: int | None = None
    until: int | None = None
    wall: int = 0
    change: Mapping[str, Any] | None = None
    batch: int | None = None
    lenient: bool = True

    def encode(self) -> bytes:
        rows = None if self.rows is None else ipc(self.rows)
        return bytes(msgpack.packb([2, rows, self.newest, self.until, self.wall, self.change, self.batch, self.lenient]))

    @classmethod
    def decode(cls, data: bytes) -> LogEntry:
        """Decode an entry; raise EplRuntimeError for what is not a whole entry, or one of another version."""
        with reading("an entry of the input log"):
            version, rows, *rest = as_list(unpack(data))
            if version != 2:
                raise EplRuntimeError(f"input log version {version} is not known here; this is version 2")
            return cls(None if rows is None else read_stored_table(rows), *rest)


def query_entry(text: str, parameters: Mapping[Any, Any], partitions: Selectors = EVERY_PARTITION) -> LogEntry:
    """Return the entry of a query that changes something; raise EplRuntimeError for parameters and selectors that cannot be logged."""
    change: dict[str, Any] = {"query": text, "parameters": Encoder().encode([list(item) for item in parameters.items()])}
    if partitions is not EVERY_PARTITION and partitions is not None:
        each = partitions if isinstance(partitions, Sequence) else [partitions]
        change["partitions"] = Encoder().encode([None if one is None else selector_state(one) for one in each])
    return LogEntry(change=change)


def decode_parameters(data: bytes) -> list[list[Any]]:
    """Decode the parameters of a query."""
    with reading("the parameters of a query"):
        return [as_list(item, 2) for item in as_list(Decoder(lambda number: None).decode(data))]


def decode_selectors(data: bytes | None) -> Selectors:
    """Decode the selectors of a query; without any every partition counts."""
    if data is None:
        return EVERY_PARTITION
    with reading("the selectors of a query"):
        states = as_list(Decoder(lambda number: None).decode(data))
        return [None if state is None else selector_of_state(state) for state in states]


@attrs.frozen(eq=False)
class FeedOutput:
    """What one statement emitted in a step: insert and remove stream, None where empty."""

    new: pa.RecordBatch | None
    old: pa.RecordBatch | None


@attrs.frozen(eq=False)
class FeedStep:
    """What a step gave: output by statement name, rows dropped (None where there are none), how many were processed; ``faults``: how many
    times expressions raised; ``result``: of a query, its rows, of a fill, how many it has inserted."""

    outputs: Mapping[str, FeedOutput]
    late: pa.Table | None
    ahead: pa.Table | None
    rows: int
    faults: int = 0
    result: Any = None

    @property
    def output_rows(self) -> int:
        """How many rows statements emitted."""
        return sum(b.num_rows for o in self.outputs.values() for b in (o.new, o.old) if b is not None)


@attrs.frozen
class FeedRules:
    """How entries become steps: only state, entries and rules count, so that a log is replayed by the rules under which it was written.

    ``policy``: of late rows; ``time_mode``, ``max_stops``: as for ``Runtime.send_batch``; ``at_wall``: rows without a time column come at
    the time of the wall clock.
    """

    policy: LatePolicy = attrs.field(factory=LatePolicy)
    time_mode: TimeMode = "span"
    max_stops: int = MAX_STOPS
    at_wall: bool = False

    def encode(self) -> list[Any]:
        """Return it as msgpack takes it."""
        return [*attrs.astuple(self.policy), self.time_mode, self.max_stops, self.at_wall]

    @classmethod
    def decode(cls, data: Sequence[Any]) -> FeedRules:
        """Decode what ``encode`` gave."""
        policy = len(attrs.fields(LatePolicy))
        return cls(LatePolicy(*data[:policy]), *data[policy:])


ON_ERROR = ("stop", "handler")


def is_lenient(on_error: str) -> bool:
    """Return whether steps go on when an expression raises; EplRuntimeError for what is no such choice."""
    if on_error not in ON_ERROR:
        raise EplRuntimeError(f"on_error is one of {', '.join(ON_ERROR)}, not {on_error!r}")
    return on_error == "handler"


@attrs.define
class LastStep:
    """How the last step left a runtime. ``halted``: what ended it half-way, in words, so that the state is of no use; ``logged``: the
    folder of the checkpoint that has the step in its log, and the step's number."""

    halted: str | None = None
    logged: tuple[str, int] | None = None


_LAST_STEPS: WeakKeyDictionary[Runtime, LastStep] = WeakKeyDictionary()
"""A runtime may be given to one job after another. Nothing in the values refers to the runtime."""


def find_last_step(runtime: Runtime) -> LastStep:
    """Return the last step of whatever job has run the runtime last."""
    return _LAST_STEPS.setdefault(runtime, LastStep())


class Feed:
    """``listeners``: the statements whose output is gathered. ``state``: of the rows that wait."""

    def __init__(self, runtime: Runtime, sources: Sources, rules: FeedRules, *, state: bytes | None = None) -> None:
        self.runtime, self.sources, self.rules = runtime, sources, rules
        self.buffer = None if sources.times is None else ReorderBuffer(rules.policy, TIME, runtime.now, runtime.settings.units_per_second)
        if state is not None and self.buffer is not None:
            with reading("the rows that wait"):
                self.buffer.restore(as_list(unpack(state)))
        self.last_step = find_last_step(runtime)
        self._gathered: dict[str, list[FeedOutput]] = {}
        self._faults = 0
        self._fault: StatementFault | None = None
        self._walked = False
        self.listeners: dict[Statement, BatchListener] = {}
        """The statements whose output is gathered."""

    def follow(self, rules: FeedRules) -> None:
        """Follow other rules from the next step on."""
        self.rules = rules
        if self.buffer is not None:
            self.buffer.policy = rules.policy

    def gather(self, statement: Statement) -> None:
        """Gather the statement's output from now on, under its name."""

        def keep(new: Any, old: Any, of: Statement, _: Runtime) -> None:
            self._gathered.setdefault(of.name, []).append(FeedOutput(new, old))

        if statement not in self.listeners:
            self.listeners[statement] = statement.add_batch_listener(keep)

    def process(self, entry: LogEntry) -> FeedStep:
        """Process the entry. Under the runtime's lock, so that readers see the state at the end of a step.

        Raises EplRuntimeError before any effect where rows are refused. What is raised later (StatementFault for an expression, unless
        the entry is lenient) leaves the runtime half-way: it is ``halted``, and takes no step any more.
        """
        with self.runtime.lock, self._step(lenient=entry.lenient):
            late = ahead = None
            fed = 0
            if entry.rows is not None:
                late, ahead, fed = self._rows(entry.rows, entry)
            elif entry.newest is not None and self.buffer is not None:
                fed += self._release(self.buffer.observe_time(entry.newest))
            if entry.until is not None:
                fed += self._time(entry.until)
            result = None if entry.change is None else self._query(entry.change)
            return self._finish_step(late, ahead, fed, result)

    def straight(self, rows: pa.Table, *, wall: int, lenient: bool = True) -> FeedStep:
        """Process rows whose order does not matter: none is later than another, so that only those without a time and those ahead of
        the ``wall`` clock can be dropped."""
        with self.runtime.lock, self._step(lenient=lenient):
            if self.buffer is None:
                self._send(rows, "refuse")
                return self._finish_step(None, None, rows.num_rows)
            buffer = ReorderBuffer(attrs.evolve(self.rules.policy, bound=None), TIME, None, self.runtime.settings.units_per_second)
            accepted = self._accept(buffer, rows, wall, None)
            self._send(accepted.rows, "keep")
            return self._finish_step(_some(accepted.late), _some(accepted.ahead), accepted.rows.num_rows)

    def finish(self, *, lenient: bool = True) -> FeedStep:
        """Note that the input is at its end: no row and no time follows."""
        with self.runtime.lock, self._step(lenient=lenient):
            self.runtime.end_of_input()
            return self._finish_step(None, None, 0)

    @contextmanager
    def _step(self, *, lenient: bool) -> Iterator[None]:
        """Do all of a step or nothing of it, as far as it can be undone; else halt the runtime."""
        runtime, last = self.runtime, self.last_step
        if last.halted is not None:
            raise EplRuntimeError(
                f"an error ended the job in the middle of a step: {last.halted}",
                hint="start again: the checkpoint has the state before that step",
            )
        self._gathered.clear()
        self._faults, self._fault, self._walked = 0, None, False
        before, begun = None if self.buffer is None else self.buffer.mark(), internal_engine(runtime).batches_begun
        internal_engine(runtime).on_fault = self._count if lenient else self._stop
        try:
            yield
        except BaseException as error:
            if self._walked or internal_engine(runtime).batches_begun != begun:
                last.halted = in_words(error)
            elif self.buffer is not None and before is not None:
                self.buffer.rewind(before)
            raise
        finally:
            internal_engine(runtime).on_fault = None

    def _count(self, error: BaseException, statement: str, event: Any) -> None:
        self._faults += 1

    def _stop(self, error: BaseException, statement: str, event: Any) -> None:
        """End the step: an expression has raised."""
        if self._fault is None:
            self._fault = build_fault(self.runtime, error, statement, event)
        raise self._fault

    def _query(self, change: Mapping[str, Any]) -> Any:
        """Run a query or a fill, if the change is one."""
        if "query" in change:
            return self.runtime.query(change["query"], dict(decode_parameters(change["parameters"])),
                                      partitions=decode_selectors(change.get("partitions")))
        return self.runtime.fill(change["fill"], read_stored_table(change["rows"])) if "fill" in change else None

    def _finish_step(self, late: pa.Table | None, ahead: pa.Table | None, fed: int, result: Any = None) -> FeedStep:
        if self._fault is not None:  # raised within what a listener had sent, and taken for the listener's
            raise self._fault
        return FeedStep(self._outputs(), late, ahead, fed, self._faults, result)

    def _rows(self, rows: pa.Table, entry: LogEntry) -> tuple[pa.Table | None, pa.Table | None, int]:
        if self.buffer is None:
            if self.rules.at_wall:
                self._walk(entry.wall)
            self._send(rows, "refuse")
            return None, None, rows.num_rows
        accepted = self._accept(self.buffer, rows, entry.wall, entry.newest)
        self._send(accepted.rows, "keep" if self.rules.policy.on_late == "keep" else "refuse")
        self._walk(accepted.until)
        return _some(accepted.late), _some(accepted.ahead), accepted.rows.num_rows

    def _accept(self, buffer: ReorderBuffer, rows: pa.Table, wall: int, newest: int | None) -> Released:
        try:
            return buffer.take(rows, wall=wall, newest=newest)
        except LateRows as error:
            name = self.sources.row_event_type(rows, error.row).name
            values = self.sources.tables(rows.slice(error.row, 1))[name].to_pylist()
            raise EplRuntimeError(f"Event type '{name}': {error.message}: {show_event(values[0])}", hint=error.hint) from error

    def _time(self, until: int) -> int:
        if self.buffer is None:
            self._walk(until)
            return 0
        return self._release(self.buffer.move(until))

    def _release(self, released: Released) -> int:
        self._send(released.rows, "refuse")
        self._walk(released.until)
        return released.rows.num_rows

    def _send(self, rows: pa.Table, late: Late) -> None:
        if rows.num_rows:
            self.runtime.send_batch(
                self.sources.tables(rows), time=self.sources.times, sequence=self.sources.sequences, late=late,
                time_mode=self.rules.time_mode, max_stops=self.rules.max_stops,
            )

    def _walk(self, until: int | None) -> None:
        if until is not None and until > self.runtime.now:
            self._walked = True
            if self.rules.time_mode == "jump":
                self.runtime.advance_time(until)
            else:
                self.runtime.advance_time_span(until, max_stops=self.rules.max_stops)

    def _outputs(self) -> dict[str, FeedOutput]:
        by_statement: dict[str, FeedOutput] = {}
        for name, outputs in self._gathered.items():
            new, old = _join_batches([o.new for o in outputs]), _join_batches([o.old for o in outputs])
            if new is not None or old is not None:
                by_statement[name] = FeedOutput(new, old)
        self._gathered.clear()
        return by_statement

    # ------------------------------------------------------------------ state

    def state(self) -> bytes:
        """Return runtime and waiting rows, as ``restored`` takes them."""
        with self.runtime.lock:
            waiting = None if self.buffer is None else bytes(msgpack.packb(self.buffer.state()))
            return bytes(msgpack.packb([2, self.runtime.snapshot(), waiting]))


def split_state(state: bytes) -> tuple[bytes, bytes | None]:
    """Split a feed's state into the runtime's snapshot, the waiting rows; raise EplRuntimeError for another version."""
    with reading("the state of an engine"):
        version, snapshot, waiting = as_list(unpack(state), 3)
        if version != 2:
            raise EplRuntimeError(f"feed state version {version} is not known here; this is version 2")
        return snapshot, waiting


def _some(rows: pa.Table) -> pa.Table | None:
    return rows if rows.num_rows else None


def _join_batches(batches: list[pa.RecordBatch | None]) -> pa.RecordBatch | None:
    parts = [b for b in batches if b is not None and b.num_rows]
    if len(parts) <= 1:
        return parts[0] if parts else None
    table = pa.Table.from_batches([_plain(b) for b in parts]).combine_chunks()
    return table.to_batches()[0]


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch without dictionaries, which may differ from batch to batch."""
    if not any(pa.types.is_dictionary(f.type) for f in batch.schema):
        return batch
    arrays = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


__all__ = ["Feed", "FeedOutput", "FeedRules", "FeedStep", "LastStep", "LogEntry", "find_last_step", "is_lenient", "query_entry",
    "split_state"]
