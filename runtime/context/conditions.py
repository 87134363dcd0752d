"""What begins and ends partitions, at run time: an event, a match of a pattern, a time."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs

from epl.generated_code import field_name
from epl.java_hash import in_hash_order, string_hash
from epl.plan.context.contexts import (
    AfterCondition,
    ContextCondition,
    CrontabCondition,
    FilterCondition,
    NeverCondition,
    PatternCondition,
)
from runtime.clock.crontab import Crontab
from runtime.clock.schedule import ScheduledTimer
from runtime.event_loop.prepared_filters import ActiveFilter
from runtime.operators.operator_context import OperatorContext
from runtime.pattern.observed import build_machine
from windows.event import Event
from windows.protocol import Damaged, State
from windows.shape import DUE, NOTHING, takes


@attrs.frozen
class Occurrence:
    """A condition that has come true. ``properties``: what it brings, by name; ``events``: those that the statements of a partition that
    begins get at once; ``event``: the one that is under way, None for a time or a pattern."""

    properties: Mapping[str, Any] = attrs.field(factory=dict)
    events: Sequence[Event] = ()
    event: Event | None = None


Occurred = Callable[[Occurrence], None]


class RunningCondition(Protocol):
    """``due``: the time at which it comes true, as far as it is known."""

    due: int | None

    def next_time(self) -> int | None:
        """Return the time at which it would come true if it began now; None for what is not a time."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """Stop, and close what it was built with as far as it was prepared for it alone."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Never:
    """Does not come true."""

    due: int | None = None

    def next_time(self) -> int | None:
        return None

    def start(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def state(self) -> State:
        return None

    @takes(NOTHING)
    def restore(self, state: State) -> None:
        """Do nothing."""


class OnFilter:
    """Comes true with each event that passes the filter, as long as it runs."""

    due: int | None = None

    def next_time(self) -> int | None:
        return None

    def __init__(self, plan: FilterCondition, context: OperatorContext, occurred: Occurred, depth: int) -> None:
        self._plan = plan
        self._context = context
        self._occurred = occurred
        self._depth = depth
        self.active: ActiveFilter | None = None

    def receive(self, event: Event) -> None:
        tag = self._plan.tag
        self._occurred(Occurrence({} if tag is None else {tag: event}, (event,), event))

    def start(self) -> None:
        prepared = self._context.prepare(self._plan.filter, self._depth)
        self.active = prepared.activate(self._context.values(prepared), self)
        self.active.turn = self._context.turn

    def stop(self) -> None:
        if self.active is not None:
            self.active.deactivate()
            self.active = None
        self._context.close()

    def state(self) -> State:
        return None

    @takes(NOTHING)
    def restore(self, state: State) -> None:
        """Do nothing: it starts with the values that it had."""


class OnPattern:
    """Comes true with each match. ``inclusive``: whether the events of the match count for the statements of what begins; ``at_once``:
    whether it may be true from the beginning."""

    due: int | None = None

    def next_time(self) -> int | None:
        return None

    def __init__(self, plan: PatternCondition, context: OperatorContext, occurred: Occurred, *, inclusive: bool, at_once: bool) -> None:
        self._plan = plan
        self._context = context
        self._occurred = occurred
        self._inclusive = inclusive
        self._at_once = at_once
        self._machine = build_machine(plan.pattern, context, self)
        names = [tag.name for tag in plan.pattern.tags]
        self._tags = [field_name(names[place]) for place in in_hash_order(map(string_hash, names), len(names))]

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for row in new:
            properties = dict(zip(row.type.names, row.values()))
            events = tuple(self._match_events(row)) if self._inclusive else ()
            if self._plan.tag is not None:
                properties[self._plan.tag] = row
            self._occurred(Occurrence(properties, events))

    def _match_events(self, row: Event) -> Iterator[Event]:
        """Return the events of a match, each once: those of one tag after the other, as a HashMap of Java has the tags."""
        seen: dict[int, Event] = {}
        for name in self._tags:
            value = getattr(row, name)
            for event in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(event, Event):
                    seen[id(event)] = event
        return iter(seen.values())

    def start(self) -> None:
        self._machine.open(at_once=self._at_once)

    def stop(self) -> None:
        self._machine.close()
        self._context.close()

    def state(self) -> State:
        return self._machine.state()

    def restore(self, state: State) -> None:
        self._machine.restore(state)


class AtTime:
    """Comes true at times: ``following(now)`` gives the next one, None where none ever comes; again and again where it ``repeats``."""

    def __init__(
        self, context: OperatorContext, following: Callable[[int], int | None], occurred: Occurred, *, repeats: bool, number: int
    ) -> None:
        self._now = context.now
        self._following = following
        self._occurred = occurred
        self._repeats = repeats
        self.due: int | None = None
        self._timer = ScheduledTimer(context.core.schedule, (context.statement.number, number, 0), context.name, self._run)

    def next_time(self) -> int | None:
        return self._following(self._now())

    def start(self) -> None:
        if self.due is None:
            self.due = self.next_time()
        if self.due is not None:
            self._timer.set(self.due)

    def _run(self) -> None:
        self.due = None
        if self._repeats:
            self.start()
        self._occurred(Occurrence())

    def stop(self) -> None:
        self._timer.cancel()
        self.due = None

    def state(self) -> State:
        return self.due

    @takes(DUE)
    def restore(self, state: State) -> None:
        self.due = state


def condition(
    plan: ContextCondition | None, context: OperatorContext, occurred: Occurred, *, depth: int, number: int, overlapping: bool = False,
    at_once: bool = False,
) -> RunningCondition:
    """Return what runs for a condition, in a partition of which ``context`` has the properties. ``depth``: of its level; ``number``:
    orders its timers among those due at one time; ``overlapping``: it begins partitions that overlap: times come true again and again, and
    events of a pattern's match count for statements also where it is not inclusive, as in Esper; ``at_once``: a pattern may be true from
    the beginning."""
    if plan is None or isinstance(plan, NeverCondition):
        return Never()
    if isinstance(plan, FilterCondition):
        return OnFilter(plan, context, occurred, depth)
    if isinstance(plan, PatternCondition):
        return OnPattern(plan, context, occurred, inclusive=plan.inclusive or overlapping, at_once=at_once)
    if isinstance(plan, AfterCondition):
        period = plan.period
        return AtTime(context, lambda now: context.add_time(now, period), occurred, repeats=overlapping, number=number)
    assert isinstance(plan, CrontabCondition)
    crontabs = [Crontab(each, context.constant, context.core.settings) for each in plan.crontabs]

    def following(now: int) -> int | None:
        times = [due for crontab in crontabs if (due := crontab.next_due(now)) is not None]
        return min(times, default=None)

    return AtTime(context, following, occurred, repeats=overlapping, number=number)


def check_properties(state: Any) -> dict[str, Any]:
    """Return properties of a state; raise Damaged for what is none."""
    if not isinstance(state, Mapping) or not all(isinstance(name, str) for name in state):
        raise Damaged("properties of a context partition are not a map by name")
    return dict(state)


__all__ = ["Occurred", "Occurrence", "RunningCondition", "check_properties", "condition"]
