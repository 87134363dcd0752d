"""Aggregations as lines that take an event in, take it out and give the value: ``accumulator(plan, number, window)``.

Arithmetic is that of runtime.aggregation, step by step, so that doubles are equal to the last bit.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from epl.plan.aggregations import AggregationPlan
from runtime.aggregation.state_shapes import state_shape
from runtime.batch.accumulators.base import AccumulatorPrinter
from runtime.batch.accumulators.events import EverPrinter, FirstOrLastPrinter
from runtime.batch.accumulators.extremes import ExtremeEverPrinter, ExtremeHeap, ExtremeWindow
from runtime.batch.accumulators.numeric import AveragePrinter, Count, StandardDeviationPrinter, SumPrinter
from runtime.batch.accumulators.passing import LeavingPrinter, NthPrinter
from runtime.batch.accumulators.wrappers import DistinctPrinter, FilterPrinter
from runtime.batch.printing.expressions import is_steady
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import Arrays
from runtime.batch.windows.base import Window
from windows.protocol import State
from windows.shape import ANYTHING, compile_check

KINDS: dict[str, type[AccumulatorPrinter]] = {
    "count": Count, "sum": SumPrinter, "avg": AveragePrinter, "stddev": StandardDeviationPrinter, "first": FirstOrLastPrinter,
    "last": FirstOrLastPrinter,
    "firstever": EverPrinter, "lastever": EverPrinter, "nth": NthPrinter, "leaving": LeavingPrinter,
}


def accumulator(plan: AggregationPlan, number: int, window: Window | None) -> AccumulatorPrinter:
    """Return the accumulator of one aggregation; raise NotCompilable."""
    if window is not None and not all(is_steady(e) for e in plan.expressions):
        raise NotCompilable(f"{plan.function} of what may change while an event is held")
    if plan.of_moment:
        raise NotCompilable(f"{plan.function} of what is something else as events leave")
    if plan.group_by is not None or (plan.constants and plan.function != "nth"):
        raise NotCompilable(f"{plan.function} with group_by or parameters")
    if plan.function in ("min", "max"):
        kind = _extreme(plan, window)
    elif plan.function in KINDS:
        kind = KINDS[plan.function]
    else:
        raise NotCompilable(f"the aggregation {plan.function} is not computed in columns")
    printer = kind(f"a{number}", plan)
    if plan.distinct:
        printer = DistinctPrinter(f"a{number}d", plan, printer, window is not None)
    return FilterPrinter(f"a{number}", plan, printer) if plan.filter is not None else printer


def _extreme(plan: AggregationPlan, window: Window | None) -> type[AccumulatorPrinter]:
    if window is None or plan.ever:
        return ExtremeEverPrinter
    return ExtremeWindow if window.in_order else ExtremeHeap


# ------------------------------------------------------------------ the aggregations of a group together


def group_state(accumulators: Sequence[AccumulatorPrinter], arrays: Arrays, slot: int, ring: Ring) -> State:
    """Do as ``runtime.aggregation.groups.Group`` gives it: no row has failed."""
    return [[each.state(arrays, slot, ring) for each, first in _with_states(accumulators) if first], []]


def restore_group(accumulators: Sequence[AccumulatorPrinter], arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
    """Restore a group. Raise Declined for a group of which some rows raised."""
    compile_check(([ANYTHING], [ANYTHING]))(state)
    states, failed = state
    if failed:
        raise Declined("aggregations that do not count an event since their argument raised")
    place, places = -1, {}
    for each, first in _with_states(accumulators):
        if first:
            place += 1
            places[repr(each.shared)] = place
            compile_check(state_shape(each.plan))(states[place])
        each.restore(arrays, slot, states[place if each.shared is None else places[repr(each.shared)]], ring)


def _with_states(accumulators: Sequence[AccumulatorPrinter]) -> Iterator[tuple[AccumulatorPrinter, bool]]:
    """Yield accumulators, each with whether it is the first that has its state."""
    seen: set[str] = set()
    for each in accumulators:
        key = None if each.shared is None else repr(each.shared)
        yield each, key not in seen
        if key is not None:
            seen.add(key)


__all__ = ["AccumulatorPrinter", "accumulator", "group_state", "restore_group"]
