"""Source text of a statement's steps over layers: the program unrolled, conditions in terms of local variables.

``enter(e)`` takes a row of the stream; ``step(partition, e, row, history)`` moves one partition. Nothing is made for a row that begins
nothing. The text is a function of the plan alone, and compiled once however often it is built.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from epl.attribute_text import name_class_attributes
from epl.plan.patterns.match_recognize import Condition, RowRecognitionPlan
from epl.value_types import Scalar
from runtime.expressions import Environment
from runtime.expressions.function_factory import FunctionFactory
from runtime.expressions.generated_steps import PlacePrinter
from runtime.expressions.source_lines import indent_lines, under
from runtime.match_recognize.partitions import LayeredPartition, States
from runtime.match_recognize.row_recognition import RowRecognition
from windows.keys import PLAIN_KINDS
from windows.paging import Paged

MOST_STEPS = 64
MOST_LINKS = 1_000
"""Programs beyond are not written out."""
FEW_STEPS = 6
"""Programs up to this size count bits by a table."""
OPERATOR = name_class_attributes("operator", RowRecognition)
PARTITION = name_class_attributes("partition", LayeredPartition)
STATES = name_class_attributes("states", States)
PAGES = name_class_attributes("partition_pages", Paged)
NOTED = f"if {PAGES.touched} is not None: {PAGES.touched}[key] = None"
"""The partition changes."""


def can_be_written(plan: RowRecognitionPlan) -> bool:
    """Return whether no condition looks at the rows of a match, and the program is of a size to be unrolled."""
    steps = plan.program.steps
    small = len(steps) <= MOST_STEPS and sum(len(s.then) for s in steps) <= MOST_LINKS
    return small and all(c is None or c.reads_row_only for c in plan.conditions)


OWN = (
    "operator", "partitions", "numbers", "histories", "Partition", "no_history", "key_of", "commit", "trim", "states",
    "partition_pages", "taken_rows",
)
"""The objects of an operator that the text names."""


@attrs.frozen
class StepSource:
    """What makes an operator's ``enter`` and ``step``."""

    factory: FunctionFactory
    environment: Environment

    def functions(self, objects: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return (enter, step) over the operator's own objects, those of ``OWN``."""
        functions = self.factory(objects, self.environment)
        return functions["enter"], functions["step"]


def write_steps(plan: RowRecognitionPlan, environment: Environment) -> StepSource:
    """Return the source for a plan of which ``can_be_written`` holds."""
    def write() -> FunctionFactory:
        writer = StepWriter(plan, PlacePrinter(environment, None, {}))
        return FunctionFactory(("enter", "step"), [*writer.step(), *writer.enter()], {}, OWN, writer.printer)

    return StepSource(environment.printed("match_recognize steps", (plan,), write), environment)


class StepWriter:
    """The lines of one plan's steps. They speak of the row ``e``, its ``key`` and ``partition``, and of the rows before it: ``p0`` …"""

    def __init__(self, plan: RowRecognitionPlan, printer: PlacePrinter) -> None:
        self.plan, self.printer = plan, printer
        self._steps = plan.program.steps
        tests = tuple(self._test(condition) for condition in plan.conditions)
        self._tests = tests
        self._shared = {v for v in range(len(tests)) if sum(s.variable == v for s in self._steps) > 1 and tests[v] is not None}
        offsets = {o.number - 1 for c in plan.conditions if c is not None for o in c.operands if o.kind == "previous"}
        self._previous = [f"p{n} = history[{n}]" for n in sorted(offsets)]
        self._now = f"({', '.join(f'now_{n}' for n in range(len(self._steps)))},)"

    def _test(self, condition: Condition | None) -> str | None:
        """Return a condition over ``e`` and the rows before it; None where any row will do."""
        if condition is None:
            return None
        self.printer.streams = {n: "e" if o.kind == "current" else f"p{o.number - 1}" for n, o in enumerate(condition.operands)}
        return self.printer.test(condition.expression)

    def _key(self) -> str:
        """Return the key's expression, where its values are keys as they are."""
        partition_by = self.plan.partition_by
        if not partition_by:
            return "None"
        if not all(isinstance(e.type, Scalar) and e.type.kind in PLAIN_KINDS for e in partition_by):
            return "key_of(e)"
        self.printer.streams = {0: "e"}
        values = [self.printer.value(e) for e in partition_by]
        return values[0] if len(values) == 1 else f"({', '.join(values)})"

    # ------------------------------------------------------------------ the two functions

    def step(self) -> list[str]:
        """Return ``step(partition, e, row, history)``: whether a match ends."""
        lines = [*self._previous, *self._moves()]
        if self.plan.lookback:
            lines += ["if not taken and known is None and not layers: return False"]
        return ["def step(partition, e, row, history):", *indent_lines(lines), f"    return commit(partition, e, row, taken, {self._now})",
            ""]

    def enter(self) -> list[str]:
        """Return ``enter(e)``: the partition where a match ends with the row, else None."""
        return ["def enter(e):", *indent_lines(self.enter_lines(["return partition"])), ""]

    def enter_lines(self, on_match: list[str]) -> list[str]:
        """Take a row of the stream; ``on_match``: lines for where a match ends with it."""
        plan = self.plan
        lines = [f"key = {self._key()}", f"{OPERATOR.row} = row = {OPERATOR.row} + 1"]
        lines += ["numbers[e] = row"] if plan.has_window else []
        lines += ["partition = partitions.get(key)"]
        moves, committed = self._moves(), [*self._commit_lines(), *under("if ended:", on_match)]
        if plan.lookback:
            lines += ["if partition is None: partition = partitions[key] = Partition(key, no_history)", f"history = {PARTITION.history}"]
            lines += ["histories[e] = history"] if plan.has_window else []
            lines += [NOTED, f"{PARTITION.history} = {'(e,)' if plan.lookback == 1 else '(e, *history[:-1])'}", *self._previous]
            # else the partition stays for its history, and nothing else has changed
            return [*lines, *moves, *under("if taken or known is not None or layers:", committed)]
        rest = ["if partition is None: partition = Partition(key, no_history)", *moves, *committed]
        begins = {self._tests[self._steps[n].variable] for n in plan.program.start}
        if None in begins:
            return [*lines, *rest]
        return [*lines, *under(f"if partition is not None or {' or '.join(sorted(str(b) for b in begins))}:", rest)]

    # ------------------------------------------------------------------ moving

    def _moves(self) -> list[str]:
        """Lines that set ``taken``, and of each step ``now_…``: the latest first row of a match that it has just taken a row for, as in
        ``partition.latest``."""
        numbers = range(len(self._steps))
        lines = [f"truth_{v} = None" for v in sorted(self._shared)]
        lines += [f"{' = '.join(f'now_{n}' for n in numbers)} = taken = 0", f"known = {PARTITION.latest}"]
        moved = [line for number in numbers for line in self._move_lines(number)]
        unpacked = [f"{', '.join(f'was_{n}' for n in numbers)}, = known", f"horizon = {PARTITION.horizon}"]
        lines += under("if known is not None:", [*unpacked, *moved])
        for number in self.plan.program.start:
            lines += self._take_lines(number, "row")
        return [*lines, f"layers = {PARTITION.layers}"]

    def _move_lines(self, number: int) -> list[str]:
        """Return a step that partial matches may come to."""
        sources = [f"was_{n}" for n, step in enumerate(self._steps) if number in step.then]
        if not sources:
            return []
        latest = sources[0] if len(sources) == 1 else f"max({', '.join(sources)})"
        if len(sources) == 2:  # faster than a call
            latest = f"{sources[0]} if {sources[0]} > {sources[1]} else {sources[1]}"
        return [f"latest = {latest}", *under("if latest > horizon:", self._take_lines(number, "latest"))]

    def _take_lines(self, number: int, begun: str) -> list[str]:
        variable = self._steps[number].variable
        test = self._tests[variable]
        lines = [f"now_{number} = {begun}", f"taken |= {1 << number}"]
        if test is None:
            return lines
        if variable not in self._shared:
            return under(f"if {test}:", lines)
        truth = f"truth_{variable}"
        return [f"if {truth} is None: {truth} = True if {test} else False", *under(f"if {truth}:", lines)]

    def _commit_lines(self) -> list[str]:
        """Return what the operator's ``_commit`` does where partial matches go on or begin, written out; the rest is left to it. ``ended``:
        whether a match ends with the row."""
        plan, steps = self.plan, self._steps
        goes_on = sum(1 << n for n, step in enumerate(steps) if step.then)
        accepts = sum(1 << n for n, step in enumerate(steps) if step.accepts)
        counts = tuple(n.bit_count() for n in range(1 << len(steps))) if len(steps) <= FEW_STEPS else None
        lines = [f"alive = taken & {goes_on}", "held = alive.bit_count()" if counts is None else f"held = {counts}[alive]"]
        known = PARTITION.held
        lines += [f"if held != {known}:", f"    {STATES.count} += held - {known}", f"    {known} = held"]
        lines += [f"{PARTITION.latest} = {self._now} if alive else None", "layers.append((e, row, taken))"]
        lines += [f"if len(layers) > {PARTITION.most}: trim(partition, alive)"]
        lines += ["taken_rows[row] = None"] if plan.has_window else []
        lines += [] if plan.lookback else ["partitions[key] = partition", NOTED]
        return [
            "if not taken or (known is None and layers):", f"    ended = commit(partition, e, row, taken, {self._now})",
            "else:", *indent_lines([*lines, f"ended = taken & {accepts}"]),
        ]


__all__ = ["StepSource", "StepWriter", "can_be_written", "write_steps"]
