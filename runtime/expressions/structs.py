"""``new {…}`` becomes an event of a declared type."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.event_types import EventOf, EventType
from epl.generated_code import field_name
from epl.value_types import ArrayType, Scalar, ValueType
from windows.event import Event, event_class

PRIMITIVE_DEFAULTS: dict[str, Any] = {
    "boolean": False, "float": 0.0, "double": 0.0, "char": "\0", "byte": 0, "short": 0, "int": 0, "long": 0
}
"""What a property of a primitive type holds where the event gives nothing."""


def default_value(value_type: ValueType) -> Any:
    """Return what a property that nothing fills holds: null, or a primitive's default."""
    return PRIMITIVE_DEFAULTS[value_type.kind] if isinstance(value_type, Scalar) and value_type.primitive else None


def widening(value_type: ValueType) -> Callable[[Any], Any] | None:
    """Return how a narrower number comes to be of the type; None: as it is."""
    return float if isinstance(value_type, Scalar) and value_type.kind in ("double", "float") else None


def struct_converter(target: ValueType) -> Callable[[Any], Any]:
    """Return a struct (or null) → an event of ``target``, an EventOf; a list of structs → a list of events for an array of them."""
    if isinstance(target, ArrayType):
        of_one = struct_converter(target.element)
        return lambda structs: None if structs is None else [of_one(struct) for struct in structs]
    assert isinstance(target, EventOf)
    return _event_maker(target.event_type)


def _event_maker(event_type: EventType) -> Callable[[Event | None], Event | None]:
    struct_class = event_class(event_type)
    steps = [(field_name(p.name), widening(p.type), default_value(p.type)) for p in event_type.properties.values()]

    def make(struct: Event | None) -> Event | None:
        if struct is None:
            return None
        values = []
        for field, widen, default in steps:
            value = getattr(struct, field, default)
            values.append(value if widen is None or value is None else widen(value))
        return struct_class(*values)

    return make


__all__ = ["PRIMITIVE_DEFAULTS", "default_value", "struct_converter", "widening"]
