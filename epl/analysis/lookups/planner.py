"""Conditions between streams → a plan that looks up rows of one of them, given events of others."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from epl.plan.expressions import Logic, TypedExpression
from epl.plan.lookups import LookupPlan


def conjuncts(expression: TypedExpression | None) -> tuple[TypedExpression, ...]:
    """Return the operands of ``and`` at any depth, in order; none of no expression. All are true where the expression is."""
    if expression is None:
        return ()
    if isinstance(expression, Logic) and expression.operator == "and":
        return tuple(part for operand in expression.operands for part in conjuncts(operand))
    return (expression,)


def plan_lookup(conditions: Sequence[TypedExpression], sought: int, known: Iterable[int] = ()) -> LookupPlan:
    """Plan how rows of stream ``sought`` that satisfy the conditions are found once events of the streams ``known`` are.

    ``conditions``: conjuncts over the statement's streams. Those that read any other stream are not used; ``applied`` of the plan are
    those that are.
    """
    readable = {sought, *known}
    applied = tuple(condition for condition in conditions if condition.streams <= readable)
    return LookupPlan(sought=sought, conditions=applied, applied=applied)


__all__ = ["conjuncts", "plan_lookup"]
