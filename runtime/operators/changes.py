"""Changes of an event's properties: update istream, on … update."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.assignments import PropertyAssignment
from epl.plan.expressions import TypedExpression
from epl.value_types import Scalar
from windows.event import Event

Change = Callable[..., None]
"""change(changes so far, event, what else its expressions read …): adds its own, a value by property."""
Compile = Callable[[TypedExpression], Callable[..., Any]]


def property_change(plan: PropertyAssignment, event_type: EventType, compiled: Compile) -> Change:
    """Return what makes the assignment."""
    evaluate = compiled(plan.value)
    if plan.kind == "call":
        return lambda changes, *events: evaluate(*events)
    if plan.kind == "value" and _is_primitive(event_type, plan.property):
        return _primitive_change(plan.property, evaluate)
    if plan.kind == "value":
        return lambda changes, *events: changes.__setitem__(plan.property, evaluate(*events))
    assert plan.index is not None
    index = compiled(plan.index)
    return (_element_change if plan.kind == "element" else _key_change)(plan.property, index, evaluate)


def _is_primitive(event_type: EventType, name: str) -> bool:
    value_type = event_type.properties[name].type if name in event_type.properties else None
    return isinstance(value_type, Scalar) and value_type.primitive


def _primitive_change(name: str, evaluate: Callable[..., Any]) -> Change:
    """A null leaves the property as it is."""

    def change(changes: dict[str, Any], *events: Event) -> None:
        value = evaluate(*events)
        if value is not None:
            changes[name] = value

    return change


def _element_change(name: str, index: Callable[..., Any], evaluate: Callable[..., Any]) -> Change:
    field = field_name(name)

    def change(changes: dict[str, Any], *events: Event) -> None:
        array, at = changes.get(name, getattr(events[0], field)), index(*events)
        if array is None or at is None:
            return
        if not 0 <= at < len(array):
            raise EplRuntimeError(f"Array length {len(array)} less than index {at} for property '{name}'")
        changed = list(array)
        changed[at] = evaluate(*events)
        changes[name] = changed

    return change


def _key_change(name: str, key: Callable[..., Any], evaluate: Callable[..., Any]) -> Change:
    field = field_name(name)

    def change(changes: dict[str, Any], *events: Event) -> None:
        mapping = changes.get(name, getattr(events[0], field))
        if mapping is not None:
            changes[name] = {**mapping, key(*events): evaluate(*events)}

    return change


__all__ = ["property_change"]
