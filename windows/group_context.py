"""What the windows of one group get while they are built."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from epl.plan.expressions import TypedExpression
from windows.event import Event
from windows.paging import Key
from windows.protocol import Accumulator, BuildContext, Evaluate, RandomAccess, Timer

__all__ = ["GroupAccess", "GroupContext"]


class Answering(Protocol):
    """A group, as far as prev asks it: ``access`` of its windows, None where they answer no prev; the ``values`` of its keys."""

    access: RandomAccess | None
    values: list[Any]


class GroupAccess:
    """prev in a grouped stream: asks the group that changed last, by an event or by its timer, as Esper does.

    ``group_of``: for batch windows, which answer by an event's place in its batch, the group that the event is in.
    """

    def __init__(self, group_of: Callable[[Event], Answering | None] | None = None) -> None:
        self.current: Answering | None = None
        self.group_of = group_of

    def _random_access(self, event: Event) -> RandomAccess | None:
        group = self.current if self.group_of is None else self.group_of(event)
        return None if group is None else group.access

    def previous(self, event: Event, index: int) -> Event | None:
        asked = self._random_access(event)
        return None if asked is None else asked.previous(event, index)

    def from_tail(self, event: Event, index: int) -> Event | None:
        asked = self._random_access(event)
        return None if asked is None else asked.from_tail(event, index)

    def count(self, event: Event, insert_stream: bool) -> int | None:
        asked = self._random_access(event)
        return None if asked is None else asked.count(event, insert_stream)

    def window(self, event: Event) -> Iterable[Event] | None:
        asked = self._random_access(event)
        return None if asked is None else asked.window(event)


class GroupTimer:
    """The call-back of a group's timer: the group is the current one from then on."""

    __slots__ = ("context", "key", "callback")

    def __init__(self, context: GroupContext, key: Key, callback: Callable[[], None]) -> None:
        self.context = context
        self.key = key
        self.callback = callback

    def __call__(self) -> None:
        context = self.context
        context.touch(self.key)
        context.access.current = context.groups[self.key]
        self.callback()


class GroupContext:
    """A group's build context: the statement's, but prev is answered through ``access``, and expressions are compiled once for all
    ``groups``.
    """

    def __init__(self, outer: BuildContext, access: GroupAccess, groups: Mapping[Key, Answering]) -> None:
        self.outer = outer
        self.access = access
        self.groups = groups
        self.now = outer.now
        self.constant = outer.constant
        self.add_time = outer.add_time
        self.withhold = outer.withhold
        self._evaluators: dict[int, tuple[TypedExpression, Evaluate]] = {}
        self.published: RandomAccess | None = None
        self.key: Key = None
        """Of the group that is being built."""
        self.touch: Callable[[Key], None] = lambda key: None
        """Called with the key of a group that changes without an event."""

    @property
    def text_key(self) -> Callable[[str], Any] | None:
        return self.outer.text_key

    @property
    def restoring(self) -> bool:
        return self.outer.restoring

    def evaluator(self, expression: TypedExpression) -> Evaluate:
        entry = self._evaluators.get(id(expression))
        if entry is None:
            entry = self._evaluators[id(expression)] = expression, self.outer.evaluator(expression)
        return entry[1]

    def accumulators(self, expression: TypedExpression, names: Sequence[str] = ()) -> tuple[Sequence[Accumulator], Evaluate]:
        return self.outer.accumulators(expression, names)

    def publish_random_access(self, access: RandomAccess) -> None:
        self.published = access

    def timer(self, callback: Callable[[], None], *, of_group: bool = True) -> Timer:
        """Return a timer that makes its group the current one first."""
        return self.outer.timer(GroupTimer(self, self.key, callback), of_group=of_group)

    def on_variable_change(self, expression: TypedExpression, callback: Callable[[], None]) -> None:
        key = self.key

        def on_change() -> None:
            self.touch(key)
            callback()

        self.outer.on_variable_change(expression, on_change)
