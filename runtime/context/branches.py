"""Partitions while they live: the branches of each level of a context, of which the innermost are what statements know as partitions."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from epl.plan.contexts import ContextLevel
from runtime.context.conditions import Occurrence, RunningCondition
from windows.protocol import State


class Branch:
    """One partition of one level: it holds a partition that statements have instances for, or those of the level within.

    ``key``: what its level finds it by; ``number``: how many branches of the context began before it; ``properties``: by their paths as
    text, those of the levels around it among them; ``end``: what ends it; ``partition``: ``context.id``, None on outer levels.
    """

    __slots__ = ("end", "inner", "key", "level", "number", "partition", "properties")

    def __init__(self, level: Level, key: Any, number: int, properties: dict[str, Any]) -> None:
        self.level = level
        self.key = key
        self.number = number
        self.properties = properties
        self.end: RunningCondition | None = None
        self.inner: Level | None = None
        self.partition: int | None = None


class Level(Protocol):
    """The branches of one declaration within one branch of the one around it, ``outer``."""

    plan: ContextLevel
    outer: Branch | None
    branches: dict[Any, Branch]

    def start(self) -> None:
        """Begin: branches that are there from the beginning, conditions that begin others."""

    def resume(self) -> None:
        """Go on with the conditions and branches of a state."""

    def stop(self) -> None:
        """Stop what begins branches."""

    def end_of(self, branch: Branch) -> RunningCondition | None:
        """Return what will end a branch; None where nothing does."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Tree(Protocol):
    """What levels ask of the context (runtime.context.tree)."""

    def open(self, level: Level, key: Any, own: Mapping[str, Any], occurrence: Occurrence) -> Branch | None:
        """Begin a branch with these properties of its own; None where a limit prevents it."""

    def close(self, branch: Branch, ending: Mapping[str, Any]) -> None:
        """End a branch; ``ending``: the properties that its end brings."""


__all__ = ["Branch", "Level", "Tree"]
