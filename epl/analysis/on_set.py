"""on T set variable = value, …: plan and refusals."""
from __future__ import annotations

import attrs

from epl.analysis.assignments import (
    assigned_column,
    assigned_to_variable,
    bind_index,
    bind_value,
    is_call,
    path_of,
    refuse,
    set_scope,
    unrecognized,
)
from epl.analysis.conversions import type_name
from epl.analysis.expressions import bind_in_clause
from epl.analysis.scope import Scope
from epl.analysis.streams import analyse_stream
from epl.catalog import Catalog, Variable
from epl.errors import EplUnsupportedError
from epl.event_types import EventType, Property
from epl.plan.assignments import OnSetPlan, VariableAssignment
from epl.plan.expressions import Constant, PropertyOf, TypedExpression, VariableValue
from epl.syntax import Assignment, OnSet, Statement
from epl.syntax.expressions import Call, Chain, Index, Name
from epl.unparse import expression_text
from epl.value_types import ArrayType, EventOf


def analyse_on_set(statement: Statement, catalog: Catalog, name: str) -> OnSetPlan:
    """The plan; its output is one row of the new values."""
    body = statement.body
    assert isinstance(body, OnSet)
    stream, seen = analyse_stream(body.trigger.source, catalog, statement.declarations)
    scope = set_scope(catalog, seen, statement.declarations)
    assignments = tuple(analyse_assignment(a, number, scope) for number, a in enumerate(body.assignments))
    outputs = _outputs(assignments)
    properties = {n: Property(n, value.type) for n, value in outputs.items()}
    return OnSetPlan(EventType(f"{name}_out", "row", properties, is_bus=False), stream, assignments, tuple(outputs.values()))


def _outputs(assignments: tuple[VariableAssignment, ...]) -> dict[str, TypedExpression]:
    """Column → what it reads, one for each target: ``v`` or ``v.property``."""
    outputs: dict[str, TypedExpression] = {}
    for step in assignments:
        if step.variable is None:
            continue
        if step.property is None:
            outputs[step.variable.name] = step.variable
        else:
            outputs[f"{step.variable.name}.{step.property}"] = _property_of(step.variable, step.property)
    return outputs


def _property_of(variable: VariableValue, name: str) -> TypedExpression:
    assert isinstance(variable.type, EventOf)
    found = variable.type.event_type.type_of(name)
    assert found is not None
    return PropertyOf(type=found.boxed, operand=variable, name=name)


def analyse_assignment(written: Assignment, number: int, scope: Scope) -> VariableAssignment:
    """One assignment to a variable; raises EplValidationError in Esper's words."""
    if is_call(written):
        return VariableAssignment("call", bind_in_clause(written.target, scope))
    value = bind_value(written, number, scope)
    first, rest = path_of(written.target)
    _check_target(written, first, rest)
    variable = scope.catalog.variables.get(first.name)
    if variable is None:
        raise refuse(written, f"Variable by name '{first.name}' has not been created or configured")
    if variable.constant:
        raise refuse(written, f"Variable by name '{variable.name}' is declared constant and may not be set")
    target = VariableValue(name=variable.name, type=variable.type)
    if isinstance(first, Call):
        _keyed(written, value, variable)
    if not rest:
        return VariableAssignment("value", _whole(written, value, variable), target)
    if isinstance(rest[0], Index):
        return _element(written, value, rest[0], target, scope)
    if isinstance(rest[0], Name):
        return _property(written, value, rest[0].name, target)
    raise EplUnsupportedError(f"Assigning to '{expression_text(written.target)}' is not supported", span=written.span)


def _check_target(written: Assignment, first: Name | Call, rest: tuple[Name | Call | Index, ...]) -> None:
    """Targets are ``v``, ``v[i]``, ``v.property`` and, by its text, ``v('key')``."""
    if not rest or (len(rest) == 1 and isinstance(first, Name) and isinstance(rest[0], (Name, Index))):
        return
    if len(rest) == 2 and isinstance(rest[0], Name) and isinstance(rest[1], Index):
        raise refuse(written, f"Variable by name '{rest[0].name}' has not been created or configured")
    raise unrecognized(written)


def _whole(written: Assignment, value: TypedExpression, variable: Variable) -> TypedExpression:
    found = assigned_to_variable(value, variable.type)
    if found is not None:
        return found
    given = type_name(value.type if isinstance(value, Constant) else value.type.boxed)
    if isinstance(variable.type, EventOf):
        event_type = variable.type.event_type
        raise refuse(
            written,
            f"Variable '{variable.name}' of declared event type '{event_type.name}' underlying type '{type_name(variable.type)}' "
            f"cannot be assigned a value of type '{given}'",
        )
    raise refuse(
        written, f"Variable '{variable.name}' of declared type {type_name(variable.type)} cannot be assigned a value of type {given}"
    )


def _keyed(written: Assignment, value: TypedExpression, variable: Variable) -> None:
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
    return VariableAssignment("element", assigned_column(written, value, target.type.element, target.name), target, index=index)


def _property(written: Assignment, value: TypedExpression, name: str, target: VariableValue) -> VariableAssignment:
    if not isinstance(target.type, EventOf):
        raise refuse(written, f"Variable by name '{target.name}' does not have a property named '{name}'")
    declared = target.type.event_type.type_of(name)
    if declared is None:
        raise refuse(written, f"Variable by name '{target.name}' the property '{name}' is not writable")
    return VariableAssignment("property", assigned_column(written, value, declared, name), target, name)
