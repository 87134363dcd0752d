"""insert into: rows become events of the target type and are routed."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from epl.event_types import EventOf, EventType
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import InsertPlan
from epl.value_types import ArrayType, CollectionType, Scalar, ValueType
from runtime.event_loop.store_deltas import INTO_WINDOW
from runtime.expressions import compile_expression
from runtime.expressions.structs import default_value, struct_converter, widening
from runtime.operators.operator_context import OperatorContext
from runtime.stores.table import table_store
from windows.event import NO_EVENTS, Event, Extra, as_variant, event_class, only_absent
from windows.protocol import RowReceiver

Convert = Callable[[Event], Event]


class Routing:
    """Puts events of the target type in the work queue, by their precedence where one is given."""

    def __init__(self, plan: InsertPlan, context: OperatorContext) -> None:
        self._target = plan.target
        self._core = context.core
        self._name = context.name
        self._first = INTO_WINDOW if plan.target in context.core.stores else 0
        self._precedence = None
        if plan.precedence is not None and context.core.settings.precedence:
            self._precedence = compile_expression(plan.precedence, context.environment, 1)

    def __call__(self, event: Event) -> None:
        precedence = self._first
        if self._precedence is not None:
            precedence += self._precedence(event) or 0
        self._core.route(event, self._target, precedence, self._name)


def insert_route(plan: InsertPlan, context: OperatorContext) -> Callable[[Event], None]:
    """Return where inserted events go: into the table at once, or to the statements that read their type."""
    return Routing(plan, context) if plan.table is None else table_store(plan.table, context.environment).insert


class Inserter:
    """insert into: turns rows into events of the target and routes them; the statement's listeners get the same events."""

    def __init__(self, plan: InsertPlan, rows: ResultSetPlan, context: OperatorContext, child: RowReceiver) -> None:
        self._plan = plan
        self._selector = rows.selector if rows.raw else None
        self._route = insert_route(plan, context)
        self._child = child
        self._convert = converter(plan)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        convert, stream, forced = self._convert, self._plan.stream, not (new or old)
        new = [convert(e) for e in new]
        old = [convert(e) for e in old]
        if stream != "rstream":
            for event in new:
                self._route(event)
        if stream != "istream":
            for event in old:
                self._route(event)
        if self._selector == "istream":
            old = NO_EVENTS
        elif self._selector == "rstream":
            new, old = old, NO_EVENTS
        if new or old or forced:
            self._child.update(new, old)

    def convert(self, event: Event) -> Event:
        return self._convert(event)


def converter(plan: InsertPlan) -> Convert:
    """Return row → event of the target."""
    if plan.target.kind == "variant":
        return lambda event: as_variant(event, plan.target)
    if plan.nested is not None:
        return (_position_converter if plan.by_place else _event_column_converter)(plan)
    return _identity if plan.same else _row_converter(plan)


def _identity(event: Event) -> Event:
    return event


def _event_column_converter(plan: InsertPlan) -> Convert:
    """Convert rows with a column that is an event or a mapping: its properties, and the other columns, fill the target's by name."""
    assert plan.nested is not None
    place, target = plan.nested, plan.target
    target_class, names = event_class(target), target.names
    keeps = plan.whole and target.open

    def convert(event: Event) -> Event:
        inner = event.values()[place]
        if isinstance(inner, Event):
            values = dict(zip(inner.type.names, inner.values()))
        else:
            values = dict(inner or {})
        result = target_class(*[values[n] if n in values else event.get(n) for n in names])
        if keeps and isinstance(inner, Event):
            result.extra = _whole_extra(inner, target, frozenset())
        return result

    return convert


def _position_converter(plan: InsertPlan) -> Convert:
    """Return a column of the row is an event whose first value becomes the target's first, and so on."""
    place, target_class, size = plan.nested, event_class(plan.target), len(plan.target.names)
    assert place is not None

    def convert(event: Event) -> Event:
        inner = event.values()[place]
        values = list(inner.values())[:size] if inner is not None else []
        return target_class(*values, *[None] * (size - len(values)))

    return convert


def _row_converter(plan: InsertPlan) -> Convert:
    """row → event of the target, widening numbers where the plan says so; what no column fills is null, or a primitive's default."""
    target, target_class = plan.target, event_class(plan.target)
    types = [p.type for p in target.properties.values()]
    unfilled = frozenset(n for n, p in zip(target.names, plan.positions) if p is None) if target.kind == "map" else frozenset()
    steps = [(p, _conversion(c), default_value(t)) for p, c, t in zip(plan.positions, plan.converts, types)]
    keeps, lacks = target.open and plan.whole, only_absent(unfilled) if target.open and unfilled else None

    def convert(event: Event) -> Event:
        values = event.values()
        filled = [d if p is None else (values[p] if f is None or values[p] is None else f(values[p])) for p, f, d in steps]
        result = target_class(*filled)
        if keeps:
            result.extra = _whole_extra(event, target, unfilled)
        elif lacks is not None:
            result.extra = lacks
        return result

    return convert


def _whole_extra(event: Event, target: EventType, unfilled: frozenset[str]) -> dict[str, Any] | None:
    """Return what an event of the target holds besides its declared values that holds all of another event."""
    extra, values = event.extra, event.values()
    absent = extra.absent if isinstance(extra, Extra) else frozenset()
    undeclared = {n: values[place] for n, place in _beyond(event.type, target) if n not in absent}
    if extra:
        undeclared.update((n, v) for n, v in extra.items() if n not in target.properties)
    absent = (absent | unfilled).intersection(target.names)
    if absent:
        return Extra(undeclared, absent) if undeclared else only_absent(absent)
    return undeclared or None


@lru_cache(maxsize=1024)
def _beyond(event_type: EventType, target: EventType) -> tuple[tuple[str, int], ...]:
    """Return names and places of the properties that the target does not declare."""
    return tuple((name, place) for place, name in enumerate(event_type.names) if name not in target.properties)


def _conversion(to: ValueType | None) -> Callable[[Any], Any] | None:
    if isinstance(to, EventOf):
        return struct_converter(to)
    if isinstance(to, ArrayType):
        return _only_element(to.element)
    if isinstance(to, CollectionType):
        return _each_element(to.element)
    if isinstance(to, Scalar) and to.kind == "char":
        return _first_character
    return None if to is None else widening(to)


def _first_character(text: str) -> str | None:
    return text[:1] or None


def _each_element(element: ValueType) -> Callable[[Any], Any]:
    """Return the rows of a sub-query as events of an array."""
    assert isinstance(element, EventOf)
    of_struct = struct_converter(element)
    return lambda rows: [of_struct(row) for row in rows]


def _only_element(element: ValueType) -> Callable[[Any], Any]:
    """Return an event, or a struct that becomes one, as the only element of an array."""
    assert isinstance(element, EventOf)
    of_struct = struct_converter(element)
    return lambda value: [of_struct(value) if value.type.kind == "struct" else value]


__all__ = ["Inserter", "converter", "insert_route"]
