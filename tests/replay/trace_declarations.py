"""The types that a trace preconfigures as ``create schema`` text, for engines that are given text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from epl.event_types import EventOf, EventType
from epl.value_types import ArrayType, ClassType, EnumType, Scalar, ValueType

HEADER = re.compile(r"\s*(module|uses|import)\s[^;]*;")


def one_module(declared: Iterable[str], texts: Iterable[str]) -> str:
    """Return declarations and modules as one module, with the module headers at the beginning of all.

    >>> one_module(["create schema A()"], ["module m; uses n; select * from A", "uses n; select 1 from A"])
    'module m; uses n; create schema A();\\n select * from A;\\n select 1 from A'
    """
    headers: dict[str, None] = {}
    bodies = []
    for text in texts:
        while (match := HEADER.match(text)) is not None:
            headers[match[0].strip()] = None
            text = text[match.end() :]
        bodies.append(text)
    return "".join(f"{header} " for header in headers) + ";\n".join([*declared, *bodies])


def declarations(types: Iterable[EventType]) -> list[str]:
    """Return a statement a type, those that others need first. Enums and values of other classes become text,
    as columns have them. Whether all of the types can be declared
    shows when the text is deployed."""
    schemas: dict[str, str] = {}
    for event_type in types:
        _declare(event_type, schemas)
    return list(schemas.values())


def _declare(event_type: EventType, schemas: dict[str, str]) -> None:
    if event_type.name in schemas:
        return
    schemas[event_type.name] = ""  # its place, for types that hold themselves
    inherited: set[str] = set()
    for supertype in event_type.supertypes:
        _declare(supertype, schemas)
        inherited |= set(supertype.properties)
    for prop in event_type.properties.values():
        inner = _innermost(prop.type)
        if isinstance(inner, EventOf):
            _declare(inner.event_type, schemas)
    columns = ", ".join(f"`{p.name}` {_written(p.whole_type)}" for p in event_type.properties.values() if p.name not in inherited)
    inherits = f" inherits {', '.join(t.name for t in event_type.supertypes)}" if event_type.supertypes else ""
    marks = "".join(
        f" {word} {name}"
        for word, name in (("starttimestamp", event_type.start_timestamp), ("endtimestamp", event_type.end_timestamp))
        if name
    )
    schemas.pop(event_type.name)
    schemas[event_type.name] = f"@public @buseventtype create map schema {event_type.name}({columns}){inherits}{marks}"


def _innermost(value_type: ValueType) -> ValueType:
    while isinstance(value_type, ArrayType):
        value_type = value_type.element
    return value_type


def _written(value_type: ValueType) -> str:
    inner = _innermost(value_type)
    dimensions = str(value_type).count("[]") if isinstance(value_type, ArrayType) else 0
    if isinstance(inner, (EnumType, ClassType)):
        return "String" + "[]" * dimensions
    if isinstance(inner, EventOf):
        return inner.event_type.name + "[]" * dimensions
    brackets = "[primitive]" if isinstance(inner, Scalar) and inner.primitive else "[]"
    return str(inner) + (brackets + "[]" * (dimensions - 1) if dimensions else "")


__all__ = ["declarations", "one_module"]
