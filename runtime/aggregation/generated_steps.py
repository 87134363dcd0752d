"""What accumulators and groups offer to the generated function of a whole statement: their own steps as source lines.

None of the steps can raise for values of the argument's type: whatever can is evaluated before the first of them is done.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.plan.aggregations import AggregationPlan

Step = Callable[[str, str], Sequence[str]]
"""(name of the accumulator, name of a value that is not null) → lines."""


@attrs.frozen(kw_only=True)
class AccumulatorSteps:
    """The steps of ``accumulator``, as text over its own attributes.

    ``value``: name of the accumulator → the text of the aggregation's value. ``reach``: name of what the aggregation reads → the text of
    the accumulator, None where that is what is read. ``counts_rows``: it takes no value.
    """

    accumulator: Any
    enter: Step
    leave: Step
    value: Callable[[str], str]
    reach: Callable[[str], str] | None = None
    counts_rows: bool = False


class HasSteps:
    """Base of accumulators that offer their steps."""

    __slots__ = ()

    def steps(self, plan: AggregationPlan) -> AccumulatorSteps | None:
        """Return the steps; None where they may raise for the plan's argument, or are too long."""
        raise NotImplementedError


def accumulator_steps(plan: AggregationPlan, reader: Any) -> AccumulatorSteps | None:
    """Return the steps of what reads an aggregation; None where it has to be called."""
    if plan.distinct or plan.filter is not None or plan.group_by is not None or not isinstance(reader, HasSteps):
        return None
    return reader.steps(plan)


def has_numbers(plan: AggregationPlan) -> bool:
    """Return whether the argument is of a type whose values always compare and add."""
    return getattr(plan.arguments[0].type, "kind", None) in ("byte", "short", "int", "long", "float", "double")


def is_floating(plan: AggregationPlan) -> bool:
    """Return whether the argument may be NaN or a negative zero."""
    return getattr(plan.arguments[0].type, "kind", None) in ("float", "double")


@attrs.frozen(kw_only=True)
class GroupSteps:
    """How rows enter and leave groups, as lines over the aggregator's ``objects()``.

    With ``keyed``, an event that enters has the key ``k`` and the group ``g``, one that leaves ``kl`` and ``gl``. ``guard``: a condition
    under which some aggregation does not count some row, and the operators themselves have to be called. ``find``: (key, group) → the line
    that finds a key's group, or None. ``uncounted``: name of a group → conditions under which it does not count all of its rows.
    ``enter`` and ``leave`` come before the accumulators' own steps. ``blank``: what is read of an empty group. ``entered``, ``left``,
    ``known``: the text of the readers of ``g``, of ``gl``, and of ``g`` where it may be None.
    """

    guard: str
    blank: Any
    keyed: bool = False
    find: Callable[[str, str], str] = lambda key, group: ""
    uncounted: dict[str, str] = attrs.Factory(dict)
    enter: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    entered: str = ""
    left: str = ""
    known: str = ""


__all__ = ["AccumulatorSteps", "GroupSteps", "HasSteps", "accumulator_steps", "has_numbers", "is_floating"]
