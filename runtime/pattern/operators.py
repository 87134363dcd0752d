"""every, and, or, not."""
from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import product

from epl.plan.patterns.pattern import AndNode, EveryNode, NotNode, OrNode
from runtime.pattern.instances import Instance, Match, Parent, holds, items, merge_matches, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.protocol import State

# ------------------------------------------------------------------ every


class EveryOperator(Operator):
    """Begins again whenever its item matches or fails."""

    def __init__(self, node: EveryNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.item = machine.operator(node.item, node)

    def instance(self, parent: Parent, match: Match) -> EveryInstance:
        return EveryInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> EveryInstance:
        instance = EveryInstance(self, parent, match)
        for each in items(part(state, 1)[0]):
            instance.children[self.machine.restore_instance(self.item, instance, match, each)] = None
        return instance


class EveryInstance(Instance):
    __slots__ = ("children", "ended", "every", "immediate", "starting")

    def __init__(self, every: EveryOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.every = every
        self.children: dict[Instance, None] = {}
        self.starting: Instance | None = None
        self.immediate = False
        self.ended = False

    def start(self) -> None:
        self.spawn()

    def spawn(self) -> None:
        """Begin the item again. One that matches or fails at once ends: it would do so for ever."""
        self.starting = child = self.every.item.instance(self, self.match)
        self.immediate = False
        self.every.machine.start(child)
        self.starting = None
        if self.immediate:
            child.quit()
        else:
            self.children[child] = None

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child is self.starting:
            self.immediate = True
            return
        if ended:
            self.children.pop(child, None)
        if not self.ended:
            self.spawn()
        self.parent.take_match(self, match, False)

    def take_failure(self, child: Instance) -> None:
        if child is self.starting:
            self.immediate = True
            return
        if not child.lingers:
            self.children.pop(child, None)
        if not self.ended:
            self.spawn()

    def quit(self) -> None:
        self.ended = True
        for child in self.children:
            child.quit()
        self.children.clear()

    def discard_below(self, events: Set[Event]) -> None:
        for child in tuple(self.children):
            child.discard(events)

    def state(self) -> list[State]:
        return [[self.every.machine.instance_state(child) for child in self.children]]


# ------------------------------------------------------------------ and, or


class ItemsOperator(Operator):
    """An operator over several items."""

    def __init__(self, node: AndNode | OrNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.items = tuple(machine.operator(item, node) for item in node.items)


class AndOperator(ItemsOperator):
    def instance(self, parent: Parent, match: Match) -> AndInstance:
        return AndInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> AndInstance:
        instance = AndInstance(self, parent, match)
        children, matches = part(state, 2)
        for at, item in enumerate(self.items):
            instance.children[at] = self.machine.restore_if_any(item, instance, match, part(children, len(self.items))[at])
            instance.matches[at] = [self.machine.check_match(each) for each in items(part(matches, len(self.items))[at])]
        return instance


class AndInstance(Instance):
    """``matches``: those of each item; ``children``: None where one matches no more."""

    __slots__ = ("and_", "children", "ended", "matches")

    def __init__(self, and_: AndOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.and_ = and_
        self.children: list[Instance | None] = [None for _ in and_.items]
        self.matches: list[list[Match]] = [[] for _ in and_.items]
        self.ended = False

    def start(self) -> None:
        children = [item.instance(self, self.match) for item in self.and_.items]
        self.children[:] = children
        for child in children:
            if not self.ended:
                self.and_.machine.start(child)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child not in self.children:
            return
        at = self.children.index(child)
        if ended:
            self.children[at] = None
        is_whole = all(each or n == at for n, each in enumerate(self.matches))
        if not is_whole or any(each is not None for n, each in enumerate(self.children) if n != at):
            self.matches[at].append(match)  # else no other item will ask for it again
        if not is_whole:
            return
        others = [(match,) if n == at else each for n, each in enumerate(self.matches)]
        last = all(each is None or item.is_not for each, item in zip(self.children, self.and_.items))
        if last:
            self.quit()
        for chosen in product(*others):
            whole = match
            for n, each in enumerate(chosen):
                if n != at:
                    whole = merge_matches(whole, each)
            self.parent.take_match(self, whole, last)

    def take_failure(self, child: Instance) -> None:
        if child in self.children:
            self.children[self.children.index(child)] = None
            self.quit()
            self.parent.take_failure(self)

    def quit(self) -> None:
        self.ended = True
        for at, child in enumerate(self.children):
            if child is not None:
                self.children[at] = None
                child.quit()

    def discard_below(self, events: Set[Event]) -> None:
        for matches in self.matches:
            kept = [match for match in matches if not holds(match, events)]
            if len(kept) < len(matches) and not kept:
                self.quit()
                self.parent.take_failure(self)
                return
            matches[:] = kept
        for child in tuple(self.children):
            if child is not None:
                child.discard(events)

    def state(self) -> list[State]:
        machine = self.and_.machine
        return [[None if child is None else machine.instance_state(child) for child in self.children],
            [list(each) for each in self.matches]]


class OrOperator(ItemsOperator):
    def instance(self, parent: Parent, match: Match) -> OrInstance:
        return OrInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> OrInstance:
        instance = OrInstance(self, parent, match)
        for at, each in enumerate(part(part(state, 1)[0], len(self.items))):
            instance.children[at] = self.machine.restore_if_any(self.items[at], instance, match, each)
        return instance


class OrInstance(Instance):
    __slots__ = ("children", "ended", "or_")

    def __init__(self, or_: OrOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.or_ = or_
        self.children: list[Instance | None] = [None for _ in or_.items]
        self.ended = False

    def start(self) -> None:
        children = [item.instance(self, self.match) for item in self.or_.items]
        self.children[:] = children
        for child in children:
            if not self.ended:
                self.or_.machine.start(child)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if ended:
            if child in self.children:
                self.children[self.children.index(child)] = None
            self.quit()
        self.parent.take_match(self, match, ended)

    def take_failure(self, child: Instance) -> None:
        if child not in self.children:
            return
        self.children[self.children.index(child)] = None
        if all(each is None for each in self.children):
            self.ended = True
            self.parent.take_failure(self)

    def quit(self) -> None:
        self.ended = True
        for at, child in enumerate(self.children):
            if child is not None:
                self.children[at] = None
                child.quit()

    def discard_below(self, events: Set[Event]) -> None:
        for child in tuple(self.children):
            if child is not None:
                child.discard(events)

    def state(self) -> list[State]:
        return [[None if child is None else self.or_.machine.instance_state(child) for child in self.children]]


# ------------------------------------------------------------------ not


class NotOperator(Operator):
    """Matches at once, and fails when its item matches."""

    is_not = True

    def __init__(self, node: NotNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.item = machine.operator(node.item, node)

    def instance(self, parent: Parent, match: Match) -> NotInstance:
        return NotInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> NotInstance:
        instance = NotInstance(self, parent, match)
        instance.child = self.machine.restore_if_any(self.item, instance, match, part(state, 1)[0])
        return instance


class NotInstance(Instance):
    __slots__ = ("child", "ended", "not_")

    def __init__(self, not_: NotOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.not_ = not_
        self.child: Instance | None = None
        self.ended = False

    def start(self) -> None:
        self.child = child = self.not_.item.instance(self, self.match)
        self.not_.machine.start(child)
        if not self.ended:
            self.parent.take_match(self, self.match, False)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if ended and not self.ended:  # as in Esper, what may match again does not end it
            self.child = None
            self.quit()
            self.parent.take_failure(self)

    def take_failure(self, child: Instance) -> None:
        self.child = None

    def quit(self) -> None:
        self.ended = True
        child, self.child = self.child, None
        if child is not None:
            child.quit()

    def state(self) -> list[State]:
        return [None if self.child is None else self.not_.machine.instance_state(self.child)]


__all__ = ["AndOperator", "EveryOperator", "NotOperator", "OrOperator"]
