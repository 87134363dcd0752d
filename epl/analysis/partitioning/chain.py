"""The statements that another one's rows come through."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from epl.analysis.partitioning.stores import insert_target
from epl.event_types import EventType
from epl.plan.patterns.pattern import FilterNode
from epl.plan.statements import BodyPlan, CreateTablePlan, InsertPlan, SelectPlan, StatementPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import OnSelectPlan, OnWindowPlan, UpdateIstreamPlan
from epl.plan.stores.tables import Table, TableValue
from epl.plan.streams import FilterPlan, NamedWindow, types_read
from epl.plan.walk import plan_expressions, walk_plan


@attrs.frozen
class Streams:
    """``reads``: the types that a statement takes events of; ``fills``: those that it inserts into."""

    reads: tuple[EventType, ...]
    fills: tuple[EventType, ...]

    @classmethod
    def of(cls, plan: StatementPlan) -> Streams:
        read = () if plan.context is None else types_read(plan.context)
        return cls(
            (*read, *(part.event_type for part in walk_plan(plan.body) if isinstance(part, (FilterPlan, NamedWindow, Table))),
             *(part.filter.event_type for part in walk_plan(plan.body) if isinstance(part, FilterNode)),
             *(node.table.event_type for e in plan_expressions(plan.body) for node in e.walk() if isinstance(node, TableValue))),
            (*(insert_target(part) for part in walk_plan(plan.body) if isinstance(part, InsertPlan)), *_store_row_types(plan.body)),
        )


def _store_row_types(body: BodyPlan) -> Iterator[EventType]:
    """Yield the rows of named windows and tables that a statement has, or writes other than by insert into."""
    if isinstance(body, CreateWindowPlan):
        yield body.window.event_type
    elif isinstance(body, CreateTablePlan):
        yield body.table.event_type
    elif isinstance(body, OnWindowPlan) and not (isinstance(body, OnSelectPlan) and not body.delete):
        yield body.match.store.event_type
    elif isinstance(body, SelectPlan) and body.result_set.into is not None:
        yield body.result_set.into.table.event_type


def may_share_events(one: EventType, other: EventType) -> bool:
    """Return whether an event may be of both."""
    return one.is_a(other) or other.is_a(one)


def statement_chain(plans: Iterable[StatementPlan], targets: Iterable[StatementPlan]) -> tuple[StatementPlan, ...]:
    """Return ``targets`` and, transitively, all statements that insert into what they read, change it first (update istream) or take it
    away (``@Drop``), in the order of ``plans``.
    """
    plans = tuple(plans)
    streams = [Streams.of(plan) for plan in plans]
    chosen = {i for i, plan in enumerate(plans) if any(plan is target for target in targets)}
    todo = list(chosen)
    while todo:
        for read in streams[todo.pop()].reads:
            for i in _feeding(read, plans, streams):
                if i not in chosen:
                    chosen.add(i)
                    todo.append(i)
    return tuple(plans[i] for i in sorted(chosen))


def _feeding(read: EventType, plans: tuple[StatementPlan, ...], streams: list[Streams]) -> Iterator[int]:
    """Yield the statements that decide over which events of a type there are, and what is in them."""
    for i, (plan, each) in enumerate(zip(plans, streams)):
        fills = any(t.is_a(read) for t in each.fills)
        meddles = isinstance(plan.body, UpdateIstreamPlan) or plan.drop
        if fills or (meddles and any(may_share_events(t, read) for t in each.reads)):
            yield i


__all__ = ["Streams", "may_share_events", "statement_chain"]
