"""Which dynamic properties events can be asked for: Esper has no getter for some, and takes some for no property at all."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions.paths import is_dynamic_property, value_event_type
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan.expressions import TypedExpression
from epl.syntax.expressions import Chain, Index, Link, Name
from epl.unparse import expression_text
from epl.value_types import OBJECT, ArrayType, MapType, Scalar

CHECKED = ("map", "objectarray", "json")


def check_dynamic(value: TypedExpression, links: Sequence[Link], at: int, node: Chain) -> None:
    """Refuse what events of a map, object array or JSON cannot be asked for: ``x?[0]``, ``x[0]?.y`` unless ``x`` holds events, after a
    declared ``x?`` a name that its type does not have, of JSON and below object arrays what is not declared.
    """
    event_type, link = value_event_type(value), links[at]
    if event_type is None or event_type.any_type:
        return
    prop = event_type.property(getattr(link, "name", ""))
    if event_type.kind not in CHECKED and not (prop is not None and _is_match(event_type)):
        return
    by_index = isinstance(link, Name) and isinstance(next(iter(links[at + 1:]), None), Index)
    after = next(iter(links[at + (2 if by_index else 1):]), None)
    text = expression_text(node)
    if isinstance(link, Name) and link.optional and by_index:
        raise EplValidationError(f"Property named '{text}' is not valid in any stream", span=node.span,
                                 hint=f"write {link.name}[…]? for an element that may not be there")
    if after is not None and _holds_nothing(prop, keyed=by_index or not isinstance(link, Name)):
        raise EplValidationError(f"Property named '{text}' is not valid in any stream", span=node.span)
    if by_index:
        there = _index_getter(event_type, prop)
    elif isinstance(link, Name):
        there = _getter(event_type, prop, after, optional=after is not None and is_dynamic_property(links, at + 1))
    else:
        there = _key_getter(event_type, prop)
    if not there:
        raise EplValidationError(f"Property getter not available for property '{text}'", span=node.span)


def _is_match(event_type: EventType) -> bool:
    """Return whether it is the type of a pattern's matches, whose properties are its tags."""
    return event_type.kind == "row" and event_type.name == "pattern"


def _holds_nothing(prop: Property | None, *, keyed: bool) -> bool:
    """Return whether nothing may follow: a declared property of a plain type, an element or key of what does not hold events."""
    if keyed:
        return not _of_events(prop)
    return prop is not None and isinstance(prop.type, Scalar) and prop.type != OBJECT


def _of_events(prop: Property | None) -> bool:
    return prop is not None and isinstance(prop.type, ArrayType) and isinstance(prop.type.element, EventOf)


def _takes_any(event_type: EventType) -> bool:
    """Return whether events may be asked for undeclared properties."""
    return event_type.kind == "map" or event_type.open


def _getter(event_type: EventType, prop: Property | None, after: Link | None, *, optional: bool) -> bool:
    """``x?``, ``x?.after``."""
    if prop is None:
        return _takes_any(event_type) or (event_type.kind == "objectarray") == (after is None)
    if after is None:
        return event_type.kind != "json" or not _of_events(prop)
    if not isinstance(after, Name):
        return True
    nested = prop.type.event_type if isinstance(prop.type, EventOf) else None
    known = nested is not None and (nested.any_type or nested.property(after.name) is not None)
    return known or (optional and (event_type.kind != "json" or (nested is not None and nested.open)))


def _index_getter(event_type: EventType, prop: Property | None) -> bool:
    """``x[0]?``."""
    if prop is None:
        return _takes_any(event_type)
    return event_type.kind != "json" or isinstance(prop.type, ArrayType)


def _key_getter(event_type: EventType, prop: Property | None) -> bool:
    """``x('key')?``."""
    if prop is None:
        return _takes_any(event_type)
    return event_type.kind != "json" or isinstance(prop.type, MapType)
