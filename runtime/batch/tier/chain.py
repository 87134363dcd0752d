"""One component in the batch tier: its statements as a chain of runs, whose input is a batch that is one sequence over several types."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pyarrow as pa

from epl.event_types import EventType
from epl.plan.statements import InsertPlan, SelectPlan
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.rule_sets.shared_runs import RuleSetMember, SharedRuns
from runtime.batch.runs.run import NOTHING, BatchRun, Causes
from runtime.batch.runs.timer_bounds import Gaps
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.tier.listener_calls import ListenerCall, RowOrigin, Timeline, output_calls
from runtime.conversion.arrow import arrow_schema, value_arrow_type
from runtime.conversion.columns import Columns

if TYPE_CHECKING:
    from runtime.statements.statement_output import StatementOutput

NO_ROWS = np.zeros(0, np.int64)


@attrs.frozen
class StreamInput:
    """Rows of one type, in order: each one's time, and where it comes from."""

    intake: BatchIntake
    times: Array
    source: RowOrigin

    @property
    def event_type(self) -> EventType:
        return self.intake.event_type

    def places(self) -> Array:
        """Return after which row of the batch's sequence each row comes."""
        return self.source.row_places(np.arange(self.intake.rows))

    def only(self, row: int) -> StreamInput:
        """Return one of the rows."""
        return StreamInput(self.intake.select_rows(np.array([row])), self.times[row : row + 1], RowOrigin(self.places()[row : row + 1]))


@attrs.frozen(eq=False)
class PipelineNode:
    """A statement and its run. ``insert``: where its rows go on to."""

    statement: StatementOutput
    member: RuleSetMember
    reads: EventType
    insert: InsertPlan | None

    @property
    def run(self) -> BatchRun:
        return self.member.run

    @property
    def forwards(self) -> bool:
        """Whether its rows are the events as they came."""
        plan = self.member.plan
        return isinstance(plan, SelectPlan) and plan.result_set.forward is not None


class StreamReaders:
    """The nodes that read one type, and what they share."""

    def __init__(self, nodes: Sequence[PipelineNode]) -> None:
        self.reads = nodes[0].reads
        self.nodes = tuple(nodes)
        self.statements = tuple(n.statement for n in nodes)
        self.inserts = any(n.insert is not None for n in nodes)
        self.runs = SharedRuns([n.member for n in nodes])

    def takes(self, event_type: EventType) -> bool:
        return event_type.is_a(self.reads)


class GroupPipeline:
    """The nodes of a component, those that insert in front of those that read it. Raises NotCompilable where their order could be seen."""

    def __init__(self, nodes: Sequence[PipelineNode]) -> None:
        self.nodes = tuple(nodes)
        self._readers = _in_order(nodes)
        self._routes = {n for n in nodes if n.insert is not None and any(r.takes(n.insert.target) for r in self._readers)}
        self._makes = [n.insert.target for n in self._routes if n.insert is not None]

    def is_made(self, event_type: EventType) -> bool:
        """Return whether a statement inserts events that a reader of this type sees too."""
        return any(reader.takes(target) and reader.takes(event_type) for target in self._makes for reader in self._readers)

    def prepare(self, inputs: Sequence[StreamInput]) -> None:
        """Raise Declined where a run cannot take the rows; nothing has been done then."""
        for reader in self._readers:
            for each in inputs:
                if reader.takes(each.event_type):
                    if each.event_type is not reader.reads and any(n.forwards and n.statement.listeners for n in reader.nodes):
                        raise Declined("row listeners of select * get the properties of sub-types too")
                    reader.runs.prepare(each.intake)

    def next_due(self) -> int | None:
        return min((due for due in (r.runs.next_due() for r in self._readers) if due is not None), default=None)

    def stops(self, gaps: Gaps) -> int:
        """Return at how many times, at most, timers are due in one of the gaps."""
        count, emitted = 0, dict[PipelineNode, int]()
        for reader in self._readers:
            others = min(gaps.widest, sum(emitted[n] for n in emitted if n.insert is not None and reader.takes(n.insert.target)))
            for node in reader.nodes:
                timers = node.run.timers()
                count += sum(t.in_a_gap(gaps, others) for t in timers)
                emitted[node] = others + sum(t.anywhere(gaps, others) for t in timers)
        return count

    def feed(
        self, inputs: Sequence[StreamInput], times: Array, until: int, *, jump: bool = False, numbered: bool = False
    ) -> list[ListenerCall]:
        """Process the rows, then time up to ``until``. ``times``: those of the whole sequence, by place. Batch listeners' output waits at
        their statements; gives the calls of row listeners, and those that batch listeners' rows are ``numbered`` by."""
        routed: list[StreamInput] = []
        calls: list[ListenerCall] = []
        timeline = Timeline(times)
        for reader in self._readers:
            received = _together(reader.reads, [i for i in (*inputs, *routed) if reader.takes(i.event_type)])
            needs_causes = any(s.listeners or (numbered and s.batch_listeners) for s in reader.statements)
            needs_causes = needs_causes or (reader.inserts and any(n in self._routes for n in reader.nodes))
            outputs = reader.runs.feed(received.intake, received.times, until, jump=jump, causes=needs_causes)
            plain = not received.intake.has_dictionaries
            if not needs_causes and not reader.inserts:  # rule sets have thousands of statements
                for statement, output in zip(reader.statements, outputs):
                    if output is not NOTHING:
                        statement.take_batches(output, plain=plain)
                continue
            for node, output in zip(reader.nodes, outputs):
                if output.is_empty():
                    continue
                if node.insert is not None:
                    output = attrs.evolve(output, new=_target_batch(node.insert, output.new), old=_target_batch(node.insert, output.old))
                if node in self._routes and output.new is not None:
                    assert output.new_causes is not None
                    routed.append(_route(node, output.new, output.new_causes, timeline, received.source))
                if node.statement.listeners or (numbered and node.statement.batch_listeners):
                    calls += output_calls(node.statement, output, timeline, received.source)
                node.statement.take_batches(output, plain=plain)
        return calls


def _in_order(nodes: Sequence[PipelineNode]) -> list[StreamReaders]:
    """Return the statements that read what others insert after those."""
    inserts = [(n, n.insert.target) for n in nodes if n.insert is not None]
    waiting: dict[EventType, list[PipelineNode]] = {}
    for node in nodes:
        if node.reads not in waiting and sum(target.is_a(node.reads) for _, target in inserts) > 1:
            raise NotCompilable(f"several statements insert into what '{node.statement.name}' reads")
        waiting.setdefault(node.reads, []).append(node)
    placed: list[StreamReaders] = []
    while waiting:
        ready = [t for t in waiting if not any(n.reads in waiting and target.is_a(t) for n, target in inserts)]
        if not ready:
            raise NotCompilable("statements insert into what they read themselves")
        placed += [StreamReaders(waiting.pop(t)) for t in ready]
    return placed


def check_insert(plan: SelectPlan) -> None:
    """Raise NotCompilable for insert into of more than columns."""
    insert, rows = plan.insert, plan.result_set
    if insert is None:
        return
    reasons = [
        (rows.raw or insert.stream != "istream", "the remove stream"),
        (insert.target.kind == "variant", "a variant stream"),
        (insert.precedence is not None, "a precedence"),
        (rows.shape == "rollup", "the rows of a rollup"),
        (insert.nested is not None, "an event-typed column"),
        (insert.whole and not set(rows.output_type.names) <= set(insert.target.names), "properties that the target does not declare"),
        (any(value_arrow_type(p.whole_type) == pa.string() and str(p.type) != "String" for p in insert.target.properties.values()),
         "columns that Arrow holds as text"),
    ]
    for refused, reason in reasons:
        if refused:
            raise NotCompilable(f"insert into with {reason} is not computed in columns")


# ------------------------------------------------------------------ rows


def _together(event_type: EventType, inputs: list[StreamInput]) -> StreamInput:
    """Return one input of one type, the rows in the order of their places."""
    if len(inputs) == 1:
        return inputs[0]
    schema = arrow_schema(event_type)
    if not inputs:
        empty = Columns({f.name: pa.array([], f.type) for f in schema}, 0)
        return StreamInput(BatchIntake(event_type, empty), NO_ROWS, RowOrigin(NO_ROWS))
    places = np.concatenate([i.places() for i in inputs])
    order = np.argsort(places, kind="stable")
    data: dict[str, Any] = {}
    for field in schema:
        chunks = [_plain(i.intake.arrow(field.name), field.type) for i in inputs]
        data[field.name] = pa.chunked_array(chunks, field.type).take(order).combine_chunks()
    times = np.concatenate([i.times for i in inputs])
    return StreamInput(BatchIntake(event_type, Columns(data, len(order))), times[order], RowOrigin(places[order]))


def _plain(column: Any, arrow: pa.DataType) -> Any:
    return column if column.type == arrow else column.cast(arrow)


def _target_batch(plan: InsertPlan, batch: pa.RecordBatch | None) -> pa.RecordBatch | None:
    """Rows as events of the target: a column a property, null where none fills it."""
    if batch is None or plan.same:
        return batch
    positions = plan.positions or range(len(plan.target.properties))
    schema = arrow_schema(plan.target)
    arrays = []
    for field, place in zip(schema, positions):
        column = pa.nulls(batch.num_rows, field.type) if place is None else batch.column(place)
        arrays.append(column if pa.types.is_dictionary(column.type) else _plain(column, field.type))
    fields = [pa.field(f.name, a.type) for f, a in zip(schema, arrays)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _route(node: PipelineNode, batch: pa.RecordBatch, causes: Causes, timeline: Timeline, source: RowOrigin) -> StreamInput:
    """Return what a statement inserts as the input of those that read it: at the time, and after the row of the sequence, that brought
    it."""
    assert node.insert is not None
    data = Columns(dict(zip(batch.schema.names, batch.columns)), batch.num_rows)
    places, timers = timeline.moments(causes, source)
    origin = RowOrigin(places, timers, source.depth + 1, node.statement.number)
    return StreamInput(BatchIntake(node.insert.target, data), causes.time, origin)


__all__ = ["GroupPipeline", "PipelineNode", "StreamInput", "check_insert"]
