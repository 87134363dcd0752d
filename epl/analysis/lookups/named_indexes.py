"""Which index of ``create index`` answers conditions.

Esper 9.0.0 was asked, since the choice shows in the order of rows and in what may be undeployed (docs/design/lookups.md).
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import attrs

from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.lookups.conditions import EqualKey, ListKey, LookupCondition, RangeKey, SpaceKey
from epl.catalog import Catalog
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.join.lookups import IndexPlan, LookupPlan, NamedIndex
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow

BUST = "bust"


@attrs.frozen
class NamedIndexes:
    """Those of a window or table. ``primary``: that of a table's own key, which takes part in the choice. ``preferred``: the names in
    ``@Hint('index(a, b, bust)')``, of which the first that answers is taken; after ``bust`` no other may be. ``unique``: the properties of
    which a window has one row for each combination of values."""

    indexes: tuple[NamedIndex, ...] = ()
    preferred: tuple[str, ...] = ()
    primary: NamedIndex | None = None
    unique: frozenset[str] = frozenset()
    is_table: bool = False

    def may_sort(self, equal: Set[str | None]) -> bool:
        """Return whether Esper may look rows up by ranges, too, where these properties are equal to something: it makes no index of its own
        for a table, and one of the unique properties alone where all of them are."""
        return bool(self.indexes) if self.is_table else not (self.unique and self.unique <= equal)

    def choose(self, conditions: Sequence[LookupCondition]) -> NamedIndex | None:
        """Return the index that answers; None where none does. Raise EplValidationError where the hint says so."""
        keys = _Keys(conditions)
        every = self.indexes if self.primary is None else (self.primary, *self.indexes)
        answering = [index for index in every if keys.can_use(index)]
        for name in self.preferred:
            if name.lower() == BUST:
                raise StatementRefusal("Failed to plan index access, index hint busted out")
            for index in answering:
                if index.name == name or (name.lower() == "explicit" and index is min(answering, key=_by_columns)):
                    return index
        return min(answering, key=keys.rank, default=None)


class _Keys:
    """What conditions look up."""

    def __init__(self, conditions: Sequence[LookupCondition]) -> None:
        lookups = [condition.lookup for condition in conditions]
        self._equal = {each.key for each in lookups if isinstance(each, EqualKey)}
        self._ranges = {each.key for each in lookups if isinstance(each, RangeKey) and not each.computed}
        alone = not (self._equal or self._ranges)
        self._listed = {each.key for each in lookups if isinstance(each, ListKey)} if alone else set()
        self._spaces = {(each.kind, each.keys) for each in lookups if isinstance(each, SpaceKey)}

    def can_use(self, index: NamedIndex) -> bool:
        plan = index.plan
        if plan.region is not None:
            return (plan.region.kind, plan.space) in self._spaces
        if self._ranges.issuperset(index.ranges) and self._equal.issuperset(plan.hash):
            return True
        return len(plan.hash) == 1 and not index.ranges and self._listed.issuperset(plan.hash)

    def rank(self, index: NamedIndex) -> tuple[object, ...]:
        """Spatial indexes first, then one over just the keys that are looked up, then unique ones, then by their columns."""
        plan = index.plan
        whole = self._equal == set(plan.hash) and self._ranges == set(index.ranges)
        return plan.region is None, not whole, not plan.unique, _by_columns(index)


def _by_columns(index: NamedIndex) -> tuple[list[str], list[str]]:
    return _names(index.plan.hash), _names(index.ranges)


def _names(keys: Iterable[TypedExpression]) -> list[str]:
    return [key.name if isinstance(key, StreamProperty) else str(key) for key in keys]


def catalog_indexes(store: NamedWindow | Table, catalog: Catalog, preferred: tuple[str, ...] = ()) -> NamedIndexes:
    """Return the indexes of a window or table, as those of the catalog."""
    if isinstance(store, Table):
        return NamedIndexes(catalog.store_indexes(store), preferred, _primary(store) if store.keys else None, is_table=True)
    return NamedIndexes(catalog.store_indexes(store), preferred, unique=store.unique)


def in_order_of_store(lookup: LookupPlan, named: NamedIndexes) -> LookupPlan:
    """Return the look-up of a table, or of a named window that sub-queries read by its indexes.

    Rows come in its order where Esper reads all of them, since it makes no indexes of its own there: none that was created answers, nor
    the primary key.
    """
    primary, index = named.primary, lookup.index
    is_primary = index is not None and primary is not None and index.hash == primary.plan.hash and not index.ranges
    if index is None or lookup.named is not None or is_primary:
        return lookup
    return attrs.evolve(lookup, in_order=True)


def _primary(table: Table) -> NamedIndex:
    keys = tuple(StreamProperty(type=column.type, stream=0, name=column.name) for column in table.keys)
    return NamedIndex(name=table.name, store=table, plan=IndexPlan(hash=keys, unique=True), columns=())


NO_INDEXES = NamedIndexes()

__all__ = ["NO_INDEXES", "NamedIndexes", "catalog_indexes", "in_order_of_store"]
