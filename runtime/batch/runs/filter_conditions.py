"""The conditions of a stream's filter as kernels ask them: each by itself, none looked up."""
from __future__ import annotations

from epl.plan.expressions import Equality, Logic, StreamProperty, TypedExpression
from epl.plan.streams import FilterPlan
from epl.value_types import BOXED_BOOLEAN


def filter_conditions(plan: FilterPlan) -> tuple[TypedExpression, ...]:
    """Return all conditions, the indexed one written out again."""
    if plan.key is None:
        return plan.conditions
    prop = plan.event_type.properties[plan.key.property]
    column = StreamProperty(stream=0, name=prop.name, type=prop.type)
    tests: tuple[TypedExpression, ...] = tuple(Equality(left=column, right=v, type=BOXED_BOOLEAN) for v in plan.key.values)
    keyed = tests[0] if len(tests) == 1 else Logic(operator="or", operands=tests, type=BOXED_BOOLEAN)
    return (keyed, *plan.conditions)


__all__ = ["filter_conditions"]
