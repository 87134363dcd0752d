"""``groupwin(keys)`` and ``merge(keys)``: one window a key."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig
from windows.event import NO_EVENTS, Event
from windows.keys import Key, key_evaluator
from windows.parameters import key_arguments
from windows.protocol import Accumulator, BuildContext, Evaluate, RandomAccess, Timer, View

__all__ = ["GroupContext", "GroupView", "GroupWin", "Merge"]


@attrs.frozen
class GroupWin(WindowConfig):
    """Each key has windows of its own; what they tell goes on as it comes, group by group.

    ``reclaim_aged``, ``reclaim_frequency`` (seconds): groups that saw no event for so long are forgotten, their events leave; looked at no more often
    than the frequency, when an event comes in.

    ::

        groupwin(k)#length(1)   E1(a)   E2(b)   E3(a)   delete E2
        contents                1       1 2     3 2     3
        new                     E1      E2      E3      -
        old                     -       -       E1      E2
    """

    names = ("groupwin",)
    namespace = "std"
    title = "Group-By"
    is_data_window = False
    groups = True

    keys: tuple[TypedExpression, ...]
    key_names: tuple[str, ...] = ()
    reclaim_aged: float | None = None
    reclaim_frequency: float | None = None

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> GroupWin:
        message = "Group-By view requires a one or more expressions provinding unique values as parameters"
        return cls(key_arguments(arguments, cls.title, message))

    def with_hints(self, hints: Mapping[str, str]) -> GroupWin:
        aged = hints.get("reclaim_group_aged")
        if aged is None:
            return self
        frequency = hints.get("reclaim_group_freq", aged)
        return attrs.evolve(self, reclaim_aged=float(aged), reclaim_frequency=float(frequency))


@attrs.frozen
class Merge(WindowConfig):
    """``merge(keys)``: the end of a groupwin, written out; it does what the end of the chain does anyway."""

    names = ("merge",)
    namespace = "std"
    title = "Group-By-Merge"
    is_data_window = False
    merges = True

    keys: tuple[TypedExpression, ...]

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Merge:
        return cls(tuple(a.typed for a in arguments if a.typed is not None))


class GroupAccess:
    """prev in a grouped stream: asks the group that was told something last, as Esper does."""

    def __init__(self) -> None:
        self.current: RandomAccess | None = None

    def previous(self, event: Event, index: int) -> Event | None:
        return None if self.current is None else self.current.previous(event, index)

    def from_tail(self, event: Event, index: int) -> Event | None:
        return None if self.current is None else self.current.from_tail(event, index)

    def count(self, event: Event) -> int | None:
        return None if self.current is None else self.current.count(event)

    def window(self, event: Event) -> Iterable[Event] | None:
        return None if self.current is None else self.current.window(event)


class GroupContext:
    """A group's build context: the statement's, but prev is answered through ``access``, and expressions are compiled once for all groups."""

    def __init__(self, outer: BuildContext, access: GroupAccess) -> None:
        self.outer = outer
        self.access = access
        self.now = outer.now
        self.constant = outer.constant
        self.add_time = outer.add_time
        self.on_variable_change = outer.on_variable_change
        self._evaluators: dict[int, tuple[TypedExpression, Evaluate]] = {}
        self.published: RandomAccess | None = None

    def evaluator(self, expression: TypedExpression) -> Evaluate:
        found = self._evaluators.get(id(expression))
        if found is None:
            found = self._evaluators[id(expression)] = expression, self.outer.evaluator(expression)
        return found[1]

    def accumulators(self, expression: TypedExpression, names: Sequence[str] = ()) -> tuple[Sequence[Accumulator], Evaluate]:
        return self.outer.accumulators(expression, names)

    def publish_random_access(self, access: RandomAccess) -> None:
        self.published = access

    def timer(self, callback: Callable[[], None]) -> Timer:
        """A timer that makes its group the current one first."""
        access = self.published
        if access is None:
            return self.outer.timer(callback)

        def run() -> None:
            self.access.current = access
            callback()

        return self.outer.timer(run)


class GroupView(View):
    """See GroupWin. ``make`` builds a group's windows in a context and connects nothing.

    ``takes_removals``: false for a batch window alone: grouped, it keeps what its parent removes (as Esper does).
    """

    def __init__(self, config: GroupWin, make: Callable[[GroupContext], View], context: BuildContext, *, takes_removals: bool = True) -> None:
        self.takes_removals = takes_removals
        self.key = key_evaluator(config.keys, context)
        self.make = make
        self.access = GroupAccess()
        self.context = GroupContext(context, self.access)
        self.groups: dict[Key, View] = {}
        self.answers: dict[Key, RandomAccess | None] = {}
        self.now = context.now
        context.publish_random_access(self.access)

    def __iter__(self) -> Iterator[Event]:
        for group in self.groups.values():
            yield from group

    def group_of(self, key: Key) -> View:
        """The group's windows, made when its first event comes."""
        group = self.groups.get(key)
        if group is None:
            self.context.published = None
            group = self.groups[key] = self.make(self.context)
            self.answers[key] = self.context.published
            group.child = self.child
        return group

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if not self.takes_removals:
            old = NO_EVENTS
        if len(new) == 1 and not old:
            self._tell(self.key(new[0]), new, NO_EVENTS)
            return
        deltas: dict[Key, tuple[list[Event], list[Event]]] = {}
        for event in new:
            deltas.setdefault(self.key(event), ([], []))[0].append(event)
        for event in old:
            deltas.setdefault(self.key(event), ([], []))[1].append(event)
        for key, delta in deltas.items():
            self._tell(key, *delta)

    def _tell(self, key: Key, new: Sequence[Event], old: Sequence[Event]) -> None:
        group = self.groups.get(key)
        if group is None:
            group = self.group_of(key)
        self.access.current = self.answers[key]
        group.update(new, old)

    def state(self) -> Any:
        return [[key, group.state()] for key, group in self.groups.items()]

    def restore(self, state: Any) -> None:
        for key, kept in state:
            self.group_of(key).restore(kept)

    def close(self) -> None:
        for group in self.groups.values():
            group.close()
