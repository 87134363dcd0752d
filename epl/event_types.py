"""Event types: what events consist of, and which types they are sub-types of."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from epl.errors import EplError
from epl.value_types import STRING, ArrayType, MapType, ValueType


@attrs.frozen
class Property:
    """A property of an event type.

    ``indexed`` / ``mapped``: a bean's property that needs an index or a key (``p[0]``, ``p('k')``); its type is that of one element, and
    events give it as a list or a dict. ``computed``: the column of a table that is an
    aggregation (epl.plan.stores.tables.TableColumn): its value changes while the row stays the same.
    """

    name: str
    type: ValueType
    indexed: bool = False
    mapped: bool = False
    computed: Any = None

    @property
    def whole_type(self) -> ValueType:
        """The type of its whole value: indexed properties are given as lists, mapped ones as dicts."""
        if self.indexed:
            return ArrayType(self.type)
        if self.mapped:
            return MapType(STRING, self.type)
        return self.type


@attrs.frozen
class EventOf(ValueType):
    """A whole event (a fragment): a property or column that holds an event of that type."""

    event_type: EventType

    def __str__(self) -> str:
        return self.event_type.name


class AmbiguousProperty(EplError):
    """A name that is several properties' but for its case; Esper puts no clause in front of it."""

    code = "validation"


OBJECT_CLASS = "java.lang.Object"
"""The Java class of the events of variant streams."""


@attrs.frozen(eq=False)
class EventType:
    """A named event type; equal only to itself, and fixed: what engines need beside it they keep by type (windows.event.event_class).

    ``kind``: map, objectarray, json, bean, variant, row (a select's output), table (its rows), avro, xml. ``open``: events may
    carry undeclared properties that dynamic properties (``x?``) see. ``members``: the types of a variant stream; ``any_type``: a variant
    of any type, or a class whose properties are not known: every name is a property, of type Object. ``is_bus``: events may be sent to it
    from outside.
    ``property_resolution``: how names of properties are compared, see Settings. ``underlying``: of a stream that insert into declared for
    whole events, perhaps decorated, or of a named window of a variant stream's events: the Java class of these, which no columns become.
    """

    name: str
    kind: str
    properties: Mapping[str, Property]
    supertypes: tuple[EventType, ...] = ()
    start_timestamp: str | None = None
    end_timestamp: str | None = None
    open: bool = False
    members: tuple[EventType, ...] = ()
    any_type: bool = False
    is_bus: bool = True
    module: str | None = None
    property_resolution: str = "case_sensitive"
    underlying: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.properties)

    @property
    def is_of_members(self) -> bool:
        """Return whether the events are those of the members of a variant stream: nothing assigns their properties."""
        return self.kind == "variant" or self.underlying == OBJECT_CLASS

    def property(self, name: str) -> Property | None:
        """Return the declared property of that name, as ``property_resolution`` compares names; an exact match comes first."""
        prop = self.properties.get(name) or self._property_of_members(name)
        if prop is not None or self.property_resolution == "case_sensitive":
            return prop
        alike = [p for p in self.properties.values() if p.name.lower() == name.lower()]
        if len(alike) > 1 and self.property_resolution == "distinct_case_insensitive":
            raise AmbiguousProperty(f'Unable to determine which property to use for "{name}" because more than one property matched')
        return alike[0] if alike else None

    def _property_of_members(self, name: str) -> Property | None:
        """Return what needs an index or key in all members of a variant stream; Esper does not list it among the stream's properties."""
        first = self.members[0].property(name) if self.members and not self.any_type else None
        if first is None or not (first.indexed or first.mapped):
            return None
        return first if all(m.property(name) == first for m in self.members[1:]) else None

    def property_type(self, name: str) -> ValueType | None:
        prop = self.properties.get(name)
        return prop.type if prop else None

    def fragment(self, name: str) -> EventType | None:
        """Return the event type of a property that holds an event, or None."""
        value_type = self.property_type(name)
        return value_type.event_type if isinstance(value_type, EventOf) else None

    def lineage(self) -> Iterator[EventType]:
        """Yield this type and all its super-types, each once, nearest first."""
        seen: list[EventType] = []
        queue = [self]
        while queue:
            current = queue.pop(0)
            if not any(current is s for s in seen):
                seen.append(current)
                yield current
                queue.extend(current.supertypes)

    def is_a(self, other: EventType) -> bool:
        """Return whether an event of this type is one of ``other``."""
        return self is other or any(t is other for t in self.lineage())

    def complete(self, **parts: Any) -> None:
        """Fill in what is known only once the type is there (types may name one another): for its maker, before anyone else has it.

        Raise TypeError for a part that is fixed from the beginning.
        """
        fixed = sorted(parts.keys() - COMPLETED_LATER)
        if fixed:
            raise TypeError(f"'{fixed[0]}' of an event type is fixed from the beginning")
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"EventType({self.name!r}, {self.kind}, {{{', '.join(f'{p.name}: {p.type}' for p in self.properties.values())}}})"


COMPLETED_LATER = frozenset({"properties", "supertypes", "members", "is_bus", "property_resolution"})
"""What ``EventType.complete`` may fill in."""
