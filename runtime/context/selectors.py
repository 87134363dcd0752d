"""Which partitions of a context an iterator, a query or a listener is about."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, cast

import attrs

from epl.errors import EplRuntimeError
from epl.plan.context.contexts import HASH, CategoryLevel, Context, ContextLevel, HashLevel, KeyedLevel, LifetimeLevel
from epl.reprs import brief
from runtime.context.branches import Branch
from runtime.context.selector_arguments import read_hashes, read_ids, read_keys, read_labels
from runtime.statements.callables import check_callable
from windows.event import Event
from windows.keys import freeze, key_of_values


@attrs.frozen
class PartitionIdentifier:
    """What a partition is found by on one level of its context, which is called ``context``.

    ``keys``: of ``partition by``; ``hash``: the number, of ``coalesce by``; ``label``: of ``group … as label``; ``start_time``,
    ``end_time``: of ``start … end`` and ``initiated by … terminated by``, the end as far as it is known. The others are None.
    """

    context: str
    keys: tuple[Any, ...] | None = None
    hash: int | None = None
    label: str | None = None
    start_time: int | None = None
    end_time: int | None = None


@attrs.frozen
class ContextPartition:
    """A partition of a context.

    Attributes:
        id: ``context.id`` in EPL.
        properties: What EPL has as ``context.…``, by the text after the dot.
        identifiers: How it is identified on each level, outermost first.

    Examples:
        >>> ContextPartition(0, {"name": "PerUser", "id": 0, "key1": "u1"}, (PartitionIdentifier("PerUser", keys=("u1",)),)).identifier.keys
        ('u1',)
    """

    id: int | None
    properties: Mapping[str, Any]
    identifiers: tuple[PartitionIdentifier, ...]

    @property
    def identifier(self) -> PartitionIdentifier:
        """How it is identified on the innermost level: the only one, unless the context is nested."""
        return self.identifiers[-1]


class PartitionSelector:
    """Which partitions of a context an iteration or query reads. Use one of its subclasses.

    Examples:
        >>> isinstance(PartitionsById([0]), PartitionSelector)
        True
    """

    title = "ContextPartitionSelectorAll"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        """Return whether it can be asked of a level, of a nested context or of one without others."""
        return True

    def chosen(self, level: ContextLevel, partitions: Mapping[int, Branch]) -> Iterable[int]:
        """Return the ids selected of a context of one level."""
        return [number for number, branch in partitions.items() if self.selects(level, branch)]

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        """Return whether it selects a branch of a level."""
        raise NotImplementedError


@attrs.frozen
class AllPartitions(PartitionSelector):
    """All partitions of any context.

    Examples:
        >>> AllPartitions()
        AllPartitions()
    """

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return True


@attrs.frozen
class PartitionsById(PartitionSelector):
    """Partitions by their ids, in this order. In a path of ``NestedPartitions``, the branches of an outer level are counted as they begin.

    Attributes:
        ids: The ids: one, or a collection.

    Raises:
        TypeError: An id is no int.

    Examples:
        >>> PartitionsById([1, 0]).ids, PartitionsById(0).ids
        ((1, 0), (0,))
    """

    ids: tuple[int, ...] = attrs.field(converter=read_ids)
    title = "ContextPartitionSelectorById"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        return not nested or isinstance(level, (HashLevel, LifetimeLevel))  # as Esper has it

    def chosen(self, level: ContextLevel, partitions: Mapping[int, Branch]) -> Iterable[int]:
        return [number for number in self.ids if number in partitions]

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return (branch.number if branch.partition is None else branch.partition) in self.ids


@attrs.frozen
class PartitionsByKey(PartitionSelector):
    """Partitions of ``partition by``, by their keys.

    Attributes:
        keys: The keys: a collection, in which each key is a sequence with a value for each property, or the value itself where there is
            one property; or one such value.

    Raises:
        TypeError: A key is a mapping, a set or a function.

    Examples:
        >>> PartitionsByKey([["A", 1], ["B", 2]]).keys
        (('A', 1), ('B', 2))
        >>> PartitionsByKey("c1").keys, PartitionsByKey(["A", "B"]).keys
        ((('c1',),), (('A',), ('B',)))
    """

    keys: tuple[tuple[Any, ...], ...] = attrs.field(converter=read_keys)
    title = "ContextPartitionSelectorSegmented"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        return isinstance(level, KeyedLevel)

    def chosen(self, level: ContextLevel, partitions: Mapping[int, Branch]) -> Iterable[int]:
        assert isinstance(level, KeyedLevel)
        self._check(level)
        return _find_partitions(partitions, [key_of_values(key, level.key_types) for key in self.keys])

    def _check(self, level: KeyedLevel) -> None:
        for key in self.keys:
            if len(key) != len(level.key_types):
                raise EplRuntimeError(
                    f"A key of PartitionsByKey has {len(key)} values, and 'partition by' of context '{level.name}' {len(level.key_types)}")

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        assert isinstance(level, KeyedLevel)
        self._check(level)
        return tuple(map(freeze, _branch_keys(level, branch))) in self.keys


def _find_partitions(partitions: Mapping[int, Branch], keys: Iterable[Any]) -> list[int]:
    """Return the partitions with these keys of a context of one level, in the order in which they began."""
    if not partitions:
        return []
    branches = next(iter(partitions.values())).level.branches
    return sorted(branch.partition for key in keys if (branch := branches.get(key)) is not None and branch.partition is not None)


def _branch_keys(level: KeyedLevel, branch: Branch) -> tuple[Any, ...]:
    return tuple(branch.properties[".".join((*level.prefix, f"key{n}"))] for n in range(1, len(level.key_types) + 1))


@attrs.frozen
class PartitionsByHash(PartitionSelector):
    """Partitions of ``coalesce by``, by their hash numbers.

    Attributes:
        hashes: The numbers: one, or a collection.

    Raises:
        TypeError: A number is no int.

    Examples:
        >>> PartitionsByHash({3}).hashes, PartitionsByHash(0).hashes
        ((3,), (0,))
    """

    hashes: tuple[int, ...] = attrs.field(converter=read_hashes)
    title = "ContextPartitionSelectorHash"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        return isinstance(level, HashLevel)

    def chosen(self, level: ContextLevel, partitions: Mapping[int, Branch]) -> Iterable[int]:
        return _find_partitions(partitions, self.hashes)

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return branch.key in self.hashes


@attrs.frozen
class PartitionsByCategory(PartitionSelector):
    """Partitions of ``group … as label``, by their labels.

    Attributes:
        labels: The labels: one, or a collection.

    Raises:
        TypeError: A label is no string.

    Examples:
        >>> PartitionsByCategory(["cold"]).labels, PartitionsByCategory("small").labels
        (('cold',), ('small',))
    """

    labels: tuple[str, ...] = attrs.field(converter=read_labels)
    title = "ContextPartitionSelectorCategory"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        return isinstance(level, CategoryLevel)

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return branch.properties[".".join((*level.prefix, "label"))] in self.labels


def _check_test(_: object, __: object, test: Callable[[ContextPartition], object]) -> None:
    check_callable(test, "the test of PartitionsWhere", "(partition)")


@attrs.frozen
class PartitionsWhere(PartitionSelector):
    """Partitions for which a function is true. In a path of ``NestedPartitions``, the partition has the identifiers of its level and of
    those around it, and no id on outer levels.

    Attributes:
        test: Called as ``(ContextPartition)``.

    Raises:
        TypeError: It cannot be called so.

    Examples:
        >>> user = PartitionsWhere(lambda partition: partition.properties["key1"] == "u1")
        >>> user.test(ContextPartition(0, {"key1": "u1"}, ()))
        True
    """

    test: Callable[[ContextPartition], object] = attrs.field(validator=_check_test)
    title = "ContextPartitionSelectorFiltered"

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return bool(self.test(describe_partition(branch)))


def _paths(paths: object) -> tuple[tuple[PartitionSelector, ...], ...]:
    return tuple(_path(path) for path in (cast("Iterable[object]", paths) if isinstance(paths, Iterable) else [paths]))


def _path(path: object) -> tuple[PartitionSelector, ...]:
    selectors = tuple(path) if isinstance(path, Iterable) and not isinstance(path, (str, bytes, Mapping, Set)) else (path,)
    if isinstance(path, PartitionSelector) or not all(isinstance(each, PartitionSelector) for each in selectors):
        raise TypeError(f"each path of NestedPartitions is a sequence with a selector for each level, [[outer, inner]], not {brief(path)}")
    return cast("tuple[PartitionSelector, ...]", selectors)


@attrs.frozen
class NestedPartitions(PartitionSelector):
    """Partitions of a nested context.

    Attributes:
        paths: Each path has a selector for each level, outermost first; a partition that one of the paths selects is selected.

    Raises:
        TypeError: A path is something else.

    Examples:
        >>> len(NestedPartitions([[PartitionsByKey([["A"]]), AllPartitions()]]).paths)
        1
    """

    paths: tuple[tuple[PartitionSelector, ...], ...] = attrs.field(converter=_paths)
    title = "ContextPartitionSelectorNested"

    def fits(self, level: ContextLevel, *, nested: bool = False) -> bool:
        return False

    def selects(self, level: ContextLevel, branch: Branch) -> bool:
        return False


OF_NESTED = (AllPartitions, PartitionsById, NestedPartitions)
OF_ONE_LEVEL = (AllPartitions, PartitionsWhere, PartitionsById)
OF_KIND: Mapping[type[ContextLevel], tuple[type[PartitionSelector], ...]] = {
    KeyedLevel: (PartitionsByKey,), HashLevel: (PartitionsByHash,), CategoryLevel: (PartitionsByCategory,), LifetimeLevel: (),
}


def select(selector: object, context: Context, partitions: Mapping[int, Branch]) -> list[int]:
    """Return the ids of the partitions selected, in the order in which they began, those by id in that of the ids; raise EplRuntimeError
    for a selector of another kind of context."""
    if selector is None:
        raise EplRuntimeError("No selector provided", hint="without an argument all partitions are selected")
    if context.is_nested:
        if not isinstance(selector, OF_NESTED):
            raise _invalid(selector, OF_NESTED)
        if isinstance(selector, NestedPartitions):
            return _select_nested(selector, context, partitions)
    elif isinstance(selector, NestedPartitions):
        raise _invalid(selector, OF_NESTED)
    else:
        _check_fits(selector, context.levels[0], nested=False)
    assert isinstance(selector, PartitionSelector)
    return list(selector.chosen(context.levels[0], partitions))


def _check_fits(selector: object, level: ContextLevel, *, nested: bool) -> None:
    if not isinstance(selector, PartitionSelector) or not selector.fits(level, nested=nested):
        raise _invalid(selector, (*OF_ONE_LEVEL, *OF_KIND[type(level)]))


def _select_nested(selector: NestedPartitions, context: Context, partitions: Mapping[int, Branch]) -> list[int]:
    for path in selector.paths:
        if len(path) != len(context.levels):
            raise EplRuntimeError(
                f"Invalid context partition selector, a path of NestedPartitions has {len(path)} selectors, and context '{context.name}' "
                f"{len(context.levels)} levels")
        for each, level in zip(path, context.levels):
            _check_fits(each, level, nested=True)
    return [number for number, branch in partitions.items()
            if any(all(one.selects(level, around) for one, level, around in zip(path, context.levels, _around(branch)))
                   for path in selector.paths)]


def _around(branch: Branch) -> list[Branch]:
    """Return the branch and those around it, outermost first."""
    branches = [branch]
    while branches[-1].level.outer is not None:
        branches.append(branches[-1].level.outer)
    return branches[::-1]


def _invalid(selector: object, expected: Sequence[type[PartitionSelector]]) -> EplRuntimeError:
    received = selector.title if isinstance(selector, PartitionSelector) else type(selector).__name__
    return EplRuntimeError(
        f"Invalid context partition selector, expected an implementation class of any of [{', '.join(each.title for each in expected)}] "
        f"interfaces but received {received}", hint=f"the selectors of such a context: {', '.join(each.__name__ for each in expected)}")


# ------------------------------------------------------------------ partitions as callers see them


def describe_partition(branch: Branch) -> ContextPartition:
    """Return a partition, or the branch of an outer level, as callers see it."""
    return ContextPartition(branch.partition, {
        name: dict(zip(value.type.names, value.values())) if isinstance(value, Event) else value
        for name, value in branch.properties.items() if "#" not in name
    }, tuple(_identifier(each) for each in _around(branch)))


def _identifier(branch: Branch) -> PartitionIdentifier:
    level, properties = branch.level.plan, branch.properties
    if isinstance(level, KeyedLevel):
        return PartitionIdentifier(level.name, keys=_branch_keys(level, branch))
    if isinstance(level, HashLevel):
        return PartitionIdentifier(level.name, hash=properties[".".join((*level.prefix, HASH))])
    if isinstance(level, CategoryLevel):
        return PartitionIdentifier(level.name, label=properties[".".join((*level.prefix, "label"))])
    start, end = (properties[".".join((*level.prefix, name))] for name in ("startTime", "endTime"))
    return PartitionIdentifier(level.name, start_time=start, end_time=end)


def describe_partitions(branches: Iterable[Branch]) -> Iterator[ContextPartition]:
    """Yield the partitions as callers see them."""
    return map(describe_partition, branches)


__all__ = [
    "AllPartitions", "ContextPartition", "NestedPartitions", "PartitionIdentifier", "PartitionSelector",
    "PartitionsByCategory", "PartitionsByHash", "PartitionsById", "PartitionsByKey", "PartitionsWhere", "describe_partition",
    "describe_partitions",
    "select",
]
