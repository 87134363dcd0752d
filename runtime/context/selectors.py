"""Which partitions of a context an iterator, a query or a listener is about."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from epl.plan.contexts import CategoryLevel, Context, ContextLevel, HashLevel, KeyedLevel, LifetimeLevel
from runtime.context.branches import Branch
from windows.event import Event
from windows.keys import freeze


@attrs.frozen
class ContextPartition:
    """A partition as callers see it. ``id``: ``context.id``; ``properties``: what ``context.`` gives, by the text behind it.

    >>> ContextPartition(0, {"name": "PerUser", "id": 0, "key1": "u1"}).properties["key1"]
    'u1'
    """

    id: int
    properties: Mapping[str, Any]


class PartitionSelector:
    """Which partitions: a closed family."""

    title = "AllPartitions"

    def fits(self, level: ContextLevel) -> bool:
        """Return whether it can be asked of a level."""
        raise NotImplementedError

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        """Return whether it selects a branch of a level."""
        raise NotImplementedError


@attrs.frozen
class AllPartitions(PartitionSelector):
    def fits(self, level: ContextLevel) -> bool:
        return True

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return True


def _ids(ids: Collection[int] | None) -> frozenset[int]:
    return frozenset(ids or ())


@attrs.frozen
class PartitionsById(PartitionSelector):
    """Those with these ids."""

    ids: frozenset[int] = attrs.field(converter=_ids)
    title = "PartitionsById"

    def fits(self, level: ContextLevel) -> bool:
        return True

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return branch.partition is None or branch.partition in self.ids


def _keys(keys: Collection[Sequence[Any]] | None) -> frozenset[Any]:
    return frozenset(tuple(freeze(value) for value in key) for key in keys or ())


@attrs.frozen
class PartitionsByKey(PartitionSelector):
    """Of ``partition by`` those with these keys, each a sequence of values."""

    keys: frozenset[Any] = attrs.field(converter=_keys)
    title = "PartitionsByKey"

    def fits(self, level: ContextLevel) -> bool:
        return isinstance(level, KeyedLevel)

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        assert isinstance(level, KeyedLevel)
        names = [".".join((*level.prefix, f"key{n}")) for n in range(1, len(level.key_types) + 1)]
        return tuple(freeze(branch.properties[name]) for name in names) in self.keys


@attrs.frozen
class PartitionsByHash(PartitionSelector):
    """Of ``coalesce by`` those with these hash numbers."""

    hashes: frozenset[int] = attrs.field(converter=_ids)
    title = "PartitionsByHash"

    def fits(self, level: ContextLevel) -> bool:
        return isinstance(level, HashLevel)

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return branch.key in self.hashes


def _labels(labels: Collection[str] | None) -> frozenset[str]:
    return frozenset(labels or ())


@attrs.frozen
class PartitionsByCategory(PartitionSelector):
    """Of ``group … as label`` those with these labels."""

    labels: frozenset[str] = attrs.field(converter=_labels)
    title = "PartitionsByCategory"

    def fits(self, level: ContextLevel) -> bool:
        return isinstance(level, CategoryLevel)

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return branch.properties[".".join((*level.prefix, "label"))] in self.labels


@attrs.frozen
class PartitionsWhere(PartitionSelector):
    """Those for which ``test(properties)`` is true."""

    test: Callable[[Mapping[str, Any]], bool]
    title = "PartitionsWhere"

    def fits(self, level: ContextLevel) -> bool:
        return True

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return bool(self.test(visible(branch.properties)))


def _paths(paths: Collection[Sequence[PartitionSelector]]) -> tuple[tuple[PartitionSelector, ...], ...]:
    return tuple(map(tuple, paths))


@attrs.frozen
class NestedPartitions(PartitionSelector):
    """Of a nested context: each path has a selector for each of its levels, outermost first; what one of the paths selects counts."""

    paths: tuple[tuple[PartitionSelector, ...], ...] = attrs.field(converter=_paths)
    title = "NestedPartitions"

    def fits(self, level: ContextLevel) -> bool:
        return False

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return False


ANY_CONTEXT = ("AllPartitions", "PartitionsWhere", "PartitionsById")
OF_KIND: Mapping[type[ContextLevel], tuple[str, ...]] = {
    KeyedLevel: ("PartitionsByKey",), HashLevel: ("PartitionsByHash",), CategoryLevel: ("PartitionsByCategory",), LifetimeLevel: (),
}


def visible(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that a statement may read, with events as they are."""
    return {name: value for name, value in properties.items() if "#" not in name}


def select(selector: PartitionSelector, context: Context, partitions: Mapping[int, Branch]) -> list[int]:
    """Return the ids of the partitions selected, in the order in which they began; raise EplRuntimeError for a selector of another kind
    of context."""
    if isinstance(selector, NestedPartitions):
        return _nested(selector, context, partitions)
    level = context.levels[-1]
    if context.is_nested:
        if not isinstance(selector, (AllPartitions, PartitionsById, PartitionsWhere)):
            raise _invalid(selector, (*ANY_CONTEXT, "NestedPartitions"))
    elif not selector.fits(level):
        raise _invalid(selector, (*ANY_CONTEXT, *OF_KIND[type(level)]))
    return [number for number, branch in partitions.items() if selector.selects(level, branch)]


def _nested(selector: NestedPartitions, context: Context, partitions: Mapping[int, Branch]) -> list[int]:
    if not context.is_nested:
        raise _invalid(selector, (*ANY_CONTEXT, *OF_KIND[type(context.levels[0])]))
    for path in selector.paths:
        if len(path) != len(context.levels):
            levels = len(context.levels)
            raise EplRuntimeError(f"Invalid context partition selector, a path of NestedPartitions has {len(path)} selectors, not {levels}")
        for each, level in zip(path, context.levels):
            if not each.fits(level):
                raise _invalid(each, (*ANY_CONTEXT, *OF_KIND[type(level)]))
    return [number for number, branch in partitions.items()
            if any(all(one.selects(level, around) for one, level, around in zip(path, context.levels, _around(branch)))
                   for path in selector.paths)]


def _around(branch: Branch) -> list[Branch]:
    """The branch and those around it, outermost first."""
    branches = [branch]
    while branches[-1].level.outer is not None:
        branches.append(branches[-1].level.outer)
    return branches[::-1]


def _invalid(selector: PartitionSelector, expected: Sequence[str]) -> EplRuntimeError:
    return EplRuntimeError(
        f"Invalid context partition selector, expected an implementation class of any of [{', '.join(expected)}] interfaces but received "
        f"{selector.title}")


def partitions_of(partitions: Mapping[int, Branch]) -> Iterator[ContextPartition]:
    """Yield the partitions as callers see them."""
    for number, branch in partitions.items():
        yield ContextPartition(number, {
            name: dict(zip(value.type.names, value.values())) if isinstance(value, Event) else value
            for name, value in visible(branch.properties).items()})


__all__ = [
    "AllPartitions", "ContextPartition", "NestedPartitions", "PartitionSelector", "PartitionsByCategory", "PartitionsByHash",
    "PartitionsById", "PartitionsByKey", "PartitionsWhere", "partitions_of", "select",
]
