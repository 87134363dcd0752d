"""Properties by whose values a keyed context cuts: as in Esper a statement reads the partition's key in their place.

``context C partition by k from A``: ``k`` of an event of exactly type A, as a value by itself, is ``context.key1``. A key is there
without an event, so it is not null in a row of an outer join without an event of A, nor is it for ``prior(1, k)`` without an earlier
event; and it counts as grouped. Not so in nested contexts, for rows of named windows, for what a method is called on (``k.length()``), for
``prev``, for events that aggregations keep (``first(k)``), and where rows are found by equal properties.
"""
from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

import attrs

from epl.analysis.expressions.properties import call_receiver, property_read
from epl.analysis.expressions.rewriting import Replace, rewrite
from epl.catalog import Catalog
from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.context.contexts import KeyedLevel, full_path
from epl.plan.expressions import Aggregated, ContextValue, Previous, Prior, StreamEvent, StreamProperty, SubqueryValue, TypedExpression
from epl.plan.join.lookups import LookupPlan
from epl.plan.join.subqueries import SubqueryPlan
from epl.plan.result_set import OrderKey, ResultSetPlan
from epl.plan.streams import StreamPlan

Keys = Mapping[str, ContextValue]
"""The keys of one stream, by the paths of the properties."""


def own_keys(event_type: EventType, catalog: Catalog) -> Keys:
    """Return the keys of the statement's context that events of a type have as properties."""
    context = catalog.statement_context
    level = None if context is None or context.is_nested else context.levels[0]
    if not isinstance(level, KeyedLevel):
        return {}
    item = next((item for item in level.items if item.event_type is event_type), None)
    keys: dict[str, ContextValue] = {}
    for number, key in enumerate(() if item is None else item.keys, 1):
        read = property_read(key)
        if read is not None:
            keys.setdefault(read.path, ContextValue(type=key.type, path=full_path(level, f"key{number}")))
    return keys


def key_replacement(streams: Sequence[EventType], catalog: Catalog, grouped: Container[tuple[int, str]]) -> Replace:
    """Return what puts keys in the place of all their properties in a statement with aggregations, but not of those that are ``grouped`` by
    rollup, which are null in some levels."""
    keys = [own_keys(event_type, catalog) for event_type in streams]

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, (Aggregated, Previous, Prior, SubqueryValue)):
            return node
        read = property_read(node)
        return _property(node, keys, replace) if read is None or (read.stream, read.path) not in grouped else node

    return replace


def of_rows_without_events(
    plan: ResultSetPlan, where: TypedExpression | None, streams: Sequence[StreamPlan], catalog: Catalog
) -> tuple[ResultSetPlan, TypedExpression | None]:
    """Return the plan and where with keys in the place of properties whose values may be others: there is no event, or only a part of one
    that has the key."""
    keys = [own_keys(stream.event_type, catalog) for stream in streams]
    parts = {number for number, stream in enumerate(streams) if stream.contained is not None}
    replace = _Lacking(keys, parts, catalog).replace
    return _of_result_set(plan, replace), _any(where, replace)


@attrs.frozen
class _Lacking:
    """What puts keys in the place of properties whose values may be others. ``keys``: those of each stream; ``parts``: streams of contained
    events."""

    keys: Sequence[Keys]
    parts: Container[int]
    catalog: Catalog

    def replace(self, node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, Previous):
            return node
        if isinstance(node, Aggregated):
            return attrs.evolve(node, plan=_of_aggregation(node.plan, self.replace))
        if isinstance(node, SubqueryValue):
            return self._subquery(node)
        if isinstance(node, Prior):
            key = _matching_key(node.value, self.keys)
            return node if key is None else attrs.evolve(key, type=node.type)
        read = property_read(node)
        if read is not None and read.stream not in self.parts and not _may_lack(node):
            return node
        return _property(node, self.keys, self.replace)

    def _subquery(self, node: SubqueryValue) -> SubqueryValue:
        """Return a sub-query, which sees its own stream first and then those of the statement that it reads."""
        plan: SubqueryPlan = node.plan
        outer = [each.stream for each in node.outer if isinstance(each, StreamEvent)]
        keys = [own_keys(plan.stream.event_type, self.catalog), *(self.keys[stream] for stream in outer)]
        parts = {inner for inner, stream in enumerate(outer, 1) if stream in self.parts}
        inside = _Lacking(keys, parts, self.catalog).replace
        operand = None if node.operand is None else rewrite(node.operand, self.replace)
        return attrs.evolve(node, operand=operand, plan=attrs.evolve(
            plan, columns=_all(plan.columns, inside), where=_any(plan.where, inside), having=_any(plan.having, inside),
            lookup=None if plan.lookup is None else _of_lookup(plan.lookup, inside)))


def _property(node: TypedExpression, keys: Sequence[Keys], replace: Replace) -> TypedExpression | None:
    """Return the key in the place of a property; what a method is called on stays."""
    if property_read(node) is not None:
        return _matching_key(node, keys) or node
    receiver = call_receiver(node)
    return None if receiver is None else rewrite(node, _keeping(node, receiver, replace))


def _keeping(node: TypedExpression, receiver: TypedExpression, replace: Replace) -> Replace:
    """Return what replaces all parts of a call but the property that it is of."""

    def inner(each: TypedExpression) -> TypedExpression | None:
        if each is receiver:
            return each if property_read(each) is not None else replace(each)
        return None if each is node else replace(each)

    return inner


def _matching_key(node: TypedExpression, keys: Sequence[Keys]) -> TypedExpression | None:
    read = property_read(node)
    key = None if read is None or read.stream >= len(keys) else keys[read.stream].get(read.path)
    return None if key is None else attrs.evolve(key, type=node.type)


def _may_lack(node: TypedExpression) -> bool:
    return any(isinstance(part, StreamProperty) and part.optional for part in node.walk())


# ------------------------------------------------------------------ parts of plans


def _all(expressions: Sequence[TypedExpression], replace: Replace) -> tuple[TypedExpression, ...]:
    return tuple(rewrite(each, replace) for each in expressions)


def _any(expression: TypedExpression | None, replace: Replace) -> TypedExpression | None:
    return None if expression is None else rewrite(expression, replace)


def _rewrite_order(keys: Sequence[OrderKey], replace: Replace) -> tuple[OrderKey, ...]:
    return tuple(attrs.evolve(key, expression=rewrite(key.expression, replace)) for key in keys)


def _of_result_set(plan: ResultSetPlan, replace: Replace) -> ResultSetPlan:
    levels = tuple(
        attrs.evolve(
            level, columns=_all(level.columns, replace), having=_any(level.having, replace),
            order_by=_rewrite_order(level.order_by, replace))
        for level in plan.levels)
    into = None if plan.into is None else attrs.evolve(plan.into, columns=tuple(
        attrs.evolve(column, plan=_of_aggregation(column.plan, replace)) for column in plan.into.columns))
    return attrs.evolve(
        plan, into=into, columns=_all(plan.columns, replace), group_by=_all(plan.group_by, replace), levels=levels,
        having=_any(plan.having, replace), order_by=_rewrite_order(plan.order_by, replace),
        aggregations=tuple(_of_aggregation(each, replace) for each in plan.aggregations))


def _of_aggregation(plan: AggregationPlan, replace: Replace) -> AggregationPlan:
    """Return an aggregation over keys; one that keeps events reads what they are kept for of the events."""
    arguments = plan.arguments if plan.stream is not None and not plan.ever else _all(plan.arguments, replace)
    groups = None if plan.group_by is None else _all(plan.group_by, replace)
    return attrs.evolve(plan, arguments=arguments, filter=_any(plan.filter, replace), group_by=groups)


def _of_lookup(plan: LookupPlan, replace: Replace) -> LookupPlan:
    """Return a look-up whose conditions and bounds read keys; a property that equals one of the row is that of the event."""
    hashed = plan.index.hash if plan.index is not None and not plan.listed else ()
    equal = {number for number, (own, key) in enumerate(zip(hashed,
        plan.keys)) if property_read(own) is not None and property_read(key) is not None}
    keys = tuple(key if plan.listed or number in equal else rewrite(key, replace) for number, key in enumerate(plan.keys))
    bounds = tuple(attrs.evolve(each, low=_any(each.low, replace), high=_any(each.high, replace)) for each in plan.bounds)
    return attrs.evolve(
        plan, keys=keys, bounds=bounds, conditions=_all(plan.conditions, replace), applied=_all(plan.applied, replace))


__all__ = ["key_replacement", "of_rows_without_events", "own_keys"]
