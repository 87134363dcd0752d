"""The steps of a drive plan, compiled: an event of the driving stream → the rows that it is part of."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from epl.plan.join.joins import DrivePlan, JoinPlan, JoinStep
from epl.plan.join.lookups import LookupPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_predicate
from windows.event import Event

JoinedRow = tuple["Event | None", ...]
"""An event of each stream, None where an outer join has none, or where it is not known yet."""

LookUp = Callable[[JoinedRow], Iterable[Event]]
"""What a step asks: a row without an event of the stream sought → the events that continue it."""

Find = Callable[[Sequence[JoinedRow]], Sequence[JoinedRow]]
"""Rows without events of some streams → those that one or several steps make of them."""

MakeLookUp = Callable[[LookupPlan], LookUp]


def compile_drive(
    plan: DrivePlan, join: JoinPlan, make: MakeLookUp, environment: Environment
) -> Callable[[Iterable[Event]], list[JoinedRow]]:
    """Return f(events of the driving stream) → their rows, in the order of the events."""
    count = len(join.kinds) + 1
    before, after = (None,) * plan.stream, (None,) * (count - plan.stream - 1)
    tests = [compile_predicate(condition, environment, plan.stream + 1) for condition in plan.conditions]
    across = [compile_predicate(condition, environment, count) for condition in plan.across]
    find, required = _Steps(make, join.in_turn).combine_steps(plan.steps, (plan.stream,)), join.required

    def drive(events: Iterable[Event]) -> list[JoinedRow]:
        rows: list[JoinedRow] = []
        for event in events:
            if not tests or all(test(*before, event) for test in tests):
                rows += find(((*before, event, *after),))
        if required:
            rows = [row for row in rows if all(row[each] is not None for each in required)]
        return [row for row in rows if all(test(*row) for test in across)] if across else rows

    return drive


class _Steps:
    """Compiles steps. ``make``: their look-ups; ``in_turn``: see JoinPlan."""

    def __init__(self, make: MakeLookUp, in_turn: bool) -> None:
        self._make = make
        self._in_turn = in_turn

    def combine_steps(self, steps: Sequence[JoinStep], known: tuple[int, ...]) -> Find:
        """Return what continues a row by each combination of what the steps after the last of the streams ``known`` find for it."""
        if len(steps) == 1:
            return self._step(steps[0], known)
        if self._in_turn:
            return self._one_by_one(steps, known)
        stream, branches = known[-1], [self._step(step, known) for step in steps]

        def find(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
            combined = [_combine([branch((row,)) for branch in branches]) for row in rows]
            if len(rows) > 1 and len({row[stream] for row in rows}) < len(rows):
                return _of_shared_events([row[stream] for row in rows], combined)
            return list(chain.from_iterable(chain.from_iterable(combined)))

        return find

    def _one_by_one(self, steps: Sequence[JoinStep], known: tuple[int, ...]) -> Find:
        branches: list[Find] = []
        for step in steps:
            branches.append(self._step(step, known))
            known = (*step.streams, *known)

        def find(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
            for branch in branches:
                rows = branch(rows)
            return rows

        return find

    def _step(self, plan: JoinStep, known: tuple[int, ...]) -> Find:
        look_up, sought = self._make(plan.lookup), plan.lookup.sought
        then = self.combine_steps(plan.then, (*known, sought)) if plan.then else None

        def matches(rows: Sequence[JoinedRow]) -> list[JoinedRow]:
            return [(*row[:sought], event, *row[sought + 1:]) for row in rows for event in look_up(row)]

        def require_rows(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
            continued = matches(rows)
            return continued if then is None or not continued else then(continued)

        def optional(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
            """Rows with a match come first, as in Esper."""
            matched: list[JoinedRow] = []
            alone: list[JoinedRow] = []
            for row in rows:
                continued = matches((row,))
                if continued:
                    matched += continued
                else:
                    alone.append(row)
            return [*(matched if then is None or not matched else then(matched)), *alone]

        def optional_as_a_whole(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
            """Return rows in which an event without the events that it needs is not a match."""
            matched = require_rows(rows)
            continued = {tuple([row[stream] for stream in known]) for row in matched}
            return [*matched, *(row for row in rows if tuple([row[stream] for stream in known]) not in continued)]

        if not plan.optional:
            return require_rows
        return optional_as_a_whole if any(not step.optional for step in plan.then) else optional


Loops = Sequence[Sequence[JoinedRow]]
"""Rows, by the event of the outer loop."""


def _combine(parts: Sequence[Sequence[JoinedRow]]) -> Loops:
    """Rows that differ in other streams, as rows of all of them: the shorter list is the outer loop, of equal ones the later."""
    if not all(parts):
        return ()
    loops: Loops = [parts[0]]
    for part in parts[1:]:
        rows = list(chain.from_iterable(loops))
        if len(part) <= len(rows):
            loops = [[_merge(row, other) for row in rows] for other in part]
        else:
            loops = [[_merge(row, other) for other in part] for row in rows]
    return loops


def _of_shared_events(events: Sequence[Event | None], combined: Sequence[Loops]) -> Sequence[JoinedRow]:
    """Return the rows in the order in which Esper emits them where several rows lead to the same event, as recorded: each time the first
    loop comes last, but that of the last time comes before all others. """
    places: dict[Event | None, list[int]] = {}
    for place, event in enumerate(events):
        places.setdefault(event, []).append(place)
    ordered: list[JoinedRow] = []
    for place, (event, loops) in enumerate(zip(events, combined)):
        times = places[event]
        if place == times[0]:
            ordered += chain.from_iterable(combined[times[-1]][:1])
        ordered += chain.from_iterable(loops[1:])
        if place != times[-1]:
            ordered += chain.from_iterable(loops[:1])
    return ordered


def _merge(row: JoinedRow, other: JoinedRow) -> JoinedRow:
    return tuple([one if one is not None else another for one, another in zip(row, other)])


__all__ = ["JoinedRow", "LookUp", "compile_drive"]
