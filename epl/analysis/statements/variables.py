"""create variable: type, initial value and their refusals."""
from __future__ import annotations

from typing import Any

from epl.analysis.clauses.assignments import coerce_variable_value
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.scope import Scope
from epl.analysis.names.type_names import resolve_type_name
from epl.catalog import Catalog, Variable
from epl.errors import AlreadyDeclaredError, EplError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.functions.java_numbers import parse_floating, parse_whole
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.statements import CreateVariablePlan
from epl.syntax import CreateVariable
from epl.value_types import STRING, Scalar, ValueType

WHOLE = ("byte", "short", "int", "long")


def analyse_create_variable(body: CreateVariable, catalog: Catalog, name: str) -> tuple[CreateVariablePlan, Variable]:
    """Return the plan, and the variable as later statements see it."""
    if body.name in catalog.variables:
        raise AlreadyDeclaredError(f"A variable by name '{body.name}' has already been declared", "variable", body.name, span=body.span)
    if body.name in catalog.event_types:
        raise EplValidationError(f"An event type by name '{body.name}' has already been declared", span=body.span)
    value_type = _type(body, catalog)
    initial = None
    if body.value is not None:
        scope = Scope(
            catalog, (), clause="variable-assignment", allow_previous=False,
            aggregation_refusal="Aggregation functions are not allowed here",
            subquery_refusal="Subselects not allowed in the initial value of a variable",
        )
        initial = _initial(body, bind_in_clause(body.value, scope), value_type)
    value = initial.value if body.constant and isinstance(initial, Constant) else None
    output = EventType(f"{name}_out", "row", {body.name: Property(body.name, value_type)}, is_bus=False)
    plan = CreateVariablePlan(output, body.name, value_type, body.constant, initial)
    context = catalog.statement_context
    return plan, Variable(body.name, value_type, body.constant, value, context=None if context is None else context.name)


def _type(body: CreateVariable, catalog: Catalog) -> ValueType:
    written = body.type_name
    resolved = resolve_type_name(written, catalog.event_types, enums=catalog.enums)
    if resolved is None:
        raise EplValidationError(
            f"Cannot create variable '{body.name}', type '{written.name}' is not a recognized type", span=written.span or body.span
        )
    if isinstance(_innermost(resolved), EventOf) and (written.dimensions or written.parameters):
        raise EplValidationError(
            f"Cannot create variable '{body.name}', type '{written.name}' cannot be declared as an array type and cannot receive type "
            "parameters as it is an event type",
            span=written.span or body.span,
        )
    return resolved


def _innermost(value_type: ValueType) -> ValueType:
    while hasattr(value_type, "element"):
        value_type = value_type.element
    return value_type


def _initial(body: CreateVariable, value: TypedExpression, declared: ValueType) -> TypedExpression:
    """Return the initial value in the variable's type: numbers widen, a text constant is read as the variable's number or boolean."""
    if isinstance(declared, Scalar) and isinstance(value, Constant) and isinstance(value.value, str) and declared != STRING:
        return _read(body, value, declared)
    converted = coerce_variable_value(value, declared)
    if converted is not None:
        return converted
    if isinstance(declared, EventOf):
        underlying = type_name(declared).split("<")[0]
        raise StatementRefusal(
            f"Variable '{body.name}' of declared event type '{declared.event_type.name}' underlying type '{underlying}' cannot be assigned "
            f"a value of type '{_full_name(value.type)}'",
            span=body.span,
        )
    raise StatementRefusal(
        f"Variable '{body.name}' of declared type {type_name(declared)} cannot be initialized by a value of type "
        f"{type_name(value.type.boxed)}",
        span=body.span,
    )


def _full_name(value_type: ValueType) -> str:
    name = type_name(value_type.boxed)
    return name if "." in name else f"java.lang.{name}"


def _read(body: CreateVariable, value: Constant, declared: Scalar) -> TypedExpression:
    text = value.value
    parsed: Any
    if declared.kind in WHOLE:
        parsed = _parse_value(body, declared, text.strip(), parse_whole)
    elif declared.kind in ("double", "float"):
        parsed = _parse_value(body, declared, text, parse_floating)
    elif declared.kind == "boolean":
        parsed = _boolean(body, declared, text.strip())
    elif declared.kind == "char" and text:
        parsed = text[0]
    elif declared.kind in ("Object", "String"):
        return value
    else:
        raise StatementRefusal(
            f"Variable '{body.name}' of declared type {type_name(declared)} cannot be initialized by a value of type String", span=body.span
        )
    return Constant(type=declared.boxed, value=parsed)


def _boolean(body: CreateVariable, declared: Scalar, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise StatementRefusal(
            f"Variable '{body.name}' of declared type {type_name(declared)} cannot be initialized by value '{text}': "
            f"java.lang.IllegalArgumentException: Boolean value '{text}' cannot be converted to boolean",
            span=body.span,
        )
    return text.lower() == "true"


def _parse_value(body: CreateVariable, declared: Scalar, text: str, parse: Any) -> Any:
    try:
        return parse(text, declared.kind)
    except EplError as error:
        raise StatementRefusal(
            f"Variable '{body.name}' of declared type {type_name(declared)} cannot be initialized by value '{text}': "
            f"{error.message}",
            span=body.span,
        ) from None


__all__ = ["analyse_create_variable"]
