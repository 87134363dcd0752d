"""What names a statement across restarts: its canonical text and the schemas of the types that it uses, as far as it reads them."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any

import attrs

from epl.event_types import EventOf, EventType, Property
from epl.plan.reads import Reads
from epl.plan.statements import InsertPlan, StatementPlan
from epl.plan.walk import inner_types, part_types, walk_plan
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, ValueType

SEPARATOR = " # "
NEVER: Mapping[tuple[str, str], Collection[str]] = {}


def fingerprint(text: str, plan: Any, reads: Reads, before: Mapping[tuple[str, str], Collection[str]] = NEVER) -> str:
    """Return ``text`` and a digest of the types in the plan: where a property that the statement reads changes, of a nested or a super-type
    too, it is another one. ``before``: the properties that types had, by name and kind; those that came at the end do not
    count."""
    targets = [part.target for part in walk_plan(plan) if isinstance(part, InsertPlan)]
    return f"{text}{SEPARATOR}{_Description(reads, targets, before).digest(plan)}"


def former_fingerprint(plan: StatementPlan) -> str:
    """Return the fingerprint that snapshots had when properties counted that a statement does not read."""
    return f"{_text(plan)}{SEPARATOR}{_Description(None, (), NEVER).digest(plan.body)}"


def keeps_state(old: StatementPlan, new: StatementPlan) -> bool:
    """Return whether a statement may take over the state of another one: the same text over types of which what it reads is as it was, and
    to which properties were added at most at the end."""
    if old.fingerprint == new.fingerprint:
        return True
    if _text(old) != _text(new):
        return False
    before: dict[tuple[str, str], Collection[str]] = {}
    waiting = [event_type for part in walk_plan(old.body) for event_type in part_types(part)]
    while waiting:
        event_type = waiting.pop()
        if (event_type.name, event_type.kind) not in before:
            before[event_type.name, event_type.kind] = tuple(event_type.properties)
            waiting += [inner for prop in event_type.properties.values() for inner in inner_types(prop.type)]
    return fingerprint(_text(new), new.body, new.reads, before) == old.fingerprint


def _text(plan: StatementPlan) -> str:
    return plan.fingerprint.rpartition(SEPARATOR)[0]


@attrs.define
class _Description:
    """Types as lines, which may refer to one another by number. ``reads`` None: all properties count. ``targets``: types whose events the
    statement makes."""

    reads: Reads | None
    targets: Collection[EventType]
    before: Mapping[tuple[str, str], Collection[str]]
    known: dict[int, int] = attrs.field(factory=dict)
    lines: list[str] = attrs.field(factory=list)

    def digest(self, plan: Any) -> str:
        for part in walk_plan(plan):
            for event_type in part_types(part):
                self._describe(event_type)
        return blake2b(chr(10).join(self.lines).encode(), digest_size=16).hexdigest()

    def _properties(self, event_type: EventType) -> list[Property]:
        """Return the properties that count, in the type's order."""
        reads, properties = self.reads, list(event_type.properties.values())
        if reads is not None and event_type not in self.targets and not reads.is_whole(event_type):
            if any(source.is_a(event_type) or event_type.is_a(source) for source in reads.sources):
                read = reads.if_reached(event_type)
                return [prop for prop in properties if prop.name in read]
        before = tuple(self.before.get((event_type.name, event_type.kind), ()))
        return properties[: len(before)] if before and before == tuple(event_type.properties)[: len(before)] else properties

    def _describe(self, event_type: EventType) -> int:
        """Return the number of a type's line."""
        if id(event_type) in self.known:
            return self.known[id(event_type)]
        number = self.known[id(event_type)] = len(self.lines)
        self.lines.append("")
        properties = [
            f"{p.name}: {self._value(p.type)}{' indexed' * p.indexed}{' mapped' * p.mapped}" for p in self._properties(event_type)
        ]
        others = [[self._describe(t) for t in types] for types in (event_type.supertypes, event_type.members)]
        name = "" if event_type.kind == "row" else event_type.name  # of the statement's own rows, named after it: its text has its name
        self.lines[number] = repr((
            name, event_type.kind, properties, others, event_type.start_timestamp, event_type.end_timestamp, event_type.open,
            event_type.any_type, event_type.property_resolution,
        ))
        return number

    def _value(self, value_type: ValueType) -> str:
        if isinstance(value_type, EventOf):
            return f"event {self._describe(value_type.event_type)}"
        if isinstance(value_type, (ArrayType, CollectionType)):
            return f"{type(value_type).__name__} of {self._value(value_type.element)}"
        if isinstance(value_type, MapType):
            return f"map of {value_type.key} to {self._value(value_type.value)}"
        return f"{value_type} {value_type.constants}" if isinstance(value_type, EnumType) else str(value_type)


__all__ = ["fingerprint", "former_fingerprint", "keeps_state"]
