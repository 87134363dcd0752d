"""The aggregations of one group of rows, and what makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from epl.plan.aggregations import AggregationPlan
from runtime.aggregation.factory import Arguments, Readers, Row, accumulator_maker, build_factory, compile_arguments, is_nested
from runtime.aggregation.state_shapes import state_shape
from runtime.expressions import Environment
from windows.shape import ANYTHING, COUNT, ROW, Check, compile_check, takes


def each(steps: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Run all steps, also those after one that fails; the first failure is raised in the end."""
    failure: Exception | None = None
    for step in steps:
        try:
            step(*arguments)
        except Exception as error:  # noqa: BLE001 - raised below
            failure = failure or error
    if failure is not None:
        raise failure


class AccumulatorGroup:
    """All aggregations of one group: ``readers[slot].value()`` is a slot's value now.

    ``failed``: of rows for which an argument raised the places of the aggregations that do not count them, so that they do not leave there
    either; None where there is no such row. ``rows``: how many rows are in, where the dictionary of groups counts them.
    """

    __slots__ = ("readers", "kept", "failed", "rows", "_rows_leave")

    def __init__(self, readers: Readers, kept: Sequence[Any], rows_leave: bool) -> None:
        self.readers = readers
        self.kept = kept
        self.failed: dict[Row, list[int]] | None = None
        self._rows_leave = rows_leave
        self.rows = 0

    def enter(self, row: Row) -> None:
        """Take the row; an aggregation whose argument raises does not count the row; the others do, then the first failure is raised."""
        place = 0
        try:
            for place, accumulator in enumerate(self.kept):  # noqa: B007 - read where it raises
                accumulator.enter(row)
        except Exception:
            self._enter_rest(place, row)
            raise

    def _enter_rest(self, place: int, row: Row) -> None:
        """Run the aggregations after the one at ``place``, which has raised."""
        failed = [place]
        for later in range(place + 1, len(self.kept)):
            try:
                self.kept[later].enter(row)
            except Exception:  # noqa: BLE001 - the first one is raised
                failed.append(later)
        if self._rows_leave:
            self.failed = self.failed or {}
            self.failed[row] = failed

    def leave(self, row: Row) -> None:
        """Let the row leave where it has been counted."""
        if self.failed:
            failed = self.failed.pop(row, ())
            each([a.leave for place, a in enumerate(self.kept) if place not in failed], row)
            return
        place = 0
        try:
            for place, accumulator in enumerate(self.kept):  # noqa: B007 - read where it raises
                accumulator.leave(row)
        except Exception:
            each([a.leave for a in self.kept[place + 1 :]], row)
            raise

    def clear(self) -> None:
        if self.failed:
            self.failed.clear()
        for accumulator in self.kept:
            accumulator.clear()

    def state(self) -> Any:
        """Return the aggregations' states, and [row, places] of the rows that some of them do not count."""
        failed = [[row, places] for row, places in (self.failed or {}).items()]
        return [[accumulator.state() for accumulator in self.kept], failed]

    @takes(([ANYTHING], [(ROW, [COUNT])]))
    def restore(self, state: Any) -> None:
        kept, failed = state
        for accumulator, saved in zip(self.kept, kept, strict=True):
            accumulator.restore(saved)
        if self._rows_leave and failed:
            self.failed = {tuple(row) if isinstance(row, list) else row: list(places) for row, places in failed}


class GroupFactory:
    """Makes groups: expressions are compiled once, accumulators are made for each group."""

    def __init__(
        self, plans: Sequence[AggregationPlan], environment: Environment, arity: int, *, rows_leave: bool = True
    ) -> None:
        self.rows_leave = rows_leave
        self._plans = tuple(plans)
        self._environment = environment
        self._arity = arity
        self._arguments = [None if is_nested(p) else compile_arguments(p, environment, arity) for p in plans]
        makers = [None if each is None else accumulator_maker(each) for each in self._arguments]
        self._makers: list[Callable[[], Any]] | None = [make for make in makers if make is not None]
        if len(self._makers) < len(makers):
            self._makers = None

    def __call__(self) -> AccumulatorGroup:
        """An empty group."""
        if self._makers is not None:
            accumulators = tuple([make() for make in self._makers])
            return AccumulatorGroup(accumulators, accumulators, self.rows_leave)
        readers, kept, _ = self._build_parts()
        return AccumulatorGroup(readers, kept, self.rows_leave)

    @cached_property
    def blank(self) -> Readers:
        """The aggregations of an empty group, to be read."""
        return self().readers

    def restore(self, group: AccumulatorGroup, state: Any) -> None:
        """Give an empty group its state. Raises Damaged for values of other types than the plans have."""
        self._check(state)
        group.restore(state)

    @cached_property
    def _check(self) -> Check:
        return compile_check((tuple(state_shape(plan) for plan in self._build_parts()[2]), ANYTHING))

    def _build_parts(self) -> tuple[list[Any], list[Any], list[AggregationPlan]]:
        """Readers by slot; what is kept, and the first plan of each, since some plans share it."""
        readers: list[Any] = []
        kept: list[Any] = []
        plans: list[AggregationPlan] = []
        shared: dict[Any, Any] = {}
        for plan, compiled_ in zip(self._plans, self._arguments):
            arguments: Arguments = compiled_ or compile_arguments(plan, self._environment, self._arity, readers)
            parts = build_factory(plan)(arguments, shared)
            readers.append(parts.reader)
            if not any(parts.kept is k for k in kept):
                kept.append(parts.kept)
                plans.append(plan)
        return readers, kept, plans


def evaluate_rows(factory: Callable[[], AccumulatorGroup], rows: Sequence[Row]) -> Readers:
    """Return the aggregations of a fixed list of rows."""
    group = factory()
    for row in rows:
        group.enter(row)
    return group.readers
