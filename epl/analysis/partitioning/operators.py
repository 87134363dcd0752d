"""Which operators of a select are local to a key: contained events, windows, match_recognize, the select clause.

Each operator is known here to be local, and to what, or it is refused by name. Local to a key means: what the operator emits for rows of
one key value is the same whether or not rows of other values go through it too, and at the same time.
"""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.partitioning.facts import NotPartitionable, StageCollector
from epl.analysis.partitioning.paths import Carrying, expression_path, keeps_apart
from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import CurrentTime, IsInsertStream, Previous, StreamProperty, SubqueryValue, TypedExpression, VariableValue
from epl.plan.result_set import OutputPlan, ResultSetPlan
from epl.plan.statements import InsertPlan
from epl.plan.streams import StreamPlan
from epl.plan.walk import plan_expressions
from epl.plan.windows import WindowConfig

SHARED_WINDOWS = {
    "length": "an event leaves when enough others have come, whatever their keys",
    "length_batch": "a batch is full when enough events have come, whatever their keys",
    "time_batch": "its periods begin with the first event of all, or its flags notify listeners of periods without events; with a "
    "reference point and no flags it is local",
    "time_length_batch": "a batch is full when enough events have come, whatever their keys",
    "time_accum": "events stay until none has come for a while, whatever its key",
    "ext_timed": "an event leaves when a later one has come, whatever its key",
    "ext_timed_batch": "a batch ends when a later event has come, whatever its key",
    "firstlength": "the first events of all count, whatever their keys",
    "firstevent": "the first event of all counts",
    "lastevent": "the last event of all counts",
    "sort": "the first events of all by sort order stay",
    "rank": "the first events of all by sort order stay",
    "expr": "its condition may look at all events of the window",
    "expr_batch": "its condition may look at all events of the window",
    "groupwin": "the hint reclaim_group_aged removes idle groups at any event",
}
"""Why a window is not local, by name."""


def note_contained(plan: ContainedPlan, collector: StageCollector) -> None:
    """Note that contained events are new rows; a key of theirs is not the row's that holds them, except for columns selected from it."""
    if plan.columns:
        collector.add_columns(plan.output_type, plan.columns)
    elif plan.forward != 0:
        collector.add_stage(Carrying({}))


# ------------------------------------------------------------------ windows


def windows(stream: StreamPlan, collector: StageCollector) -> None:
    """Demand that every window is local, or follows a groupwin."""
    configs = stream.windows
    if not configs:
        return
    together = [c for c in configs if c.is_data_window and not c.groups]
    if len(together) > 1 and any(c.is_selective for c in together):
        names = "".join(map(title, together))
        raise NotPartitionable(f"the windows {names}", "what one of them does not admit leaves the others")
    if configs[0].groups:
        _collect_groupwin(configs, collector)
    else:
        _side_by_side(configs, collector)


def title(config: WindowConfig) -> str:
    return f"#{config.names[0]}" if config.names else type(config).__name__


def _side_by_side(configs: Sequence[WindowConfig], collector: StageCollector) -> None:
    """Windows without a groupwin in front: intersections and unions of local ones are local."""
    for config in configs:
        locality = config.locality
        if locality is None or (config.is_batch and len(configs) > 1):
            raise NotPartitionable(f"the window {title(config)}", _why_shared(config))
        collector.stateful = True
        if locality.keys:
            collector.demand(f"the window {title(config)}", locality.keys)


def _why_shared(config: WindowConfig) -> str:
    if not config.retains and config.is_data_window is False and not config.groups and not config.merges:
        return "its values are those of all events"
    if config.is_batch and config.locality is not None:
        return "a batch window together with others is not known to be local to a key"
    return SHARED_WINDOWS.get(config.names[0] if config.names else "", "it is not known to be local to a key")


def _collect_groupwin(configs: Sequence[WindowConfig], collector: StageCollector) -> None:
    """Whatever is inside a groupwin is one window a group, local to the group's keys; what follows the merge sees all groups."""
    group = configs[0]
    locality = group.locality
    if locality is None:
        raise NotPartitionable(f"the window {title(group)}", _why_shared(group))
    collector.demand(f"the window {title(group)}", locality.keys)
    merge = next((i for i, c in enumerate(configs) if c.merges), len(configs))
    inner, outer = configs[1:merge], configs[merge + 1 :]
    if any(not c.retains for c in inner):
        names = getattr(group, "key_names", ())
        paths = ((name, expression_path(key)) for name, key in zip(names, locality.keys))
        collector.add_stage(Carrying({name: path for name, path in paths if path is not None}))
    if outer:
        _side_by_side(outer, collector)


def _only_window(configs: Sequence[WindowConfig]) -> WindowConfig | None:
    """Return the only data window under a groupwin, or alone; None where there is anything else."""
    rest = configs[1:] if configs and configs[0].groups else configs
    return rest[0] if len(rest) == 1 and rest[0].is_data_window else None


def leaves_in_order(configs: Sequence[WindowConfig]) -> bool:
    """Return whether rows leave in the order in which they came: where one leaves out of order, match_recognize matches all partitions
    again.
    """
    only = _only_window(configs)
    return only is not None and only.leaves_in_order and not configs[0].groups


def groups_are_steady(stream: StreamPlan, conditions: Sequence[TypedExpression], plan: ResultSetPlan) -> None:
    """Check that groups are steady: a group that counts no rows is dropped when a row of any group comes (so Esper 9.0.0), and that must
    not show.

    So rows that leave were in, and where the remove stream has groups before they have rows again, aggregations are as new once all
    rows have left.
    """
    if not stream.retains or not (plan.group_by or plan.aggregations):
        return
    if any(not c.retains and not c.groups and not c.merges for c in stream.windows):
        raise NotPartitionable("the aggregation", "of values that a window derives it is not known to be local to a key")
    keys = (*plan.group_by, *(key for a in plan.aggregations for key in a.group_by or ()))
    asked = (("where", conditions), ("group by", keys))
    for operator, expressions in asked:
        if any(isinstance(n, CHANGING) for e in expressions for n in e.walk()):
            reason = "what it reads may have changed when a row leaves the window; in the filter it would be asked once"
            raise NotPartitionable(operator, reason)
    if plan.selector != "istream" or plan.raw:
        for aggregation in plan.aggregations:
            if aggregation.ever or aggregation.function not in FORGETS:
                raise NotPartitionable(
                    f"the aggregation {aggregation.function}",
                    "what it remembers of a group without rows goes when a row of any group comes, and the remove stream shows it",
                )


FORGETS = {
    "sum", "avg", "count", "min", "max", "median", "stddev", "avedev", "first", "last", "window", "minby", "maxby", "sorted",
}
"""Aggregations that are as new once all rows have left."""

CHANGING = (CurrentTime, IsInsertStream, Previous, SubqueryValue, VariableValue)
"""Expressions that may have another value for a row when it leaves than when it came."""


def previous(configs: Sequence[WindowConfig], number: int, *plans: object) -> None:
    """Demand a key for prev and its relatives of stream ``number``, which ask its only data window: local where it is a group's."""
    asked = any(isinstance(n, Previous) and n.stream == number for e in plan_expressions(*plans) for n in e.walk())
    if asked and (_only_window(configs) is None or not configs[0].groups):
        raise NotPartitionable("prev", "it counts the events of the window, whatever their keys; groupwin would keep them apart")


# ------------------------------------------------------------------ the select clause


def result_set(plan: ResultSetPlan, collector: StageCollector) -> None:
    """Look at groups, aggregations, distinct rows; what looks at the rows of all groups at once is refused."""
    refuse_whole_output(plan)
    if plan.output is not None:
        _output(plan.output, plan)
    if plan.group_by:
        keys = plan.group_by
        if plan.levels:
            common = set.intersection(*(set(level.keys) for level in plan.levels))
            keys = tuple(plan.group_by[i] for i in sorted(common))
            if not keys:
                raise NotPartitionable("group by", "not every grouping has a key in common: totals go over rows of all keys")
        collector.demand("group by", keys)
    elif plan.shape == "fully aggregated":
        raise NotPartitionable("the aggregation", "it goes over all rows; group by would keep them apart")
    for aggregation in plan.aggregations:
        _aggregation(aggregation, grouped=bool(plan.group_by), collector=collector)
    if plan.distinct:
        collector.demand("select distinct", plan.columns if plan.forward is None else _all_properties(plan.output_type, plan.forward))
    if plan.forward is None:
        collector.add_columns(plan.output_type, plan.columns)


def refuse_whole_output(plan: ResultSetPlan) -> None:
    if plan.order_by or any(level.order_by for level in plan.levels):
        raise NotPartitionable("order by", "it sorts rows of all keys")
    if plan.limit is not None:
        raise NotPartitionable("limit", "it counts rows of all keys")
    if plan.reclaim is not None and not plan.reclaim.never:
        raise NotPartitionable("the hint reclaim_group_aged", "it removes idle groups at any event")


def _output(output: OutputPlan, plan: ResultSetPlan) -> None:
    """``output first`` of groups asks a condition of each group; all other limits have one of all rows."""
    if output.after is not None:
        raise NotPartitionable("output after", "it counts from the beginning of all")
    if output.condition is not None:
        raise NotPartitionable("output when", "its condition counts rows of all keys")
    grouped = plan.shape in ("grouped fully aggregated", "grouped aggregated")
    if output.selector != "first":
        selector = "" if output.selector == "default" else f" {output.selector}"
        reason = "its periods and counts begin with the first row of all; output first goes by group"
        raise NotPartitionable(f"output{selector} every", reason)
    if not grouped:
        raise NotPartitionable("output first", "without group by it counts rows of all keys")


def _aggregation(plan: AggregationPlan, *, grouped: bool, collector: StageCollector) -> None:
    if plan.group_by is None:
        if not grouped:
            raise NotPartitionable(f"the aggregation {plan.function}", "it goes over all rows; group by would keep them apart")
    elif not plan.group_by:
        raise NotPartitionable(f"the aggregation {plan.function}", "group_by:() goes over all rows")
    else:
        collector.demand(f"the aggregation {plan.function} with group_by", plan.group_by)


def _all_properties(event_type: EventType, stream: int) -> tuple[TypedExpression, ...]:
    return tuple(StreamProperty(type=p.type, stream=stream, name=p.name) for p in event_type.properties.values())


def insertion(plan: InsertPlan, row_type: EventType) -> Carrying:
    """Return the way from events of the target back to rows of the select clause."""
    if plan.target.kind == "variant" or plan.target.any_type:
        raise NotPartitionable("insert into", f"rows of several types meet in the variant stream '{plan.target.name}'")
    if plan.nested is not None:
        return Carrying({})
    if plan.same:
        return Carrying()
    names, types = row_type.names, [p.type for p in row_type.properties.values()]
    columns: dict[str, tuple[str, ...]] = {}
    for prop, position in zip(plan.target.properties.values(), plan.positions):
        if position is not None and keeps_apart(types[position], prop.type):
            columns[prop.name] = (names[position],)
    return Carrying(columns)


__all__ = [
    "CHANGING",
    "groups_are_steady",
    "insertion",
    "leaves_in_order",
    "note_contained",
    "previous",
    "refuse_whole_output",
    "result_set",
    "windows",
]
