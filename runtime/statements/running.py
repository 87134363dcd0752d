"""The running part of a deployed statement, in either tier."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import attrs

from runtime.expressions import Environment
from windows.event import NO_EVENTS, Event
from windows.protocol import State


class Selector(Protocol):
    """Which partitions of a context: runtime.context.selectors.PartitionSelector. ``title``: what Esper calls it."""

    @property
    def title(self) -> str: ...


@attrs.frozen
class EveryPartition:
    """Where no selector is given."""

    title: str = "ContextPartitionSelectorAll"


EVERY_PARTITION: Selector = EveryPartition()


@runtime_checkable
class OfPartitions(Protocol):
    """What runs in partitions of a context: its rows can be selected."""

    def select(self, selector: Any) -> Iterable[Event]: ...


NO_STATE: State = object()
"""In place of a state: the instance starts without one."""


class Running(Protocol):
    """What a statement runs."""

    def start(self) -> None:
        """Take part from now on: filters are entered."""

    def close(self) -> None:
        """Undo everything: filters, timers."""

    def iterate(self) -> Iterable[Event]: ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Prepared(Protocol):
    """What instances of a statement are built from: runtime.build.PreparedStatement."""

    @property
    def environment(self) -> Environment: ...

    def instantiate(self, partition: int = 0, state: State = NO_STATE, properties: Mapping[str, Any] | None = None) -> Running: ...


class Declaration:
    """create schema, create expression: nothing runs."""

    def start(self) -> None:
        pass

    def close(self) -> None:
        pass

    def iterate(self) -> Iterable[Event]:
        return NO_EVENTS

    def state(self) -> State:
        return None

    def restore(self, state: State) -> None:
        if state is not None:
            raise ValueError("a declaration has no state")


__all__ = ["EVERY_PARTITION", "NO_STATE", "Declaration", "OfPartitions", "Prepared", "Running", "Selector"]
