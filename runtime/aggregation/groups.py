"""The aggregations of one group of rows, and what makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.result_set import AggregationPlan
from runtime.aggregation.factory import Arguments, Readers, Row, arguments_of, factory_of, is_nested
from runtime.evaluate import Environment


def each(steps: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Do all steps, also those behind one that fails; the first failure is raised in the end."""
    failure: Exception | None = None
    for step in steps:
        try:
            step(*arguments)
        except Exception as error:  # noqa: BLE001 - raised below
            failure = failure or error
    if failure is not None:
        raise failure


class Group:
    """All aggregations of one group: ``readers[slot].value()`` is a slot's value now."""

    __slots__ = ("readers", "kept")

    def __init__(self, readers: list[Any], kept: list[Any]) -> None:
        self.readers = readers
        self.kept = kept

    def enter(self, row: Row) -> None:
        """An aggregation whose argument raises does not count the row; the others do, then the first failure is raised."""
        for place, accumulator in enumerate(self.kept):
            try:
                accumulator.enter(row)
            except Exception:
                each([a.enter for a in self.kept[place + 1 :]], row)
                raise

    def leave(self, row: Row) -> None:
        for place, accumulator in enumerate(self.kept):
            try:
                accumulator.leave(row)
            except Exception:
                each([a.leave for a in self.kept[place + 1 :]], row)
                raise

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
            parts = factory_of(plan)(arguments, shared)
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
