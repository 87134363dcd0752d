"""A drive plan whose steps follow one another, as nested loops in one generated function."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.join.joins import DrivePlan, JoinStep
from runtime.expressions import Environment
from runtime.expressions.printer import Printer
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import PrintedLookup, print_maker
from windows.event import Event

JoinedRow = tuple["Event | None", ...]
MOST_LOOPS = 12
"""Python nests 20 blocks."""


def step_chain(plan: DrivePlan) -> list[JoinStep] | None:
    """Return the steps where each follows one; None where some branch or may find nothing, or there are too many."""
    chain: list[JoinStep] = []
    steps = plan.steps
    while steps:
        if len(steps) > 1 or steps[0].optional or len(chain) == MOST_LOOPS:
            return None
        chain.append(steps[0])
        steps = steps[0].then
    return None if plan.across else chain


def compile_loops(
    plan: DrivePlan, chain: Sequence[JoinStep], rows: Sequence[IndexedRows], environment: Environment
) -> Callable[[Iterable[Event]], list[JoinedRow]]:
    """Return f(events of the driving stream) → their rows, in the order of the events. ``rows``: of each stream of the join."""
    counts = rows[plan.stream].counts
    counted = counts is not None
    make, cells = environment.printed(("loops", counted), (plan,), lambda: _print_loops(plan, chain, environment, counted))
    indexes = [rows[step.lookup.sought].index(index, environment) for step in chain for index in step.lookup.indexes]
    drive: Callable[[Iterable[Event]], list[JoinedRow]] = make(counts, *rows, *indexes, *[read(environment) for read in cells])
    return drive


def _print_loops(
    plan: DrivePlan, chain: Sequence[JoinStep], environment: Environment, counted: bool
) -> tuple[Callable[..., Any], tuple[Callable[[Environment], Any], ...]]:
    count = len(chain) + 1
    printer = Printer(environment, count)
    lookups: list[PrintedLookup] = []
    lines = _loop(printer.streams[plan.stream], "events", [printer.test(condition) for condition in plan.conditions])
    for depth, step in enumerate(chain, 1):
        lookup = PrintedLookup(step.lookup, printer, sum(len(each.names) for each in lookups), "continue", counted)
        lookups.append(lookup)
        rows = lookup.rows(f"rows{step.lookup.sought}")
        inner = [*lookup.lines, *_loop(printer.streams[step.lookup.sought], rows, lookup.tests())]
        lines += ["    " * depth + line for line in inner]
    lines.append("    " * count + f"append(({''.join(f'{event}, ' for event in printer.streams.values())}))")
    text = [
        "def drive(events):", "    joined = []", "    append = joined.append", *(f"    {line}" for line in lines), "    return joined",
        "return drive",
    ]
    names = [*(f"rows{n}" for n in range(count)), *(name for lookup in lookups for name in lookup.names)]
    return print_maker(text, names, lookups, printer, counted)


def _loop(event: str, rows: str, tests: Sequence[str]) -> list[str]:
    return [f"for {event} in {rows}:", *(f"    if not {test}: continue" for test in tests)]


__all__ = ["compile_loops", "step_chain"]
