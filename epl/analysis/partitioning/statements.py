"""What each class of statement needs of a split. FACTS is explicit: a class that is missing there is refused by name."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.analysis.partitioning import contract
from epl.analysis.partitioning.context_statements import PartitionLimits, check_in_partitions, variables_of_contexts
from epl.analysis.partitioning.contexts import context_facts
from epl.analysis.partitioning.facts import Demand, Facts, NotPartitionable, RowFeed, StageCollector
from epl.analysis.partitioning.meetings import JoinedRows, subquery_meeting
from epl.analysis.partitioning.operators import (
    groups_are_steady,
    insertion,
    note_contained,
    previous,
    refuse_whole_output,
    result_set,
    windows,
)
from epl.analysis.partitioning.paths import Carrying, carry_columns
from epl.analysis.partitioning.patterns import PatternRows
from epl.analysis.partitioning.recognition_streams import add_recognition
from epl.analysis.partitioning.row_patterns import row_recognition
from epl.analysis.partitioning.stores import accesses, create_table, create_window, insert_target, into_table, on_store, store_row_type
from epl.event_types import EventType
from epl.plan import expressions as typed
from epl.plan.context.contexts import Context
from epl.plan.join.historical import historical_plan
from epl.plan.join.subqueries import plan_subqueries
from epl.plan.patterns.pattern import PatternPlan, stream_pattern
from epl.plan.patterns.recognition_streams import stream_recognition
from epl.plan.result_set import OutputPlan, TerminatedOutput
from epl.plan.statements import (
    BodyPlan,
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    SelectPlan,
    StatementPlan,
)
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import OnDeletePlan, OnMergePlan, OnSelectPlan, OnSetPlan, OnUpdatePlan, OnWindowPlan, UpdateIstreamPlan
from epl.plan.stores.splitting import OnSplitPlan, SplitBranchPlan
from epl.plan.stores.tables import TableValue
from epl.plan.streams import StreamPlan, stream_filter
from epl.plan.structs import StructAs
from epl.plan.walk import plan_expressions, walk_plan
from epl.settings import Settings

PURE: frozenset[type[typed.TypedExpression]] = frozenset({
    typed.Constant, typed.Parameter, typed.StreamProperty, typed.StreamEvent, typed.StreamEvents, typed.PropertyOf, typed.DynamicProperty,
    typed.DynamicExists, typed.Element, typed.MapValue, typed.VariableValue, typed.CurrentTime, typed.Local, typed.IsInsertStream,
    typed.Convert, typed.Arithmetic, typed.Bitwise, typed.Concatenation, typed.Negation, typed.Not, typed.Logic, typed.Equality,
    typed.Order, typed.Range, typed.Membership, typed.Quantified, typed.LikeMatch, typed.RegexpMatch, typed.Conditional, typed.Coalesce,
    typed.Extreme, typed.SameEvent, typed.Cast, typed.TypeTest, typed.TypeNameOf, typed.NewArrayOf, typed.NewArraySized, typed.NewStructOf,
    typed.Function, typed.Applied, typed.Invoke, typed.Previous, typed.Aggregated, typed.AggregationMethodCall, typed.GroupingCall,
    typed.TimeSpan, typed.ItemsOf, typed.Single, typed.SubqueryValue, typed.HashNumber, StructAs,
})
"""Expressions whose value depends on the row, its group, engine time and variables alone (prev: see ``operators.previous``)."""


def variables_set(plans: Iterable[StatementPlan]) -> dict[str, str]:
    """Return the variables that statements set, and which statement does."""
    writers: dict[str, str] = {}
    for plan in plans:
        for part in walk_plan(plan.body):
            for assignment in part.assignments if isinstance(part, (OnSetPlan, OutputPlan, TerminatedOutput)) else ():
                if assignment.variable is not None:
                    writers[assignment.variable.name] = plan.name
    return writers


class OtherStatements:
    """What of the other statements and of the settings bears on one: ``variables`` that statements set, by which."""

    def __init__(self, plans: Iterable[StatementPlan], settings: Settings) -> None:
        plans = tuple(plans)
        self.contexts_of_variables = variables_of_contexts(plans)
        self.partitions_limited = settings.max_partitions is not None
        self.variables = variables_set(plans)
        self.states_limited = settings.max_states is not None
        self.subexpressions_limited = (settings.max_subexpressions, settings.max_statement_subexpressions) != (None, None)


def statement_facts(plan: StatementPlan, surroundings: OtherStatements) -> Sequence[Facts]:
    """Return the facts of each stream that the statement reads. Raise NotPartitionable where its rows have to stay together."""
    if plan.context is not None:
        return _within(plan, plan.context, surroundings)
    builder = FACTS.get(type(plan.body))
    if builder is None:
        raise NotPartitionable(plan.kind, "this kind of statement is not known to be local to a key")
    if plan.body.subqueries and not isinstance(plan.body, SelectPlan):
        raise NotPartitionable("the sub-query", "in this kind of statement it is not known to be local to a key")
    facts = builder(plan, plan.body, surroundings)
    _check_expressions(plan.body, surroundings)
    return [facts] if isinstance(facts, Facts) else facts


def _within(plan: StatementPlan, context: Context, surroundings: OtherStatements) -> Sequence[Facts]:
    """Return the facts of a statement of a context."""
    limits = PartitionLimits(surroundings.partitions_limited, surroundings.states_limited, surroundings.subexpressions_limited)
    check_in_partitions(plan, context, surroundings.contexts_of_variables, limits)
    if isinstance(plan.body, (CreateVariablePlan, CreateIndexPlan)):
        return [Facts(plan.name)]
    facts = context_facts(plan, context)
    for node in (n for e in plan_expressions(plan.body, context.levels) for n in e.walk()):
        if type(node) not in PURE and not isinstance(node, (typed.ContextValue, typed.Prior, TableValue)):
            raise NotPartitionable(type(node).__name__, "this expression is not known to be local to a key")
        if isinstance(node, typed.VariableValue) and surroundings.contexts_of_variables.get(node.name) is not context:
            _check_variable(node, surroundings)
    return facts


def _check_variable(node: typed.VariableValue, surroundings: OtherStatements) -> None:
    if node.name in surroundings.variables:
        reason = f"statement '{surroundings.variables[node.name]}' sets it for rows of all keys"
        raise NotPartitionable(f"the variable {node.name}", reason)


def _check_expressions(body: BodyPlan, surroundings: OtherStatements) -> None:
    for node in (n for e in plan_expressions(body) for n in e.walk()):
        if isinstance(node, typed.Prior):
            raise NotPartitionable("prior", "it counts the events of the stream, whatever their keys")
        if (isinstance(node, TableValue) and isinstance(body, SelectPlan) and not (body.subqueries or body.row_recognition)
                and stream_pattern(body.streams[0]) is None):
            continue  # its rows meet those of the statement: see ``accesses``
        if type(node) not in PURE:
            raise NotPartitionable(type(node).__name__, "this expression is not known to be local to a key")
        if isinstance(node, typed.VariableValue):
            _check_variable(node, surroundings)


def _together(what: str) -> NotPartitionable:
    """Return the refusal of a stream over something else than a filter."""
    return NotPartitionable(f"the stream over {what}", "it is not known to be local to a key")


def _stream(stream: StreamPlan, collector: StageCollector, surroundings: OtherStatements | None = None) -> EventType:
    """Follow the stream from the source to downstream of its windows; return the type of the events that come in."""
    recognition = stream_recognition(stream)
    if recognition is not None:
        read = _stream(recognition.input, collector)
        add_recognition(recognition, surroundings is not None and surroundings.states_limited, collector)
        windows(stream, collector)
        return read
    read = store_row_type(stream) or stream_filter(stream, _together).event_type
    if read.kind == "variant" or read.any_type:
        raise NotPartitionable("the stream", f"rows of several types meet in the variant stream '{read.name}'")
    if stream.contained is not None:
        note_contained(stream.contained, collector)
    windows(stream, collector)
    return read


def _select(statement: StatementPlan, plan: SelectPlan, surroundings: OtherStatements) -> Sequence[Facts]:
    contract.SELECT.require(plan, lambda title: NotPartitionable(title, "it is not known to be local to a key"))
    source = stream_pattern(plan.streams[0]) if len(plan.streams) == 1 else None
    if source is not None:
        return _pattern(statement, plan, source, surroundings)
    if any(historical_plan(stream) is not None and store_row_type(stream) is None for stream in plan.streams):
        return [_enrichment(statement, plan)]
    sides = [StageCollector(statement.name) for _ in plan.streams]
    reads = [_stream(stream, side, surroundings) for stream, side in zip(plan.streams, sides)]
    collector = sides[0] if plan.join is None else JoinedRows(statement.name, plan.join, sides)
    asked = _subqueries(statement, plan, sides, reads)
    asked += accesses(statement.name, sides, reads, plan.streams, plan.join, plan.where, plan.result_set)
    if plan.row_recognition is not None:
        if store_row_type(plan.streams[0]) is not None:
            raise NotPartitionable("match_recognize", "over rows that are deleted in any order it is not known to be local to a key")
        row_recognition(plan.row_recognition, plan.streams[0].windows, surroundings.states_limited, collector)
    rows = plan.result_set
    for number, stream in enumerate(plan.streams):
        previous(stream.windows, number, rows, plan.where)
        groups_are_steady(stream, (*plan_expressions(plan.join), *plan_expressions(plan.where)), rows)
    into = () if rows.into is None else (into_table(rows.into, rows, collector),)
    result_set(rows, collector)
    if rows.forward is not None:
        for number, side in enumerate(sides):
            side.add_stage(Carrying() if number == rows.forward else Carrying({}))
    target = None
    if plan.insert is not None:
        target = insert_target(plan.insert)
        for side in sides:
            side.add_stage(insertion(plan.insert, rows.output_type))
    feeds = [into if target is None else (RowFeed(target, side.stages, joined=len(sides) > 1),) for side in sides]
    if not isinstance(collector, JoinedRows):
        own = [Facts(statement.name, reads[0], tuple(collector.demands), feeds[0], stateful=collector.stateful)]
    else:
        meeting = attrs.evolve(collector.meeting(reads), feeds=tuple(feed for each in feeds for feed in each))
        own = [
            Facts(statement.name, read, collector.stream_demands(number, meeting.ways), feeds[number], stateful=True,
                  meetings=() if number else (meeting,))
            for number, read in enumerate(reads)]  # fmt: skip
    return [*own, *asked]


def _pattern(statement: StatementPlan, plan: SelectPlan, source: PatternPlan, surroundings: OtherStatements) -> Sequence[Facts]:
    rows, stream = plan.result_set, plan.streams[0]
    collector = PatternRows(statement.name, source, surroundings.subexpressions_limited)
    if plan.subqueries:
        raise NotPartitionable("the sub-query", "in a statement over a pattern it is not known to be local to a key")
    windows(stream, collector)
    if plan.row_recognition is not None:
        row_recognition(plan.row_recognition, stream.windows, surroundings.states_limited, collector)
    previous(stream.windows, 0, rows, plan.where)
    groups_are_steady(stream, (*plan_expressions(plan.where),), rows)
    if rows.into is not None:
        raise NotPartitionable("into table", "of a pattern it is not known to be local to a key")
    result_set(rows, collector)
    if plan.insert is None:
        return collector.facts(None)
    collector.add_stage(insertion(plan.insert, rows.output_type))
    return collector.facts(insert_target(plan.insert))


def _subqueries(statement: StatementPlan, plan: SelectPlan, sides: Sequence[StageCollector], reads: Sequence[EventType]) -> list[Facts]:
    """Return the facts of the sub-queries' streams, and of the streams whose rows meet theirs."""
    facts: list[Facts] = []
    elsewhere = (plan.row_recognition, *(part for stream in plan.streams for part in (stream.contained, stream.windows)))
    if any(True for _ in plan_subqueries(elsewhere, plan.subqueries)):
        raise NotPartitionable("the sub-query", "where it is, it is not known to be local to a key")
    for number, stream in enumerate(plan.streams):
        for node in _subquery_values(stream.source):
            facts += _subquery(statement.name, node, [StageCollector(statement.name)], reads[number:])
    for node in _subquery_values(plan.join, plan.where, plan.result_set, plan.insert, plan.delivery):
        facts += _subquery(statement.name, node, sides, reads)
    return facts


def _subquery_values(*parts: object) -> Iterable[typed.SubqueryValue]:
    return dict.fromkeys(n for e in plan_expressions(*parts) for n in e.walk() if isinstance(n, typed.SubqueryValue))


def _subquery(statement: str, node: typed.SubqueryValue, sides: Sequence[StageCollector], reads: Sequence[EventType]) -> Iterator[Facts]:
    inner = StageCollector(statement)
    if stream_recognition(node.plan.stream) is not None:
        raise NotPartitionable("the sub-query", "over match_recognize of a SQL dialect it is not known to be local to a key")
    read = _stream(node.plan.stream, inner)
    if any(isinstance(n, typed.Previous) for e in plan_expressions(node.plan) for n in e.walk()):
        raise NotPartitionable("prev", "in a sub-query it is not known to be local to a key")
    number, meeting = subquery_meeting(statement, node, inner, sides, reads, read)
    asking, asked = (tuple(dict.fromkeys(way[side] for way in meeting.ways)) for side in (0, 1))
    yield Facts(statement, reads[number], (Demand(statement, meeting.operator, asking),), stateful=True, meetings=(meeting,))
    yield Facts(statement, read, (*inner.demands, Demand(statement, meeting.operator, asked)), stateful=True)


def _enrichment(statement: StatementPlan, plan: SelectPlan) -> Facts:
    """Return a stream without window beside historical ones, which answer each engine alike: nothing is kept from one event to the next."""
    numbers = [number for number, stream in enumerate(plan.streams) if historical_plan(stream) is None]
    if len(numbers) != 1 or plan.streams[numbers[0]].retains:
        raise NotPartitionable("the join", "with historical streams it is local to a key only where one stream without window drives it")
    if plan.subqueries or plan.result_set.aggregations or plan.result_set.group_by or plan.result_set.distinct:
        raise NotPartitionable("the join", "with historical streams, what looks at several rows is not known to be local to a key")
    refuse_whole_output(plan.result_set)
    rows, collector = plan.result_set, StageCollector(statement.name)
    read = _stream(plan.streams[numbers[0]], collector)
    if rows.output is not None:
        raise NotPartitionable("the output clause", "its periods and counts begin with the first row of all")
    if rows.forward is None:
        collector.add_stage(carry_columns(rows.output_type, rows.columns, numbers[0]))
    elif rows.forward != numbers[0]:
        collector.add_stage(Carrying({}))
    feeds: tuple[RowFeed, ...] = ()
    if plan.insert is not None:
        collector.add_stage(insertion(plan.insert, rows.output_type))
        feeds = (RowFeed(plan.insert.target, collector.stages),)
    return Facts(statement.name, read, tuple(collector.demands), feeds, stateful=collector.stateful)


def _split(statement: StatementPlan, plan: OnSplitPlan, surroundings: OtherStatements) -> Facts:
    collector = StageCollector(statement.name)
    read = _stream(plan.stream, collector, surroundings)
    feeds = tuple(_branch(branch, collector.stages) for branch in plan.branches)
    return Facts(statement.name, read, tuple(collector.demands), feeds, stateful=collector.stateful)


def _branch(branch: SplitBranchPlan, before: tuple[Carrying, ...]) -> RowFeed:
    collector = StageCollector("")
    collector.stages = before
    if branch.contained is not None:
        note_contained(branch.contained, collector)
    if branch.columns is not None:
        collector.add_stage(carry_columns(branch.row_type, branch.columns))
    collector.add_stage(insertion(branch.insert, branch.row_type))
    return RowFeed(insert_target(branch.insert), collector.stages)


def _update(statement: StatementPlan, plan: UpdateIstreamPlan, surroundings: OtherStatements) -> Facts:
    if any(a.kind == "call" for a in plan.assignments):
        raise NotPartitionable("update istream", "what its calls change is not known")
    collector = StageCollector(statement.name)
    read = _stream(plan.stream, collector)
    changes = frozenset(a.property for a in plan.assignments)
    return Facts(statement.name, read, tuple(collector.demands), changes=changes, stateful=collector.stateful)


def _on_window(statement: StatementPlan, plan: OnWindowPlan, surroundings: OtherStatements) -> Sequence[Facts]:
    trigger = StageCollector(statement.name)
    read = _stream(plan.trigger, trigger, surroundings)
    return on_store(statement.name, plan, trigger, read)


def _on_set(statement: StatementPlan, plan: OnSetPlan, surroundings: OtherStatements) -> Facts:
    raise NotPartitionable("on … set", "variables are one for all rows")


def _create_window(statement: StatementPlan, plan: CreateWindowPlan, surroundings: OtherStatements) -> Facts:
    return create_window(statement.name, plan)


def _create_table(statement: StatementPlan, plan: CreateTablePlan, surroundings: OtherStatements) -> Facts:
    return create_table(statement.name, plan)


def _declaration(statement: StatementPlan, plan: BodyPlan, surroundings: OtherStatements) -> Facts:
    return Facts(statement.name)


FACTS: Mapping[type[BodyPlan], Callable[[StatementPlan, Any, OtherStatements], Facts | Sequence[Facts]]] = {
    SelectPlan: _select,
    OnSplitPlan: _split,
    UpdateIstreamPlan: _update,
    OnDeletePlan: _on_window,
    OnMergePlan: _on_window,
    OnSelectPlan: _on_window,
    OnUpdatePlan: _on_window,
    OnSetPlan: _on_set,
    CreateContextPlan: _declaration,
    CreateSchemaPlan: _declaration,
    CreateWindowPlan: _create_window,
    CreateTablePlan: _create_table,
    CreateIndexPlan: _declaration,
    CreateVariablePlan: _declaration,
    CreateExpressionPlan: _declaration,
}

__all__ = ["FACTS", "PURE", "OtherStatements", "statement_facts"]
