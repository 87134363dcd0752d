"""What the saved state of each aggregation must look like, by its plan: values of the types of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from epl.plan.aggregations import AggregationPlan
from epl.value_types import ArrayType, CollectionType, Scalar, ValueType
from windows.protocol import Damaged
from windows.shape import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    EVENT,
    FLOAT,
    INTEGER,
    NUMBER,
    Check,
    Shape,
    class_check,
    compile_check,
    integer,
    of_type,
    optional,
)

INTEGER_TOTAL, DECIMAL_TOTAL = class_check("an integer", int), class_check("a decimal", Decimal, int)


INT_TOTAL = integer("a sum of type int", -(1 << 31), (1 << 31) - 1)
TOTALS: Mapping[str, Check] = {"byte": INT_TOTAL, "short": INT_TOTAL, "int": INT_TOTAL, "long": INTEGER}
"""Sums of primitives wrap around in their own width."""


def state_shape(plan: AggregationPlan) -> Shape:
    """Return the shape of what an aggregation keeps of its filtered rows; a user's own aggregation may keep anything."""
    values = [of_type(each.type) for each in plan.arguments]
    make = SHAPES.get(plan.function)
    if make is None:
        return ANYTHING
    shape = make(plan, values)
    return (shape, [(values[0], COUNT)]) if plan.distinct else shape


def _sum(plan: AggregationPlan, values: Sequence[Check]) -> Shape:
    argument = plan.arguments[0].type
    kind = argument.kind if isinstance(argument, Scalar) else "double"
    if kind == "BigDecimal" or (plan.function == "avg" and kind == "BigInteger"):
        return DECIMAL_TOTAL, COUNT
    if kind in ("float", "double", "Number"):
        return FLOAT, COUNT
    return TOTALS.get(kind, INTEGER_TOTAL), COUNT


def _extreme(plan: AggregationPlan, values: Sequence[Check]) -> Shape:
    return values[0] if plan.ever else ([_not_null(values[0])], COUNT)


def _not_null(check: Check) -> Check:
    def check_value(value: Any) -> None:
        if value is None:
            raise Damaged("null where a value is expected")
        check(value)

    return check_value


def _rank_shape(plan: AggregationPlan, values: Sequence[Check]) -> Shape:
    if plan.ever and plan.function != "sorted":
        return _best(plan, values)
    return [(EVENT, tuple(values), COUNT)]


def _best(plan: AggregationPlan, values: Sequence[Check]) -> Shape:
    return optional(EVENT), [ANYTHING]


Make = Callable[[AggregationPlan, Sequence[Check]], Shape]

SHAPES: Mapping[str, Make] = {
    "count": lambda plan, values: COUNT,
    "count in a table": lambda plan, values: COUNT,
    "sum": _sum,
    "avg": _sum,
    "min": _extreme,
    "max": _extreme,
    "median": lambda plan, values: [NUMBER],
    "avedev": lambda plan, values: ([(NUMBER, COUNT)], NUMBER),
    "stddev": lambda plan, values: (NUMBER, NUMBER, COUNT),
    "first": lambda plan, values: [(EVENT, COUNT)],
    "last": lambda plan, values: [(EVENT, COUNT)],
    "window": lambda plan, values: [(EVENT, COUNT)],
    "leaving": lambda plan, values: BOOLEAN,
    "firstever": lambda plan, values: values[0],
    "lastever": lambda plan, values: values[0],
    "nth": lambda plan, values: ([values[0]], COUNT),
    "minby": _rank_shape,
    "maxby": _rank_shape,
    "sorted": _rank_shape,
    "minbyever": _best,
    "maxbyever": _best,
}
"""By function; the others' ``restore`` declare all there is to know."""


def key_shape(types: Sequence[ValueType], *, several: bool | None = None, exact: bool = True) -> Check:
    """Return the shape of a group's key as ``key_to_state`` gives it. ``several``: whether the key is a tuple, be it of one part; by their
    number if not given. ``exact``: whether it must be so."""
    checks = [of_type(each) for each in types]
    if not checks or ANYTHING in checks:
        return ANYTHING
    shape, is_tuple = compile_check((BOOLEAN, *checks)), len(types) > 1 if several is None else several
    if not exact or (not is_tuple and isinstance(types[0], (ArrayType, CollectionType))):
        return shape

    def check_key(saved: Any) -> None:
        shape(saved)
        if saved[0] is not is_tuple:
            raise Damaged(f"a key of {'several parts' if saved[0] else 'one part'}, unlike those of the statement")

    return check_key
