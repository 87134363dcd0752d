"""Source text of a statement's steps over layers: the program unrolled, conditions in terms of local variables.

``enter(event)`` takes a row of the stream; ``step(partition, event, row, history)`` moves one partition. Nothing is made for a row that
begins nothing. The text is a function of the plan alone, and compiled once however often it is built.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.plan.expressions import TypedExpression
from epl.plan.row_recognition import Condition, Operand, RowRecognitionPlan
from epl.value_types import Scalar
from runtime.evaluate import Environment
from runtime.evaluate.compiled import OPERATIONS, code_of
from runtime.evaluate.printer import Printer
from windows.keys import PLAIN_KINDS

MOST_STEPS = 64
MOST_LINKS = 1_000
"""Programs beyond are not written out."""


def can_be_written(plan: RowRecognitionPlan) -> bool:
    """Whether no condition looks at the rows of a match, and the program is of a size to be unrolled."""
    steps = plan.program.steps
    small = len(steps) <= MOST_STEPS and sum(len(s.then) for s in steps) <= MOST_LINKS
    return small and all(c is None or c.reads_row_only for c in plan.conditions)


@attrs.frozen
class StepSource:
    """Text that defines ``enter`` and ``step``; ``bindings``: the objects that it names."""

    text: str
    bindings: dict[str, Any]

    def functions(self, **names: Any) -> tuple[Any, Any]:
        """(enter, step) over the operator's own objects."""
        namespace = {**OPERATIONS, **self.bindings, **names}
        exec(code_of(self.text), namespace)  # noqa: S102
        return namespace["enter"], namespace["step"]


def write_steps(plan: RowRecognitionPlan, environment: Environment) -> StepSource:
    """The source for a plan of which ``can_be_written`` holds."""
    printer = Printer(environment, 1)
    tests = tuple(_test(condition, printer) for condition in plan.conditions)
    lines = [*_step(plan, tests), *_enter(plan, tests, _key(plan.partition_by, printer))]
    return StepSource("\n".join(lines) + "\n", printer.bindings)


def _test(condition: Condition | None, printer: Printer) -> str | None:
    """A condition over ``event`` and ``history``; None where any row will do."""
    if condition is None:
        return None
    printer.streams = {n: _operand(o) for n, o in enumerate(condition.operands)}
    return printer.test(condition.expression)


def _operand(operand: Operand) -> str:
    return "event" if operand.kind == "current" else f"history[{operand.number - 1}]"


def _key(partition_by: Sequence[TypedExpression], printer: Printer) -> str:
    """The key's expression, where its values are keys as they are."""
    if not partition_by:
        return "None"
    if not all(isinstance(e.type, Scalar) and e.type.kind in PLAIN_KINDS for e in partition_by):
        return "key_of(event)"
    printer.streams = {0: "event"}
    values = [printer.value(e) for e in partition_by]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


# ------------------------------------------------------------------ step


def _moves(plan: RowRecognitionPlan, tests: Sequence[str | None], nothing: str) -> list[str]:
    """Lines that set ``taken``, and of each step ``now_…``: the latest first row of a match that it has just taken a row for, as in
    ``partition.latest``. ``nothing``: what is given back where there is nothing more to do."""
    steps = plan.program.steps
    numbers = range(len(steps))
    shared = {v for v in range(len(tests)) if sum(s.variable == v for s in steps) > 1 and tests[v] is not None}
    lines = [f"    truth_{v} = None" for v in sorted(shared)]
    lines += [f"    now_{n} = 0" for n in numbers]
    lines += ["    known = partition.latest", "    if known is not None:"]
    lines += [f"        {', '.join(f'was_{n}' for n in numbers)}, = known", "        horizon = partition.horizon"]
    for number in numbers:
        lines += _moved(plan, number, tests, shared)
    for number in plan.program.start:
        lines += _taken(4, number, steps[number].variable, tests, shared, "row")
    masks = " | ".join(f"({1 << n} if now_{n} else 0)" for n in numbers)
    lines += [f"    taken = {masks}", "    layers = partition.layers"]
    if plan.lookback:  # the partition stays for its history, and nothing else has changed
        lines += [f"    if not taken and known is None and not layers: return {nothing}"]
    return lines


def _now(plan: RowRecognitionPlan) -> str:
    return f"({', '.join(f'now_{n}' for n in range(len(plan.program.steps)))},)"


def _step(plan: RowRecognitionPlan, tests: Sequence[str | None]) -> list[str]:
    """``step``: whether a match ends."""
    lines = _moves(plan, tests, "False")
    return ["def step(partition, event, row, history):", *lines, f"    return commit(partition, event, row, taken, {_now(plan)})", ""]


def _committed(plan: RowRecognitionPlan) -> list[str]:
    """What the operator's ``_commit`` does where matches in progress go on or begin, written out; the rest is left to it."""
    steps = plan.program.steps
    goes_on = sum(1 << n for n, step in enumerate(steps) if step.then)
    accepts = sum(1 << n for n, step in enumerate(steps) if step.accepts)
    lines = [
        "    if not taken or (known is None and layers):",
        f"        return partition if commit(partition, event, row, taken, {_now(plan)}) else None",
        f"    alive = taken & {goes_on}", "    held = alive.bit_count()", "    if held != partition.held:",
        "        states.count += held - partition.held", "        partition.held = held",
        f"    partition.latest = {_now(plan)} if alive else None", "    layers.append((event, row, taken))",
        "    if len(layers) > partition.most: trim(partition, alive)",
    ]
    lines += ["    partition.taken[row] = None"] if plan.has_window else []
    lines += [] if plan.lookback else ["    partitions[key] = partition"]
    return [*lines, f"    return partition if taken & {accepts} else None"]


def _moved(plan: RowRecognitionPlan, number: int, tests: Sequence[str | None], shared: set[int]) -> list[str]:
    """A step that matches in progress may come to."""
    sources = [n for n, step in enumerate(plan.program.steps) if number in step.then]
    if not sources:
        return []
    latest = f"was_{sources[0]}" if len(sources) == 1 else f"max({', '.join(f'was_{n}' for n in sources)})"
    return [
        f"        latest = {latest}", "        if latest > horizon:",
        *_taken(12, number, plan.program.steps[number].variable, tests, shared, "latest"),
    ]


def _taken(indent: int, number: int, variable: int, tests: Sequence[str | None], shared: set[int], begun: str) -> list[str]:
    margin = " " * indent
    test = tests[variable]
    if test is None:
        return [f"{margin}now_{number} = {begun}"]
    if variable not in shared:
        return [f"{margin}if {test}:", f"{margin}    now_{number} = {begun}"]
    return [
        f"{margin}if truth_{variable} is None:", f"{margin}    truth_{variable} = True if {test} else False",
        f"{margin}if truth_{variable}:", f"{margin}    now_{number} = {begun}",
    ]


# ------------------------------------------------------------------ enter


def _enter(plan: RowRecognitionPlan, tests: Sequence[str | None], key: str) -> list[str]:
    """``enter``: the partition where a match ends with the row, else None."""
    window, lookback = plan.has_window, plan.lookback
    lines = ["def enter(event):", f"    key = {key}", "    operator._row = row = operator._row + 1"]
    lines += ["    numbers[event] = row"] if window else []
    lines += ["    partition = partitions.get(key)", "    if partition is None:"]
    if not lookback:
        begins = {tests[plan.program.steps[n].variable] for n in plan.program.start}
        if None not in begins:
            lines += [f"        if not ({' or '.join(sorted(str(b) for b in begins))}):", "            return None"]
        lines += ["        history = ()"]
    lines += ["        partition = Partition(key, no_history)"]
    if lookback:
        lines += ["        partitions[key] = partition", "    history = partition.history"]
        lines += ["    histories[event] = history"] if window else []
        lines += ["    partition.history = (event,)" if lookback == 1 else "    partition.history = (event, *history[:-1])"]
    else:
        lines += ["    else:", "        history = ()"]
    return [*lines, *_moves(plan, tests, "None"), *_committed(plan)]
