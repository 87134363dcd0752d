"""``T[select … from items where …][…]``: which events an event contains, and what is selected of all of them."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.selection import analyse_selection
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.rewriting import rewrite_syntax
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.names.type_names import find_event_type
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType
from epl.plan.contained import ContainedLevel, ContainedPlan
from epl.plan.expressions import TypedExpression
from epl.syntax import Contained, Declaration, Expression, SelectItem, StreamWildcard, Wildcard
from epl.syntax.expressions import Chain, Index, Name, Subquery
from epl.syntax.nodes import Node
from epl.unparse import expression_text
from epl.value_types import OBJECT, ArrayType, CollectionType, MapType, Scalar, ValueType, is_boolean


def analyse_contained(
    written: tuple[Contained, ...], outer: ScopeStream, catalog: Catalog, declarations: tuple[Declaration, ...], name: str
) -> ContainedPlan:
    """Return the plan; ``name`` names the output type where one is made."""
    scope = Scope(
        catalog, (attrs.evolve(outer, has_window=False),), clause="contained-event", declarations=declarations, allow_previous=False,
        aggregation_refusal="Expression in a property-selection may not utilize an aggregation function",
    )
    levels: list[ContainedLevel] = []
    items: list[SelectItem] = []
    for number, part in enumerate(written):
        _refuse_subqueries(part)
        level, scope = _level(part, scope, number)
        levels.append(level)
        items += [_own_wildcard(item, part, scope) for item in part.items]
    last = levels[-1].event_type
    if not items:
        return ContainedPlan(outer.event_type, tuple(levels), last, len(levels))
    selection = analyse_selection(items, scope, name).accepted()
    return ContainedPlan(outer.event_type, tuple(levels), selection.output_type, selection.forward, selection.columns, selects=True)


def _refuse_subqueries(part: Contained) -> None:
    def refuse(node: Node) -> Node | None:
        if isinstance(node, Subquery):
            raise StatementRefusal("Expression in a property-selection may not utilize a subselect", span=node.span)
        return None

    for expression in (*(i.expression for i in part.items), *((part.where,) if part.where is not None else ())):
        rewrite_syntax(expression, refuse)


def _own_wildcard(item: SelectItem, part: Contained, scope: Scope) -> SelectItem:
    """``*`` of a level means its own event: its properties, or a column of the level's name where it has one."""
    if isinstance(item.expression, Wildcard):
        alias = scope.streams[-1].alias
        assert alias is not None
        return attrs.evolve(item, expression=StreamWildcard(alias, span=item.expression.span), alias=part.alias)
    return item


def _level(part: Contained, scope: Scope, number: int) -> tuple[ContainedLevel, Scope]:
    """Return one level, and the scope with its event added."""
    expression = _own_property(part.expression, scope) or bind_in_clause(part.expression, scope)
    event_type, wraps = _event_type(part, expression, scope.catalog)
    alias = part.alias or f"inner_{number}"
    inner = attrs.evolve(scope, streams=(*scope.streams, ScopeStream(alias, event_type)))
    where = None
    if part.where is not None:
        where = bind_in_clause(part.where, inner)
        if not is_boolean(where.type):
            raise EplValidationError(
                f"Filter expression not returning a boolean value: '{expression_text(part.where)}'", span=part.where.span
            )
    return ContainedLevel(expression, event_type, expression_text(part.expression), wraps, where), inner


def _own_property(expression: Expression, scope: Scope) -> TypedExpression | None:
    """Return the expression as events of the level before, whatever the levels before that have of the name; None where it is not that."""
    if not _is_property(expression):
        return None
    outer = tuple(attrs.evolve(stream, visible=False) for stream in scope.streams[:-1])
    try:
        bound = bind_in_clause(expression, attrs.evolve(scope, streams=(*outer, scope.streams[-1])))
    except EplValidationError:
        return None
    return bound if isinstance(_element(bound.type), EventOf) else None


def _element(value_type: ValueType) -> ValueType:
    return value_type.element if isinstance(value_type, (ArrayType, CollectionType)) else value_type


def _is_property(expression: Expression) -> bool:
    return isinstance(expression, Chain) and expression.root is None and all(isinstance(link, (Name, Index)) for link in expression.links)


def _event_type(part: Contained, expression: TypedExpression, catalog: Catalog) -> tuple[EventType, bool]:
    """Return what the level's events are, and whether values have to be made into them."""
    element = _element(expression.type)
    if isinstance(element, EventOf) and _is_property(part.expression):
        return element.event_type, False
    if part.type_name is None:
        text = expression_text(part.expression)
        if not _is_property(part.expression) and text.endswith(")"):
            text = text[: text.rindex("(")] + "()"
        raise StatementRefusal(
            f"Missing @type(name) declaration providing the event type name of the return type for expression '{text}'", span=part.span,
            hint=f"write [{text}@type(TypeOfItsElements)]" if _is_property(part.expression)
            else f"a filter is in parentheses: from A({expression_text(part.expression)})",
        )
    declared = find_event_type(part.type_name, catalog.event_types)
    if declared is None:
        raise StatementRefusal(f"Event type by name '{part.type_name}' could not be found", span=part.span)
    if isinstance(element, EventOf) and element.event_type.is_a(declared):
        return declared, False
    if isinstance(expression.type, Scalar):
        raise StatementRefusal(
            f"Return type of expression '{expression_text(part.expression)}' is '{expression.type.boxed}', expected an Iterable or array "
            "result", span=part.span)
    if not _can_become(element, declared):
        raise StatementRefusal(
            f"Event type '{declared.name}' underlying type {type_name(EventOf(declared))} cannot be assigned a value of type "
            f"{type_name(expression.type)}",
            span=part.span,
        )
    return declared, True


def _can_become(element: ValueType, declared: EventType) -> bool:
    """Maps, untyped values and structures do; a plain value where the type has just one property of its type."""
    if isinstance(element, MapType) or element == OBJECT:
        return True
    if isinstance(element, EventOf):
        return element.event_type.kind == "struct" or declared.kind == element.event_type.kind
    only = list(declared.properties.values())
    return len(only) == 1 and isinstance(element, Scalar) and (only[0].type.boxed == element.boxed or only[0].type == OBJECT)


__all__ = ["analyse_contained"]
