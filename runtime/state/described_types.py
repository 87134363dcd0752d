"""Event types and value types as plain data, and references to event types that outlive a process."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventOf, EventType, Property
from epl.plan.walk import inner_types, part_types, walk_plan
from epl.reprs import brief
from epl.value_types import PRIMITIVE_KINDS, SCALAR_KINDS, ArrayType, ClassType, CollectionType, EnumType, MapType, Scalar, ValueType
from runtime.statements.statement_output import StatementOutput
from windows.protocol import Damaged


class Same:
    """A key that is equal where it is the very same object, which it keeps alive."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


class TypeTable:
    """Event types ↔ references that are the same in every runtime that runs the same texts: registered name, or place in a statement's
    plan.
    """

    def __init__(self) -> None:
        self._references: dict[int, str] = {}
        self._types: dict[str, EventType] = {}
        self.before: dict[str, tuple[int, tuple[int | None, ...]]] = {}
        """By reference, where a type has other properties than it had: how many it had, and for each that it has its place among those,
        None where it is new or of another type."""

    def add_registered(self, types: Mapping[str, EventType]) -> None:
        for name, event_type in types.items():
            self._add(event_type, f"registered/{name}")

    def add_statement(self, statement: StatementOutput, deployment_id: str, number: int) -> None:
        for place, event_type in enumerate(self.plan_types(statement)):
            self._add(event_type, f"{deployment_id}/{number}/{place}")

    def add_renewed(self, old: EventType, new: EventType | None, reference: str) -> None:
        """Add a reference of another runtime's pages, to its type ``old``: to the type that replaces it here, if there is one, and to those
        within, property by property."""
        if new is not None:
            self._renew(old, new, reference, ())

    def _renew(self, old: EventType, new: EventType, reference: str, around: tuple[EventType, ...]) -> None:
        self._types[reference] = new
        places = _old_places(old, new)
        if places != tuple(range(len(old.properties))):
            self.before[reference] = len(old.properties), places
        if old in around:
            return
        for i, (key, inner) in enumerate(_inner_types_with_keys(old)):
            renewed = next((each for other, each in _inner_types_with_keys(new) if other == key), None)
            if renewed is not None:
                self._renew(inner, renewed, f"{reference}/{i}", (*around, old))

    @staticmethod
    def plan_types(statement: StatementOutput) -> tuple[EventType, ...]:
        """Return all types in a statement's plan, in its order."""
        return _types_in_plan(Same(statement.plan.body))

    def _add(self, event_type: EventType, reference: str) -> None:
        self._types[reference] = event_type
        if id(event_type) not in self._references:
            self._references[id(event_type)] = reference
            for i, inner in enumerate(_inner_types(event_type)):
                self._add(inner, f"{reference}/{i}")

    def reference(self, event_type: EventType) -> str:
        try:
            return self._references[id(event_type)]
        except KeyError:
            raise EplRuntimeError(f"an event of type '{event_type.name}' is held that no statement names") from None

    def event_type(self, reference: str) -> EventType:
        try:
            return self._types[reference]
        except KeyError:
            raise EplRuntimeError(f"the snapshot names an event type that is not there: {reference}") from None


@lru_cache(maxsize=2048)
def _types_in_plan(plan: Same) -> tuple[EventType, ...]:
    """Return all types anywhere in a plan, in its order."""
    return tuple(event_type for value in walk_plan(plan.held) for event_type in part_types(value))


def _inner_types(event_type: EventType) -> Iterator[EventType]:
    return (inner for _, inner in _inner_types_with_keys(event_type))


def _inner_types_with_keys(event_type: EventType) -> Iterator[tuple[tuple[str, int], EventType]]:
    """Yield the types within a type, in order, with what is the same where other properties have come or gone."""
    for prop in event_type.properties.values():
        for place, inner in enumerate(inner_types(prop.type)):
            yield (f"property {prop.name}", place), inner
    for what, types in (("member", event_type.members), ("super-type", event_type.supertypes)):
        for place, inner in enumerate(types):
            yield (what, place), inner


def _old_places(old: EventType, new: EventType) -> tuple[int | None, ...]:
    """Return for each property its place in the old type; None where it had none of this name and type."""
    places = {(prop.name, str(prop.whole_type)): place for place, prop in enumerate(old.properties.values())}
    return tuple(places.get((prop.name, str(prop.whole_type))) for prop in new.properties.values())


def describe_types(roots: list[EventType]) -> list[dict[str, Any]]:
    """Return event types with all they refer to, as plain data; types refer to each other by their place in the list."""
    order: list[EventType] = []
    places: dict[int, int] = {}

    def visit(event_type: EventType) -> None:
        if id(event_type) in places:
            return
        places[id(event_type)] = len(order)
        order.append(event_type)
        for inner in _inner_types(event_type):
            visit(inner)

    for root in roots:
        visit(root)
    registered = {id(r) for r in roots}
    return [
        {
            "name": t.name, "kind": t.kind, "registered": id(t) in registered, "open": t.open, "any_type": t.any_type, "is_bus": t.is_bus,
            "module": t.module, "property_resolution": t.property_resolution,
            "start_timestamp": t.start_timestamp, "end_timestamp": t.end_timestamp,
            "supertypes": [places[id(s)] for s in t.supertypes], "members": [places[id(m)] for m in t.members],
            "properties": [[p.name, describe(p.type, places), p.indexed, p.mapped] for p in t.properties.values()],
        }
        for t in order
    ]


def read_types(rows: list[dict[str, Any]]) -> list[EventType]:
    """Return the registered ones of the types that ``describe_types`` wrote."""
    event_types = [_without_properties(r) for r in rows]
    for event_type, row in zip(event_types, rows):
        event_type.complete(
            supertypes=tuple(event_types[i] for i in row["supertypes"]),
            members=tuple(event_types[i] for i in row["members"]),
            properties={n: Property(_text(n), undescribe(t, event_types), _flag(i), _flag(m)) for n, t, i, m in row["properties"]},
        )
    return [t for t, row in zip(event_types, rows) if row["registered"]]


def _without_properties(row: dict[str, Any]) -> EventType:
    return EventType(
        _text(row["name"]), _find_word(EVENT_KINDS, row["kind"]), {}, (), _text_or_none(row["start_timestamp"]),
        _text_or_none(row["end_timestamp"]), open=_flag(row["open"]), any_type=_flag(row["any_type"]),
        is_bus=_flag(row["is_bus"]), module=_text_or_none(row["module"]),
        property_resolution=_find_word(PROPERTY_RESOLUTIONS, row["property_resolution"]),
    )


# ------------------------------------------------------------------ descriptions are not trusted: a snapshot's may say anything


EVENT_KINDS = ("map", "objectarray", "json", "bean", "variant", "row", "table", "struct", "avro", "xml")
PROPERTY_RESOLUTIONS = ("case_sensitive", "case_insensitive", "distinct_case_insensitive")


def _scalar(kind: Any, primitive: Any) -> Scalar:
    return Scalar(_find_word(PRIMITIVE_KINDS if _flag(primitive) else SCALAR_KINDS, kind), primitive)


def _find_word(known: Collection[str], value: Any) -> str:
    if value not in known:
        raise Damaged(f"{brief(value)} where one of {', '.join(sorted(known))} is expected")
    return str(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Damaged(f"a value of type {type(value).__name__} where a name is expected")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Damaged(f"a value of type {type(value).__name__} where true or false is expected")
    return value


def describe(value_type: ValueType, places: Mapping[int, int]) -> list[Any]:
    """Return a value type as plain data."""
    if isinstance(value_type, Scalar):
        return ["scalar", value_type.kind, value_type.primitive]
    if isinstance(value_type, ArrayType):
        return ["array", describe(value_type.element, places)]
    if isinstance(value_type, CollectionType):
        return ["collection", describe(value_type.element, places), value_type.kind]
    if isinstance(value_type, MapType):
        return ["map", describe(value_type.key, places), describe(value_type.value, places), value_type.nested]
    if isinstance(value_type, EventOf):
        return ["event", places.get(id(value_type.event_type), value_type.event_type.name)]
    if isinstance(value_type, EnumType):
        return ["enum", value_type.name, list(value_type.constants)]
    if isinstance(value_type, ClassType):
        return ["class", value_type.name]
    raise EplRuntimeError(f"a value type of class {type(value_type).__name__} cannot be kept in a snapshot")


def undescribe(row: list[Any], types: Any) -> ValueType:
    """Return ``describe`` undone; ``types`` gives event types by place or name."""
    kind = row[0]
    if kind == "scalar":
        return _scalar(row[1], row[2])
    if kind == "array":
        return ArrayType(undescribe(row[1], types))
    if kind == "collection":
        return CollectionType(undescribe(row[1], types), _text(row[2]))
    if kind == "map":
        return MapType(undescribe(row[1], types), undescribe(row[2], types), row[3])
    if kind == "event":
        return EventOf(types[row[1]])
    if kind == "enum":
        return EnumType(_text(row[1]), tuple(map(_text, row[2])))
    if kind == "class":
        return ClassType(_text(row[1]))
    raise EplRuntimeError(f"the snapshot describes a value type of unknown kind '{kind}'")
