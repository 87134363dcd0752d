"""Assignments to properties of an event: update istream, on … update."""
from __future__ import annotations

from collections.abc import Collection

from epl.analysis.clauses.assignments import bind_index, coerce_column_value, is_call, refuse, split_target, target_error
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.declared import find_alias
from epl.analysis.expressions.paths import find_dotted_property, literal_key
from epl.analysis.expressions.scope import Scope
from epl.errors import EplUnsupportedError
from epl.event_types import EventType, Property
from epl.plan.assignments import PropertyAssignment
from epl.plan.expressions import Constant, TypedExpression
from epl.syntax import Assignment
from epl.syntax.expressions import Call, Chain, Index, Literal, Name
from epl.unparse import expression_text
from epl.value_types import NULL, ArrayType, MapType, Scalar, is_null


def analyse_property_assignment(
    written: Assignment, event_type: EventType, scope: Scope, names: Collection[str] = ()
) -> PropertyAssignment:
    """Return one assignment to a property of the scope's first stream; ``names``: those of the stream, which may precede the property.

    Raise EplValidationError in Esper's words.
    """
    if written.value is None or is_call(written):
        return PropertyAssignment("call", bind_in_clause(written.target, scope))
    value = bind_in_clause(written.value, scope)
    first, rest = split_target(written.target)
    if not rest and find_alias(first.name, scope) is not None:  # as in Esper, the alias takes the name, and nothing is assigned
        return PropertyAssignment("call", value)
    if isinstance(first, Name) and first.name in names and rest and isinstance(rest[0], (Name, Call)):
        first, rest = rest[0], rest[1:]
        if rest and isinstance(rest[0], Index) and literal_key(rest[0]) is None:
            raise target_error(written)
    dotted = find_dotted_property(event_type, (first, *rest), 0)
    if dotted is not None and dotted[1] == 1 + len(rest):
        first, rest = Name(dotted[0].name, span=first.span), ()
    if len(rest) > 1 and all(isinstance(link, Index) for link in rest):
        raise target_error(written)
    prop = event_type.property(first.name)
    if prop is None or prop.computed is not None or event_type.is_of_members or len(rest) > 1 or (rest and isinstance(rest[0], Name)):
        raise refuse(written, f"Property '{expression_text(written.target)}' is not available for write access")
    if isinstance(first, Call):
        return _analyse_key(written, value, first, prop, scope)
    if not rest:
        return PropertyAssignment("value", _whole(written, value, prop), prop.name)
    link = rest[0]
    element = prop.type if prop.indexed else prop.type.element if isinstance(prop.type, ArrayType) else None
    literal = literal_key(link)
    if element is None or not isinstance(link, Index) or len(link.arguments) != 1 or (isinstance(literal, int) and literal < 0):
        raise refuse(written, f"Property '{expression_text(written.target)}' is not available for write access")
    index = bind_index(link.arguments[0], prop.name, scope)
    assigned = coerce_column_value(written, value, element, prop.name, decimals=True)
    return PropertyAssignment("element", assigned, prop.name, index, lenient=literal is not None)


def analyse_reset(written: Assignment, event_type: EventType, scope: Scope, names: Collection[str]) -> PropertyAssignment | None:
    """Return the assignment ``column.reset()`` or ``row.reset()`` to a row of a table; None for anything else."""
    target = written.target
    if written.value is not None or event_type.kind != "table" or not isinstance(target, Chain) or not 1 < len(target.links) < 4:
        return None
    *owner, call = target.links
    path = [link.name for link in owner if isinstance(link, Name)]
    if not isinstance(call, Call) or call.name != "reset" or len(path) < len(owner):
        return None
    if len(path) == 2 and path[0] in names:
        path = path[1:]
    columns = [prop.computed for prop in event_type.properties.values() if prop.computed is not None]
    reset = [column for column in columns if column.name == path[0]] or (columns if path[0] == scope.streams[0].alias else [])
    if len(path) > 1 or not reset:
        return None
    if call.arguments:
        raise StatementRefusal(
            f"Failed to validate update assignment expression '{expression_text(target)}': The table aggregation 'reset' method does not "
            "allow parameters", span=written.span)
    return PropertyAssignment("reset", Constant(type=NULL, value=None), places=tuple(column.place for column in reset))


def _whole(written: Assignment, value: TypedExpression, prop: Property) -> TypedExpression:
    if is_null(value.type) and isinstance(prop.type, Scalar) and prop.type.primitive:
        raise refuse(
            written,
            f"Invalid assignment of column 'null' of null type to event property '{prop.name}' typed as '{prop.type}', "
            "nullable type mismatch",
        )
    return coerce_column_value(written, value, prop.type, prop.name)


def _analyse_key(written: Assignment, value: TypedExpression, link: Call, prop: Property, scope: Scope) -> PropertyAssignment:
    """``p('key') = value``."""
    if len(link.arguments) == 1 and not (isinstance(link.arguments[0], Literal) and isinstance(link.arguments[0].value, str)):
        raise target_error(written)
    if not (prop.mapped or isinstance(prop.type, MapType)) or len(link.arguments) != 1:
        raise EplUnsupportedError(f"Assigning to '{expression_text(written.target)}' is not supported", span=written.span)
    element = prop.type.value if isinstance(prop.type, MapType) else prop.type
    assigned = coerce_column_value(written, value, element, prop.name, decimals=True)
    return PropertyAssignment("key", assigned, prop.name, bind_in_clause(link.arguments[0], scope))


__all__ = ["analyse_property_assignment", "analyse_reset"]
