"""Filter expressions → what the filter index looks up and what remains to be evaluated."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import attrs

from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.scope import Scope
from epl.analysis.filters.partitions import filter_levels, partition_filter
from epl.analysis.filters.specifications import is_property
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expression_text import expression_text
from epl.plan.expressions import (
    Constant,
    ContextValue,
    Convert,
    Element,
    Equality,
    Invoke,
    Logic,
    MapValue,
    Membership,
    Order,
    Parameter,
    Previous,
    Prior,
    StreamEvent,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
    VariableValue,
)
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.streams import EqualConstants, FilterPlan, IndexKey
from epl.settings import Settings
from epl.syntax import Expression
from epl.unparse import quote_expression
from epl.value_types import NULL, ArrayType, Scalar, is_boolean

INDEXED_KINDS = ("boolean", "byte", "short", "int", "long", "char", "String", "BigInteger")
"""Kinds whose equality in Python is Java's: a hash look-up may replace the comparison."""


def bind_filters(expressions: Sequence[Expression], scope: Scope) -> tuple[TypedExpression, ...]:
    """Return the conditions, split at ``and``; each must be boolean, which is looked at before aggregations are refused."""
    bound: list[TypedExpression] = []
    aggregates: StatementRefusal | None = None
    for expression in expressions:
        try:
            typed = bind_in_clause(expression, scope)
        except StatementRefusal as refusal:
            if refusal.message != scope.aggregation_refusal:
                raise
            _check_boolean(bind_in_clause(expression, attrs.evolve(scope, aggregations=Collector(has_remove_stream=False))), expression)
            aggregates = aggregates or refusal
            continue
        _check_boolean(typed, expression)
        bound.extend(_conjuncts(typed))
    if aggregates is not None:
        raise aggregates
    return tuple(bound)


def _check_boolean(condition: TypedExpression, written: Expression) -> None:
    if not is_boolean(condition.type):
        raise EplValidationError(f"Filter expression not returning a boolean value: {quote_expression(written)}", span=written.span)


def _conjuncts(typed: TypedExpression) -> list[TypedExpression]:
    if isinstance(typed, Logic) and typed.operator == "and":
        return [c for operand in typed.operands for c in _conjuncts(operand)]
    return [typed]


def plan_filter(event_type: EventType, conditions: Sequence[TypedExpression], catalog: Catalog) -> FilterPlan:
    """Choose the condition to be looked up: the first equality with a constant or variable, else the first in-list of constants.

    Refuses a property that is compared to a constant of a wider type, as Esper's filter index does.
    """
    for condition in conditions:
        check_strict_coercion(condition, catalog.settings.filter_index_planning == "advanced")
    plan = _plan_filter(event_type, conditions, catalog.settings)
    if catalog.statement_context is None:
        return plan
    return attrs.evolve(plan, partitioned=partition_filter(event_type, conditions, filter_levels(event_type, catalog)))


def _plan_filter(event_type: EventType, conditions: Sequence[TypedExpression], settings: Settings) -> FilterPlan:
    repeats: tuple[EqualConstants, ...] = ()
    if settings.filter_index_planning != "none":
        expressions = settings.filter_index_planning == "advanced"
        conditions = _index_conditions(conditions, expressions)
        repeats = tuple(repeat for repeat in _repeats(conditions) if expressions or isinstance(repeat.value, StreamProperty))
    keys = [(i, key) for i, c in enumerate(conditions) if (key := _index_key(c)) is not None]
    if not keys:
        return FilterPlan(event_type, tuple(conditions), repeats=repeats)
    chosen, key = min(keys, key=lambda keyed: len(keyed[1].values))
    return FilterPlan(event_type, tuple(c for i, c in enumerate(conditions) if i != chosen), key, repeats)


# ------------------------------------------------------------------ in-lists of constants

NOT_INDEXED = (VariableValue, ContextValue, Invoke, Previous, Prior, SubqueryValue, TableValue, TableKeys)
"""An expression with one of these is not looked up in Esper's filter index, but evaluated for every event."""


def _index_conditions(conditions: Sequence[TypedExpression], expressions: bool) -> list[TypedExpression]:
    """Return the conditions as the index sees them. Of several ``not in`` lists for the same value only the first is looked up.

    ``expressions``: whether lists for other values than properties are.
    """
    changed: list[TypedExpression] = []
    values: list[TypedExpression] = []
    for condition in conditions:
        if isinstance(condition, Membership) and condition.negated:
            changed.append(condition if condition.value in values else _without_null_constants(condition, expressions))
            values.append(condition.value)
        else:
            changed.append(_without_null_constants(condition, expressions))
    return changed


def _without_null_constants(condition: TypedExpression, expressions: bool) -> TypedExpression:
    """``x not in (1, null)`` of constants as ``x not in (1)``: the index compares with what is there, where SQL says null of all."""
    if isinstance(condition, Logic):
        return attrs.evolve(condition, operands=tuple(_without_null_constants(o, expressions) for o in condition.operands))
    if not isinstance(condition, Membership) or not condition.negated or not _is_looked_up(condition.value):
        return condition
    if not all(_is_listed(item) for item in condition.items) or not (expressions or isinstance(condition.value, StreamProperty)):
        return condition
    kept = [(item, spread) for item, spread in zip(condition.items, condition.spread) if not _is_null_constant(item)]
    if not kept:
        return Equality(type=condition.type, left=condition.value, right=Constant(type=NULL, value=None), negated=True, null_safe=True)
    return attrs.evolve(condition, items=tuple(item for item, _ in kept), spread=tuple(spread for _, spread in kept))


def _repeats(conditions: Sequence[TypedExpression]) -> tuple[EqualConstants, ...]:
    """Return the in-lists that may hold the same constant several times; none where an ``or`` makes several paths, which deliver an event
    once.

    Of several lists for the same value the first one alone is looked up.
    """
    lists: list[EqualConstants] = []
    for condition in conditions:
        repeat = _constant_list(condition)
        if repeat is not None and all(repeat.value != other.value for other in lists):
            lists.append(repeat)
        if repeat is None and isinstance(condition, Logic) and condition.operator == "or" and not _has_constant(condition):
            return ()
    return tuple(repeat for repeat in lists if _may_repeat(repeat))


def _constant_list(condition: TypedExpression) -> EqualConstants | None:
    """Return an in-list of constants, also written as ``x = 1 or x = 2``."""
    if isinstance(condition, Membership) and not condition.negated:
        constants = EqualConstants(condition.value, condition.items, condition.spread)
    elif isinstance(condition, Logic) and condition.operator == "or":
        pairs = [_constant_comparison(operand) for operand in _disjuncts(condition)]
        value = pairs[0][0] if pairs[0] is not None else None
        if value is None or any(pair is None or pair[0] != value for pair in pairs):
            return None
        items = tuple(pair[1] for pair in pairs if pair is not None)
        constants = EqualConstants(value, items, (False,) * len(items))
    else:
        return None
    return constants if _is_looked_up(constants.value) and all(_is_listed(item) for item in constants.items) else None


def _disjuncts(condition: TypedExpression) -> list[TypedExpression]:
    if isinstance(condition, Logic) and condition.operator == "or":
        return [d for operand in condition.operands for d in _disjuncts(operand)]
    return [condition]


def _constant_comparison(condition: TypedExpression) -> tuple[TypedExpression, TypedExpression] | None:
    """(value, constant) of ``value = constant`` or ``constant = value``."""
    if isinstance(condition, Equality) and not (condition.negated or condition.null_safe or condition.arrays):
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if _is_listed(other) and not _is_constant(one):
                return one, other
    return None


def _is_looked_up(value: TypedExpression) -> bool:
    """Return whether Esper's filter index can look up the value: it is computed from the event alone."""
    return 0 in value.streams and not any(isinstance(node, NOT_INDEXED) for node in value.walk())


def _is_listed(item: TypedExpression) -> bool:
    return _is_constant(item) and not any(isinstance(node, NOT_INDEXED) for node in item.walk())


def _is_null_constant(item: TypedExpression) -> bool:
    item = _strip_widening(item)
    return isinstance(item, Constant) and item.value is None


def _has_constant(condition: Logic) -> bool:
    """``false or x``: no second path."""
    return any(_is_constant(operand) for operand in condition.operands)


def _may_repeat(repeat: EqualConstants) -> bool:
    """False where all that is listed is known to differ."""
    values = [_strip_widening(item) for item in repeat.items]
    if not all(isinstance(value, Constant) for value in values):
        return True
    written = [value.value for value in values if isinstance(value, Constant) and value.value is not None]
    return any(value in written[:n] for n, value in enumerate(written))


# ------------------------------------------------------------------ constants of a wider type

RANKS = {"byte": 0, "short": 0, "int": 0, "long": 1, "float": 2, "double": 3}
"""Kinds that Esper's filters distinguish, by width; constants up to int fit all integral values."""


def check_strict_coercion(condition: TypedExpression, expressions: bool = True) -> None:
    """Refuse ``int property = 1L``: Esper's filters do not convert the event's value. Ranges and variables are evaluated.

    ``expressions``: whether values other than properties are looked up too, as in ``cast(text, float) > 1.5``.
    """
    if isinstance(condition, Logic) and condition.operator in ("and", "or"):
        for operand in condition.operands:
            check_strict_coercion(operand, expressions)
    elif isinstance(condition, Membership):
        for item in condition.items:
            _check_pair(condition.value, item, expressions, listed=True)
    elif isinstance(condition, (Equality, Order)):
        _check_pair(condition.left, condition.right, expressions)
        _check_pair(condition.right, condition.left, expressions)


def _check_pair(one: TypedExpression, other: TypedExpression, expressions: bool, listed: bool = False) -> None:
    one, other = _strip_widening(one), _strip_widening(other)
    a_property = is_property(one)
    if one.streams != {0} or not (a_property or (expressions and _is_looked_up(one) and not _is_chain(one))):
        return
    if not (_is_constant(other) or _is_independent(other)):
        return
    value = other.type.element if isinstance(other.type, ArrayType) else other.type
    if isinstance(other, Constant) and other.written is not None:
        value = other.written
    if not isinstance(one.type, Scalar) or not isinstance(value, Scalar) or not (_is_number(one.type) and _is_number(value)):
        return
    if not _fits(value.kind, one.type.kind):
        literal = isinstance(other, Constant) and not a_property and not listed
        raise StatementRefusal(
            f"Implicit conversion from datatype '{value.kind if literal else value.boxed}' to '{one.type.boxed}' for property "
            f"'{expression_text(one)}' is not allowed (strict filter type coercion)",
        )


def _is_number(value: Scalar) -> bool:
    return value.kind in RANKS or value.kind in ("BigInteger", "BigDecimal")


def _fits(kind: str, sought: str) -> bool:
    """Return whether a value of the kind converts to the kind that is looked up without a loss, as Esper's filters see it."""
    if sought == "BigDecimal":
        return True
    if sought == "BigInteger":
        return kind == "BigInteger" or RANKS.get(kind, RANKS["double"]) <= RANKS["long"]
    return kind in RANKS and RANKS[kind] <= RANKS[sought]


def _is_chain(value: TypedExpression) -> bool:
    """Return whether it reads an element by an index or a key that is computed, which Esper evaluates for every event."""
    return any(isinstance(node, (Element, MapValue)) and not is_property(node) for node in value.walk())


def _strip_widening(value: TypedExpression) -> TypedExpression:
    """Return what is there before the comparison's own widening."""
    return value.operand if isinstance(value, Convert) else value


def _is_constant(value: TypedExpression) -> bool:
    """Return whether all that the value consists of is constants and substitution parameters, and there is something."""
    leaves = [node for node in value.walk() if not tuple(node.children())]
    return bool(leaves) and all(isinstance(node, (Constant, Parameter)) for node in leaves)


def _is_independent(value: TypedExpression) -> bool:
    """Return whether it is of other events, tags of a pattern, and of the context alone."""
    parts = list(value.walk())
    if 0 in value.streams or any(isinstance(part, NOT_INDEXED) and not isinstance(part, ContextValue) for part in parts):
        return False
    return any(isinstance(part, (StreamProperty, StreamEvent, ContextValue)) for part in parts)


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
