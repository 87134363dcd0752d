"""What names a statement across restarts: its canonical text and the schemas of the types that it uses."""
from __future__ import annotations

from hashlib import blake2b
from typing import Any

from epl.event_types import EventOf, EventType
from epl.plan.walk import plans_of, types_in
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, ValueType


def fingerprint(text: str, plan: Any) -> str:
    """Return ``text`` and a digest of the types in the plan; where one's schema changes, a nested or a super-type's too, it is another
    one."""
    known: dict[int, int] = {}
    lines: list[str] = []
    for part in plans_of(plan):
        for event_type in types_in(part):
            _describe(event_type, known, lines)
    return f"{text} # {blake2b(chr(10).join(lines).encode(), digest_size=16).hexdigest()}"


def _describe(event_type: EventType, known: dict[int, int], lines: list[str]) -> int:
    """The number of a type's line; types may name one another."""
    if id(event_type) in known:
        return known[id(event_type)]
    number = known[id(event_type)] = len(lines)
    lines.append("")
    properties = [
        f"{p.name}: {_value(p.type, known, lines)}{' indexed' * p.indexed}{' mapped' * p.mapped}" for p in event_type.properties.values()
    ]
    others = [[_describe(t, known, lines) for t in types] for types in (event_type.supertypes, event_type.members)]
    name = "" if event_type.kind == "row" else event_type.name  # of the statement's own rows, named after it: its text has its name, if any
    lines[number] = repr((
        name, event_type.kind, properties, others, event_type.start_timestamp, event_type.end_timestamp, event_type.open,
        event_type.any_type, event_type.property_resolution,
    ))
    return number


def _value(value_type: ValueType, known: dict[int, int], lines: list[str]) -> str:
    if isinstance(value_type, EventOf):
        return f"event {_describe(value_type.event_type, known, lines)}"
    if isinstance(value_type, (ArrayType, CollectionType)):
        return f"{type(value_type).__name__} of {_value(value_type.element, known, lines)}"
    if isinstance(value_type, MapType):
        return f"map of {value_type.key} to {_value(value_type.value, known, lines)}"
    return f"{value_type} {value_type.constants}" if isinstance(value_type, EnumType) else str(value_type)
