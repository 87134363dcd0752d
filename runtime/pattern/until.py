"""``[low:high] item until until``."""
from __future__ import annotations

from collections.abc import Sequence, Set

from epl.plan.patterns.pattern import UntilNode
from runtime.pattern.instances import Instance, Match, Parent, number, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.protocol import State


class Until(Operator):
    """Repeats its item; the tags of the item become arrays."""

    def __init__(self, node: UntilNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.until = None if node.until is None else machine.operator(node.until, node)  # its filters come first, as they start first
        self.item = machine.operator(node.item, node)
        self.exact = node.exact
        self._low = None if node.low is None else machine.of_match(node.low)
        self._high = None if node.high is None else machine.of_match(node.high)

    def bounds(self, match: Match) -> tuple[int | None, int | None]:
        """Return how often the item is repeated at least and at most, in order."""
        low = None if self._low is None else self._low(match)
        high = None if self._high is None else self._high(match)
        if low is not None and high is not None and low > high:
            return high, low
        return low, high

    def instance(self, parent: Parent, match: Match) -> UntilInstance:
        return UntilInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> UntilInstance:
        instance = UntilInstance(self, parent, match)
        low, high, count, arrays, child, until = part(state, 6)
        instance.low, instance.high = (None if bound is None else number(bound) for bound in (low, high))
        instance.count = number(count)
        places = self.item.places
        events = zip(part(arrays, len(places)), places)
        instance.arrays = [list(self.machine.check_array(*each)) for each in events]
        instance.child = self.machine.restore_if_any(self.item, instance, match, child)
        if self.until is not None:
            instance.until = self.machine.restore_if_any(self.until, instance, match, until)
        return instance


class UntilInstance(Instance):
    """``arrays``: the events so far of each place that the item fills."""

    __slots__ = ("arrays", "child", "count", "ended", "high", "low", "until", "until_")

    def __init__(self, until: Until, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.until_ = until
        self.low: int | None = None
        self.high: int | None = None
        self.count = 0
        self.arrays: list[list[Event]] = [[] for _ in until.item.places]
        self.child: Instance | None = None
        self.until: Instance | None = None
        self.ended = False

    def start(self) -> None:
        operator = self.until_
        self.low, self.high = operator.bounds(self.match)
        if (operator.exact and (self.low or 0) <= 0) or (self.high is not None and self.high < 0):
            return
        if operator.until is not None:
            self.until = until = operator.until.instance(self, self.match)
            operator.machine.start(until)
        if not self.ended and not (self.high is not None and self.high <= 0):
            self._repeat()

    def _repeat(self) -> None:
        self.child = child = self.until_.item.instance(self, self.match)
        self.until_.machine.start(child)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child is self.until:
            self._until(match)
            return
        if child is not self.child:
            return
        if ended:
            self.child = None
        self._append(match)
        self.count += 1
        if self.until_.exact and self.count == self.low:
            self.quit()
            self.parent.take_match(self, self._whole(self.match), True)
        elif self.high is not None and self.count >= self.high:
            self._stop_item()
        elif ended:
            self._repeat()

    def _append(self, match: Match) -> None:
        for array, place in zip(self.arrays, self.until_.item.places):
            events = match[place]
            if events.__class__ is tuple:
                array.extend(events)
            elif events is not None:
                array.append(events)

    def _until(self, match: Match) -> None:
        self.quit()
        if self.low is not None and self.count < self.low:
            self.parent.take_failure(self)
        else:
            self.parent.take_match(self, self._whole(match), True)

    def _whole(self, match: Match) -> Match:
        places = self.until_.item.places
        arrays: Match = tuple([tuple(array) or None for array in self.arrays])
        whole = list(match)
        for place, array in zip(places, arrays):
            whole[place] = array
        return tuple(whole)

    def _stop_item(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.quit()

    def take_failure(self, child: Instance) -> None:
        if child is self.until:
            self.until = None
        elif child is self.child:
            self.child = None
        else:
            return
        self.quit()
        self.parent.take_failure(self)

    def quit(self) -> None:
        self.ended = True
        self._stop_item()
        until, self.until = self.until, None
        if until is not None:
            until.quit()

    def discard_below(self, events: Set[Event]) -> None:
        if any(event in events for array in self.arrays for event in array):
            self.quit()
            self.parent.take_failure(self)
            return
        for child in (self.child, self.until):
            if child is not None and not self.ended:
                child.discard(events)

    def state(self) -> list[State]:
        machine = self.until_.machine
        child, until = (None if each is None else machine.instance_state(each) for each in (self.child, self.until))
        return [self.low, self.high, self.count, [list(array) for array in self.arrays], child, until]


__all__ = ["Until"]
