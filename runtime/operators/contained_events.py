"""Contained-event selection at run time: a stage between the filter and the windows."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.contained import ContainedLevel, ContainedPlan
from epl.value_types import ArrayType, CollectionType
from runtime.conversion.from_python import to_event
from runtime.expressions import Environment, compile_expression, compile_predicate
from runtime.expressions.compiled import compile_row
from windows.event import NO_EVENTS, Event, event_class
from windows.protocol import RowReceiver

Path = tuple[Event, ...]
"""The outer event and one event of each level so far."""


class Containment:
    """``rows(event)``: the events that an event contains; None where nothing is passed on."""

    def __init__(self, plan: ContainedPlan, environment: Environment) -> None:
        self._plan = plan
        self._levels = [_Level(level, n, environment, plan.selects) for n, level in enumerate(plan.levels)]
        self._make = _maker(plan, environment)
        self._single = len(plan.levels) == 1 and not plan.selects

    def rows(self, event: Event) -> list[Event] | None:
        paths: list[Path] = [(event,)]
        for level in self._levels:
            paths = [path for before in paths for path in level.paths(before)]
        if not paths and not (self._single and self._levels[0].present(event)):
            return None
        make = self._make
        return [make(*path) for path in paths]


class ContainedStage:
    """Passes its child the contained events of each event, one delta an event; or of the rows of a named window, one delta for each of its
    deltas.

    ``quiet``: whether an event without contained ones that arrives, and a row without them that leaves, is no delta. Of several rows
    together none ever is.
    """

    def __init__(self, containment: Containment, child: RowReceiver, *, quiet: tuple[bool, bool]) -> None:
        self._rows = containment.rows
        self._child = child
        self._quiet_new, self._quiet_old = quiet

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for event in new:
            self._pass(self._rows(event), None)

    def update_together(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take a delta of a named window: one delta of the events that its rows contain."""
        self._pass(self._of_all(new), self._of_all(old))

    def _of_all(self, events: Sequence[Event]) -> list[Event] | None:
        if len(events) == 1:
            return self._rows(events[0])
        return [row for event in events for row in self._rows(event) or ()] or None

    def _pass(self, new: list[Event] | None, old: list[Event] | None) -> None:
        if new or old or not ((self._quiet_new or new is None) and (self._quiet_old or old is None)):
            self._child.update(new or NO_EVENTS, old or NO_EVENTS)


class _Level:
    def __init__(self, plan: ContainedLevel, number: int, environment: Environment, selects: bool) -> None:
        self._plan = plan
        self._evaluate = compile_expression(plan.expression, environment, number + 1)
        self._test = None if plan.where is None else compile_predicate(plan.where, environment, number + 2)
        self._several = isinstance(plan.expression.type, (ArrayType, CollectionType)) or plan.wraps
        self._strict = selects or plan.wraps
        self._wrap = _wrapper(plan.event_type) if plan.wraps else None

    def present(self, event: Event) -> bool:
        return self._evaluate(event) is not None

    def paths(self, before: Path) -> list[Path]:
        """Return the paths that go on from one: none where the collection is empty, or null."""
        value = self._evaluate(*before)
        if value is None:
            if self._strict and self._several:
                raise EplRuntimeError(
                    f"Unexpected error evaluating property expression for event of type '{before[-1].type.name}' and property "
                    f"'{self._plan.text}': the value is null"
                )
            return []
        items = value if self._several and isinstance(value, (list, tuple, set)) else (value,)
        if self._wrap is not None:
            wrap = self._wrap
            items = [wrap(item) for item in items]
        paths = [(*before, item) for item in items if item is not None]
        return paths if self._test is None else [path for path in paths if self._test(*path)]


def _wrapper(event_type: EventType) -> Callable[[Any], Event | None]:
    """value → event: events stay, mappings are read, any other value is the only property's."""
    wrapped_class, single = event_class(event_type), len(event_type.properties) == 1

    def wrap(value: Any) -> Event | None:
        if value is None or (isinstance(value, Event) and value.type.is_a(event_type)):
            return value
        if isinstance(value, Event):
            return to_event(event_type, dict(zip(value.type.names, value.values())))
        if single and not isinstance(value, dict):
            return wrapped_class(value)
        return to_event(event_type, value)

    return wrap


def _maker(plan: ContainedPlan, environment: Environment) -> Callable[..., Event]:
    """Return the event of a path."""
    if plan.forward is not None:
        forward = plan.forward
        return lambda *path: path[forward]
    row_class, row = event_class(plan.output_type), compile_row(plan.columns, environment, len(plan.levels) + 1)
    return lambda *path: row_class(*row(*path, True, None))


__all__ = ["ContainedStage", "Containment"]
