"""Which part of a query may be run over parts of a table, each with whole partitions of the clause."""
from __future__ import annotations

from typing import Any

import attrs

from epl.dialects import plans
from epl.dialects import typed as y
from epl.dialects.plans import Plan

PARTS = "epl:parts"
"""The table that the results of all parts are."""


@attrs.frozen
class Split:
    """``part``: run over rows of ``table`` that share ``keys`` (places of its columns) or do not. ``rest``: run over all results, as the
    table ``PARTS``; None where there is nothing left to do."""

    part: Plan
    table: str
    keys: tuple[int, ...]
    rest: Plan | None


def split(plan: Plan) -> Split | None:
    """Return how a plan is split; None where it needs all rows at once."""
    chain: list[Plan] = []
    node = plan
    while not isinstance(node, plans.RecognitionPlan):
        if not isinstance(node, (plans.RenamedPlan, plans.SqlSelectPlan)) or node.input is None:
            return None
        chain.append(node)
        node = node.input
    source, keys = _trace_columns(node.input, node.partition)
    if keys is None or not keys or source is None or _asks_queries(plan):
        return None
    part: Plan = node
    while chain and _is_by_row(chain[-1]):
        part = chain.pop()
    return Split(part, source, keys, _over_parts(chain, part) if chain else None)


def plan_tables(plan: Plan) -> set[str]:
    """Return the tables that a plan reads, those of queries in its expressions too."""
    return {node.name for node in _nodes(plan) if isinstance(node, plans.SqlTablePlan)}


def _trace_columns(plan: Plan, places: tuple[int, ...]) -> tuple[str | None, tuple[int, ...] | None]:
    """Return the table and its columns that the columns of a plan are; None where they are something else."""
    while not isinstance(plan, plans.SqlTablePlan):
        if not _is_by_row(plan):
            return None, None
        if isinstance(plan, plans.SqlSelectPlan):
            projected = [plan.projections[place] for place in places if place < len(plan.projections)]
            if len(projected) != len(places) or not all(isinstance(each, y.ColumnValue) for each in projected):
                return None, None
            places = tuple(each.index for each in projected if isinstance(each, y.ColumnValue))
        assert isinstance(plan, (plans.SqlSelectPlan, plans.RenamedPlan)) and plan.input is not None
        plan = plan.input
    return plan.name, places if all(place < len(plan.columns) for place in places) else None


def _is_by_row(plan: Plan) -> bool:
    if isinstance(plan, plans.RenamedPlan):
        return True
    if not isinstance(plan, plans.SqlSelectPlan) or plan.input is None or plan.keys is not None or plan.having is not None:
        return False
    return not plan.distinct and not plan.order and plan.offset is None and plan.limit is None


def _over_parts(chain: list[Plan], part: Plan) -> Plan:
    rest: Plan = plans.SqlTablePlan(part.columns, PARTS)
    for node in reversed(chain):
        assert isinstance(node, (plans.SqlSelectPlan, plans.RenamedPlan))
        rest = attrs.evolve(node, input=rest)
    return rest


def _asks_queries(plan: Plan) -> bool:
    return any(isinstance(node, y.QueryValue) for node in _nodes(plan))


def _nodes(value: Any) -> list[Any]:
    """Return the plans and typed expressions that something consists of."""
    listed: list[Any] = []
    if isinstance(value, (Plan, y.Typed, plans.SqlOrderKey, plans.AggregateCall)):
        listed.append(value)
        for field in attrs.fields(type(value)):
            listed += _nodes(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for each in value:
            listed += _nodes(each)
    elif isinstance(value, dict):
        for each in value.values():
            listed += _nodes(each)
    return listed


__all__ = ["PARTS", "Split", "plan_tables", "split"]
