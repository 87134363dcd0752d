"""transpose(x) in a select clause: the value's own properties become those of the inserted event."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions.bind import StatementRefusal
from epl.analysis.expressions.conversions import type_name
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan.statements import InsertPlan
from epl.syntax import InsertInto, Select, SelectItem
from epl.syntax.expressions import Call, Chain
from epl.unparse import expression_text, quote_expression
from epl.value_types import OBJECT, MapType, ValueType, is_null

STRUCTURES = ("struct", "bean")
UNDERLYING = {"map": "java.util.Map", "objectarray": "[Ljava.lang.Object;"}
"""What refusals call the values behind events."""


def without_transpose(select: Select) -> tuple[Select, int | None]:
    """Return the select clause with ``transpose(x)`` as plain ``x``, and the place of that item; None where there is none."""
    places = [n for n, item in enumerate(select.items) if _argument(item) is not None]
    if not places:
        return select, None
    if len(places) > 1:
        raise StatementRefusal(
            "A column name must be supplied for all but one stream if multiple streams are selected via the stream.* notation",
            span=select.span,
        )
    items = list(select.items)
    place = places[0]
    call = _argument(items[place])
    assert call is not None
    if len(call.arguments) != 1:
        raise EplValidationError(
            f"Failed to validate select-clause expression {quote_expression(items[place].expression)}: The transpose function requires "
            "a single "
            "parameter expression",
            span=items[place].span,
        )
    name = items[place].alias or expression_text(items[place].expression)
    items[place] = SelectItem(call.arguments[0], alias=name, span=items[place].span)
    return attrs.evolve(select, items=tuple(items)), place


def _argument(item: SelectItem) -> Call | None:
    expression = item.expression
    if isinstance(expression, Chain) and expression.root is None and len(expression.links) == 1:
        link = expression.links[0]
        if isinstance(link, Call) and link.name.lower() == "transpose":
            return link
    return None


def check_transposed(value_type: ValueType) -> None:
    """Refuse types without properties to give: all but maps, structures and bean events."""
    if not _gives_properties(value_type):
        shown = "null" if is_null(value_type) else type_name(value_type.boxed)
        raise StatementRefusal(f"Invalid expression return type '{shown}' for transpose function")


def _gives_properties(value_type: ValueType) -> bool:
    if isinstance(value_type, EventOf):
        return value_type.event_type.kind in STRUCTURES
    return isinstance(value_type, MapType) or value_type == OBJECT


def plan_transposed(clause: InsertInto, row_type: EventType, place: int, catalog: Catalog) -> InsertPlan:
    """Return how rows whose column at ``place`` is transposed become events of the target."""
    if clause.target in catalog.tables:
        raise EplUnsupportedError(f"Transpose into the table '{clause.target}' is not supported", span=clause.span)
    name = row_type.names[place]
    value_type = row_type.properties[name].type
    target = catalog.event_types.get(clause.target)
    inner = value_type.event_type if isinstance(value_type, EventOf) else None
    others = [p for p in row_type.properties.values() if p.name != name]
    if target is None:
        target = _new_target(clause, value_type, inner, others)
    elif others:
        raise StatementRefusal(
            f"Cannot transpose additional properties in the select-clause to target event type '{target.name}' with underlying type "
            f"'{type_name(EventOf(target))}', the transpose function must occur alone in the select clause",
            span=clause.span,
        )
    elif inner is not None and inner.kind not in STRUCTURES:
        return _of_event(clause, value_type, inner, target, place)
    else:
        check_transposed(value_type)
        if inner is not None and not any(inner.property_type(n) is not None for n in target.names):
            raise _not_convertible(clause, type_name(value_type), target)
    return InsertPlan(target=target, stream=clause.stream or "istream", same=False, nested=place)


def _new_target(clause: InsertInto, value_type: ValueType, inner: EventType | None, others: Sequence[Property]) -> EventType:
    check_transposed(value_type)
    if inner is None or inner.kind == "struct":
        raise StatementRefusal("Invalid expression return type 'java.util.Map<String,Object>' for transpose function", span=clause.span)
    return EventType(clause.target, "map", {**inner.properties, **{p.name: p for p in others}})


def _of_event(clause: InsertInto, value_type: ValueType, inner: EventType, target: EventType, place: int) -> InsertPlan:
    """Plan an event that becomes one of the declared type itself: a map is read by name, as a JSON event is, an object array by place."""
    if target.kind == "map" and inner.kind in ("map", "json"):
        return InsertPlan(target=target, stream=clause.stream or "istream", same=False, nested=place, whole=True)
    if target.kind == inner.kind == "objectarray":
        return InsertPlan(target=target, stream=clause.stream or "istream", same=False, nested=place, by_place=True)
    raise _not_convertible(clause, UNDERLYING.get(inner.kind, type_name(value_type)), target)


def _not_convertible(clause: InsertInto, shown: str, target: EventType) -> EplValidationError:
    of_target = UNDERLYING.get(target.kind)
    return EplValidationError(
        f"Expression-returned value of type '{shown}' cannot be converted to target event type '{target.name}'"
        + (f" with underlying type '{of_target}'" if of_target else ""),
        span=clause.span,
    )


__all__ = ["check_transposed", "plan_transposed", "without_transpose"]
