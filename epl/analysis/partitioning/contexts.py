"""Statements of a context: where its partitions are by keys, all that a partition does is local to them."""
from __future__ import annotations

from epl.analysis.partitioning.facts import Collector, Facts, Feed, NotPartitionable
from epl.analysis.partitioning.operators import insertion
from epl.analysis.partitioning.paths import Carrying, carried
from epl.analysis.partitioning.stores import target_of
from epl.event_types import EventType
from epl.plan.context.contexts import AfterCondition, Context, CrontabCondition, FilterCondition, KeyedItem, KeyedLevel
from epl.plan.expressions import ContextValue
from epl.plan.statements import SelectPlan, StatementPlan
from epl.plan.streams import FilterPlan
from epl.plan.walk import expressions_of


def facts_within(statement: StatementPlan, context: Context) -> Facts:
    """Return the facts of a select over one stream of a keyed context: rows with equal keys have to meet, nothing else. Raise
    NotPartitionable for every other statement and context."""
    name = f"the context '{context.name}'"
    level = _keyed(context, name)
    plan = statement.body
    source = plan.streams[0].source if isinstance(plan, SelectPlan) and len(plan.streams) == 1 else None
    if not isinstance(plan, SelectPlan) or not isinstance(source, FilterPlan) or plan.subqueries:
        raise NotPartitionable(name, "only a select over one stream of events is known to be local to its keys")
    if any(isinstance(node, ContextValue) and node.path == ("id",) for e in expressions_of(plan) for node in e.walk()):
        raise NotPartitionable(name, "context.id counts the partitions of all keys")
    item = _item(level, source.event_type, name)
    collector = Collector(statement.name)
    collector.demand(name, item.keys)
    feeds = () if plan.insert is None else (Feed(target_of(plan.insert), _stages(plan)),)
    return Facts(statement.name, source.event_type, tuple(collector.demands), feeds, stateful=True)


def _keyed(context: Context, name: str) -> KeyedLevel:
    """The only level, if one key alone decides when its partitions begin and end."""
    level = context.levels[0]
    if context.is_nested or not isinstance(level, KeyedLevel):
        raise NotPartitionable(name, "only a context by keys is known to be local to a key")
    end = level.terminated_by
    if isinstance(end, FilterCondition) and not any(end.filter.event_type.is_a(item.event_type) for item in level.items):
        raise NotPartitionable(name, f"{end.filter.event_type.name}, which has no key, ends partitions")
    if end is not None and not isinstance(end, (FilterCondition, AfterCondition, CrontabCondition)):
        raise NotPartitionable(name, "a pattern that ends partitions is not known to be local to a key")
    if len(level.items) > 1:
        raise NotPartitionable(name, "of several types it is not known to be local to a key")
    return level


def _item(level: KeyedLevel, event_type: EventType, name: str) -> KeyedItem:
    for item in level.items:
        if event_type.is_a(item.event_type):
            return item
    raise NotPartitionable(name, f"it has no key of {event_type.name}")


def _stages(plan: SelectPlan) -> tuple[Carrying, ...]:
    """From the events that are inserted back to those that come in."""
    assert plan.insert is not None
    rows = plan.result_set
    if plan.row_recognition is not None or plan.streams[0].contained is not None or plan.streams[0].windows:
        return (Carrying({}), insertion(plan.insert, rows.output_type))
    own = Carrying() if rows.forward is not None else carried(rows.output_type, rows.columns)
    return (own, insertion(plan.insert, rows.output_type))


__all__ = ["facts_within"]
