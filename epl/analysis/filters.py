"""Filter expressions → what the filter index looks up and what remains to be evaluated."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from epl.analysis.expressions import StatementRefusal, bind_in_clause
from epl.analysis.scope import Scope
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import Constant, Convert, Equality, Logic, Membership, Order, Parameter, StreamProperty, TypedExpression
from epl.plan.statements import FilterPlan, IndexKey
from epl.syntax import Expression
from epl.unparse import quoted
from epl.value_types import ArrayType, Scalar, is_boolean, is_null

INDEXED_KINDS = ("boolean", "byte", "short", "int", "long", "char", "String", "BigInteger")
"""Kinds whose equality in Python is Java's: a hash look-up may replace the comparison."""


def bind_filters(expressions: Sequence[Expression], scope: Scope) -> tuple[TypedExpression, ...]:
    """The conditions, split at ``and``; each must be boolean."""
    bound: list[TypedExpression] = []
    for expression in expressions:
        typed = bind_in_clause(expression, scope)
        if not (is_boolean(typed.type) or is_null(typed.type)):
            raise EplValidationError(f"Filter expression not returning a boolean value: {quoted(expression)}", span=expression.span)
        bound.extend(_conjuncts(typed))
    return tuple(bound)


def _conjuncts(typed: TypedExpression) -> list[TypedExpression]:
    if isinstance(typed, Logic) and typed.operator == "and":
        return [c for operand in typed.operands for c in _conjuncts(operand)]
    return [typed]


def plan_filter(event_type: EventType, conditions: Sequence[TypedExpression]) -> FilterPlan:
    """Choose the condition to be looked up: the first equality with a constant or variable, else the first in-list of constants.

    Refuses a property that is compared to a constant of a wider type, as Esper's filter index does.
    """
    for condition in conditions:
        check_strict_coercion(condition)
    keys = [(i, key) for i, c in enumerate(conditions) if (key := _index_key(c)) is not None]
    if not keys:
        return FilterPlan(event_type, tuple(conditions))
    chosen, key = min(keys, key=lambda found: len(found[1].values))
    return FilterPlan(event_type, tuple(c for i, c in enumerate(conditions) if i != chosen), key)


# ------------------------------------------------------------------ constants of a wider type

WIDER = {"byte": 0, "short": 0, "int": 0, "long": 1, "float": 2, "double": 3}
"""Ranks of the kinds that Esper's filters tell apart; constants up to int fit all integral properties."""


def check_strict_coercion(condition: TypedExpression) -> None:
    """Refuses ``int property = 1L``: Esper's filters do not convert the event's value. Ranges and variables are evaluated.
    """
    if isinstance(condition, Logic) and condition.operator in ("and", "or"):
        for operand in condition.operands:
            check_strict_coercion(operand)
    elif isinstance(condition, Membership):
        for item in condition.items:
            _check_pair(condition.value, item)
    elif isinstance(condition, (Equality, Order)):
        _check_pair(condition.left, condition.right)
        _check_pair(condition.right, condition.left)


def _check_pair(one: TypedExpression, other: TypedExpression) -> None:
    one, other = _unconverted(one), _unconverted(other)
    if not isinstance(one, StreamProperty) or not _is_constant(other):
        return
    given = other.type.element if isinstance(other.type, ArrayType) else other.type
    if isinstance(other, Constant) and other.written is not None:
        given = other.written
    if not isinstance(one.type, Scalar) or not isinstance(given, Scalar) or not {one.type.kind, given.kind} <= WIDER.keys():
        return
    if WIDER[given.kind] > WIDER[one.type.kind]:
        raise StatementRefusal(
            f"Implicit conversion from datatype '{given.boxed}' to '{one.type.boxed}' for property '{one.name}' is not allowed "
            "(strict filter type coercion)",
        )


def _unconverted(value: TypedExpression) -> TypedExpression:
    """What stands there before the comparison's own widening."""
    return value.operand if isinstance(value, Convert) else value


def _is_constant(value: TypedExpression) -> bool:
    """Whether all that the value is made of is constants and substitution parameters, and there is something."""
    leaves = [node for node in value.walk() if not tuple(node.children())]
    return bool(leaves) and all(isinstance(node, (Constant, Parameter)) for node in leaves)


def _index_key(condition: TypedExpression) -> IndexKey | None:
    if isinstance(condition, Equality) and not (condition.negated or condition.null_safe or condition.arrays):
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if _is_indexed_property(one) and _is_fixed(other):
                return IndexKey(one.name, (other,))
    if isinstance(condition, Membership) and not condition.negated and not any(condition.spread) and _is_indexed_property(condition.value):
        if all(_is_fixed(item) for item in condition.items):
            return IndexKey(condition.value.name, condition.items)
    return None


def _is_indexed_property(typed: TypedExpression) -> TypeGuard[StreamProperty]:
    return isinstance(typed, StreamProperty) and isinstance(typed.type, Scalar) and typed.type.kind in INDEXED_KINDS


def _is_fixed(typed: TypedExpression) -> bool:
    """Known at deploy: constants and substitution parameters (a variable may change, so it is evaluated)."""
    if isinstance(typed, Convert):
        return _is_fixed(typed.operand) and isinstance(typed.type, Scalar) and typed.type.kind in INDEXED_KINDS
    return isinstance(typed, (Constant, Parameter)) and isinstance(typed.type, Scalar) and typed.type.kind in INDEXED_KINDS


__all__ = ["bind_filters", "plan_filter"]
