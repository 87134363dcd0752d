"""for grouped_delivery / discrete_delivery: one call of the listeners a group, or a row."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from epl.plan.statements import DeliveryPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_row
from windows.event import NO_EVENTS, Event
from windows.keys import freeze

Parts = Iterator[tuple[Sequence[Event], Sequence[Event]]]
Divide = Callable[[Sequence[Event], Sequence[Event]], Parts]
"""divide(new, old) → what each call gets."""


def divider(plan: DeliveryPlan, environment: Environment) -> Divide:
    """Return a function that divides; groups in the order of their first rows, those of the insert stream first."""
    if not plan.keys:
        return _each_row
    key = compile_row(plan.keys, environment, 1)

    def divide(new: Sequence[Event], old: Sequence[Event]) -> Parts:
        groups: dict[Any, tuple[list[Event], list[Event]]] = {}
        for place, events in enumerate((new, old)):
            for event in events:
                parts = groups.setdefault(tuple([freeze(value) for value in key(event, True, None)]), ([], []))
                parts[place].append(event)
        return iter(groups.values())

    return divide


def _each_row(new: Sequence[Event], old: Sequence[Event]) -> Parts:
    for event in new:
        yield (event,), NO_EVENTS
    for event in old:
        yield NO_EVENTS, (event,)


__all__ = ["Divide", "divider"]
