"""Statements of a context: what of them is not within one partition, whatever the context."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from epl.analysis.partitioning.facts import NotPartitionable
from epl.analysis.partitioning.stores import describe_store
from epl.plan.assignments import VariableAssignment
from epl.plan.context.contexts import AfterCondition, Context, ContextLevel, CrontabCondition, KeyedLevel, LifetimeLevel
from epl.plan.expressions import ContextValue, SubqueryValue
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.patterns.pattern import CrontabNode, IntervalNode, PatternPlan, ScheduleNode, WithinNode
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.result_set import OutputPlan
from epl.plan.statements import CreateTablePlan, CreateVariablePlan, SelectPlan, SelectRowPlan, StatementPlan
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import OnSetPlan, OnWindowPlan
from epl.plan.stores.splitting import OnSplitPlan
from epl.plan.stores.tables import Table, TableValue
from epl.plan.streams import NamedWindow
from epl.plan.walk import plan_expressions, walk_plan
from epl.plan.windows import WindowConfig

KNOWN = (
    SelectPlan, SelectRowPlan, OnSplitPlan, OnWindowPlan, OnSetPlan, CreateWindowPlan, CreateTablePlan, CreateVariablePlan, CreateIndexPlan,
)

TIMED_WINDOWS = ("expr", "expr_batch", "time", "time_accum", "time_batch", "time_length_batch", "time_order", "timetolive")
"""Data windows from which events leave as time moves."""
TIMED_NODES = (WithinNode, IntervalNode, CrontabNode, ScheduleNode)
"""What has timers in a pattern."""


@attrs.frozen
class PartitionLimits:
    """Which settings limit what all partitions have together."""

    partitions: bool
    states: bool
    subexpressions: bool


def variables_of_contexts(plans: Iterable[StatementPlan]) -> dict[str, Context]:
    """Return the variables of which each partition of a context has one."""
    return {plan.body.name: plan.context for plan in plans if isinstance(plan.body, CreateVariablePlan) and plan.context is not None}


def check_in_partitions(plan: StatementPlan, context: Context, variables: Mapping[str, Context], limits: PartitionLimits) -> None:
    """Raise NotPartitionable where a statement has to do with more than its partition. ``variables``: those of contexts."""
    body, operator = plan.body, f"the context '{context.name}'"
    if not isinstance(body, KNOWN):
        raise NotPartitionable(operator, f"of {plan.kind} it is not known that it is local to a key")
    if limits.partitions:
        raise NotPartitionable(operator, "the limit on partitions (max_partitions) is one for all keys")
    if any(isinstance(node, ContextValue) and node.path[-1] == "id"
           for e in plan_expressions(body, context.levels) for node in e.walk()):  # fmt: skip
        raise NotPartitionable(operator, "context.id counts the partitions of all keys")
    if isinstance(body, CreateWindowPlan) and body.fill is not None:
        raise NotPartitionable(describe_store(body.window), "it begins with the rows of another one")
    if any(map(_ends_by_time, context.levels)) and _has_timers(body):
        raise NotPartitionable(operator, "where a partition ends at a time, what else is due then runs by the partitions' numbers")
    if context.is_nested and any(map(_overlaps, context.levels)):
        _check_among_overlapping(body, operator)
    _check_stores(plan, context)
    for part in walk_plan((body, context.levels)):
        if isinstance(part, RecognitionStreamPlan):
            raise NotPartitionable("match_recognize", "of a SQL dialect, in a context it is not known to be local to a key")
        if isinstance(part, RowRecognitionPlan) and limits.states:
            raise NotPartitionable("match_recognize", "the limit on partial matches (max_states) is one for all partitions")
        if isinstance(part, RowRecognitionPlan) and part.iterate_only:
            raise NotPartitionable("match_recognize", "with the hint iterate_only nothing is emitted that could be combined")
        if isinstance(part, PatternPlan) and limits.subexpressions:
            raise NotPartitionable("the pattern", "the limit on sub-expressions (max_subexpressions) is one for all keys")
        if isinstance(body, OnSetPlan) and isinstance(part, VariableAssignment) and part.variable is not None:
            if variables.get(part.variable.name) is not context:
                raise NotPartitionable("on … set", f"the variable {part.variable.name} is one for all partitions")


def _overlaps(level: ContextLevel) -> bool:
    return isinstance(level, LifetimeLevel) and level.overlapping


def _check_among_overlapping(body: Any, operator: str) -> None:
    """Check that it does not matter in which order the partitions of a context get an event that ends some of them."""
    for part in walk_plan(body):
        if getattr(part, "order_by", None):
            raise NotPartitionable(operator, "where partitions overlap, their numbers decide whether a statement with order by comes first")
        if isinstance(part, PatternPlan):
            raise NotPartitionable(operator, "where partitions overlap, their numbers decide how often a pattern gets what ends some")


def _ends_by_time(level: ContextLevel) -> bool:
    end = level.terminated_by if isinstance(level, KeyedLevel) else level.end if isinstance(level, LifetimeLevel) else None
    return isinstance(end, (AfterCondition, CrontabCondition)) or (end is not None and _has_timers(end))


def _has_timers(plan: Any) -> bool:
    """Return whether something of the plan happens as time moves."""
    inner = (node.plan for e in plan_expressions(plan) for node in e.walk() if isinstance(node, SubqueryValue))
    return any(map(_is_timed, walk_plan(plan))) or any(map(_has_timers, inner))


def _is_timed(part: Any) -> bool:
    if isinstance(part, WindowConfig):
        return part.names[0] in TIMED_WINDOWS
    if isinstance(part, OutputPlan):
        return part.unit == "time" or part.after_unit == "time" or part.crontab is not None
    return isinstance(part, TIMED_NODES) or (isinstance(part, RowRecognitionPlan) and part.interval is not None)


def _check_stores(plan: StatementPlan, context: Context) -> None:
    """Check that named windows and tables are those of the partition."""
    stores = [part for part in walk_plan(plan.body) if isinstance(part, (NamedWindow, Table))]
    stores += [node.table for e in plan_expressions(plan.body) for node in e.walk() if isinstance(node, TableValue)]
    for store in stores:
        if store.context is not context:
            raise NotPartitionable(describe_store(store), "it is one for all partitions")


__all__ = ["PartitionLimits", "check_in_partitions", "variables_of_contexts"]
