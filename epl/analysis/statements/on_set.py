"""on T set variable = value, …: plan and refusals."""
from __future__ import annotations

from epl.analysis.clauses.assignments import analyse_assignment, set_scope
from epl.analysis.clauses.from_clause.streams import analyse_trigger
from epl.catalog import Catalog
from epl.event_types import EventOf, EventType, Property
from epl.plan.assignments import VariableAssignment
from epl.plan.expressions import PropertyOf, TypedExpression, VariableValue
from epl.plan.stores.on_statements import OnSetPlan
from epl.syntax import OnSet, Statement


def analyse_on_set(statement: Statement, catalog: Catalog, name: str) -> OnSetPlan:
    """Return the plan; its output is one row of the new values."""
    body = statement.body
    assert isinstance(body, OnSet)
    stream, seen = analyse_trigger(body.trigger.source, catalog, statement.declarations)
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
            outputs[f"{step.variable.name}.{step.property}"] = _variable_property(step.variable, step.property)
    return outputs


def _variable_property(variable: VariableValue, name: str) -> TypedExpression:
    assert isinstance(variable.type, EventOf)
    property_type = variable.type.event_type.property_type(name)
    assert property_type is not None
    return PropertyOf(type=property_type.boxed, operand=variable, name=name)


__all__ = ["analyse_on_set"]
