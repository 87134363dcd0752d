"""Source text of a machine's step over partial matches, for conditions that look at rows of other variables: the program unrolled.

``move(before, event, row, ended)`` does what ``Machine.advance`` and ``Machine.begin`` do for plans without prev; partial matches are the
same tuples. Where a condition raises, nothing has been changed.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

from epl.generated_code import define_names
from epl.plan.patterns.match_recognize import Condition, RowRecognitionPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import OPERATIONS
from runtime.expressions.printer import Printer
from runtime.match_recognize.machine import Machine, PartialMatch
from runtime.match_recognize.ranking import Match
from windows.event import Event

MOST_STEPS = 16
MOST_LINKS = 64
"""Programs beyond are not written out: a partial match's step is found by comparing."""

Move = Callable[[Sequence[PartialMatch], Event, int, list[Match]], list[PartialMatch]]
"""move(partial matches, row, its number, takes matches that end) → the partial matches that go on, then those that begin with the row."""


def write_move(plan: RowRecognitionPlan, machine: Machine, environment: Environment) -> Move | None:
    """Return the source of moves; None for a plan with prev, with conditions on group variables, or of a size not to be unrolled."""
    steps = plan.program.steps
    operands = [o for c in plan.conditions if c is not None for o in c.operands]
    if plan.lookback or not all(o.kind == "current" or (o.kind == "variable" and o.number in machine.variables) for o in operands):
        return None
    if len(steps) > MOST_STEPS or sum(len(s.then) for s in steps) > MOST_LINKS:
        return None
    writer = _Writer(plan, machine, environment)
    names = {**OPERATIONS, **writer.printer.bindings, "Match": Match, "nothing": machine.nothing}
    move: Move = define_names(writer.text, names)["move"]
    return move


class _Writer:
    def __init__(self, plan: RowRecognitionPlan, machine: Machine, environment: Environment) -> None:
        self.printer = Printer(environment, 1)
        self._machine = machine
        slots = dict(zip(machine.variables, machine.slots))
        self._tests = tuple(self._test(condition, slots) for condition in plan.conditions)
        row_only = {n for n, c in enumerate(plan.conditions) if c is not None and c.reads_row_only}
        self._known = sorted(row_only & set(machine.variables))
        """Variables whose condition is the same for all partial matches: evaluated once a row at most."""
        lines = ["def move(before, event, row, ended):", "    after = []", *(f"    truth_{v} = None" for v in self._known)]
        lines += ["    for step, began, path, looked_at in before:"]
        for number in range(len(machine.variables)):
            lines += [f"        {'if' if number == 0 else 'elif'} step == {number}:", *self._take_lines(12, number, "path", "began")]
        for number in machine.start:
            lines += ["    looked_at = nothing", *self._take_lines(4, number, "None", "row")]
        self.text = "\n".join([*lines, "    return after", ""])

    def _test(self, condition: Condition | None, slots: dict[int, int | None]) -> str | None:
        """Return a condition over ``event`` and ``looked_at``; None where any row will do."""
        if condition is None:
            return None
        self.printer.streams = {
            n: "event" if o.kind == "current" else f"looked_at[{slots[o.number]}]" for n, o in enumerate(condition.operands)
        }
        return self.printer.test(condition.expression)

    def _take_lines(self, indent: int, number: int, path: str, begun: str) -> list[str]:
        """Return a step offered the row."""
        variable = self._machine.variables[number]
        test = self._tests[variable]
        lines: list[str] = []
        if test is not None and variable in self._known:
            lines += [f"if truth_{variable} is None: truth_{variable} = True if {test} else False"]
            test = f"truth_{variable}"
        inner = self._took(number, path, begun)
        lines += inner if test is None else [f"if {test}:", *(f"    {line}" for line in inner)]
        return [" " * indent + line for line in lines]

    def _took(self, number: int, path: str, begun: str) -> list[str]:
        machine = self._machine
        lines = [f"taken = ({path}, event, {number})"]
        if machine.accepts[number]:
            lines += [f"ended.append(Match({begun}, row, taken))"]
        slot = machine.slots[number]
        if slot is not None and machine.then[number]:
            places = ["event" if n == slot else f"looked_at[{n}]" for n in range(len(machine.nothing))]
            lines += [f"looked_at = ({', '.join(places)},)"]
        return [*lines, *(f"after.append(({target}, {begun}, taken, looked_at))" for target in machine.then[number])]


__all__ = ["Move", "write_move"]
