"""One condition between streams → what an index could look up of it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

import attrs

from epl.analysis.expressions.rewriting import rewrite
from epl.event_types import EventOf
from epl.functions.spatial import METHODS
from epl.plan.exact import exact_operand
from epl.plan.expressions import (
    Arithmetic,
    Concatenation,
    Constant,
    Convert,
    DynamicProperty,
    Element,
    Equality,
    Invoke,
    Logic,
    MapValue,
    Membership,
    Negation,
    Order,
    PropertyOf,
    Range,
    StreamEvent,
    StreamProperty,
    TypedExpression,
)
from epl.plan.join.lookups import Bounds
from epl.value_types import BOOLEAN, BOXED_BOOLEAN, NULL, MapType, Scalar, is_null

NUMBERS = ("byte", "short", "int", "long", "float", "double")
WHOLE = ("byte", "short", "int", "long", "BigInteger")
"""Kinds of numbers of which none is infinite or NaN: they are converted to BigDecimal without errors."""
SORTED = (*NUMBERS, "BigInteger", "BigDecimal", "String")
"""Kinds of values that are in one order."""
HASHED = (*SORTED, "boolean", "char", "Date", "Calendar", "LocalDateTime", "LocalDate", "LocalTime", "ZonedDateTime", "OffsetDateTime")
"""Kinds of values whose keys are equal just where the values are."""
LISTED = (*NUMBERS, "BigInteger", "String", "boolean", "char")
COARSE = ("", "Object")
"""Kinds of values that an index finds by a part of what makes them equal: the condition is evaluated as well."""
COMPUTED = (StreamProperty, StreamEvent, PropertyOf, DynamicProperty, Element, MapValue, Convert, Arithmetic, Negation, Concatenation,
            Constant)  # fmt: skip
"""What a key of an index consists of: it depends on the row alone, and never raises."""
SPATIAL = {method.key: method for method in METHODS}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@attrs.frozen
class EqualKey:
    """``key = value``; ``null_safe``: ``key is value``."""

    key: TypedExpression
    value: TypedExpression
    null_safe: bool = False


@attrs.frozen
class RangeKey:
    """``low < key < high``. ``computed``: the key is more than a property."""

    key: TypedExpression
    bounds: Bounds
    computed: bool = False


@attrs.frozen
class ListKey:
    """``key in (values)``."""

    key: TypedExpression
    values: tuple[TypedExpression, ...]


@attrs.frozen
class SeveralKeys:
    """``value in (keys)``."""

    keys: tuple[TypedExpression, ...]
    value: TypedExpression


@attrs.frozen
class SpaceKey:
    """``point(keys).inside(rectangle(values))``, ``rectangle(keys).intersects(rectangle(values))``: ``kind`` of the spatial index."""

    kind: str
    keys: tuple[TypedExpression, ...]
    values: tuple[TypedExpression, ...]


@attrs.frozen
class LookupCondition:
    """``lookup``: None where no index helps. ``exact``: whether all rows that an index gives satisfy the condition."""

    expression: TypedExpression
    lookup: EqualKey | RangeKey | ListKey | SeveralKeys | SpaceKey | None = None
    exact: bool = True


def conjuncts(expression: TypedExpression | None) -> tuple[TypedExpression, ...]:
    """Return the operands of ``and`` at any depth, in order; none of no expression. All are true where the expression is."""
    if expression is None:
        return ()
    if isinstance(expression, Logic) and expression.operator == "and":
        return tuple(part for operand in expression.operands for part in conjuncts(operand))
    return (expression,)


def find_conditions(
    expressions: Sequence[TypedExpression], sought: int, known: frozenset[int], *, ranges: bool = True
) -> Iterator[LookupCondition]:
    """Yield what rows of stream ``sought`` must satisfy, given the streams ``known``. ``ranges``: whether Esper may look them up."""
    sides = _Sides(sought, known, ranges)
    for expression in expressions:
        yield from sides.conditions(expression)


class _Sides:
    """Distinguishes keys of the row sought from values that are known."""

    def __init__(self, sought: int, known: frozenset[int], ranges: bool) -> None:
        self._sought = sought
        self._known = known
        self._ranges = ranges

    def conditions(self, node: TypedExpression) -> Iterator[LookupCondition]:
        if isinstance(node, Equality):
            yield self._equality(node)
        elif isinstance(node, Order):
            yield self._order(node)
        elif isinstance(node, Range):
            yield from self._range(node)
        elif isinstance(node, (Membership, Logic)):
            yield self._list(node)
        elif isinstance(node, Invoke) and node.function in SPATIAL:
            yield self._space(node)
        else:
            yield LookupCondition(node)

    # ------------------------------------------------------------------ sides

    def _is_known(self, node: TypedExpression) -> bool:
        return node.streams <= self._known

    def _is_key(self, node: TypedExpression) -> bool:
        """Return whether an index can hold the expression's value of each row."""
        return node.streams == {self._sought} and all(_may_be_in_key(part) for part in node.walk())

    def _is_sorted(self, node: TypedExpression) -> bool:
        """Return whether an index can hold the expression's value of each row in order."""
        return scalar_kind(node) in SORTED and self._is_key(node)

    @staticmethod
    def _may_be_hashed(node: TypedExpression) -> bool:
        return scalar_kind(node) in HASHED or _is_coarse(node)

    def _key(self, node: TypedExpression) -> TypedExpression:
        """Return the expression over a row alone."""
        return rewrite(exact_operand(node), _over_row)

    # ------------------------------------------------------------------ kinds of conditions

    def _equality(self, node: Equality) -> LookupCondition:
        kind = scalar_kind(node.left)
        if node.null_safe and not node.negated and is_null(node.right.type) and self._is_key(node.left) and self._may_be_hashed(node.left):
            return LookupCondition(node, EqualKey(self._key(node.left), node.right, null_safe=True), kind not in COARSE)
        if node.negated or kind != scalar_kind(node.right) or not (kind in HASHED or (_is_coarse(node.left) and _is_coarse(node.right))):
            return LookupCondition(node)
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if self._is_key(one) and self._is_known(other) and not is_null(other.type):
                exact = kind not in COARSE and not node.arrays
                return LookupCondition(node, EqualKey(self._key(one), exact_operand(other), node.null_safe), exact)
        return LookupCondition(node)

    def _order(self, node: Order) -> LookupCondition:
        sides = ((node.left, node.right, node.operator), (node.right, node.left, MIRRORED[node.operator]))
        for one, other, operator in sides:
            if self._is_sorted(one) and self._is_known(other):
                value, included = exact_operand(other), operator[1:] == "="
                bounds = Bounds(low=value, include_low=included) if operator[0] == ">" else Bounds(high=value, include_high=included)
                return LookupCondition(node, RangeKey(self._key(one), bounds, is_computed(one)))
        return LookupCondition(node)

    def _range(self, node: Range) -> Iterator[LookupCondition]:
        ends = (node.low, node.high)
        if self._is_sorted(node.value) and all(map(self._is_known, ends)):
            bounds = Bounds(
                low=exact_operand(node.low), high=exact_operand(node.high), include_low=node.include_low, include_high=node.include_high,
                swap=node.swap, outside=node.negated)
            computed = is_computed(node.value)
            yield LookupCondition(node if computed else _with_ends(node), RangeKey(self._key(node.value), bounds, computed))
            return
        if self._ranges and self._is_known(node.value) and all(self._is_sorted(end) and not is_computed(end) for end in ends):
            # so does Esper: its sorted indexes of the two ends find rows of which the low end comes first, whatever the condition says
            for end, sign, included in ((node.low, ">", node.include_low), (node.high, "<", node.include_high)):
                operator = f"{sign}=" if included else sign
                yield self._order(Order(type=BOXED_BOOLEAN, operator=operator, left=node.value, right=end))  # type: ignore[arg-type]
            if not node.negated:
                return
        yield LookupCondition(node)

    def _list(self, node: Membership | Logic) -> LookupCondition:
        """Return what to look up of in-lists, also written as ``x = 1 or x = 2``; Esper looks up properties only."""
        pairs = list(_equal_pairs(node))
        if not pairs or any(scalar_kind(one) != scalar_kind(other) or scalar_kind(one) not in LISTED for one, other in pairs):
            return LookupCondition(node)
        for pairs_turned in (pairs, [(other, one) for one, other in pairs]):
            values, items = [value for value, _ in pairs_turned], [item for _, item in pairs_turned]
            if any(value != values[0] for value in values):
                continue
            if self._is_key(values[0]) and all(map(self._is_known, items)):
                return LookupCondition(node, ListKey(self._key(values[0]), tuple(map(exact_operand, items))))
            columns = [item for item in items if self._is_key(item) and not is_computed(item)]  # in Esper others do not count
            if columns and self._is_known(values[0]) and all(self._sought in i.streams or isinstance(i, Constant) for i in items):
                keys = tuple(dict.fromkeys(map(self._key, columns)))
                return LookupCondition(node, SeveralKeys(keys, exact_operand(values[0])))
        return LookupCondition(node)

    def _space(self, node: Invoke) -> LookupCondition:
        method = SPATIAL[node.function]
        keys, values = node.arguments[: method.coordinates], node.arguments[method.coordinates :]
        if not all(key.streams <= {self._sought} for key in keys) or not all(map(self._is_known, values)):
            return LookupCondition(node)
        return LookupCondition(node, SpaceKey(method.index, tuple(rewrite(key, _over_row) for key in keys), values))


def _with_ends(node: Range) -> TypedExpression:
    """Return the condition where it is evaluated on rows that another index gives: as Esper's index, ``not between`` finds nothing where an
    end is null."""
    ends = [end for end in (node.low, node.high) if end.type.nullable and not isinstance(end, Constant)]
    if not node.negated or not ends:
        return node
    null = Constant(type=NULL, value=None)
    there = [Equality(type=BOOLEAN, left=end, right=null, negated=True, null_safe=True) for end in ends]
    return Logic(type=node.type, operator="and", operands=(*there, node))


def _equal_pairs(node: TypedExpression) -> Iterator[tuple[TypedExpression, TypedExpression]]:
    """Yield the pairs of which one must be equal; nothing where that is not all."""
    if isinstance(node, Membership):
        if not node.negated and not any(node.spread):
            yield from ((node.value, item) for item in node.items if not is_null(item.type) and not _is_null_constant(item))
    elif isinstance(node, Logic) and node.operator == "or":
        operands = list(_disjuncts(node))
        if all(isinstance(o, Equality) and not (o.negated or o.null_safe or o.arrays) for o in operands):
            sides = [(o.left, o.right) for o in operands if isinstance(o, Equality)]
            value = next((side for side in sides[0] if all(side in pair for pair in sides)), None)
            if value is not None:
                yield from ((value, right if left == value else left) for left, right in sides)


def as_list_finds(node: TypedExpression, sought: int) -> TypedExpression:
    """Return the condition that the rows satisfy which an index gives for an in-list where null finds null; another condition as it is."""
    equalities = tuple(
        Equality(type=BOOLEAN, left=one, right=other, null_safe=True)
        for one, other in _equal_pairs(node) if sought in one.streams | other.streams)
    return Logic(type=BOOLEAN, operator="or", operands=equalities) if len(equalities) > 1 else (*equalities, node)[0]


def _disjuncts(node: TypedExpression) -> Iterator[TypedExpression]:
    if isinstance(node, Logic) and node.operator == "or":
        for operand in node.operands:
            yield from _disjuncts(operand)
    else:
        yield node


def _is_null_constant(node: TypedExpression) -> bool:
    node = exact_operand(node)
    return isinstance(node, Constant) and node.value is None


def is_computed(key: TypedExpression) -> bool:
    """Return whether a key is more than a property."""
    return any(isinstance(part, (Arithmetic, Negation, Concatenation)) for part in key.walk())


def _may_be_in_key(node: TypedExpression) -> bool:
    if not isinstance(node, COMPUTED):
        return False
    if isinstance(node, StreamProperty):
        return node.computed is None
    if isinstance(node, (Arithmetic, Negation)):
        return scalar_kind(node) in NUMBERS
    if isinstance(node, Constant):
        return isinstance(node.value, (bool, int, float, str))
    if isinstance(node, (Element, MapValue)):
        return _is_fixed(node.index if isinstance(node, Element) else node.key)
    if isinstance(node, Convert):
        return scalar_kind(node) in NUMBERS or scalar_kind(node.operand) in WHOLE
    return True


def _is_coarse(node: TypedExpression) -> bool:
    return scalar_kind(node) in COARSE and not isinstance(node.type, (EventOf, MapType))


def _is_fixed(node: TypedExpression) -> TypeGuard[Constant]:
    return isinstance(node, Constant) and node.value is not None


def _over_row(node: TypedExpression) -> TypedExpression | None:
    if isinstance(node, StreamProperty):
        return attrs.evolve(node, stream=0, optional=False)
    return attrs.evolve(node, stream=0) if isinstance(node, StreamEvent) else None


def scalar_kind(node: TypedExpression) -> str:
    """Return the scalar kind (``int``, ``String``), or empty."""
    return node.type.kind if isinstance(node.type, Scalar) else ""


__all__ = ["EqualKey", "ListKey", "LookupCondition", "RangeKey", "SeveralKeys", "SpaceKey", "conjuncts", "find_conditions"]
