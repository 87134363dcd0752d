"""Drawn programs of contexts whose statements can be split: three engines together give what one gives."""
from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from epl.analysis.partitioning import HashedKey, Key, SplitBy, analyse_partitioning
from epl.functions.partition_hashes import partition_hash
from epl.plan.statements import ModulePlan, StatementPlan
from runtime import Runtime
from tests.drawn.recorded import Program, is_refused, stored

PROGRAMS = [program for program in stored("contexts") if not is_refused(program)]
PARTS = 8
ID = "context.id as id, "
"""A column that no statement which is split may have."""

Output = list["Counter[str]"]
"""For each step how often each row is emitted."""


def emitted(plan: ModulePlan, name: str, steps: list[dict[str, Any]], takes: Callable[[int], bool]) -> Output:
    """Play the steps, of the events those that the engine ``takes``, by number."""
    runtime, rows, output = Runtime(start_time=0), Counter[str](), []

    def listen(new: Any, old: Any, *_: Any) -> None:
        rows.update(str((side, row.to_dict())) for side, each in ((1, new), (-1, old)) for row in each or ())

    next(statement for statement in runtime.deploy(plan) if statement.name == name).add_listener(listen)
    for number, step in enumerate(steps):
        if step["op"] == "time":
            runtime.advance_time(step["ms"])
        elif step["op"] == "time_span":
            runtime.advance_time_span(step["ms"])
        elif takes(number):
            runtime.send(step["type"], step["props"])
        output.append(Counter(rows))
        rows.clear()
    return output


def value_of(key: Key, event: dict[str, Any]) -> Any:
    if isinstance(key, HashedKey):
        return partition_hash(key.function, key.types, key.granularity)(*[value_of(path, event) for path in key.paths])
    return reduce(lambda value, name: value[name], key, event)


def is_split_right(plan: ModulePlan, statement: StatementPlan, verdict: SplitBy, steps: list[dict[str, Any]]) -> bool:
    """Hold three engines against one; return whether that emits anything."""
    runtime = Runtime()
    runtime.deploy(plan)
    engines: dict[int, int] = {}
    for number, step in enumerate(steps):
        if step["op"] == "event":
            event_type = runtime.event_type(step["type"])
            keys = verdict.key_of(event_type) if verdict.reads(event_type) else ()
            engines[number] = zlib.crc32(repr([value_of(key, step["props"]) for key in keys]).encode()) % 3
    whole = emitted(plan, statement.name, steps, lambda number: True)
    parts = [emitted(plan, statement.name, steps, lambda number, own=own: engines[number] == own) for own in range(3)]  # type: ignore[misc]
    assert [sum(each, Counter()) for each in zip(*parts)] == whole, f"{plan.text}\n{statement.name}: {verdict.describe()}"
    return any(whole)


def verdicts(program: Program) -> tuple[ModulePlan, list[tuple[StatementPlan, SplitBy]]]:
    plan = Runtime().compile(program["steps"][0]["epl"].replace(ID, ""))
    listened = [each for each in plan.statements if each.context is not None and each.body.output_type is not None]
    found = [(each, analyse_partitioning(plan.statements, each)) for each in listened]
    return plan, [(each, verdict) for each, verdict in found if isinstance(verdict, SplitBy)]


@pytest.mark.parametrize("part", range(PARTS))
def test_engines_together_are_one(part: int) -> None:
    emitting = 0
    for program in PROGRAMS[part::PARTS]:
        plan, split = verdicts(program)
        steps = [step for step in program["steps"][1:] if step["op"] in ("event", "time", "time_span")]
        emitting += sum(is_split_right(plan, statement, verdict, steps) for statement, verdict in split)
    assert emitting >= 10
