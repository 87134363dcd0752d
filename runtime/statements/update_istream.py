"""update istream T set … where …: one statement's part in the chain of updates (runtime.event_loop.stream_updates)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name
from epl.plan.assignments import PropertyAssignment
from epl.plan.on_statements import UpdateIstreamPlan
from epl.plan.streams import filter_of
from epl.value_types import Scalar
from runtime.expressions import compile_expression, compile_predicate
from runtime.operators.operator_context import OperatorContext
from runtime.statements.on_event import Stateless
from windows.event import Event

Change = Callable[[Event, dict[str, Any]], None]
"""change(event as it was, changes so far): adds its own."""


class RunningUpdate(Stateless):
    """A changed copy takes the event's place; listeners get it with the event as it was."""

    def __init__(self, plan: UpdateIstreamPlan, context: OperatorContext) -> None:
        super().__init__(context)
        self._type = filter_of(plan.stream).event_type
        self._where = None if plan.where is None else compile_predicate(plan.where, context.environment, 1)
        self._changes = [_change(a, self._type, context) for a in plan.assignments]
        self._drops = context.plan.drop
        self._order = (context.plan.priority, context.order(0)[1])

    def apply(self, event: Event) -> Event | None:
        if self._where is not None and not self._where(event):
            return event
        if self._drops:
            return None
        changes: dict[str, Any] = {}
        for change in self._changes:
            change(event, changes)
        changed = event.replaced(changes)
        self._context.output.update((changed,), (event,))
        return changed

    def start(self) -> None:
        self._context.core.updates.add(self._order, self._type, self.apply)

    def close(self) -> None:
        self._context.core.updates.remove(self._order)
        super().close()


def _change(plan: PropertyAssignment, event_type: EventType, context: OperatorContext) -> Change:
    evaluate = compile_expression(plan.value, context.environment, 1)
    if plan.kind == "call":
        return lambda event, changes: evaluate(event)
    if plan.kind == "value" and _is_primitive(event_type, plan.property):
        return _primitive_change(plan.property, evaluate)
    if plan.kind == "value":
        return lambda event, changes: changes.__setitem__(plan.property, evaluate(event))
    assert plan.index is not None
    index = compile_expression(plan.index, context.environment, 1)
    return (_element_change if plan.kind == "element" else _key_change)(plan.property, index, evaluate)


def _is_primitive(event_type: EventType, name: str) -> bool:
    value_type = event_type.properties[name].type if name in event_type.properties else None
    return isinstance(value_type, Scalar) and value_type.primitive


def _primitive_change(name: str, evaluate: Callable[..., Any]) -> Change:
    """A null leaves the property as it is."""

    def change(event: Event, changes: dict[str, Any]) -> None:
        value = evaluate(event)
        if value is not None:
            changes[name] = value

    return change


def _element_change(name: str, index: Callable[..., Any], evaluate: Callable[..., Any]) -> Change:
    field = field_name(name)

    def change(event: Event, changes: dict[str, Any]) -> None:
        array, at = changes.get(name, getattr(event, field)), index(event)
        if array is None or at is None:
            return
        if not 0 <= at < len(array):
            raise EplRuntimeError(f"Array length {len(array)} less than index {at} for property '{name}'")
        changed = list(array)
        changed[at] = evaluate(event)
        changes[name] = changed

    return change


def _key_change(name: str, key: Callable[..., Any], evaluate: Callable[..., Any]) -> Change:
    field = field_name(name)

    def change(event: Event, changes: dict[str, Any]) -> None:
        mapping = changes.get(name, getattr(event, field))
        if mapping is not None:
            changes[name] = {**mapping, key(event): evaluate(event)}

    return change


__all__ = ["RunningUpdate"]
