"""The aggregations of one group of rows, and what makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.plan.result_set import AggregationPlan
from runtime.aggregation.factory import FACTORIES, Arguments, Readers, Row, arguments_of, is_nested
from runtime.evaluate import Environment


class Group:
    """All aggregations of one group: ``readers[slot].value()`` is a slot's value now."""

    __slots__ = ("readers", "kept")

    def __init__(self, readers: list[Any], kept: list[Any]) -> None:
        self.readers = readers
        self.kept = kept

    def enter(self, row: Row) -> None:
        for accumulator in self.kept:
            accumulator.enter(row)

    def leave(self, row: Row) -> None:
        for accumulator in self.kept:
            accumulator.leave(row)

    def clear(self) -> None:
        for accumulator in self.kept:
            accumulator.clear()

    def state(self) -> Any:
        return [accumulator.state() for accumulator in self.kept]

    def restore(self, state: Any) -> None:
        for accumulator, saved in zip(self.kept, state, strict=True):
            accumulator.restore(saved)


class GroupFactory:
    """Makes groups: expressions are compiled once, accumulators are made anew."""

    def __init__(self, plans: Sequence[AggregationPlan], environment: Environment, arity: int) -> None:
        self._plans = tuple(plans)
        self._environment = environment
        self._arity = arity
        self._arguments = [None if is_nested(p) else arguments_of(p, environment, arity) for p in plans]

    def __call__(self) -> Group:
        """An empty group."""
        readers: list[Any] = []
        kept: list[Any] = []
        shared: dict[Any, Any] = {}
        for plan, compiled in zip(self._plans, self._arguments):
            arguments: Arguments = compiled or arguments_of(plan, self._environment, self._arity, readers)
            parts = FACTORIES[plan.function](arguments, shared)
            readers.append(parts.reader)
            if not any(parts.kept is k for k in kept):
                kept.append(parts.kept)
        return Group(readers, kept)


def evaluate_over(factory: Callable[[], Group], rows: Sequence[Row]) -> Readers:
    """The aggregations of a fixed list of rows."""
    group = factory()
    for row in rows:
        group.enter(row)
    return group.readers
