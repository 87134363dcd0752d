"""Named windows, tables and variables of which each partition of a context has one of its own."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from epl.catalog import Variable
from epl.errors import EplRuntimeError
from epl.plan.streams import NamedWindow
from runtime.event_loop.store_deltas import Consumer
from runtime.stores.named_window import NamedWindowStore
from runtime.stores.table import TableStore
from runtime.stores.variables import VariableCell
from windows.event import Event

T = TypeVar("T")


class PartitionedWindow:
    """The rows of a named window by the number of the partition. Itself it is what statements without the context read: deltas of all
    partitions, from now on."""

    collects = False

    def __init__(self, window: NamedWindow) -> None:
        self.window = window
        self.partitions: dict[int, NamedWindowStore] = {}
        self._outside: dict[Consumer, None] = {}

    def enter(self, number: int, store: NamedWindowStore) -> None:
        """Take the rows of a partition that begins."""
        self.partitions[number] = store
        for consumer in self._outside:
            store.add(consumer)

    def leave(self, number: int, store: NamedWindowStore) -> None:
        if self.partitions.get(number) is store:
            del self.partitions[number]

    def add(self, consumer: Consumer) -> None:
        self._outside[consumer] = None
        for store in self.partitions.values():
            store.add(consumer)

    def remove(self, consumer: Consumer) -> None:
        self._outside.pop(consumer, None)
        for store in self.partitions.values():
            store.remove(consumer)

    def row_count(self) -> int:
        """Return how many rows there are."""
        return sum(store.row_count() for store in self.partitions.values())

    def __iter__(self) -> Iterator[Event]:
        raise EplRuntimeError(
            "Iterator not supported on named windows that have a context attached and when that context is not the same as the consuming "
            "statement's context")


class PartitionedTable:
    """The rows of a table by the number of the partition. ``make``: an empty table."""

    def __init__(self, make: Callable[[], TableStore]) -> None:
        self.partitions: dict[int, TableStore] = {}
        self._make = make

    def of(self, number: int) -> TableStore:
        store = self.partitions.get(number)
        if store is None:
            store = self.partitions[number] = self._make()
            store.partition = number
        return store

    def partition_store(self, partition: Any) -> TableStore:
        """Return the rows of the partition; none where it has ended."""
        return self.partitions.get(partition) or self._make()

    def leave(self, number: int) -> None:
        self.partitions.pop(number, None)

    def row_count(self) -> int:
        """Return how many rows there are."""
        return sum(store.row_count() for store in self.partitions.values())


class PartitionedVariable(VariableCell):
    """The cells of a variable by the number of the partition; ``initial()`` gives the value that one begins with."""

    __slots__ = ("initial", "partitions")
    is_partitioned = True

    def __init__(self, variable: Variable, initial: Callable[[], Any], deployment: str | None = None) -> None:
        super().__init__(variable, initial(), deployment)
        self.initial = initial
        self.partitions: dict[int, VariableCell] = {}

    def of(self, number: int) -> VariableCell:
        cell = self.partitions.get(number)
        if cell is None:
            cell = self.partitions[number] = PartitionVariable(self.variable, self.initial(), self.deployment)
        return cell

    def leave(self, number: int) -> None:
        self.partitions.pop(number, None)


class PartitionVariable(VariableCell):
    """The cell of one partition."""

    __slots__ = ()
    is_partitioned = True


class OfPartition(Mapping[Any, T], Generic[T]):
    """What is found by name or declaration, as one partition sees it."""

    __slots__ = ("_all", "_number")

    def __init__(self, everything: Mapping[Any, Any], number: int) -> None:
        self._all = everything
        self._number = number

    def __getitem__(self, key: Any) -> T:
        shared: Any = self._all[key]
        own = shared.of(self._number) if isinstance(shared, (PartitionedTable, PartitionedVariable)) else shared
        return cast(T, own)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def has_partitions(stores: Sequence[object]) -> bool:
    """Return whether partitions have any of these, tables or variables, of their own."""
    return any(isinstance(each, (PartitionedTable, PartitionedVariable)) for each in stores)


__all__ = ["OfPartition", "PartitionedTable", "PartitionedVariable", "PartitionedWindow", "has_partitions"]
