"""Aggregations of measures: evaluated over the rows of one group variable when a match is emitted."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from epl.generated_code import field_name
from epl.plan.expressions import StreamProperty
from epl.plan.patterns.match_recognize import GroupAggregation
from runtime.aggregation import GroupFactory, evaluate_rows
from runtime.expressions import Environment
from windows.event import Event

Aggregate = Callable[[Sequence[Sequence[Event]]], Any]
"""aggregate(rows by variable) → value."""


def compile_aggregations(aggregations: Sequence[GroupAggregation], environment: Environment, count: int) -> list[Aggregate]:
    """Return one function an aggregation; ``count`` is the number of variables."""
    return [_compile(a, environment, count) for a in aggregations]


def _compile(aggregation: GroupAggregation, environment: Environment, count: int) -> Aggregate:
    return _end(aggregation) or _over_rows(aggregation, environment, count)


def _end(aggregation: GroupAggregation) -> Aggregate | None:
    """Return the first or last value of a property that is not null: read off the rows themselves."""
    plan, variable = aggregation.plan, aggregation.variable
    if plan.function not in ("firstever", "lastever") or plan.distinct or plan.filter is not None:
        return None
    argument = plan.arguments[0]
    if not isinstance(argument, StreamProperty) or argument.stream != variable:
        return None
    read, newest = attrgetter(field_name(argument.name)), plan.function == "lastever"

    def evaluate(rows: Sequence[Sequence[Event]]) -> Any:
        for row in reversed(rows[variable]) if newest else rows[variable]:
            value = read(row)
            if value is not None:
                return value
        return None

    return evaluate


def _over_rows(aggregation: GroupAggregation, environment: Environment, count: int) -> Aggregate:
    factory = GroupFactory((aggregation.plan,), environment, count)
    variable = aggregation.variable

    def evaluate(rows: Sequence[Sequence[Event]]) -> Any:
        """Evaluate over each row of the group beside the last row of every other variable."""
        last: list[Event | None] = [of_variable[-1] if of_variable else None for of_variable in rows]
        group = [(*last[:variable], row, *last[variable + 1 :]) if count > 1 else row for row in rows[variable]]
        return evaluate_rows(factory, group)[0].value()

    return evaluate
