"""How deep event types may be within one another, and how many values their events may hold.

A short text can declare types that hold each other twice, and twice again: what describes them (schemas of columns, fingerprints,
snapshots) would walk through 2**n of them.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.walk import inner_types, part_types, walk_plan

MOST_LEVELS = 100
"""Of event types within one another, or of super-types above one another."""
MOST_VALUES = 50_000
"""Of an event, those of the events in it among them."""


def check_type_sizes(plan: Any) -> None:
    """Raise EplValidationError for an event type in the plan that is nested deeper, or holds more, than what describes it can walk."""
    for event_type in {id(t): t for part in walk_plan(plan) for t in part_types(part)}.values():
        _check_levels(event_type)
        _check_values(event_type)


def _check_levels(event_type: EventType) -> None:
    """Check the levels of each type once, in the first way that leads to it, as whatever walks types does."""
    seen = {id(event_type)}
    ways = [_others(event_type)]
    while ways:
        other = next(ways[-1], None)
        if other is None:
            ways.pop()
        elif id(other) not in seen:
            seen.add(id(other))
            ways.append(_others(other))
            _check_depth(len(ways), event_type)


def _check_values(event_type: EventType) -> None:
    """Values are counted as columns hold them: a type that holds itself ends there."""
    count = 0
    ways: list[tuple[EventType, Iterator[EventType]]] = [(event_type, _inner_event_types(event_type))]
    while ways:
        other = next(ways[-1][1], None)
        if other is None:
            count += len(ways.pop()[0].properties)
        elif not any(other is outer for outer, _ in ways):
            ways.append((other, _inner_event_types(other)))
            _check_depth(len(ways), event_type)
        if count > MOST_VALUES:
            raise EplValidationError(
                f"Event type '{event_type.name}' holds more than {MOST_VALUES} values, those of the events in it among them"
            )


def _check_depth(levels: int, event_type: EventType) -> None:
    if levels > MOST_LEVELS:
        raise EplValidationError(f"Event type '{event_type.name}' is nested too deeply (more than {MOST_LEVELS} levels)")


def _others(event_type: EventType) -> Iterator[EventType]:
    yield from _inner_event_types(event_type)
    yield from event_type.members
    yield from event_type.supertypes


def _inner_event_types(event_type: EventType) -> Iterator[EventType]:
    for each in event_type.properties.values():
        yield from inner_types(each.type)


__all__ = ["check_type_sizes"]
