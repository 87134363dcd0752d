"""Filters: ``tag=Type(conditions)``. An instance is an entry of the filter index, from the event after the current one on."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.patterns.pattern import FilterNode, PatternNode
from runtime.event_loop.prepared_filters import ActiveFilter, PreparedFilter
from runtime.pattern.instances import Instance, Match, Parent, number, part
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.protocol import State


class FilterOperator(Operator):
    """Prepared when the statement starts; what is compiled of it is the same for all instances."""

    def __init__(self, plan: FilterNode, machine: PatternMachine, node: PatternNode) -> None:
        super().__init__(node, machine)
        self.plan = plan
        self.place = plan.place
        self.level = plan.consume
        self.discards = machine.plan.discard
        self._contained = None if plan.contained is None else machine.containment(plan.contained)
        self.prepared: PreparedFilter
        self.is_open = False
        machine.atoms.append(self)

    def open(self) -> None:
        self.prepared = self.machine.prepare(self.plan.filter)
        self.is_open = True

    def close(self) -> None:
        if self.is_open:  # else the statement could not begin
            self.is_open = False
            self.prepared.close()

    def instance(self, parent: Parent, match: Match) -> FilterInstance:
        return FilterInstance(self, parent, match)

    def restore_instance(self, parent: Parent, match: Match, state: Sequence[State]) -> FilterInstance:
        instance = self.instance(parent, match)
        instance.sequence = number(part(state, 1)[0])
        self.machine.resume(instance.sequence, instance.activate)
        return instance

    def with_event(self, match: Match, event: Event) -> Match | None:
        """Return the match with the event in the place of the tag, or with all events that it contains; None where it contains none, not
        even an empty list of them."""
        place, taken = self.place, event
        if self._contained is not None:
            rows = self._contained.rows(event)
            if rows is None:
                return None
            taken = tuple(rows)  # type: ignore[assignment]
        return match if place is None else (*match[:place], taken, *match[place + 1:])


class FilterInstance(Instance):
    """Takes one event, and ends."""

    __slots__ = ("active", "atom", "sequence")

    def __init__(self, atom: FilterOperator, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.atom = atom
        self.active: ActiveFilter | None = None
        self.sequence = 0

    def start(self) -> None:
        self.sequence = self.atom.machine.next_sequence()
        self.activate()

    def activate(self) -> None:
        prepared = self.atom.prepared
        self.active = prepared.activate(prepared.values_of(*self.match), self.atom.machine.filter_target(self))
        self.active.partition = self.atom.machine.partition
        self.active.turn = self.atom.machine.turn

    def receive(self, event: Event) -> None:
        atom = self.atom
        if atom.machine.collects:
            atom.machine.offer(self.atom.level, self, event)
        else:
            self.take(event)

    def take(self, event: Event) -> None:
        """Match the event."""
        match = self.atom.with_event(self.match, event)
        if match is not None:
            if self.atom.discards:
                self.report(match)
            self.quit()
            self.parent.take_match(self, match, True)

    def report(self, match: Match) -> None:
        """Let all above know which events they hold now."""
        taken = None if self.atom.place is None else match[self.atom.place]
        for event in () if taken is None else taken if taken.__class__ is tuple else (taken,):
            child: Instance = self
            while isinstance(child.parent, Instance):
                child.parent.note(child, event)
                child = child.parent

    def quit(self) -> None:
        if self.active is not None:
            self.active.deactivate()
            self.atom.machine.note_stop(self.active)
            self.active = None

    def state(self) -> list[State]:
        return [self.sequence]


class EveryFilter(FilterOperator):
    """A filter under ``every`` or ``until``: the entry stays, since the one that would follow has the same values."""

    def instance(self, parent: Parent, match: Match) -> FilterInstance:
        return EveryFilterInstance(self, parent, match)


class EveryFilterInstance(FilterInstance):
    __slots__ = ()

    def take(self, event: Event) -> None:
        match = self.atom.with_event(self.match, event)
        if match is not None:
            if self.atom.discards:
                self.report(match)
            self.parent.take_match(self, match, False)


__all__ = ["EveryFilter", "FilterInstance", "FilterOperator"]
