"""Which condition of a filter gives its entries their order, where nothing is looked up that does.

Esper 9.0.0 was asked: an index of ``x != v``, and one of a condition that reads one value of the entry beside the event, is a hash map of
the values; one of ``not between`` is sorted. A condition that reads several values is evaluated for one entry after the other.
"""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.expressions import Equality, Invoke, Local, Logic, Membership, Order, Range, TypedExpression
from epl.plan.filter_specifications import WalkLookup
from epl.value_types import Scalar

NUMBERS = ("byte", "short", "int", "long", "float", "double")
SORTED = (*NUMBERS, "char", "String", "BigInteger", "BigDecimal")
HASHED = (*SORTED, "boolean")
RELATION, EXPRESSION, NOT_BETWEEN, NOT_IN, UNEQUAL, IS_NOT = range(6)
"""Operators in the order in which Esper asks indexes."""


def choose_walk(conditions: Sequence[TypedExpression], first_local: int) -> WalkLookup | None:
    """Return the lookup that entries are in order of; None for that in which they start. ``first_local``: of the entry's values."""
    ranked = [each for condition in conditions if (each := _rank_condition(condition, first_local)) is not None]
    return min(ranked, key=lambda each: each[0], default=(0, None))[1]


def _rank_condition(condition: TypedExpression, first_local: int) -> tuple[int, WalkLookup | None] | None:
    """Return the operator of a condition, and what it gives; None for a condition that says nothing about the order: it does not read both
    the event and a value of the entry, calls a method, for which Esper has no index, or is an equality, which entries
    of one value satisfy."""
    values = {node for node in condition.walk() if isinstance(node, Local) and node.number >= first_local}
    if not values or 0 not in condition.streams or any(isinstance(node, Invoke) for node in condition.walk()):
        return None
    if isinstance(condition, Membership):
        return NOT_IN, None
    if isinstance(condition, Range) and condition.negated and _is_apart(condition.value, condition.low, condition.high):
        return NOT_BETWEEN, _walk(condition, condition.low, condition.high, ascending=True)
    if isinstance(condition, (Equality, Order)):
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if _is_apart(one, other):
                return _rank_comparison(condition, other)
    if isinstance(condition, Logic) or len(values) > 1:
        return EXPRESSION, None
    return EXPRESSION, _walk(condition, values.pop())


def _rank_comparison(condition: Equality | Order, other: TypedExpression) -> tuple[int, WalkLookup | None] | None:
    if isinstance(condition, Order):
        return RELATION, _walk(condition, other, ascending=True)
    if not condition.negated:
        return None
    return (IS_NOT if condition.null_safe else UNEQUAL), _walk(condition, other, null_matches=condition.null_safe)


def _walk(
    condition: TypedExpression, low: TypedExpression, high: TypedExpression | None = None, *, ascending: bool = False,
    null_matches: bool = True,
) -> WalkLookup | None:
    kinds = SORTED if ascending else HASHED
    if not all(isinstance(end.type, Scalar) and end.type.kind in kinds for end in (low, high) if end is not None):
        return None
    return WalkLookup(condition=condition, low=low, high=high, ascending=ascending, null_matches=null_matches)


def _is_apart(one: TypedExpression, *others: TypedExpression) -> bool:
    """Return whether one side is the event's, and the other sides are not."""
    return 0 in one.streams and not any(isinstance(node, Local) for node in one.walk()) and all(0 not in other.streams for other in others)


__all__ = ["choose_walk"]
