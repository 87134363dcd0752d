"""Type names as written → value types, through the catalog's event types and classes."""
from __future__ import annotations

from collections.abc import Mapping

from epl.event_types import EventOf, EventType
from epl.java_classes import is_java_class
from epl.syntax import TypeName
from epl.value_types import OBJECT, ArrayType, ClassType, CollectionType, EnumType, MapType, ValueType, find_type

NO_ENUMS: Mapping[str, EnumType] = {}

COLLECTIONS = {
    name: kind
    for kind in (
        "Collection", "List", "Set", "Iterable", "ArrayList", "LinkedList", "HashSet", "LinkedHashSet", "Queue", "Deque", "SortedSet"
    )
    for name in (kind, f"java.util.{kind}", f"java.lang.{kind}")
}
MAPS = {n for m in ("Map", "HashMap", "LinkedHashMap", "TreeMap", "SortedMap", "NavigableMap") for n in (m, f"java.util.{m}")}


def find_event_type(name: str, event_types: Mapping[str, EventType]) -> EventType | None:
    """Find the event type by the type's own name, else by the simple name of a full class name (``com.acme.Order``,
    ``com.acme.Outer$Order``)."""
    if name in event_types:
        return event_types[name]
    if "." not in name and "$" not in name:
        return None
    return event_types.get(name.replace("$", ".").rsplit(".", 1)[-1])


def resolve_type_name(
    written: TypeName, event_types: Mapping[str, EventType], *, boxed: bool = True, enums: Mapping[str, EnumType] = NO_ENUMS
) -> ValueType | None:
    """Return the value type that a written type stands for; None where the name is unknown.

    ``boxed``: schema columns and variables hold boxed values (``int`` is Integer); ``int[primitive]`` is an array of the primitive.
    """
    element = _element_type(written, event_types, enums)
    if element is None:
        return None
    if boxed and not (written.primitive and written.dimensions):
        element = element.boxed
    for _ in range(written.dimensions):
        element = ArrayType(element)
    return element


def _element_type(written: TypeName, event_types: Mapping[str, EventType], enums: Mapping[str, EnumType]) -> ValueType | None:
    parameters = tuple(resolve_type_name(p, event_types, enums=enums) or OBJECT for p in written.parameters)
    if written.name in COLLECTIONS:
        return CollectionType(parameters[0] if parameters else OBJECT, COLLECTIONS[written.name])
    if written.name in MAPS:
        return MapType(*parameters) if len(parameters) == 2 else MapType(OBJECT, OBJECT)
    event_type = event_types.get(written.name)
    if event_type is not None:
        return EventOf(event_type)
    value_type = find_type(written.name)
    if value_type is not None:
        return value_type
    event_type = find_event_type(written.name, event_types)
    if event_type is not None:
        return EventOf(event_type)
    if written.name in enums:
        return enums[written.name]
    if is_java_class(written.name):
        return ClassType(written.name.rsplit(".", 1)[-1])
    return None
