"""create schema → event type."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.names.remedies import class_as_event_type, property_type
from epl.analysis.names.type_names import find_event_type, resolve_type_name
from epl.analysis.statements.json_schemas import check_json_columns, class_properties, is_dynamic
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.java_classes import is_java_class
from epl.syntax import Column, CreateSchema, Statement, TypeName
from epl.value_types import (
    CALENDAR,
    DATE,
    LOCAL_DATE_TIME,
    LONG,
    NULL,
    OBJECT,
    PRIMITIVE_KINDS,
    ZONED_DATE_TIME,
    ArrayType,
    Scalar,
    ValueType,
)

KINDS = {"map": "map", "objectarray": "objectarray", "json": "json"}
SUPERTYPE_WORDS = {"map": ("a Map", "Map"), "objectarray": ("an Object-array type", "Object-array"), "json": ("a Json type", "Json")}
CLASS_HINT = "register a Python class with Runtime.register, or list the properties"
WIDENING = ("byte", "short", "int", "long", "float", "double")
"""The numeric kinds that have a common type, narrowest first."""
TIMESTAMP_TYPES = (LONG, LONG.boxed, DATE, CALENDAR, LOCAL_DATE_TIME, ZONED_DATE_TIME)


def analyse_schema(body: CreateSchema, statement: Statement, catalog: Catalog) -> EventType:
    """Return the event type that the statement declares."""
    if body.variant:
        return _variant(body, catalog)
    if body.types:
        return _of_class(body, catalog)
    kind = _kind(body, statement, catalog)
    supertypes = tuple(_existing(name, catalog, "supertype", body) for name in body.inherits)
    copied = _copy_properties(body, catalog)
    properties: dict[str, Property] = {}
    for name, prop in (*(each for source in supertypes for each in source.properties.items()), *copied.items()):
        properties.setdefault(name, prop)
    own = set(copied)
    for column in body.columns:
        name = column_name(column)
        if name in own:
            raise EplValidationError(f"Duplicate column name '{name}'", span=column.span)
        own.add(name)
        properties[name] = _column_property(column, catalog)
    if kind == "json":
        properties = dict(class_properties(body, statement, catalog, properties))
        check_json_columns(body, statement, properties)
    timestamps = [t.start_timestamp for t in supertypes if t.start_timestamp], [t.end_timestamp for t in supertypes if t.end_timestamp]
    event_type = EventType(
        body.name, kind, properties, supertypes,
        start_timestamp=body.start_timestamp or next(iter(timestamps[0]), None),
        end_timestamp=body.end_timestamp or next(iter(timestamps[1]), None),
        open=kind == "map" or (kind == "json" and (is_dynamic(statement) or any(t.open for t in supertypes))),
    )
    _check_supertypes(event_type, body)
    _check_timestamps(event_type, body)
    return event_type


def _copy_properties(body: CreateSchema, catalog: Catalog) -> dict[str, Property]:
    """Return the properties of the types to copy from, which must agree where they have one name."""
    copied: dict[str, Property] = {}
    for name in body.copy_from:
        for prop in _existing(name, catalog, "copy-from", body).properties.values():
            before = copied.setdefault(prop.name, prop)
            if before.type != prop.type:
                raise EplValidationError(
                    f"Type by name '{name}' contributes property '{prop.name}' defined as '{prop.type.boxed}' which overides the same "
                    f"property of type '{before.type.boxed}'", span=body.span)
    return copied


def _kind(body: CreateSchema, statement: Statement, catalog: Catalog) -> str:
    written = body.representation
    if written is None:
        annotation = statement.annotation("EventRepresentation")
        value = annotation.get() if annotation else None
        written = str(getattr(value, "name", value)).rsplit(".", 1)[-1] if value else catalog.settings.default_event_representation
    kind = KINDS.get(written.lower())
    if kind is None:
        raise EplUnsupportedError(
            f"Event representation '{written}' is not supported", span=body.span, hint="map, objectarray and json are"
        )
    return kind


def _existing(name: str, catalog: Catalog, role: str, body: CreateSchema) -> EventType:
    event_type = find_event_type(name, catalog.event_types)
    if event_type is None:
        words = f"Supertype by name '{name}' could not be found" if role == "supertype" else f"Type by name '{name}' could not be located"
        raise EplValidationError(words, span=body.span)
    return event_type


def _column_property(column: Column, catalog: Catalog) -> Property:
    written = column.type_name
    if written is None:
        raise EplValidationError(f"Column '{column.name}' has no type", span=column.span)
    name = column_name(column)
    return Property(name, column_type(name, written, catalog))


def column_name(column: Column) -> str:
    """Return the column's name without the quotes that keep a dotted name together, and without backslashes before its dots."""
    return column.name.strip("`").replace("\\.", ".")


def column_type(name: str, written: TypeName, catalog: Catalog) -> ValueType:
    """Return the type of a declared column; refuse unknown names in Esper's words."""
    if written.name.lower() == "null" and not written.dimensions:
        return NULL
    resolved = resolve_type_name(written, catalog.event_types, enums=catalog.enums)
    unknown = next((p for p in written.parameters if resolve_type_name(p, catalog.event_types, enums=catalog.enums) is None), None)
    if resolved is not None and unknown is not None:
        raise EplValidationError(f"Failed to resolve type parameter '{unknown.name}'", span=written.span)
    if written.primitive and isinstance(resolved, ArrayType) and isinstance(_innermost(resolved), EventOf):
        raise EplValidationError(f"Type '{written.name}' is not a primitive type", span=written.span)
    if resolved is None:
        raise EplValidationError(
            f"Nestable type configuration encountered an unexpected property type name '{written.name}' for property '{name}', "
            "expected java.lang.Class or java.util.Map or the name of a previously-declared event type",
            span=written.span, hint=property_type(written.name),
        )
    return resolved


def _innermost(value_type: ValueType) -> ValueType:
    while isinstance(value_type, ArrayType):
        value_type = value_type.element
    return value_type


def _variant(body: CreateSchema, catalog: Catalog) -> EventType:
    any_type = any(t.name == "*" for t in body.types)
    members = []
    for written in body.types:
        if written.name == "*":
            continue
        member = None if written.dimensions else find_event_type(written.name, catalog.event_types)
        if member is None:
            raise EplValidationError(
                f"Event type by name '{written.name}' could not be found for use in variant stream by name '{body.name}'", span=written.span
            )
        members.append(member)
    return variant_type(body.name, tuple(members), any_type)


def variant_type(name: str, members: tuple[EventType, ...], any_type: bool) -> EventType:
    """Return a variant stream's type: the properties that all members have, with a common type; none known for a variant of any type."""
    properties: dict[str, Property] = {}
    if members and not any_type:
        for prop in members[0].properties.values():
            types = [m.property_type(prop.name) for m in members]
            if all(t is not None for t in types):
                properties[prop.name] = attrs.evolve(prop, type=_common_type([t for t in types if t is not None]))
    return EventType(name, "variant", properties, members=members, any_type=any_type, is_bus=False)


def _common_type(types: Sequence[ValueType]) -> ValueType:
    from_first = types[0]
    if all(t == from_first for t in types):
        return from_first
    boxed = from_first.boxed
    if all(t.boxed == boxed for t in types):
        return boxed
    kinds = [t.kind for t in types if isinstance(t, Scalar) and t.kind in WIDENING]
    return Scalar(max(kinds, key=WIDENING.index)) if len(kinds) == len(types) else OBJECT


def _of_class(body: CreateSchema, catalog: Catalog) -> EventType:
    """``create schema X as com.acme.Order``: another name for a known class's properties.

    A class that is registered has no type parameters. Where no property is known all are Objects, and type parameters say nothing.
    """
    if len(body.types) > 1:
        raise EplValidationError("Multiple types provided", span=body.span)
    written = body.types[0]
    source = find_event_type(written.name, catalog.event_types)
    if written.dimensions:
        raise EplValidationError("Array dimensions are not allowed", span=written.span)
    for at, parameter in enumerate(written.parameters):
        if resolve_type_name(parameter, catalog.event_types) is None or parameter.name in PRIMITIVE_KINDS:
            raise EplValidationError(
                f"Failed to resolve type parameter {at} of type '{parameter.name}': Could not load class by name '{parameter.name}', "
                "please check imports",
                span=parameter.span or written.span, hint=class_as_event_type(parameter.name),
            )
    if (source is None or source.kind != "bean") and is_java_class(written.name):
        raise EplUnsupportedError(f"Java's class {written.name} is not supported as an event type", span=written.span, hint=CLASS_HINT)
    if source is None or source.kind != "bean":
        raise EplValidationError(
            f"Could not load class by name '{written.name}', please check imports", span=written.span,
            hint=class_as_event_type(written.name) or CLASS_HINT,
        )
    if written.parameters and not source.any_type:
        raise EplValidationError(
            f"Number of type parameters mismatch, the class '{written.name}' has 0 type parameters but specified are "
            f"{len(written.parameters)} type parameters",
            span=written.span, hint="the properties of registered classes have their types already",
        )
    properties = dict(source.properties)
    return EventType(
        body.name, source.kind, properties, (source, *source.supertypes) if source.kind == "bean" else source.supertypes,
        start_timestamp=body.start_timestamp or source.start_timestamp, end_timestamp=body.end_timestamp or source.end_timestamp,
        open=source.open, any_type=source.any_type, property_resolution=source.property_resolution,
    )


def _check_supertypes(event_type: EventType, body: CreateSchema) -> None:
    for supertype in event_type.supertypes:
        if supertype.kind != event_type.kind:
            actual, expected = SUPERTYPE_WORDS[event_type.kind]
            raise EplValidationError(
                f"Supertype by name '{supertype.name}' is not {actual}, expected a {expected} event type as a supertype", span=body.span
            )
    if event_type.kind in ("objectarray", "json") and len(event_type.supertypes) > 1:
        raise EplValidationError("Object-array event types only allow a single supertype", span=body.span)


def _check_timestamps(event_type: EventType, body: CreateSchema) -> None:
    if event_type.end_timestamp and not event_type.start_timestamp:
        raise EplValidationError(
            "Declared end timestamp property requires that a start timestamp property is also declared", span=body.span
        )
    for role, name in (("start", event_type.start_timestamp), ("end", event_type.end_timestamp)):
        if name is None:
            continue
        property_type = event_type.property_type(name)
        if property_type is None:
            raise EplValidationError(f"Declared {role} timestamp property name '{name}' was not found", span=body.span)
        if property_type not in TIMESTAMP_TYPES:
            raise EplValidationError(
                f"Declared {role} timestamp property '{name}' is expected to return a Date, Calendar or long-typed value "
                f"but returns '{property_type}'",
                span=body.span,
            )
    start, end = event_type.start_timestamp, event_type.end_timestamp
    if start is not None and end is not None and event_type.property_type(start) != event_type.property_type(end):
        raise EplValidationError(
            f"Declared end timestamp property '{end}' is expected to have the same property type as the start-timestamp property '{start}'",
            span=body.span,
        )
