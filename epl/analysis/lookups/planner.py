"""Conditions between streams → a plan that looks up rows of one of them, given events of others.

Esper 9.0.0 was asked which conditions it looks up, since that shows in the order of rows (docs/design/lookups.md): equalities and, below
them, ranges; else an in-list; else all rows are read.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import attrs

from epl.analysis.lookups.conditions import (
    EqualKey,
    ListKey,
    LookupCondition,
    RangeKey,
    SeveralKeys,
    SpaceKey,
    conjuncts,
    find_conditions,
)
from epl.analysis.lookups.named_indexes import NO_INDEXES, NamedIndexes
from epl.plan.expressions import Convert, StreamProperty, TypedExpression
from epl.plan.join.lookups import Bounds, IndexPlan, LookupPlan, NamedIndex


class LookedUp(NamedTuple):
    """The keys for which conditions give a value, and those for which they give bounds."""

    equal: tuple[TypedExpression, ...]
    ranges: tuple[TypedExpression, ...]


def plan_lookup(
    conditions: Sequence[TypedExpression], sought: int, known: Iterable[int] = (), named: NamedIndexes = NO_INDEXES
) -> LookupPlan:
    """Plan how rows of stream ``sought`` that satisfy the conditions are found once events of the streams ``known`` are.

    ``conditions``: conjuncts over the statement's streams. Those that read any other stream are not used; ``applied`` of the plan are those
    that are. ``named``: the indexes that were created on the rows; one that answers comes before any other.
    """
    known = frozenset(known) - {sought}
    applied = tuple(condition for condition in conditions if condition.streams <= known | {sought})
    lookups = (each.lookup for each in find_conditions(applied, sought, known))
    ranges = named.may_sort({key_property(each.key) for each in lookups if isinstance(each, EqualKey)})
    return _Choice(sought, applied, list(find_conditions(applied, sought, known, ranges=ranges)), named).plan()


def key_property(key: TypedExpression) -> str | None:
    """Return the property of the row that an expression is, perhaps as another type of number."""
    while isinstance(key, Convert):
        key = key.operand
    return key.name if isinstance(key, StreamProperty) else None


def lookup_keys(conditions: Sequence[TypedExpression], sought: int, known: Iterable[int] = ()) -> LookedUp:
    """Return the keys that Esper's index over stream ``sought`` has for the conditions."""
    known = frozenset(known) - {sought}
    lookups = [each.lookup for each in find_conditions(conditions, sought, known) if each.expression.streams <= known | {sought}]
    return LookedUp(
        tuple(dict.fromkeys(each.key for each in lookups if isinstance(each, EqualKey))),
        tuple(dict.fromkeys(each.key for each in lookups if isinstance(each, RangeKey) and not each.computed)))


class _Choice:
    """Takes conditions that an index can look up, one kind after the other, out of those that are evaluated on each row."""

    def __init__(
        self, sought: int, applied: tuple[TypedExpression, ...], conditions: list[LookupCondition], named: NamedIndexes = NO_INDEXES
    ) -> None:
        self._sought = sought
        self._named = named
        self._applied = applied
        self._conditions = conditions

    def plan(self) -> LookupPlan:
        named = self._named.choose(self._conditions)
        if named is not None:
            return self._by_named(named)
        equal = list(self._equal_keys())
        key, bounds = self._range(computed=False)
        if equal or key is not None:
            index = IndexPlan(hash=tuple(each.key for each in equal), ranges=() if key is None else (key,))
            return self._build_plan(
                index=index, keys=tuple(each.value for each in equal), null_safe=tuple(each.null_safe for each in equal), bounds=bounds)
        for condition in self._conditions:
            lookup = condition.lookup
            if isinstance(lookup, ListKey):
                self._look_up(condition)
                return self._hash_lookup(IndexPlan(hash=(lookup.key,)), lookup.values)
            if isinstance(lookup, SeveralKeys):
                self._look_up(condition)
                first, *others = (IndexPlan(hash=(key,)) for key in lookup.keys)
                return self._build_plan(index=first, others=tuple(others), keys=(lookup.value,), null_safe=(False,))
        key, bounds = self._range(computed=True)
        if key is not None:  # Esper reads all rows: they stay in its order
            return self._build_plan(index=IndexPlan(ranges=(key,)), bounds=bounds, in_order=True)
        return self._build_plan()

    def _by_named(self, named: NamedIndex) -> LookupPlan:
        """Look up by an index that was created and answers."""
        index = named.plan
        own = None if named is self._named.primary else named
        if own is None:  # no statement has created it
            index = attrs.evolve(index, unique=False)
        for condition in self._conditions if index.space else ():
            space = condition.lookup
            if isinstance(space, SpaceKey) and space.keys == index.space:
                self._look_up(condition)
                return self._build_plan(index=index, named=own, keys=space.values)
        equal = [each for key in index.hash for each in self._equalities(key)]
        if len(equal) < len(index.hash):
            condition, values = next(
                (c, c.lookup.values) for c in self._conditions if isinstance(c.lookup, ListKey) and (c.lookup.key,) == index.hash)
            self._look_up(condition)
            return self._hash_lookup(index, values, own)
        bounds, used = self._bounds(index.ranges[0]) if index.ranges else (None, [])
        for condition in (*(c for c, _ in equal), *used):
            self._look_up(condition)
        return self._build_plan(
            index=index, named=own, keys=tuple(each.value for _, each in equal), null_safe=tuple(each.null_safe for _, each in equal),
            bounds=() if bounds is None else (bounds,))

    def _hash_lookup(self, index: IndexPlan, values: tuple[TypedExpression, ...], named: NamedIndex | None = None) -> LookupPlan:
        return self._build_plan(index=index, named=named, keys=values, null_safe=(False,) * len(values), listed=True)

    def _equalities(self, key: TypedExpression) -> list[tuple[LookupCondition, EqualKey]]:
        """Return the first equality of a key, if there is one."""
        return [(c, c.lookup) for c in self._conditions if isinstance(c.lookup, EqualKey) and c.lookup.key == key][:1]

    def _build_plan(self, **parts: object) -> LookupPlan:
        left = tuple(condition.expression for condition in self._conditions)
        return LookupPlan(sought=self._sought, conditions=left, applied=self._applied, **parts)  # type: ignore[arg-type]

    def _look_up(self, condition: LookupCondition) -> None:
        """Do not evaluate the condition again, unless the index may give rows that do not satisfy it."""
        if condition.exact:
            self._conditions.remove(condition)

    def _equal_keys(self) -> Iterator[EqualKey]:
        """Yield one equality for each key."""
        keys: list[TypedExpression] = []
        for condition in list(self._conditions):
            if isinstance(condition.lookup, EqualKey) and condition.lookup.key not in keys:
                keys.append(condition.lookup.key)
                self._look_up(condition)
                yield condition.lookup

    def _range(self, computed: bool) -> tuple[TypedExpression | None, tuple[Bounds, ...]]:
        """Return the first key that has two bounds, else the first with one, else the first whose values are outside of bounds."""
        keys = dict.fromkeys(c.lookup.key for c in self._conditions if isinstance(c.lookup, RangeKey) and c.lookup.computed is computed)
        choices = [(key, *self._bounds(key)) for key in keys]
        if not choices:
            return None, ()
        key, bounds, used = max(choices, key=lambda choice: _rank(choice[1]))
        for condition in used:
            self._look_up(condition)
        return key, (bounds,)

    def _bounds(self, key: TypedExpression) -> tuple[Bounds, list[LookupCondition]]:
        """Return the bounds of a key, from one condition with two, else from the first below and the first above."""
        ranges = [(c, c.lookup.bounds) for c in self._conditions if isinstance(c.lookup, RangeKey) and c.lookup.key == key]
        condition, bounds = max(ranges, key=lambda each: _rank(each[1]))
        low = next(((c, b) for c, b in ranges if b.high is None), None)
        high = next(((c, b) for c, b in ranges if b.low is None), None)
        if low is None or high is None or _rank(bounds) == 2:
            return bounds, [condition]
        return attrs.evolve(low[1], high=high[1].high, include_high=high[1].include_high), [low[0], high[0]]


def _rank(bounds: Bounds) -> int:
    return 0 if bounds.outside else 1 if bounds.low is None or bounds.high is None else 2


__all__ = ["LookedUp", "conjuncts", "key_property", "lookup_keys", "plan_lookup"]
