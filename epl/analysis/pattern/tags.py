"""Tags of a pattern: their places in a match, and how expressions of the pattern see them."""
from __future__ import annotations

from collections.abc import Callable

import attrs

from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.pattern import PatternTag
from epl.spans import Span
from epl.syntax import Declaration
from epl.value_types import ArrayType, ValueType

NO_EVENT = EventType("", "row", {}, is_bus=False)
"""The type of stream 0 where an expression sees no event but those of tags."""
NO_AGGREGATION = "Aggregation functions not allowed within filters"


@attrs.frozen
class Around:
    """What is known before the pattern: ``known`` events by their names, ``assigned`` names that no tag may have, and what is ``added`` to
    the conditions of an event type."""

    known: tuple[ScopeStream, ...] = ()
    assigned: tuple[str, ...] = ()
    added: Callable[[EventType], tuple[TypedExpression, ...]] = lambda event_type: ()


class Tags:
    """The tags that have been declared so far, in order: the place of one is its number."""

    def __init__(self, catalog: Catalog, declarations: tuple[Declaration, ...], around: Around) -> None:
        self.tags: list[PatternTag] = []
        self._catalog = catalog
        self._declarations = declarations
        self._around = around

    def declare(self, name: str, event_type: EventType, span: Span | None, *, repeated: bool = False) -> int:
        """Return the place of a tag; one that is there already keeps its own. ``repeated``: a filter matches several events at once."""
        if name in self._around.assigned:
            raise EplValidationError(f"Tag '{name}' for event '{event_type.name}' is already assigned", span=span)
        for place, tag in enumerate(self.tags):
            if tag.name == name:
                if tag.event_type is not event_type:
                    raise EplValidationError(
                        f"Tag '{name}' for event '{event_type.name}' has already been declared for events of type {tag.event_type.name}",
                        span=span)
                if tag.repeated:
                    raise EplValidationError(
                        f"Tag '{name}' for event '{event_type.name}' used in the repeat-until operator cannot also appear in other filter "
                        "expressions", span=span)
                return place
        self.tags.append(PatternTag(name, event_type, repeated))
        return len(self.tags) - 1

    def repeat(self, places: tuple[int, ...]) -> None:
        """Let these tags be arrays from here on: their repetition ends."""
        for place in places:
            self.tags[place] = attrs.evolve(self.tags[place], repeated=True)

    def filter_scope(self, own: ScopeStream) -> Scope:
        """Return what a filter sees: the event, and by their names the tags."""
        streams = (own, *(attrs.evolve(stream, outer=True) for stream in self._streams()), *self._around.known)
        return Scope(
            self._catalog, streams, clause="filter", declarations=self._declarations, allow_previous=False, in_filter=True, in_pattern=True,
            aggregation_refusal=NO_AGGREGATION)

    def scope(self, clause: str, only: tuple[int, ...] | None = None) -> Scope:
        """Return what a guard, an observer or another parameter sees: the tags, or those of these places."""
        streams = self._streams()
        if only is not None:
            streams = [attrs.evolve(stream, visible=place in only) for place, stream in enumerate(streams)]
        return Scope(
            self._catalog, (ScopeStream(None, NO_EVENT, visible=False), *streams, *self._outer_streams()), clause=clause,
            declarations=self._declarations, allow_previous=False, aggregation_refusal=NO_AGGREGATION, prefers_first=True,
            in_pattern=True)

    def _outer_streams(self) -> list[ScopeStream]:
        """Return what is known before the pattern, as its parameters see it: their names need no stream in front."""
        return [attrs.evolve(stream, outer=False) for stream in self._around.known]

    def _streams(self) -> list[ScopeStream]:
        return [ScopeStream(tag.name, tag.event_type, group=tag.repeated, optional=True) for tag in self.tags]

    def row(self, name: str) -> tuple[EventType, tuple[int, ...]]:
        """Return the type of a match as a row, and the places of its properties: those of single events come first."""
        order = sorted(range(len(self.tags)), key=lambda place: self.tags[place].repeated)
        properties = {tag.name: Property(tag.name, _value_type(tag)) for tag in (self.tags[place] for place in order)}
        return EventType(name, "row", properties, is_bus=False), tuple(order)


def _value_type(tag: PatternTag) -> ValueType:
    event = EventOf(tag.event_type)
    return ArrayType(event) if tag.repeated else event


__all__ = ["NO_EVENT", "Around", "Tags"]
