"""A trace's ``schema`` and ``config`` → event types, enums, settings and variables of this engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from epl.event_types import EventOf, EventType, Property
from epl.settings import Settings
from epl.value_types import OBJECT, ArrayType, ClassType, CollectionType, EnumType, MapType, ValueType, find_type

COLLECTIONS = ("Collection", "List", "Set", "Iterable", "ArrayList", "LinkedList", "AbstractList")
SETTINGS = {
    "runtime.execution.prioritized": "prioritized",
    "runtime.execution.precedenceEnabled": "precedence",
    "runtime.matchRecognize.maxStates": "max_states",
    "runtime.matchRecognize.maxStatesPreventStart": "max_states_prevent_start",
    "runtime.patterns.maxSubexpressions": "max_subexpressions",
    "runtime.patterns.maxSubexpressionPreventStart": "max_subexpressions_prevent_start",
    "runtime.expression.selfSubselectPreeval": "self_subselect_preeval",
    "compiler.expression.integerDivision": "integer_division",
    "compiler.expression.divisionByZeroReturnsNull": "division_by_zero_returns_null",
    "compiler.expression.udfCache": "udf_cache",
    "compiler.scripts.enabled": "scripts_enabled",
    "compiler.viewResources.iterableUnbound": "iterable_unbound",
    "compiler.viewResources.outputLimitOpt": "output_limit_opt",
    "compiler.language.sortUsingCollator": "sort_using_collator",
}
"""Configuration that changes meaning and is taken over as it is; LOWERED ones are words that we write in lower case."""
LOWERED = {
    "common.timeSource.timeUnit": "time_unit",
    "compiler.execution.filterIndexPlanning": "filter_index_planning",
    "common.eventMeta.classPropertyResolutionStyle": "property_resolution",
    "common.eventMeta.defaultEventRepresentation": "default_event_representation",
}
ZONES = ("runtime.expression.timeZone", "compiler.expression.timeZone")
SELECTORS = {"ISTREAM_ONLY": "istream", "RSTREAM_ONLY": "rstream", "RSTREAM_ISTREAM_BOTH": "irstream"}


def settings_of(trace: Mapping[str, Any]) -> Settings:
    """Return the settings that a trace ran under. Traces in which everything listens had everything public as well."""
    recorded: Mapping[str, Any] = trace.get("config", {}).get("settings", {})
    changes: dict[str, Any] = {field: recorded[path] for path, field in SETTINGS.items() if path in recorded}
    changes.update({field: str(recorded[path]).lower() for path, field in LOWERED.items() if path in recorded})
    for path in ZONES:
        if path in recorded:
            changes["time_zone"] = str(recorded[path])
    selector = recorded.get("compiler.streamSelection.defaultStreamSelector")
    if selector is not None:
        changes["default_stream_selector"] = SELECTORS[selector]
    if "compiler.expression.mathContext" in recorded:
        changes["math_context"] = _math_context(recorded["compiler.expression.mathContext"])
    changes["imports"] = tuple(trace.get("config", {}).get("imports", ()))
    changes["annotations"] = "refuse"
    changes["default_access"] = "public" if trace.get("listen") == "all" else "private"
    return attrs.evolve(Settings(), **changes)


def _math_context(text: Any) -> tuple[int, str]:
    """``precision=7 roundingMode=HALF_EVEN`` → (7, "HALF_EVEN")."""
    parts = dict(p.split("=", 1) for p in str(text).split())
    return int(parts["precision"]), parts["roundingMode"]


@attrs.define
class TraceTypes:
    """The types that a trace's schema declares, by simple name."""

    event_types: dict[str, EventType]
    enums: dict[str, EnumType]
    enum_names: dict[str, str] = attrs.field(factory=dict)
    """Simple name → full class name."""

    def class_of(self, names: Iterable[str]) -> EventType | None:
        """Return the type of a Java object by the names of its properties: the most special bean type that has just these,
        else one that is everything that they make up. None where that is not clear."""
        known = frozenset(names)
        beans = [t for t in self.event_types.values() if t.kind == "bean" and t.properties and known >= set(t.names)]
        exact = [t for t in beans if known == set(t.names)]
        special = [t for t in exact if all(t.is_a(other) for other in exact)]
        if special or exact:
            return special[0] if special else None
        if not beans or known != {name for t in beans for name in t.names}:
            return None
        properties = {name: prop for t in beans for name, prop in t.properties.items()}
        return EventType("object", "bean", properties, tuple(beans), is_bus=False)

    def value_type(self, written: str) -> ValueType:
        """Return the type that a simple Java name stands for; unknown classes are opaque.

        >>> str(TraceTypes({}, {}).value_type("Map<String,int[]>"))
        'Map<String,int[]>'
        """
        if written.endswith("[]"):
            return ArrayType(self.value_type(written[:-2]))
        if written.endswith(">") and "<" in written:
            name, inner = written[:-1].split("<", 1)
            if name.endswith("[]"):
                return ArrayType(ClassType(name[:-2]))
            return self._generic(name, [self.value_type(p) for p in split_parameters(inner)])
        return self._plain(written)

    def _generic(self, name: str, parameters: list[ValueType]) -> ValueType:
        if name in COLLECTIONS:
            return CollectionType(parameters[0], name)
        if name.endswith("Map") and len(parameters) == 2:
            return MapType(parameters[0], parameters[1])
        return ClassType(name)

    def _plain(self, name: str) -> ValueType:
        simple = name.replace("$", ".").rsplit(".", 1)[-1]
        if simple in self.event_types:
            return EventOf(self.event_types[simple])
        if simple in self.enums:
            return self.enums[simple]
        if name in COLLECTIONS:
            return CollectionType(OBJECT, name)
        if simple in ("Map", "HashMap", "LinkedHashMap"):
            return MapType(OBJECT, OBJECT)
        return find_type(name) or ClassType(simple)


def split_parameters(text: str) -> list[str]:
    """Return type parameters at the outermost commas.

    >>> split_parameters("String,Map<Integer,int[]>")
    ['String', 'Map<Integer,int[]>']
    """
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def types_of(schema: Mapping[str, Any]) -> TraceTypes:
    """Return all event types and enums of a trace's schema; types may name one another in any order, themselves included.

    ``class`` entries (Java classes that the EPL names) become bean types under their full name, so that schemas and properties can be
    built from them; they are open, for public fields are not listed.
    """
    types = TraceTypes({}, {})
    for name, entry in schema.items():
        if entry["kind"] == "enum":
            types.enums[name] = EnumType(name, tuple(entry["constants"]))
            types.enum_names[name] = entry.get("class", name)
        elif entry["kind"] == "variant":
            types.event_types[name] = EventType(name, "variant", {}, any_type=not entry.get("variant_types"))
        else:
            is_class = entry["kind"] == "class"
            types.event_types[name] = EventType(
                entry["class"] if is_class else name,
                "bean" if is_class else entry["kind"],
                {},
                start_timestamp=entry.get("start_timestamp"),
                end_timestamp=entry.get("end_timestamp"),
                open=is_class or entry["kind"] == "map",
                any_type=is_class and not entry.get("props"),
                is_bus=not is_class,
            )
    for name, event_type in types.event_types.items():
        _complete(event_type, schema[name], types)
    return types


def _complete(event_type: EventType, entry: Mapping[str, Any], types: TraceTypes) -> None:
    indexed, mapped = entry.get("indexed_props", ()), entry.get("mapped_props", ())
    properties = {
        name: Property(name, types.value_type(written), indexed=name in indexed, mapped=name in mapped)
        for name, written in (entry.get("props") or {}).items()
    }
    if entry["kind"] in ("map", "objectarray"):
        properties = {n: _nested(p) for n, p in properties.items()}
    event_type.complete(
        properties=properties,
        supertypes=tuple(types.event_types[s] for s in entry.get("supertypes", ()) if s in types.event_types),
        members=tuple(types.event_types[m] for m in entry.get("variant_types", ()) if m in types.event_types),
    )


def _nested(prop: Property) -> Property:
    """Nest a preconfigured map without parameters: it may have been declared property by property; the trace does not say."""
    return attrs.evolve(prop, type=attrs.evolve(prop.type, nested=True)) if prop.type == MapType(OBJECT, OBJECT) else prop


def add_variant_streams(config: Mapping[str, Any], types: TraceTypes) -> None:
    """Add preconfigured variant streams that the schema does not list yet, as far as their member types are there."""
    for name, entry in config.get("variant_streams", {}).items():
        members = [types.event_types[m] for m in entry["types"] if m in types.event_types]
        if name in types.event_types or len(members) != len(entry["types"]):
            continue
        shared = {n: p for n, p in members[0].properties.items() if all(m.property_type(n) == p.type for m in members)} if members else {}
        types.event_types[name] = EventType(name, "variant", shared, members=tuple(members), any_type=entry["variance"] == "ANY")
