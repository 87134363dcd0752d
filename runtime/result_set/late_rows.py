"""Whether rows would be others if they were made later than their events come."""
from __future__ import annotations

from epl.plan.expressions import ContextValue, CurrentTime, Invoke, Previous, Prior, SubqueryValue, TypedExpression, VariableValue
from epl.plan.result_set import ResultSetPlan
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.walk import plan_expressions

CHANGING = (ContextValue, CurrentTime, Previous, Prior, SubqueryValue, TableKeys, TableValue, VariableValue)
REGISTERED = ("user.", "python.")
"""How the keys of functions begin that a user has registered, or whose class."""


def may_change(plan: ResultSetPlan) -> bool:
    """Return whether columns, having or the order read anything but the events themselves; of joins always: a row of a table may change."""
    return plan.arity > 1 or any(map(_changes, (node for each in plan_expressions(plan) for node in each.walk())))


def _changes(node: TypedExpression) -> bool:
    return isinstance(node, CHANGING) or (isinstance(node, Invoke) and node.function.startswith(REGISTERED))


__all__ = ["may_change"]
