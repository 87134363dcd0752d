"""Every part of a plan."""
from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from epl.event_types import EventOf, EventType
from epl.plan.expressions import TypedExpression
from epl.value_types import ArrayType, CollectionType, MapType, ValueType

REFERENCE = {"reference": True}
"""Metadata of a field of a plan that says what it belongs to, or what else it is, which is not a part of it."""


PLAIN = frozenset((bool, bytes, float, int, str, type(None)))
"""Classes of values that are no parts of a plan: two thirds of what its fields hold."""


def walk_plan(value: Any) -> Iterator[Any]:
    """Yield every part of a plan, at any depth, down to event types and typed expressions (which are not entered). Plain values of fields
    are no parts."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend([item for item in reversed(part) if item.__class__ not in PLAIN])
            continue
        yield part
        names = _fields_from_the_last(part.__class__)
        if names:
            pending.extend([item for name in names if (item := getattr(part, name)).__class__ not in PLAIN])


@lru_cache(maxsize=1024)
def _fields_from_the_last(kind: type) -> tuple[str, ...]:
    """Return the names of the fields that hold parts, the last first; none if instances of the class are not entered."""
    if issubclass(kind, (TypedExpression, EventType)):
        return ()
    return tuple(field.name for field in reversed(getattr(kind, "__attrs_attrs__", ())) if "reference" not in field.metadata)


def plan_expressions(*plans: Any) -> Iterator[TypedExpression]:
    """Return every typed expression anywhere in the plans."""
    return (value for value in walk_plan(plans) if isinstance(value, TypedExpression))


def part_types(value: Any) -> Iterator[EventType]:
    """Yield the event types that a part of a plan names itself (see ``walk_plan``)."""
    if isinstance(value, EventType):
        yield value
    elif hasattr(value, "walk"):
        for node in value.walk():
            yield from inner_types(node.type)
            event_type = getattr(node, "event_type", None)
            if isinstance(event_type, EventType):
                yield event_type


def inner_types(value_type: ValueType) -> Iterator[EventType]:
    """Yield the event types that values of a type consist of."""
    if isinstance(value_type, EventOf):
        yield value_type.event_type
    elif isinstance(value_type, (ArrayType, CollectionType)):
        yield from inner_types(value_type.element)
    elif isinstance(value_type, MapType):
        yield from inner_types(value_type.value)
