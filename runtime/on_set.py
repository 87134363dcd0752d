"""on T set …: an event assigns variables."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.plan.assignments import OnSetPlan, VariableAssignment
from runtime.context import StatementContext
from runtime.evaluate import compile_expression
from runtime.evaluate.compiled import compile_row
from runtime.filters import Entry
from runtime.stream_entry import entry_of
from runtime.variables import VariableCell
from windows.event import NO_EVENTS, Event, event_class
from windows.protocol import State

Step = Callable[[Event], None]


class RunningOnSet:
    """All assignments of one event or none: where one fails, the variables are what they were."""

    def __init__(self, plan: OnSetPlan, context: StatementContext) -> None:
        self._plan = plan
        self._context = context
        environment = context.environment
        self._cells = {a.variable.name: _cell(context, a) for a in plan.assignments if a.variable is not None}
        self._steps = [_step(a, context) for a in plan.assignments]
        assert plan.output_type is not None
        self._made = event_class(plan.output_type)
        self._row = compile_row(plan.outputs, environment, 0)
        self._entry: Entry = entry_of(plan.stream, context, self)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Each event in turn assigns; listeners get one row an event."""
        for event in new:
            self._assign(event)
            self._context.output.update((self._now(),), NO_EVENTS)

    def _assign(self, event: Event) -> None:
        before = [(cell, cell.value) for cell in self._cells.values()]
        try:
            for step in self._steps:
                step(event)
        except BaseException:
            for cell, value in before:
                cell.value = value
            raise
        for cell, value in before:
            cell.changed(value)

    def _now(self) -> Event:
        return self._made(*self._row(True, None))

    def start(self) -> None:
        self._context.core.filters.add(self._plan.stream.filter.event_type, self._entry)

    def close(self) -> None:
        self._context.core.filters.remove(self._plan.stream.filter.event_type, self._entry)
        self._context.close()

    def iterate(self) -> Iterable[Event]:
        """The variables' current values."""
        return (self._now(),)

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        """Variables are kept with the runtime."""


def _cell(context: StatementContext, assignment: VariableAssignment) -> VariableCell:
    assert assignment.variable is not None
    found = context.environment.variables[assignment.variable.name]
    assert isinstance(found, VariableCell)
    return found


def _step(plan: VariableAssignment, context: StatementContext) -> Step:
    evaluate = compile_expression(plan.value, context.environment, 1)
    if plan.kind == "call":
        return lambda event: evaluate(event)  # type: ignore[no-any-return]
    cell = _cell(context, plan)
    if plan.kind == "property":
        assert plan.property is not None
        return _property_step(cell, plan.property, evaluate)
    if plan.kind == "element":
        assert plan.index is not None
        return _element_step(cell, compile_expression(plan.index, context.environment, 1), evaluate)

    def assign(event: Event) -> None:
        cell.value = evaluate(event)

    return assign


def _property_step(cell: VariableCell, name: str, evaluate: Callable[..., Any]) -> Step:
    def assign(event: Event) -> None:
        value = evaluate(event)
        if cell.value is not None:
            cell.value = cell.value.replaced({name: value})

    return assign


def _element_step(cell: VariableCell, index: Callable[..., Any], evaluate: Callable[..., Any]) -> Step:
    def assign(event: Event) -> None:
        at, value = index(event), evaluate(event)
        if cell.value is None or at is None:
            return
        if not 0 <= at < len(cell.value):
            raise EplRuntimeError(
                f"Failed variable write: Array length {len(cell.value)} less than index {at} for variable '{cell.variable.name}'"
            )
        changed = list(cell.value)
        changed[at] = value
        cell.value = changed

    return assign


__all__ = ["RunningOnSet"]
