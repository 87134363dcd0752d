"""``every-distinct(a.id, 10 sec) a=A``."""
from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from epl.plan.patterns.pattern import EveryDistinctNode
from runtime.pattern.instances import Instance, Match, Parent, items, number, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.keys import values_of_key
from windows.protocol import Damaged, State

Keys = dict[Any, "int | None"]
"""Keys that have matched, and when each is forgotten."""


class EveryDistinctOperator(Operator):
    """Does as every, for matches whose keys differ from those of all before. ``key_of`` a match; ``expiry``: how long keys count."""

    def __init__(self, node: EveryDistinctNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.item = machine.operator(node.item, node)
        self.key_of, self.key_from = machine.keys(node.keys)
        self.key_count = len(node.keys)
        self.expiry = None if node.expiry is None else machine.period(node.expiry)

    def instance(self, parent: Parent, match: Match) -> EveryDistinctInstance:
        return EveryDistinctInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> EveryDistinctInstance:
        instance = EveryDistinctInstance(self, parent, match)
        children, known = part(state, 2)
        sets: list[Keys] = [self._keys(each) for each in items(known)]
        for each in items(children):
            child, at = part(each, 2)
            if not 0 <= number(at) < len(sets):
                raise Damaged(f"keys number {at} of {len(sets)}")
            instance.children[self.machine.restore_instance(self.item, instance, match, child)] = sets[at]
        if len({id(keys) for keys in instance.children.values()}) != len(sets):
            raise Damaged("keys of every-distinct that no instance has")
        return instance

    def _keys(self, stored: State) -> Keys:
        keys: Keys = {}
        for each in items(stored):
            values, until = part(each, 2)
            key = self.key_from(items(values))
            if key in keys:
                raise Damaged("a key of every-distinct twice")
            keys[key] = None if until is None else number(until)
        return keys


class EveryDistinctInstance(Instance):
    """``children``: with the keys that have matched, which an instance takes over from the one that has ended before it."""

    __slots__ = ("children", "distinct", "immediate", "starting")

    def __init__(self, distinct: EveryDistinctOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.distinct = distinct
        self.children: dict[Instance, Keys] = {}
        self.starting: Instance | None = None
        self.immediate = False

    def start(self) -> None:
        self._spawn({})

    def _spawn(self, keys: Keys) -> None:
        self.starting = child = self.distinct.item.instance(self, self.match)
        self.immediate = False
        self.distinct.machine.start(child)
        self.starting = None
        if self.immediate:
            child.quit()
        else:
            self.children[child] = keys

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child is self.starting:
            self.immediate = True
            return
        keys = self.children.get(child)
        if keys is None:
            return
        is_new = self.distinct.machine.attempt(lambda each: self._is_new(each, keys), match)
        if ended:
            del self.children[child]
        self._spawn(keys if ended else dict(keys))
        if is_new:
            self.parent.take_match(self, match, False)

    def _is_new(self, match: Match, keys: Keys) -> bool:
        key = self.distinct.key_of(match)
        expiry = self.distinct.expiry
        if expiry is None:
            if key in keys:
                return False
            keys[key] = None
            return True
        now = self.distinct.machine.now()
        while keys and (until := keys[oldest := next(iter(keys))]) is not None and until <= now:
            del keys[oldest]
        if key in keys:
            return False
        keys[key] = expiry(now, self.match)
        return True

    def take_failure(self, child: Instance) -> None:
        if child is self.starting:
            self.immediate = True
            return
        known = child in self.children
        if not child.lingers:
            self.children.pop(child, None)
        if known:
            self._spawn({})

    def quit(self) -> None:
        for child in self.children:
            child.quit()
        self.children.clear()

    def discard_below(self, events: Set[Event]) -> None:
        for child in tuple(self.children):
            child.discard(events)

    def state(self) -> list[State]:
        machine = self.distinct.machine
        sets = {id(keys): (number, keys) for number, keys in enumerate({id(keys): keys for keys in self.children.values()}.values())}
        children = [[machine.instance_state(child), sets[id(keys)][0]] for child, keys in self.children.items()]
        count = self.distinct.key_count
        return [children, [[[values_of_key(key, count), until] for key, until in keys.items()] for _, keys in sets.values()]]


__all__ = ["EveryDistinctOperator"]
