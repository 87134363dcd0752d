"""What set clauses have in common: the text of an assignment in refusals, its value, an array element's index and type."""
from __future__ import annotations

from epl.analysis.conversions import convert, type_name
from epl.analysis.expressions import StatementRefusal, bind_in_clause
from epl.analysis.paths import is_integer
from epl.analysis.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.plan.expressions import Cast, Constant, PropertyOf, TypedExpression
from epl.plan.structs import StructAs
from epl.syntax import Assignment, Declaration, Expression
from epl.syntax.expressions import Call, Chain, Index, Name
from epl.unparse import expression_text
from epl.value_types import BIG_DECIMAL, NULL, OBJECT, ArrayType, EventOf, Scalar, ValueType, is_null, is_numeric

NARROW = ("byte", "short")
WHOLE = ("byte", "short", "int", "long")
WIDENING = ("byte", "short", "int", "long", "float", "double", "BigDecimal")


def set_scope(catalog: Catalog, stream: ScopeStream, declarations: tuple[Declaration, ...]) -> Scope:
    """What the values of a set clause see."""
    return Scope(
        catalog, (stream,), clause="update assignment", aggregation_refusal="Aggregation functions may not be used within update-set",
        allow_previous=False, declarations=declarations,
    )


def assignment_text(assignment: Assignment) -> str:
    target = expression_text(assignment.target)
    return target if assignment.value is None else f"{target}={expression_text(assignment.value)}"


def refuse(assignment: Assignment, message: str) -> EplValidationError:
    """A refusal of one assignment, in Esper's words."""
    return StatementRefusal(f"Failed to validate assignment expression '{assignment_text(assignment)}': {message}", span=assignment.span)


def path_of(target: Expression) -> tuple[Name | Call, tuple[Name | Call | Index, ...]]:
    """The name a target begins with and what follows it; a target is always a chain without root."""
    assert isinstance(target, Chain) and target.root is None
    first = target.links[0]
    assert isinstance(first, (Name, Call))
    return first, target.links[1:]  # type: ignore[return-value]


def unrecognized(assignment: Assignment) -> EplValidationError:
    """A target that no assignment can be made to, in Esper's words."""
    return StatementRefusal(f"Unrecognized left-hand-side assignment '{expression_text(assignment.target)}'", span=assignment.span)


def is_call(assignment: Assignment) -> bool:
    """``Helper.change(e)``: evaluated for what it does."""
    return assignment.value is None and isinstance(assignment.target, Chain) and isinstance(assignment.target.links[-1], Call)


def bind_value(assignment: Assignment, number: int, scope: Scope) -> TypedExpression:
    """The value as written; raises where there is none."""
    if assignment.value is None:
        raise refuse(assignment, f"Missing variable assignment expression in assignment number {number}")
    return bind_in_clause(assignment.value, scope)


def bind_index(index: Expression, name: str, scope: Scope) -> TypedExpression:
    """The index of ``name[index]``."""
    bound = bind_in_clause(index, scope)
    if not is_integer(bound.type):
        raise StatementRefusal(
            "Incorrect index expression for array operation, expected an expression returning an integer value but the expression "
            f"'{expression_text(index)}' returns '{bound.type.boxed}' for expression '{name}'",
            span=index.span,
        )
    return bound


def assigned_to_variable(value: TypedExpression, target: ValueType) -> TypedExpression | None:
    """As ``assigned``; variables of short and byte also take ints, cut as Java casts them, and those of BigInteger every whole number."""
    source = value.type
    if isinstance(target, Scalar) and isinstance(source, Scalar) and source.kind in WHOLE:
        if target.kind == "BigInteger" or (isinstance(value, Constant) and target.kind in NARROW and source.kind != "long"):
            return convert(value, target)
        if target.kind in NARROW and source.kind != "long":
            return value if source.kind == target.kind else Cast(type=target.boxed, operand=value)
    if isinstance(source, Scalar) and source.kind == "BigInteger" and target == BIG_DECIMAL:
        return convert(value, target)
    return assigned(value, target)


def assigned(value: TypedExpression, target: ValueType) -> TypedExpression | None:
    """The value as ``target`` takes it, numbers widened; None where the types do not go together."""
    source = value.type
    if is_null(source):
        return value
    if target in (OBJECT, NULL) or source == OBJECT or target.boxed == source.boxed:
        return value
    if isinstance(target, Scalar) and isinstance(source, Scalar) and is_numeric(target) and is_numeric(source):
        if target.kind == "Number" or source.kind not in WIDENING:
            return value if target.kind in ("Number", source.kind) else None
        if target.kind in WIDENING and WIDENING.index(source.kind) <= WIDENING.index(target.kind):
            return convert(value, target)
        return None
    if isinstance(target, EventOf) and isinstance(source, EventOf) and source.event_type.is_a(target.event_type):
        return value
    if is_struct(source) and isinstance(target, EventOf):
        return StructAs(type=target, operand=value) if target.event_type.kind == "map" and _fits(source, target) else None
    if isinstance(target, ArrayType) and isinstance(source, ArrayType):
        return _assigned_array(value, target, source)
    if isinstance(target, Scalar) or isinstance(source, Scalar) or isinstance(target, (EventOf, ArrayType)):
        return None
    return value


def _assigned_array(value: TypedExpression, target: ArrayType, source: ArrayType) -> TypedExpression | None:
    if target.element == source.element or target.element == OBJECT or is_null(source.element):
        return value
    if isinstance(value, Constant) and value.value == []:
        return value
    if not isinstance(target.element, EventOf) or not isinstance(source.element, EventOf):
        return None
    if is_struct(source.element):
        fits = target.element.event_type.kind in ("map", "objectarray") and _fits(source.element, target.element)
        return StructAs(type=target, operand=value) if fits else None
    return value if source.element.event_type.is_a(target.element.event_type) else None


def is_struct(value_type: ValueType) -> bool:
    """Whether it is the type of ``new {…}``."""
    return isinstance(value_type, EventOf) and value_type.event_type.kind == "struct"


def _fits(source: ValueType, target: EventOf) -> bool:
    """Whether the properties of a struct that the target has as well can be assigned to it."""
    assert isinstance(source, EventOf)
    for prop in source.event_type.properties.values():
        wanted = target.event_type.type_of(prop.name)
        given = PropertyOf(type=prop.type, operand=Constant(type=source, value=None), name=prop.name)
        if wanted is not None and assigned(given, wanted) is None:
            return False
    return True


def assigned_column(assignment: Assignment, value: TypedExpression, target: ValueType, column: str) -> TypedExpression:
    """As ``assigned``; the refusal speaks of the property ``column``."""
    found = assigned(value, target)
    if found is None:
        assert assignment.value is not None
        given = value.type if isinstance(value, Constant) else value.type.boxed
        raise refuse(
            assignment,
            f"Invalid assignment of column '{expression_text(assignment.value)}' of type '{type_name(given)}' to event property "
            f"'{column}' typed as '{type_name(target)}', column and parameter types mismatch",
        )
    return found


__all__ = [
    "assigned", "assigned_column", "assigned_to_variable", "assignment_text",
    "bind_index", "bind_value", "is_call", "is_struct", "path_of", "refuse", "set_scope",
    "unrecognized",
]
