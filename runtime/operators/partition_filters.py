"""The filters of a statement of a context: prepared once a statement, each partition has entries with values of its own."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.plan.expressions import TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.prepared_filters import PreparedFilter
from runtime.event_loop.receiver_order import Path, Placed, Places, category_properties, paths_of_entries
from runtime.expressions import Environment, compile_expression

Categories = tuple[int, ...]
"""The place of a partition's category in each level of categories that a filter is tested for."""


class CurrentPartition:
    """In place of the properties of a partition, in what is compiled once for all: ``get`` is that of the one whose values are asked."""

    __slots__ = ("get",)

    def __init__(self) -> None:
        self.get: Callable[[str], Any] = _none


def _none(name: str) -> Any:
    return None


class PartitionFilters:
    """The prepared filters of a statement of a context, shared by its partitions until ``close``."""

    def __init__(self, core: EventLoop, environment: Environment, name: str, *, drop: bool) -> None:
        self._core = core
        self._current = CurrentPartition()
        self._environment = environment.of_instance(self._current)  # type: ignore[arg-type]  # what is printed calls get alone
        self._name = name
        self._drop = drop
        self._prepared: dict[tuple[int, Places | Placed], PreparedFilter] = {}
        self._categories: dict[int, Sequence[str]] = {}
        self._paths: dict[tuple[int, Categories], Sequence[Path]] = {}
        self._placed: dict[tuple[int, Categories, Places], Placed] = {}

    def categories(self, specification: FilterSpecification, properties: Mapping[str, Any]) -> Categories:
        """Return for which categories a filter is in a partition with these properties."""
        names = self._categories.get(id(specification))
        if names is None:
            names = self._categories[id(specification)] = category_properties(specification)
        return tuple([properties[name] for name in names])

    def paths(self, specification: FilterSpecification, categories: Categories) -> Sequence[Path]:
        """Return the paths of a filter."""
        key = id(specification), categories
        paths = self._paths.get(key)
        if paths is None:
            paths = self._paths[key] = paths_of_entries(specification, categories)
        return paths

    def place_filters(self, specification: FilterSpecification, categories: Categories, order: Places, turn: int, *,
        is_late: bool) -> Placed:
        """Return the place of a stream's filters by their path. ``turn``: of the entry that starts."""
        key = id(specification), categories, order
        placed = self._placed.get(key)
        if placed is None:
            placed = self._placed[key] = self._core.filters.place(
                specification.event_type, order, self.paths(specification, categories), turn, is_late=is_late)
        return placed

    def prepared(self, specification: FilterSpecification, order: Places | Placed) -> PreparedFilter:
        """Return the filter of a stream, which has this order among the receivers of an event."""
        key = id(specification), order
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared[key] = self._core.filters.prepare(
                specification, self._environment, self._name, order, drop=self._drop)
        return prepared

    def values(self, prepared: PreparedFilter, properties: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values that an entry of a partition with these properties brings."""
        self._current.get = properties.get
        values: tuple[Any, ...] = prepared.values_of()
        return values

    def evaluator(self, expressions: Sequence[TypedExpression]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
        """Return values(properties) of expressions over the properties of a partition."""
        parts = [compile_expression(each, self._environment, 0) for each in expressions]

        def values(properties: Mapping[str, Any]) -> tuple[Any, ...]:
            self._current.get = properties.get
            return tuple([part() for part in parts])

        return values

    def close(self) -> None:
        for prepared in self._prepared.values():
            prepared.close()
        for placed in self._placed.values():
            placed.close()
        self._prepared.clear()
        self._placed.clear()


__all__ = ["PartitionFilters"]
