"""``a -> b -[5]> c``."""
from __future__ import annotations

from collections.abc import Sequence, Set

from epl.plan.patterns.pattern import FollowedByNode
from runtime.event_loop.delivery import Condition
from runtime.pattern.atoms import FilterOperator
from runtime.pattern.held_events import HeldEvents
from runtime.pattern.instances import Instance, Match, Parent, items, match_events, number, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.paging import Long
from windows.protocol import Damaged, State


class FollowedByOperator(Operator):
    """Each match of an item begins an instance of the next one.

    ``limits``: of each item the most instances that wait at once, None for any number. ``is_root``: its instances are what a pattern has
    many of, so that they are stored in pages of their own.
    """

    def __init__(self, node: FollowedByNode, machine: PatternMachine, *, is_root: bool = False) -> None:
        super().__init__(node, machine)
        self.items = tuple(machine.operator(item, node) for item in node.items)
        self.last = len(self.items) - 1
        self.is_root = is_root
        self.limits = (None, *(None if limit is None else machine.constant(limit) for limit in node.limits))

    def instance(self, parent: Parent, match: Match) -> FollowedByInstance:
        return FollowedByInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> FollowedByInstance:
        instance = FollowedByInstance(self, parent, match)
        for each in items(part(state, 1)[0]):
            at, own, inner = part(each, 3)
            if not 0 <= number(at) <= self.last:
                raise Damaged(f"item {at} of a pattern that has {self.last + 1}")
            begun_with = self.machine.check_match(own)
            instance.waiting[at] += 1
            if at:
                self.machine.subexpressions.add(1)
            child = self.machine.restore_instance(self.items[at], instance, begun_with, inner)
            instance.children[child] = at
            if instance.held is not None:
                instance.held.add(child, match_events(begun_with), is_unknown=not isinstance(self.items[at], FilterOperator))
        return instance


class FollowedByInstance(Instance):
    """``children``: the instances that wait, and which item each is of; ``waiting``: how many of each item; ``held``: the events that they
    hold, where matches discard what holds theirs."""

    __slots__ = ("children", "followed_by", "held", "waiting")

    def __init__(self, followed_by: FollowedByOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.followed_by = followed_by
        self.children: dict[Instance, int] = {}
        self.waiting = [0] * len(followed_by.items)
        self.held = HeldEvents() if followed_by.machine.plan.discard else None

    def start(self) -> None:
        self._begin(0, self.match)

    def _begin(self, at: int, match: Match) -> None:
        operator = self.followed_by
        if at and not (self._has_place(at) and operator.machine.subexpressions.try_increase()):
            return  # as in Esper the instance does not fail, even if nothing waits any more
        child = operator.items[at].instance(self, match)
        self.children[child] = at
        self.waiting[at] += 1
        if self.held is not None:
            self.held.add(child, match_events(match) if at else (), is_unknown=not at)
        operator.machine.start(child)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        operator, children = self.followed_by, self.children
        at = children.get(child)
        if at is None:
            return
        if ended:
            self._forget(child)
        if at == operator.last:
            self.parent.take_match(self, match, not children)
        else:
            self._begin(at + 1, match)

    def _has_place(self, at: int) -> bool:
        """Return whether one more instance of the item may wait."""
        limit = self.followed_by.limits[at]
        most = None if limit is None else limit()
        if most is None or most < 0 or self.waiting[at] < int(most):  # as in Esper: null and negative numbers are no limit
            return True
        states = self.followed_by.machine.subexpressions
        states.all.on_condition(Condition("followed by", int(most), states.name, {states.name: self.waiting[at]}))
        return False

    def take_failure(self, child: Instance) -> None:
        if child in self.children:
            self._forget(child)
            if not self.children:
                self.parent.take_failure(self)

    def _forget(self, child: Instance) -> None:
        at = self.children.pop(child)
        self.waiting[at] -= 1
        if self.held is not None:
            self.held.remove(child)
        if at:  # the first item is not limited
            self.followed_by.machine.subexpressions.add(-1)

    def quit(self) -> None:
        for child, at in self.children.items():
            child.quit()
            if at:
                self.followed_by.machine.subexpressions.add(-1)
        self.children.clear()
        if self.held is not None:
            self.held.clear()

    def note(self, child: Instance, event: Event) -> None:
        if self.held is not None and self.children.get(child):
            self.held.note(child, event)

    def discard_below(self, events: Set[Event]) -> None:
        if self.held is not None:
            for child in self.held.holding(events):
                if child in self.children:
                    child.discard(events)

    def state(self) -> list[State]:
        machine = self.followed_by.machine
        children = ([at, list(child.match), machine.instance_state(child)] for child, at in self.children.items())
        return [Long(children) if self.followed_by.is_root else list(children)]


__all__ = ["FollowedByOperator"]
