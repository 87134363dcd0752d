"""The steps of a drive plan, compiled: an event of the driving stream → the rows that it is part of."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from epl.plan.joins import DrivePlan, JoinPlan, JoinStep
from epl.plan.lookups import LookupPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_predicate
from windows.event import Event

JoinedRow = tuple["Event | None", ...]
"""An event of each stream, None where an outer join has none."""

LookUp = Callable[[JoinedRow], Iterable[Event]]
"""What a step asks: a row without an event of the stream sought → the events that continue it."""

Find = Callable[[Sequence[JoinedRow]], Sequence[JoinedRow]]
"""Rows without an event of some stream → those that a step makes of them."""

MakeLookUp = Callable[[LookupPlan], LookUp]


def compile_drive(
    plan: DrivePlan, join: JoinPlan, make: MakeLookUp, environment: Environment
) -> Callable[[Iterable[Event]], list[JoinedRow]]:
    """Return f(events of the driving stream) → their rows, in the order of the events."""
    stream, after = plan.stream, len(join.kinds) - plan.stream
    steps = [_compile_step(step, make) for step in plan.steps]
    tests = [compile_predicate(condition, environment, stream + 1) for condition in plan.conditions]
    before, behind = (None,) * stream, (None,) * after
    required = join.required

    def drive(events: Iterable[Event]) -> list[JoinedRow]:
        joined: list[JoinedRow] = []
        for event in events:
            if tests and not all(test(*before, event) for test in tests):
                continue
            rows: Sequence[JoinedRow] = ((*before, event, *behind),)
            for step in steps:
                rows = step(rows)
                if not rows:
                    break
            joined += rows
        if required:
            return [row for row in joined if all(row[each] is not None for each in required)]
        return joined

    return drive


def _compile_step(plan: JoinStep, make: MakeLookUp) -> Find:
    look_up, sought, source = make(plan.lookup), plan.lookup.sought, plan.source
    then = [_compile_step(step, make) for step in plan.then]

    def required(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
        return [(*row[:sought], event, *row[sought + 1:]) for row in rows for event in look_up(row)]

    def continued(row: JoinedRow) -> Sequence[JoinedRow]:
        """The rows that this one is continued by."""
        if source is not None and row[source] is None:
            return ()
        rows: Sequence[JoinedRow] = required((row,))
        for step in then:
            rows = step(rows)
        return rows

    def find(rows: Sequence[JoinedRow]) -> Sequence[JoinedRow]:
        matched: list[JoinedRow] = []
        unmatched: list[JoinedRow] = []
        for row in rows:
            rows_of = continued(row)
            if rows_of:
                matched += rows_of
            elif plan.optional:
                unmatched.append(row)
        return matched + unmatched

    return required if source is None else find


__all__ = ["JoinedRow", "LookUp", "compile_drive"]
