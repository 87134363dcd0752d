"""Observers: ``timer:interval``, ``timer:at``, ``timer:schedule``."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.patterns.pattern import CrontabNode, IntervalNode, PatternNode, ScheduleNode
from runtime.clock.schedule import ScheduledTimer
from runtime.pattern.instances import Instance, Match, Parent, items, number, part
from runtime.pattern.machine import Operator, PatternMachine
from runtime.pattern.schedules import Schedules, Series, next_occurrence
from windows.protocol import Damaged, State


class ObserverOperator(Operator):
    """Matches when its time comes."""

    def __init__(self, node: PatternNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)

    def begin(self, now: int, match: Match) -> tuple[int | None, Series]:
        """Return the first time (``now`` or before: it has come already, None: it never does) and what ``following`` reads."""
        raise NotImplementedError

    def following(self, series: Series, now: int) -> int | None:
        """Return the next time; None where there is none."""
        return None

    def instance(self, parent: Parent, match: Match) -> ObserverInstance:
        return ObserverInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> ObserverInstance:
        instance = ObserverInstance(self, parent, match)
        sequence, due, series = part(state, 3)
        instance.sequence = number(sequence)
        instance.series = tuple(map(number, items(series)))
        if len(instance.series) != self.length:
            raise Damaged(f"a series of {len(instance.series)} numbers where {self.length} are expected")
        if due is not None:
            at = number(due)
            self.machine.resume(instance.sequence, lambda: instance.wait(at))
        return instance

    length = 0
    """Of the series."""
    ends = True
    """Whether an instance ends when there is no next time."""
    runs_first = False
    """Whether its time comes before what the statement's windows and output do at that time."""


class IntervalObserver(ObserverOperator):
    def __init__(self, node: IntervalNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self._period = machine.period(node.period)

    def begin(self, now: int, match: Match) -> tuple[int | None, Series]:
        return self._period(now, match), ()


class AtObserver(ObserverOperator):
    """``timer:at(…)``: its parameters are evaluated when an instance starts."""

    def __init__(self, node: CrontabNode, machine: PatternMachine) -> None:
        super().__init__(node, machine)
        self._crontab = machine.crontab(node)

    def begin(self, now: int, match: Match) -> tuple[int | None, Series]:
        return self._crontab(match).next_due(now), ()


class ScheduleObserver(ObserverOperator):
    """``timer:schedule(…)``: the only observer that may match several times, where what is above it lets it: the pattern itself, ``or``,
    and ``every`` (``ends``: False), which then does not begin it again.
    """

    length = 5
    runs_first = True

    def __init__(self, node: ScheduleNode, machine: PatternMachine, *, stays: bool = False, ends: bool = True) -> None:
        super().__init__(node, machine)
        self.ends = ends
        self._stays = stays
        self._schedules = Schedules(node, machine)

    def begin(self, now: int, match: Match) -> tuple[int | None, Series]:
        series = self._schedules.series(now, match)
        return next_occurrence(series, now, self.machine.settings), series

    def following(self, series: Series, now: int) -> int | None:
        return next_occurrence(series, now, self.machine.settings) if self._stays else None


class ObserverInstance(Instance):
    __slots__ = ("observer", "sequence", "series", "timer")

    def __init__(self, observer: ObserverOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.observer = observer
        self.timer: ScheduledTimer | None = None
        self.sequence = 0
        self.series: Series = ()

    def start(self) -> None:
        machine = self.observer.machine
        now = machine.now()
        due, self.series = self.observer.begin(now, self.match)
        if due is None:
            return
        if due <= now:
            self.parent.take_match(self, self.match, True)
            return
        self.sequence = machine.next_sequence()
        self.wait(due)

    def wait(self, due: int) -> None:
        self.timer = self.observer.machine.timer(self._come, first=self.observer.runs_first)
        self.timer.set(due)

    def _come(self) -> None:
        if self.timer is None:  # quit by a timer that was due at the same time: in Esper ``or`` and ``every`` hear of it all the same
            self.parent.take_match(self, self.match, True)
            return
        self.timer = None
        machine = self.observer.machine
        due = self.observer.following(self.series, machine.now())
        if due is not None:
            self.sequence = machine.next_sequence()
            self.wait(due)
        self.parent.take_match(self, self.match, due is None and self.observer.ends)

    def quit(self) -> None:
        timer, self.timer = self.timer, None
        if timer is not None:
            timer.cancel()

    def state(self) -> list[State]:
        return [self.sequence, None if self.timer is None else self.timer.due, list(self.series)]


__all__ = ["AtObserver", "IntervalObserver", "ObserverOperator", "ScheduleObserver"]
