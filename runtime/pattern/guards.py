"""Guards: ``timer:within``, ``timer:withinmax``, ``while``."""
from __future__ import annotations

from collections.abc import Sequence, Set

from epl.plan.patterns.pattern import WhileNode, WithinNode
from runtime.clock.schedule import ScheduledTimer
from runtime.pattern.instances import Instance, Match, Parent, number, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.protocol import State


class Within(Operator):
    """Ends its item after a period; ``most``: or after so many matches.

    ``lingers``: below ``every``. As in Esper, the period then goes on after the item has failed, and ``every`` begins again a second time
    when it is over.
    """

    def __init__(self, node: WithinNode, machine: PatternMachine, *, lingers: bool = False) -> None:
        super().__init__(node, machine)
        self.lingers = lingers
        self.item = machine.operator(node.item, node)
        self.period = machine.period(node.period)
        self.most = None if node.most is None else machine.of_match(node.most)

    def instance(self, parent: Parent, match: Match) -> WithinInstance:
        return WithinInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> WithinInstance:
        instance = WithinInstance(self, parent, match)
        sequence, due, left, child = part(state, 4)
        instance.sequence = number(sequence)
        instance.left = None if left is None else number(left)
        instance.child = self.machine.restore_if_any(self.item, instance, match, child)
        if due is not None:
            at = number(due)
            self.machine.resume(instance.sequence, lambda: instance.wait(at))
        return instance


class WithinInstance(Instance):
    """``left``: how many more matches may pass, None for any number."""

    __slots__ = ("child", "left", "sequence", "timer", "within")

    def __init__(self, within: Within, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.within = within
        self.child: Instance | None = None
        self.timer: ScheduledTimer | None = None
        self.sequence = 0
        self.left: int | None = None

    @property
    def lingers(self) -> bool:  # type: ignore[override]
        return self.timer is not None

    def start(self) -> None:
        operator = self.within
        self.left = None if operator.most is None else operator.most(self.match)
        due = operator.period(operator.machine.now(), self.match)
        self.sequence = operator.machine.next_sequence()
        self.wait(due)
        self.child = child = operator.item.instance(self, self.match)
        operator.machine.start(child)

    def wait(self, due: int) -> None:
        self.timer = self.within.machine.timer(self._expire)
        self.timer.set(due)

    def _expire(self) -> None:
        self.quit()  # perhaps for the second time, by a timer due at the same time: in Esper ``every`` hears of that, too
        self.parent.take_failure(self)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child is not self.child:
            return
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.quit()
                self.parent.take_failure(self)
                return
        if ended:
            self.child = None
            self.quit()
        self.parent.take_match(self, match, ended)

    def take_failure(self, child: Instance) -> None:
        if child is not self.child:
            return
        self.child = None
        if not self.within.lingers:
            self.quit()
        self.parent.take_failure(self)

    def quit(self) -> None:
        timer, self.timer = self.timer, None
        if timer is not None:
            timer.cancel()
        child, self.child = self.child, None
        if child is not None:
            child.quit()

    def discard_below(self, events: Set[Event]) -> None:
        if self.child is not None:
            self.child.discard(events)

    def state(self) -> list[State]:
        child = None if self.child is None else self.within.machine.instance_state(self.child)
        return [self.sequence, None if self.timer is None else self.timer.due, self.left, child]


class While(Operator):
    """Ends its item with the first match for which the condition is false. As in Esper a match for which it is null goes nowhere."""

    def __init__(self, node: WhileNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self.item = machine.operator(node.item, node)
        self.test = machine.of_match(node.condition)

    def instance(self, parent: Parent, match: Match) -> WhileInstance:
        return WhileInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> WhileInstance:
        instance = WhileInstance(self, parent, match)
        instance.child = self.machine.restore_if_any(self.item, instance, match, part(state, 1)[0])
        return instance


class WhileInstance(Instance):
    __slots__ = ("child", "while_")

    def __init__(self, while_: While, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.while_ = while_
        self.child: Instance | None = None

    def start(self) -> None:
        self.child = child = self.while_.item.instance(self, self.match)
        self.while_.machine.start(child)

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        if child is not self.child:
            return
        if ended:
            self.child = None
        holds = self.while_.machine.attempt(self.while_.test, match)
        if holds:
            self.parent.take_match(self, match, ended)
        elif holds is not None:
            self.quit()
            self.parent.take_failure(self)

    def take_failure(self, child: Instance) -> None:
        if child is not self.child:
            return
        self.child = None
        self.parent.take_failure(self)

    def quit(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.quit()

    def discard_below(self, events: Set[Event]) -> None:
        if self.child is not None:
            self.child.discard(events)

    def state(self) -> list[State]:
        return [None if self.child is None else self.while_.machine.instance_state(self.child)]


__all__ = ["While", "Within"]
