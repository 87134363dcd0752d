"""Snapshot and restore: module texts, parameters, names of functions, types, variables, clock and state; no code, no plan, never pickle.

A snapshot is a sequence of (page key, bytes) pages: ``head``, one page a statement, ``events`` (each event once, however many operators
hold it). ``Runtime.restore`` deploys the texts again, then gives each statement its state. The version stands in front; unknown ones refuse
by name.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import msgpack

from epl.catalog import Settings, Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType, Property
from epl.value_types import ArrayType, ClassType, CollectionType, EnumType, EventOf, MapType, Scalar, ValueType
from runtime.build import plans_of
from runtime.codec import Decoder, Encoder
from runtime.core import ErrorHandler
from runtime.variables import VariableCell
from windows.event import Event, event_class

if TYPE_CHECKING:
    from runtime.engine import Runtime
    from runtime.statement import Statement

MAGIC = b"EPLSPARK"
VERSION = 1


def snapshot(runtime: Runtime) -> bytes:
    """All pages in one blob."""
    packed: bytes = msgpack.packb(list(pages(runtime)), use_bin_type=True)
    return MAGIC + bytes([VERSION]) + packed


def pages(runtime: Runtime) -> Iterator[tuple[str, bytes]]:
    """(page key, bytes), the events last: their page is written when all that hold them have been."""
    encoder = Encoder()
    table = TypeTable()
    table.add_registered(runtime._types)
    yield "head", encoder.encode(_head(runtime, table))
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            assert statement.running is not None
            table.add_statement(statement, deployment.id, number)
            yield f"state/{deployment.id}/{number}", encoder.encode(statement.running.state())
    yield "variables", encoder.encode({name: cell.value for name, cell in runtime._variables.items()})
    yield "events", _events_page(encoder, table)


def _head(runtime: Runtime, table: TypeTable) -> dict[str, Any]:
    return {
        "clock": runtime.now,
        "settings": attrs.asdict(runtime.settings),
        "types": describe_types(list(runtime._types.values())),
        "functions": sorted(runtime._user_functions),
        "aggregations": sorted(runtime._functions.aggregations),
        "values": {name: cell.value for name, cell in runtime._variables.items() if isinstance(cell.value, PLAIN)},
        "variables": [
            [c.variable.name, describe(c.variable.type, {}), c.variable.constant, None if isinstance(c.value, Event) else c.value]
            for c in runtime._variables.values() if c.deployment is None
        ],
        "deployments": [[d.id, d.plan.text, list(d.parameters.items())] for d in runtime.deployments.values()],
        "counts": [runtime._deployment_count, runtime._statement_count],
        "enums": [[name, list(constants)] for name, constants in runtime._enums.items()],
        "fingerprints": {f"{d.id}/{n}": s.plan.fingerprint for d in runtime.deployments.values() for n, s in enumerate(d)},
    }


def _events_page(encoder: Encoder, table: TypeTable) -> bytes:
    """[type reference, values, undeclared values, origin] by number; encoding an event may number further ones (nested), so the list grows
    while it is read.
    """
    rows: list[bytes] = []
    number = 0
    while number < len(encoder.events):
        event = encoder.events[number]
        rows.append(encoder.encode([table.reference(event.type), list(event.values()), event.extra, event.origin]))
        number += 1
    packed: bytes = msgpack.packb(rows, use_bin_type=True)
    return packed


# ------------------------------------------------------------------ restore


def restore(
    cls: type[Runtime], blob: bytes, functions: dict[str, Callable[..., Any]], classes: Mapping[str, Any], on_error: ErrorHandler,
    aggregations: Mapping[str, Callable[[], Any]],
) -> Runtime:
    """A runtime that goes on exactly where ``snapshot`` saw the other one."""
    if not blob.startswith(MAGIC) or len(blob) == len(MAGIC):
        raise EplRuntimeError("this is no epl-spark snapshot")
    version = blob[len(MAGIC)]
    if version != VERSION:
        raise EplRuntimeError(f"snapshot version {version} is not known here; this is version {VERSION}")
    try:
        found: dict[str, bytes] = dict(msgpack.unpackb(blob[len(MAGIC) + 1 :], raw=False))
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise EplRuntimeError("the snapshot is damaged or cut off") from error
    head = Decoder(_no_event).decode(found["head"])
    missing = sorted(set(head["functions"]) - functions.keys())
    if missing:
        raise EplDeploymentError(
            f"the snapshot uses functions that are not given: {', '.join(missing)}", hint="Runtime.restore(blob, functions={…})"
        )
    lacking = sorted(set(head.get("aggregations", ())) - {name.lower() for name in aggregations})
    if lacking:
        raise EplDeploymentError(
            f"the snapshot uses aggregations that are not given: {', '.join(lacking)}", hint="Runtime.restore(blob, aggregations={…})"
        )
    runtime = cls(start_time=head["clock"], settings=Settings(**_settings(head["settings"])), on_error=on_error)
    for name, function in functions.items():
        runtime.register_function(name, function)
    for name, factory in aggregations.items():
        runtime.register_aggregation(name, factory)
    for name, constants in head["enums"]:
        runtime.register_enum(name, constants)
    for event_type in read_types(head["types"]):
        runtime.register_type(event_type)
    for name, described, constant, value in head["variables"]:
        runtime._variables[name] = VariableCell(Variable(name, undescribe(described, runtime._types), constant, value), value)
    _redeploy(runtime, head)
    _restore_state(runtime, found)
    return runtime


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _redeploy(runtime: Runtime, head: dict[str, Any]) -> None:
    """Deploy the modules again; later ones see variables as they stand, since sizes of windows may be variables."""
    for deployment_id, text, parameters in head["deployments"]:
        deployment = runtime.deploy(text, name=deployment_id, parameters=dict(parameters))
        for number, statement in enumerate(deployment):
            if head["fingerprints"][f"{deployment_id}/{number}"] != statement.plan.fingerprint:
                raise EplRuntimeError(f"statement '{statement.name}' of deployment '{deployment_id}' is not the one in the snapshot")
        for name, value in head["values"].items():
            if name in runtime._variables:
                runtime._variables[name].value = value
    runtime._deployment_count, runtime._statement_count = head["counts"]


def _restore_state(runtime: Runtime, found: dict[str, bytes]) -> None:
    table = TypeTable()
    table.add_registered(runtime._types)
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            table.add_statement(statement, deployment.id, number)
    decoder = Decoder(_EventReader(msgpack.unpackb(found["events"], raw=False), table).event)
    for name, value in decoder.decode(found["variables"]).items():
        runtime._variables[name].value = value
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            assert statement.running is not None
            statement.running.restore(decoder.decode(found[f"state/{deployment.id}/{number}"]))


PLAIN = (bool, int, float, str)
"""Values of variables that statements may need while they are deployed."""


def _no_event(number: int) -> Event:
    raise EplRuntimeError(f"the head of the snapshot refers to event {number}")


class _EventReader:
    """Events by number, each made once, nested ones first."""

    def __init__(self, rows: list[bytes], table: TypeTable) -> None:
        self._rows = rows
        self._table = table
        self._made: dict[int, Event] = {}
        self._decoder = Decoder(self.event)

    def event(self, number: int) -> Event:
        made = self._made.get(number)
        if made is None:
            reference, values, extra, origin = self._decoder.decode(self._rows[number])
            made = event_class(self._table.event_type(reference))(*values)
            if extra is not None:
                made.extra = extra
            if origin is not None:
                made.origin = origin
            self._made[number] = made
        return made


# ------------------------------------------------------------------ types


class TypeTable:
    """Event types ↔ references that are the same in every runtime that runs the same texts: registered name, or place in a statement's
    plan.
    """

    def __init__(self) -> None:
        self._references: dict[int, str] = {}
        self._types: dict[str, EventType] = {}

    def add_registered(self, types: Mapping[str, EventType]) -> None:
        for name, event_type in types.items():
            self._add(event_type, f"registered/{name}")

    def add_statement(self, statement: Statement, deployment_id: str, number: int) -> None:
        count = 0
        for value in plans_of(statement.plan.body):
            for event_type in _types_in(value):
                self._add(event_type, f"{deployment_id}/{number}/{count}")
                count += 1

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


def _types_in(value: Any) -> Iterator[EventType]:
    if isinstance(value, EventType):
        yield value
    elif hasattr(value, "walk"):
        for node in value.walk():
            yield from _types_of_value_type(node.type)
            event_type = getattr(node, "event_type", None)
            if isinstance(event_type, EventType):
                yield event_type


def _inner_types(event_type: EventType) -> Iterator[EventType]:
    for prop in event_type.properties.values():
        yield from _types_of_value_type(prop.type)
    yield from event_type.members
    yield from event_type.supertypes


def _types_of_value_type(value_type: ValueType) -> Iterator[EventType]:
    if isinstance(value_type, EventOf):
        yield value_type.event_type
    elif isinstance(value_type, (ArrayType, CollectionType)):
        yield from _types_of_value_type(value_type.element)
    elif isinstance(value_type, MapType):
        yield from _types_of_value_type(value_type.value)


def describe_types(roots: list[EventType]) -> list[dict[str, Any]]:
    """Event types with all they refer to, as plain data; types refer to each other by their place in the list."""
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
    """The registered ones of the types that ``describe_types`` wrote."""
    made = [
        EventType(
            r["name"], r["kind"], {}, start_timestamp=r["start_timestamp"], end_timestamp=r["end_timestamp"], open=r["open"],
            any_type=r["any_type"], is_bus=r["is_bus"], module=r["module"], property_resolution=r["property_resolution"],
        )
        for r in rows
    ]
    for event_type, row in zip(made, rows):
        event_type.supertypes = tuple(made[i] for i in row["supertypes"])
        event_type.members = tuple(made[i] for i in row["members"])
        event_type.properties = {n: Property(n, undescribe(t, made), i, m) for n, t, i, m in row["properties"]}
    return [t for t, row in zip(made, rows) if row["registered"]]


def describe(value_type: ValueType, places: Mapping[int, int]) -> list[Any]:
    """A value type as plain data."""
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
    """``describe`` undone; ``types`` gives event types by place or name."""
    kind = row[0]
    if kind == "scalar":
        return Scalar(row[1], row[2])
    if kind == "array":
        return ArrayType(undescribe(row[1], types))
    if kind == "collection":
        return CollectionType(undescribe(row[1], types), row[2])
    if kind == "map":
        return MapType(undescribe(row[1], types), undescribe(row[2], types), row[3])
    if kind == "event":
        return EventOf(types[row[1]])
    if kind == "enum":
        return EnumType(row[1], tuple(row[2]))
    if kind == "class":
        return ClassType(row[1])
    raise EplRuntimeError(f"the snapshot describes a value type of unknown kind '{kind}'")
