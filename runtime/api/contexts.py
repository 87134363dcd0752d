"""The contexts of a runtime as callers see them: partitions, statements, and listeners for when they begin and end."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

from runtime.arguments import check_methods
from runtime.context.changes import ContextListener
from runtime.context.selectors import AllPartitions, ContextPartition, PartitionSelector, describe_partition, select
from runtime.context.tree import ContextTree
from runtime.event_loop.loop import EventLoop
from runtime.statements.callables import check_callable

ALL = AllPartitions()


@check_methods()
class ContextAccess:
    '''A deployed context: ``runtime.contexts["Name"]``. Its length is the number of its partitions; iterating gives them as
    ``ContextPartition``.

    Examples:
        >>> from runtime import PartitionsByKey, Runtime
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("""
        ...     create schema Trade(symbol string, price double);
        ...     create context PerSymbol partition by symbol from Trade;
        ...     @name('total') context PerSymbol select sum(price) as total from Trade""")
        >>> context = runtime.contexts["PerSymbol"]
        >>> listener = context.add_listener(lambda change: print(change.kind, change.partition.properties["key1"]))
        >>> runtime.send("Trade", {"symbol": "A", "price": 1.0})
        partition_started A
        >>> context.remove_listener(listener)
        >>> runtime.send("Trade", {"symbol": "B", "price": 2.0})
        >>> context.name, context.levels, context.statements, len(context), context.ids(PartitionsByKey([["B"]]))
        ('PerSymbol', ('PerSymbol',), ['total'], 2, [1])
        >>> context.partition(0).identifier.keys, [each.id for each in context.partitions()]
        (('A',), [0, 1])
    '''

    def __init__(self, tree: ContextTree, lock: AbstractContextManager[object]) -> None:
        self._tree = tree
        self._lock = lock

    @property
    def name(self) -> str:
        """The context's name."""
        return self._tree.context.name

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of its levels, outermost first: of a context that is not nested its own."""
        return tuple(level.name for level in self._tree.context.levels)

    @property
    def statements(self) -> list[str]:
        """The names of its statements, in the order in which they were deployed."""
        with self._lock:
            return [statement.name for statement in self._tree.statements]

    def ids(self, selector: PartitionSelector = ALL) -> list[int]:
        """Return the ids of partitions.

        Args:
            selector: Which of them: a ``PartitionSelector``.

        Raises:
            EplRuntimeError: The selector is for another kind of context.
        """
        with self._lock:
            return select(selector, self._tree.context, self._tree.partitions)

    def partitions(self, selector: PartitionSelector = ALL) -> list[ContextPartition]:
        """Return partitions, in the order in which they began.

        Args:
            selector: Which of them: a ``PartitionSelector``.

        Raises:
            EplRuntimeError: The selector is for another kind of context.
        """
        with self._lock:
            tree = self._tree
            return [describe_partition(tree.partitions[number]) for number in select(selector, tree.context, tree.partitions)]

    def partition(self, number: int) -> ContextPartition | None:
        """Return the partition with an id; None if there is none.

        Args:
            number: The id.
        """
        with self._lock:
            branch = self._tree.partitions.get(number)
            return None if branch is None else describe_partition(branch)

    def __iter__(self) -> Iterator[ContextPartition]:
        return iter(self.partitions())

    def __len__(self) -> int:
        with self._lock:
            return len(self._tree.partitions)

    def add_listener(self, listener: ContextListener) -> ContextListener:
        """Call a listener with a ``ContextChange`` when a partition begins or ends, and when statements come and go.

        Args:
            listener: Called as ``(change)``.

        Returns:
            The listener.

        Raises:
            TypeError: It cannot be called so.
        """
        check_callable(listener, "a listener of a context", "(change)")
        with self._lock:
            self._tree.listeners = (*self._tree.listeners, listener)
        return listener

    def remove_listener(self, listener: ContextListener) -> None:
        """Remove a listener.

        Args:
            listener: As it was added.
        """
        with self._lock:
            listeners = list(self._tree.listeners)
            listeners.remove(listener)
            self._tree.listeners = tuple(listeners)

    def __repr__(self) -> str:
        return f"ContextAccess({self.name!r}, {len(self)} partitions)"


class DeployedContexts(Mapping[str, ContextAccess]):
    """The contexts that are deployed, by name; of several with one name the one that was deployed last."""

    def __init__(self, core: EventLoop, lock: AbstractContextManager[object], check_open: Callable[[], object]) -> None:
        self._core = core
        self._lock = lock
        self._check_open = check_open

    def _trees(self) -> dict[str, ContextTree]:
        with self._lock:
            self._check_open()
            return {tree.context.name: tree for tree in self._core.contexts.values()}

    def __getitem__(self, name: str) -> ContextAccess:
        return ContextAccess(self._trees()[name], self._lock)

    def __iter__(self) -> Iterator[str]:
        return iter(self._trees())

    def __len__(self) -> int:
        return len(self._trees())

    def add_listener(self, listener: ContextListener) -> ContextListener:
        """Call ``listener(change)`` whenever a context is deployed (``created``) or undeployed (``destroyed``) from now on; return the
        listener. Raise TypeError for what cannot be called so."""
        check_callable(listener, "a listener of contexts", "(change)")
        with self._lock:
            self._check_open()
            self._core.context_listeners = (*self._core.context_listeners, listener)
        return listener

    def remove_listener(self, listener: ContextListener) -> None:
        """Call it no more. Raise ValueError where it is none."""
        with self._lock:
            listeners = list(self._core.context_listeners)
            listeners.remove(listener)
            self._core.context_listeners = tuple(listeners)


__all__ = ["ContextAccess", "DeployedContexts"]
