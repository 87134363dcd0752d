"""Conditions of a filter that starts and stops with events → what is looked up, what is evaluated, and which values each entry brings.

Esper 9.0.0 was asked for the rules of null and of ends that come in the wrong order: a null among the values of ``not in`` or
``not between`` excludes nothing, and ranges take their ends in either order.
"""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.filters.walks import choose_walk
from epl.event_types import EventType
from epl.plan.expressions import (
    Arithmetic,
    Constant,
    ContextValue,
    Convert,
    CurrentTime,
    Element,
    Equality,
    Function,
    HashNumber,
    Invoke,
    IsInsertStream,
    Local,
    Logic,
    MapValue,
    Membership,
    Negation,
    Not,
    Order,
    Parameter,
    Previous,
    Prior,
    PropertyOf,
    Range,
    StreamEvent,
    StreamEvents,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
    VariableValue,
)
from epl.plan.filter_specifications import EqualLookup, FilterSpecification, ListLookup, RangeLookup
from epl.plan.stores.tables import TableKeys, TableValue
from epl.value_types import BOXED_BOOLEAN, NULL, Scalar

NUMBERS = ("byte", "short", "int", "long", "float", "double")
HASHED = (*NUMBERS, "boolean", "char", "String", "BigInteger")
"""Kinds of values that a hash table finds as Java's ``equals`` does."""
SORTED = (*NUMBERS, "char", "String", "BigInteger", "BigDecimal")
"""Kinds of values that are in one order."""
COMPUTED = (Convert, Arithmetic, Negation, Constant)
"""What the expression of a lookup, if it is not a property, consists of beside properties: of numbers, it never raises."""
READ_FOR_EACH_EVENT = (VariableValue, CurrentTime, Invoke, Function, Local, Previous, Prior, SubqueryValue, IsInsertStream, TableValue,
                       TableKeys)
"""What may differ from event to event, so that no entry brings its value."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def filter_specification(event_type: EventType, conditions: Sequence[TypedExpression]) -> FilterSpecification:
    """Return the specification of a filter with these conditions, all of which must hold. The event is stream 0; other streams (tags of a
    pattern) and the context's properties belong to the entry.
    """
    split = [part for condition in conditions for part in _conjuncts(condition)]
    return _Specification(event_type, split).specification()


def _conjuncts(condition: TypedExpression) -> list[TypedExpression]:
    if isinstance(condition, Logic) and condition.operator == "and":
        return [part for operand in condition.operands for part in _conjuncts(operand)]
    return [condition]


class _Specification:
    """Takes one condition after the other."""

    def __init__(self, event_type: EventType, conditions: Sequence[TypedExpression]) -> None:
        self._event_type = event_type
        self._conditions = conditions
        self._values: list[TypedExpression] = []
        numbers = [n.number for c in conditions for n in c.walk() if isinstance(n, Local)]
        parameters = [p for c in conditions for n in c.walk() if isinstance(n, Function) for p in n.parameters]
        self._first_local = max((*numbers, *parameters), default=-1) + 1

    def specification(self) -> FilterSpecification:
        equal: list[EqualLookup] = []
        lists: list[tuple[ListLookup, TypedExpression]] = []
        ranges: list[tuple[RangeLookup, TypedExpression]] = []
        rest: list[TypedExpression] = []
        asked: list[TypedExpression] = []
        for written in self._conditions:
            condition = self._with_values(_as_looked_up(written))
            if (key := _equal_lookup(condition)) is not None:
                equal.append(key)
            elif (coarse := _coarse_lookup(condition)) is not None:
                equal.append(coarse)
                rest.append(condition)
            elif (listed := _list_lookup(condition)) is not None:
                lists.append((listed, condition))
            elif (between := _range_lookup(condition)) is not None:
                ranges.append((between, condition))
            else:
                rest.append(condition)
                asked.append(self._with_values(written))
        chosen_list = lists[0] if lists and not equal else None
        chosen_range = min(ranges, key=_preference, default=None)
        rest += [condition for keyed in lists if keyed is not chosen_list for condition in (_as_equalities(keyed[1]),)]
        rest += [condition for ranged in ranges if ranged is not chosen_range for condition in (ranged[1],)]
        return FilterSpecification(
            event_type=self._event_type, values=tuple(self._values), first_local=self._first_local, equal=tuple(equal),
            listed=None if chosen_list is None else chosen_list[0], range=None if chosen_range is None else chosen_range[0],
            walked=None if chosen_list or chosen_range else choose_walk(asked, self._first_local), conditions=tuple(rest))

    def _with_values(self, condition: TypedExpression) -> TypedExpression:
        return rewrite(condition, self._value)

    def _value(self, node: TypedExpression) -> TypedExpression | None:
        """Return what is in the place of a part that the entry brings; None: look into it."""
        if not _belongs_to_entry(node):
            return None
        if node not in self._values:
            self._values.append(node)
        return Local(type=node.type, number=self._first_local + self._values.index(node), name="")


def _belongs_to_entry(node: TypedExpression) -> bool:
    """Return whether the whole of it is known when the entry starts, and is the entry's own."""
    parts = list(node.walk())
    if 0 in node.streams or any(isinstance(part, READ_FOR_EACH_EVENT) for part in parts):
        return False
    return any(isinstance(part, (StreamProperty, StreamEvent, StreamEvents, ContextValue)) for part in parts)


# ------------------------------------------------------------------ as a filter index compares


def _as_looked_up(condition: TypedExpression) -> TypedExpression:
    """``not in``, ``not between`` and ``in`` as Esper's filter index compares, where all but one side is the entry's or constant."""
    if isinstance(condition, Range) and not (_reads_event(condition.low) or _reads_event(condition.high)):
        if not condition.negated:
            return attrs.evolve(condition, swap=True)
        within = attrs.evolve(condition, swap=True, negated=False)
        return _both(condition, _there(condition.value), Not(type=condition.type, operand=within))
    if isinstance(condition, Membership) and condition.negated and not any(map(_reads_event, condition.items)):
        items = [item for item in condition.items if not (isinstance(item, Constant) and item.value is None)]
        if any(condition.spread) or not _is_kind(condition.value, HASHED) or not all(_same_kind(condition.value, i) for i in items):
            return condition
        others = [
            Logic(type=BOXED_BOOLEAN, operator="or", operands=(
                _absent(item), Equality(type=BOXED_BOOLEAN, left=condition.value, right=item, negated=True)))
            for item in items
        ]
        return _both(condition, _there(condition.value), *others)
    return condition


def _as_equalities(condition: TypedExpression) -> TypedExpression:
    """Return an in-list that is not looked up: equal to one of them."""
    if not isinstance(condition, Membership):
        return condition
    equalities = tuple(Equality(type=BOXED_BOOLEAN, left=condition.value, right=item) for item in condition.items)
    return equalities[0] if len(equalities) == 1 else Logic(type=condition.type, operator="or", operands=equalities)


def _both(condition: TypedExpression, *operands: TypedExpression) -> TypedExpression:
    return Logic(type=condition.type, operator="and", operands=operands)


def _there(value: TypedExpression) -> TypedExpression:
    return Equality(type=BOXED_BOOLEAN, left=value, right=Constant(type=NULL, value=None), negated=True, null_safe=True)


def _absent(value: TypedExpression) -> TypedExpression:
    return Equality(type=BOXED_BOOLEAN, left=value, right=Constant(type=NULL, value=None), null_safe=True)


# ------------------------------------------------------------------ what is looked up


def _equal_lookup(condition: TypedExpression) -> EqualLookup | None:
    if not isinstance(condition, Equality) or condition.negated or condition.arrays:
        return None
    for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if _is_event_side(one, HASHED) and _is_operand(one, other):
            return EqualLookup(expression=one, operand=other, null_matches=condition.null_safe)
    return None


def _coarse_lookup(condition: TypedExpression) -> EqualLookup | None:
    """``x is v`` of values of any other type: keys of the table may be equal where the values are not, which the condition decides."""
    if not isinstance(condition, Equality) or condition.negated or not condition.null_safe:
        return None
    one, other = condition.left, condition.right
    if not isinstance(one, StreamProperty) or one.stream or not isinstance(other, Local) or one.type.boxed != other.type.boxed:
        return None
    return EqualLookup(expression=one, operand=other, null_matches=True)


def _list_lookup(condition: TypedExpression) -> ListLookup | None:
    if not isinstance(condition, Membership) or condition.negated or any(condition.spread):
        return None
    if not _is_event_side(condition.value, HASHED) or not all(_is_operand(condition.value, item) for item in condition.items):
        return None
    return ListLookup(expression=condition.value, operands=condition.items)


def _range_lookup(condition: TypedExpression) -> RangeLookup | None:
    if isinstance(condition, Range) and not condition.negated:
        if not _is_event_side(condition.value, SORTED) or not all(_is_operand(condition.value, e) for e in (condition.low, condition.high)):
            return None
        return RangeLookup(
            expression=condition.value, low=condition.low, high=condition.high, include_low=condition.include_low,
            include_high=condition.include_high)
    if isinstance(condition, Order):
        for one, other, operator in (
            (condition.left, condition.right, condition.operator), (condition.right, condition.left, MIRRORED[condition.operator])
        ):
            if _is_event_side(one, SORTED) and _is_operand(one, other):
                included = operator[1:] == "="
                if operator[0] == ">":
                    return RangeLookup(expression=one, low=other, include_low=included)
                return RangeLookup(expression=one, high=other, include_high=included)
    return None


def _preference(ranged: tuple[RangeLookup, TypedExpression]) -> tuple[bool, int, bool]:
    """Prefer ranges whose ends entries bring, by which Esper orders these; then by the ends, as paths of filters do."""
    low, high = ranged[0].low, ranged[0].high
    return not ranged[0].is_of_entry, (low is None) + (high is None), high is None


def _is_event_side(node: TypedExpression, kinds: tuple[str, ...]) -> bool:
    if is_property(node):
        return _reads_event(node) and _is_kind(node, kinds)
    if isinstance(node, HashNumber):
        return all(_is_hashable(argument) for argument in node.arguments)
    return _reads_event(node) and _is_computed(node)


def is_property(value: TypedExpression) -> bool:
    """Return whether it is a property, also a nested one or one with a constant index or key."""
    if isinstance(value, PropertyOf):
        return is_property(value.operand)
    if isinstance(value, Element):
        return isinstance(value.index, Constant) and is_property(value.operand)
    if isinstance(value, MapValue):
        return isinstance(value.key, Constant) and is_property(value.operand)
    return isinstance(value, StreamProperty)


def _is_hashable(argument: TypedExpression) -> bool:
    """Return whether the hash of the type raises for no value."""
    if isinstance(argument, StreamProperty):
        return True
    return _is_computed(argument)


def _is_computed(node: TypedExpression) -> bool:
    return _is_kind(node, NUMBERS) and (is_property(node) or (isinstance(node, COMPUTED) and all(map(_is_computed, node.children()))))


def _is_operand(one: TypedExpression, other: TypedExpression) -> bool:
    """Constants, parameters and the entry's values, of the same kind."""
    fixed = (Constant, Parameter, Local, Convert, Arithmetic, Negation)
    return _same_kind(one, other) and all(isinstance(part, fixed) for part in other.walk())


def _reads_event(node: TypedExpression) -> bool:
    return 0 in node.streams


def _is_kind(node: TypedExpression, kinds: tuple[str, ...]) -> bool:
    return isinstance(node.type, Scalar) and node.type.kind in kinds


def _same_kind(one: TypedExpression, other: TypedExpression) -> bool:
    return isinstance(one.type, Scalar) and isinstance(other.type, Scalar) and one.type.kind == other.type.kind


__all__ = ["filter_specification", "is_property"]
