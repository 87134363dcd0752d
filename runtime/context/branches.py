"""Partitions while they live: the branches of each level of a context, of which the innermost are what statements know as partitions."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from epl.plan.context.contexts import ContextLevel
from epl.plan.expressions import TypedExpression
from runtime.context.conditions import Occurrence, RunningCondition
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.prepared_filters import ActiveFilter
from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.protocol import State

T = TypeVar("T")
Moment = tuple[int, int, int]
"""When a condition has started: (number of the newest statement, next partition, number among what starts before that one)."""
BEFORE, WITHIN, AFTER = 0, 1, 2
"""When a partition begins, what ends it starts before its statements' filters and inner levels, by keys after them, as in Esper."""


class Branch:
    """One partition of one level: it holds a partition that statements have instances for, or those of the level within.

    ``key``: what its level finds it by; ``number``: how many branches of the context began before it; ``properties``: by their paths as
    text, those of the levels around it among them; ``end``: what ends it; ``partition``: ``context.id``, None on outer levels.
    ``since``: the number of the newest statement when it began. ``place``: of a label or a hash number that, of others how many branches of
    the level began before it.
    """

    __slots__ = ("end", "inner", "key", "level", "number", "partition", "place", "properties", "since")

    def __init__(self, level: Level, key: Any, number: int, properties: dict[str, Any]) -> None:
        self.level = level
        self.key = key
        self.number = number
        self.properties = properties
        self.end: RunningCondition | None = None
        self.inner: Level | None = None
        self.partition: int | None = None
        self.since = 0
        self.place = 0


class Level(Protocol):
    """The branches of one declaration within one branch of the one around it, ``outer``. ``depth``: 0 outermost."""

    depth: int
    outer: Branch | None
    branches: dict[Any, Branch]

    @property
    def plan(self) -> ContextLevel: ...

    def start(self) -> None:
        """Begin: branches that are there from the beginning, conditions that begin others."""

    def resume(self) -> None:
        """Go on with the conditions and branches of a state."""

    def stop(self) -> None:
        """Stop what begins branches."""

    def ending_condition(self, branch: Branch) -> RunningCondition | None:
        """Return what will end a branch; None where nothing does."""

    def next_place(self, key: Any) -> int:
        """Return the place of a branch that begins."""

    def in_order(self) -> list[Branch]:
        """Return the branches in the order in which they end with the one around."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Tree(Protocol):
    """What levels ask of the context (runtime.context.tree). ``base``: what is compiled of the context reads no branch; ``most_at``:
    how many branches there have been at once, by depth; ``starting``: the event that is given to what it has started;
    ``tested``: the last one whose distinct values were looked at."""

    core: EventLoop
    base: OperatorContext
    most_at: list[int]
    starting: Event | None
    tested: Event | None

    def open(self, level: Level, key: Any, own: Mapping[str, Any], occurrence: Occurrence | None) -> Branch | None:
        """Begin a branch with these properties of its own; None where a limit prevents it."""

    def close(self, branch: Branch, ending: Mapping[str, Any]) -> None:
        """End a branch; ``ending``: the properties that its end brings."""

    def is_gone(self, level: Level) -> bool:
        """Return whether a level has ended, so that nothing begins in it any more."""

    def next_number(self) -> int:
        """Return the number of the next branch."""

    def branch_properties(self, level: Level, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the properties of a branch with these of its own: those of the levels around it too."""

    def operator_context(self, branch: Branch | None, part: int = WITHIN) -> OperatorContext:
        """Return what the conditions of a branch are built with. ``part``: when they start, among what starts with the branch."""

    def moment(self) -> Moment:
        """Return when a condition starts that starts now."""

    def filter_turn(self, moment: Moment) -> int:
        """Return the turn of the filters of a condition that has started then."""

    def shared(self, key: tuple[str, object], make: Callable[[], T]) -> T:
        """Return what is compiled once for all branches of a level."""

    def compile_values(self, expressions: Sequence[TypedExpression]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
        """Return values(properties) of expressions over the properties of a branch."""

    def place_of_statement(self, number: int) -> int:
        """Return how many of the statements that there are had been deployed with the one of a number."""

    def statement_number(self, place: int) -> int:
        """Return the number of the last of so many statements; 0 for none."""

    def begins_again(self, entries: Sequence[ActiveFilter], event: Event | None) -> None:
        """Note what has started to begin branches since one ended with this event."""

    def restore_branch(
        self, level: Level, key: Any, number: Any, own: dict[str, Any], partition: Any, end: State, inner: State, since: Any
    ) -> Branch:
        """Take a branch of a state."""


__all__ = ["AFTER", "BEFORE", "WITHIN", "Branch", "Level", "Moment", "Tree"]
