"""Aggregations of measures: evaluated over the rows of one group variable when a match is told."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.plan.row_recognition import GroupAggregation
from runtime.aggregation import GroupFactory, evaluate_over
from runtime.evaluate import Environment
from windows.event import Event

Aggregate = Callable[[Sequence[Sequence[Event]]], Any]
"""aggregate(rows by variable) → value."""


def compile_aggregations(aggregations: Sequence[GroupAggregation], environment: Environment, count: int) -> list[Aggregate]:
    """One function an aggregation; ``count`` is the number of variables."""
    return [_compile(a, environment, count) for a in aggregations]


def _compile(aggregation: GroupAggregation, environment: Environment, count: int) -> Aggregate:
    factory = GroupFactory((aggregation.plan,), environment, count)
    variable = aggregation.variable

    def evaluate(rows: Sequence[Sequence[Event]]) -> Any:
        """Each row of the group beside the last row of every other variable."""
        last: list[Event | None] = [found[-1] if found else None for found in rows]
        group = [(*last[:variable], row, *last[variable + 1 :]) if count > 1 else row for row in rows[variable]]
        return evaluate_over(factory, group)[0].value()

    return evaluate
