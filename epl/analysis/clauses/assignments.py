"""Assignments of set clauses: what all have in common (the text in refusals, the value, an array element's index and type), and those to
variables."""
from __future__ import annotations

import attrs

from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.context_values import check_variable
from epl.analysis.expressions.conversions import convert, type_name
from epl.analysis.expressions.paths import is_integer
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog, Variable
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.plan.assignments import VariableAssignment
from epl.plan.expressions import Cast, Constant, Invoke, PropertyOf, TypedExpression, VariableValue
from epl.plan.structs import StructAs
from epl.syntax import Assignment, Declaration, Expression
from epl.syntax.expressions import Call, Chain, Index, Name
from epl.unparse import expression_text
from epl.value_types import (
    BIG_DECIMAL,
    NULL,
    OBJECT,
    STRING,
    ArrayType,
    CollectionType,
    MapType,
    Scalar,
    ValueType,
    is_null,
    is_numeric,
)

NARROW = ("byte", "short")
WHOLE = ("byte", "short", "int", "long")
WIDENING = ("byte", "short", "int", "long", "float", "double")


def set_scope(catalog: Catalog, stream: ScopeStream, declarations: tuple[Declaration, ...]) -> Scope:
    """Return what the values of a set clause see."""
    return Scope(
        catalog, (stream,), clause="update assignment", aggregation_refusal="Aggregation functions may not be used within update-set",
        allow_previous=False, declarations=declarations,
    )


def assignment_text(assignment: Assignment) -> str:
    target = expression_text(assignment.target)
    return target if assignment.value is None else f"{target}={expression_text(assignment.value)}"


def refuse(assignment: Assignment, message: str) -> EplValidationError:
    """Return a refusal of one assignment, in Esper's words."""
    return StatementRefusal(f"Failed to validate assignment expression '{assignment_text(assignment)}': {message}", span=assignment.span)


def split_target(target: Expression) -> tuple[Name | Call, tuple[Name | Call | Index, ...]]:
    """Return the name a target begins with and what follows it; a target is always a chain without root."""
    assert isinstance(target, Chain) and target.root is None
    first = target.links[0]
    assert isinstance(first, (Name, Call))
    return first, target.links[1:]  # type: ignore[return-value]


def target_error(assignment: Assignment) -> EplValidationError:
    """Return the error for a target that no assignment can be made to, in Esper's words."""
    return StatementRefusal(f"Unrecognized left-hand-side assignment '{expression_text(assignment.target)}'", span=assignment.span)


def is_call(assignment: Assignment) -> bool:
    """Return whether it is a call such as ``Helper.change(e)``, evaluated for what it does."""
    return assignment.value is None and isinstance(assignment.target, Chain) and isinstance(assignment.target.links[-1], Call)


def bind_index(index: Expression, name: str, scope: Scope) -> TypedExpression:
    """Return the index of ``name[index]``."""
    bound = bind_in_clause(index, scope)
    if not is_integer(bound.type):
        raise StatementRefusal(
            "Incorrect index expression for array operation, expected an expression returning an integer value but the expression "
            f"'{expression_text(index)}' returns '{bound.type.boxed}' for expression '{name}'",
            span=index.span,
        )
    return bound


def coerce_variable_value(value: TypedExpression, target: ValueType) -> TypedExpression | None:
    """Do as ``coerce_value``; variables of short and byte also take ints, cut as Java casts them, and those of BigInteger every whole
    number."""
    source = value.type
    if isinstance(target, Scalar) and isinstance(source, Scalar) and source.kind in WHOLE:
        if target.kind == "BigInteger" or (isinstance(value, Constant) and target.kind in NARROW and source.kind != "long"):
            return convert(value, target)
        if target.kind in NARROW and source.kind != "long":
            return value if source.kind == target.kind else Cast(type=target.boxed, operand=value)
    if isinstance(source, Scalar) and source.kind == "BigInteger" and target == BIG_DECIMAL:
        return convert(value, target)
    if isinstance(target, MapType) and isinstance(source, EventOf):
        return None
    return coerce_value(value, target, decimals=True)


def is_untyped(value: TypedExpression) -> bool:
    """Return whether it is what a registered Python function without a type hint returns: it goes wherever it is put."""
    return value.type == OBJECT and isinstance(value, Invoke) and value.function.startswith("user.")


def coerce_value(value: TypedExpression, target: ValueType, *, decimals: bool = False) -> TypedExpression | None:
    """Return the value as ``target`` takes it, numbers widened; None where the types do not go together.

    ``decimals``: whether other numbers are widened to BigDecimal, as for variables and elements of arrays; properties refuse them.
    """
    source = value.type
    if is_null(source) or is_untyped(value):
        return value
    if target in (OBJECT, NULL) or target.boxed == source.boxed:
        return value
    if isinstance(target, Scalar) and isinstance(source, Scalar) and is_numeric(target) and is_numeric(source):
        if decimals and target == BIG_DECIMAL and source.kind in WIDENING:
            return convert(value, target)
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
        return _coerce_array(value, target, source)
    if isinstance(target, Scalar) or isinstance(source, Scalar) or isinstance(target, (EventOf, ArrayType)):
        return None
    if isinstance(target, MapType) and isinstance(source, (ArrayType, CollectionType)):
        return None
    return value


def _coerce_array(value: TypedExpression, target: ArrayType, source: ArrayType) -> TypedExpression | None:
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
    """Return whether it is the type of ``new {…}``."""
    return isinstance(value_type, EventOf) and value_type.event_type.kind == "struct"


def _fits(source: ValueType, target: EventOf) -> bool:
    """Return whether the properties of a struct that the target has as well can be assigned to it."""
    assert isinstance(source, EventOf)
    for prop in source.event_type.properties.values():
        declared = target.event_type.property_type(prop.name)
        column = PropertyOf(type=prop.type, operand=Constant(type=source, value=None), name=prop.name)
        if declared is not None and coerce_value(column, declared) is None:
            return False
    return True


def coerce_column_value(
    assignment: Assignment, value: TypedExpression, target: ValueType, column: str, *, decimals: bool = False
) -> TypedExpression:
    """Do as ``coerce_value``; the refusal speaks of the property ``column``."""
    if isinstance(target, Scalar) and target.kind == "char" and value.type == STRING:
        return Cast(type=target.boxed, operand=value)  # the first character
    converted = coerce_value(value, target, decimals=decimals)
    if converted is None:
        assert assignment.value is not None
        source = value.type if isinstance(value, Constant) else value.type.boxed
        raise refuse(
            assignment,
            f"Invalid assignment of column '{expression_text(assignment.value)}' of type '{type_name(source)}' to event property "
            f"'{column}' typed as '{type_name(target)}', column and parameter types mismatch",
        )
    return converted


# ------------------------------------------------------------------ variables


def analyse_assignment(written: Assignment, number: int, scope: Scope) -> VariableAssignment:
    """Return one assignment to a variable; raise EplValidationError in Esper's words."""
    if written.value is None:
        return VariableAssignment("call", _side_effect(written, number, scope))
    value = bind_in_clause(written.value, scope)
    first, rest = split_target(written.target)
    _check_target(written, first, rest)
    variable = scope.catalog.variables.get(first.name)
    if variable is None and first.name in scope.catalog.tables:
        raise StatementRefusal(
            "Table access expression not allowed on the left hand side, please remove the table prefix", span=written.span)
    if variable is None:
        raise refuse(written, f"Variable by name '{first.name}' has not been created or configured")
    check_variable(variable, scope.catalog, written.span)
    if variable.constant:
        raise refuse(written, f"Variable by name '{variable.name}' is declared constant and may not be set")
    target = VariableValue(name=variable.name, type=variable.type)
    if isinstance(first, Call):
        _check_key(written, value, variable)
    if not rest:
        return VariableAssignment("value", _whole(written, value, variable), target)
    if isinstance(rest[0], Index):
        return _element(written, value, rest[0], target, scope)
    if isinstance(rest[0], Name):
        return _property(written, value, rest[0].name, target)
    raise EplUnsupportedError(f"Assigning to '{expression_text(written.target)}' is not supported", span=written.span)


def _side_effect(written: Assignment, number: int, scope: Scope) -> TypedExpression:
    """Return an expression without ``=``, which is evaluated for what it does to the one variable that it reads."""
    bound = bind_in_clause(written.target, scope)
    read = {node.name for node in bound.walk() if isinstance(node, VariableValue)}
    if len(read) != 1:
        raise refuse(written, "Assignment expression must receive a single variable value")
    variable = scope.catalog.variables[read.pop()]
    check_variable(variable, scope.catalog, written.span)
    if variable.constant:
        raise refuse(written, f"Variable by name '{variable.name}' is declared constant and may not be set")
    if isinstance(bound, VariableValue):
        raise refuse(written, f"Missing variable assignment expression in assignment number {number}")
    return bound


def _check_target(written: Assignment, first: Name | Call, rest: tuple[Name | Call | Index, ...]) -> None:
    """Targets are ``v``, ``v[i]``, ``v.property`` and, by its text, ``v('key')``."""
    if not rest or (len(rest) == 1 and isinstance(first, Name) and isinstance(rest[0], (Name, Index))):
        return
    if len(rest) == 2 and isinstance(rest[0], Name) and isinstance(rest[1], Index):
        raise refuse(written, f"Variable by name '{rest[0].name}' has not been created or configured")
    raise target_error(written)


def _whole(written: Assignment, value: TypedExpression, variable: Variable) -> TypedExpression:
    converted = coerce_variable_value(value, variable.type)
    if converted is not None:
        return converted
    source = type_name(value.type if isinstance(value, Constant) else value.type.boxed)
    if isinstance(variable.type, EventOf):
        event_type = variable.type.event_type
        raise refuse(
            written,
            f"Variable '{variable.name}' of declared event type '{event_type.name}' underlying type '{type_name(variable.type)}' "
            f"cannot be assigned a value of type '{source}'",
        )
    raise refuse(
        written, f"Variable '{variable.name}' of declared type {type_name(variable.type)} cannot be assigned a value of type {source}"
    )


def _check_key(written: Assignment, value: TypedExpression, variable: Variable) -> None:
    """``v('key') = x`` is ``v = x`` to Esper, which loses the key: refused in its words where that fails, else as not supported."""
    target = Chain(links=(Name(name=variable.name),), span=written.target.span)
    _whole(attrs.evolve(written, target=target), value, variable)
    raise EplUnsupportedError(
        f"Assigning to '{expression_text(written.target)}' is not supported", span=written.span, hint="assign the whole map"
    )


def _element(written: Assignment, value: TypedExpression, link: Index, target: VariableValue, scope: Scope) -> VariableAssignment:
    if not isinstance(target.type, ArrayType) or len(link.arguments) != 1:
        raise refuse(written, f"Variable '{target.name}' is not an array")
    index = bind_index(link.arguments[0], target.name, scope)
    assigned = coerce_column_value(written, value, target.type.element, target.name, decimals=True)
    return VariableAssignment("element", assigned, target, index=index)


def _property(written: Assignment, value: TypedExpression, name: str, target: VariableValue) -> VariableAssignment:
    if not isinstance(target.type, EventOf):
        raise refuse(written, f"Variable by name '{target.name}' does not have a property named '{name}'")
    declared = target.type.event_type.property_type(name)
    if declared is None:
        raise refuse(written, f"Variable by name '{target.name}' the property '{name}' is not writable")
    return VariableAssignment("property", coerce_column_value(written, value, declared, name), target, name)


__all__ = [
    "analyse_assignment",
    "assignment_text",
    "bind_index",
    "coerce_column_value",
    "coerce_value",
    "coerce_variable_value",
    "is_call",
    "is_struct",
    "is_untyped",
    "refuse",
    "set_scope",
    "split_target",
    "target_error",
]
