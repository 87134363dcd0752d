"""Rows of group variables that conditions name: ``B[0].x``, ``B.firstOf().x``, ``B.lastOf().x``."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.expressions import Constant, Element, Invoke, PropertyOf, StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Condition


def group_row(condition: Condition, variables: Sequence[str], node: TypedExpression) -> tuple[int, int, str] | None:
    """Return (variable, place among its rows or -1 for the last, property), or None for another expression."""
    if not isinstance(node, PropertyOf):
        return None
    of: TypedExpression = node.operand
    if isinstance(of, Element) and isinstance(of.index, Constant) and isinstance(of.index.value, int) and of.index.value >= 0:
        place, of = of.index.value, of.operand
    elif isinstance(of, Invoke) and of.function in ("enum.lastOf", "enum.firstOf") and len(of.arguments) == 1:
        place, of = (-1 if of.function == "enum.lastOf" else 0), of.arguments[0]
    else:
        return None
    if isinstance(of, StreamProperty) and condition.operands[of.stream].kind == "groups" and of.name in variables:
        return variables.index(of.name), place, node.name
    return None


__all__ = ["group_row"]
