"""RowRecognitionPlan → callables: the partition key, the machine with its tests, rows of measures."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.generated_code import field_name
from epl.plan.patterns.match_recognize import Condition, Operand, RowRecognitionPlan
from runtime.expressions import Environment, compile_predicate
from runtime.expressions.compiled import define_function
from runtime.expressions.generated_steps import EVENT, PlacePrinter
from runtime.expressions.source_lines import indent_lines
from runtime.match_recognize.aggregates import compile_aggregations
from runtime.match_recognize.machine import CompiledConditions, Machine, PathTest, RowTest, variable_rows
from runtime.match_recognize.observed import ObservedRowMachine
from runtime.match_recognize.ranking import Match, PathNode
from windows.event import Event, event_class
from windows.keys import key_evaluator
from windows.protocol import BuildContext


def compile_machine(plan: RowRecognitionPlan, environment: Environment) -> Machine:
    """Return the plan's program with its conditions compiled."""
    looked_at = sorted({o.number for c in plan.conditions if c is not None for o in c.operands if o.kind == "variable"})
    slots = tuple(looked_at.index(n) if n in looked_at else None for n in range(len(plan.variables)))
    row: list[RowTest | None] = []
    path: list[PathTest | None] = []
    for condition in plan.conditions:
        reads_row_only = condition is None or condition.reads_row_only
        row.append(_row_test(condition, environment) if condition is not None and reads_row_only else None)
        path.append(_path_test(condition, slots, plan, environment) if condition is not None and not reads_row_only else None)
    tests, observe = CompiledConditions(tuple(row), tuple(path), slots), environment.row_pattern_observer
    return Machine(plan.program, tests) if observe is None else ObservedRowMachine(plan, tests, observe)


def _row_test(condition: Condition, environment: Environment) -> RowTest:
    operands = condition.operands
    if operands in ((), (Operand("current"),)):
        return compile_predicate(condition.expression, environment, 2)  # called with (row, history): reads the row only
    test = compile_predicate(condition.expression, environment, len(operands))
    names = ", ".join(_operand_text(o, ()) for o in operands)
    return define_function(f"def evaluate(test):\n    return lambda event, history: test({names})\n", {})(test)  # type: ignore[no-any-return]


def _path_test(condition: Condition, slots: Sequence[int | None], plan: RowRecognitionPlan, environment: Environment) -> PathTest:
    test = compile_predicate(condition.expression, environment, len(condition.operands))
    names = ", ".join(_operand_text(o, slots) for o in condition.operands)
    groups = [_group_maker(o, plan) for o in condition.operands if o.kind == "groups"]
    bind = define_function(f"def evaluate(test, groups):\n    return lambda event, history, looked_at, path: test({names})\n", {})
    return bind(test, groups[0] if groups else None)  # type: ignore[no-any-return]


def _operand_text(operand: Operand, slots: Sequence[int | None]) -> str:
    if operand.kind == "current":
        return "event"
    if operand.kind == "previous":
        return f"history[{operand.number - 1}]"
    if operand.kind == "variable":
        return f"looked_at[{slots[operand.number]}]"
    return "groups(path)"


def _group_maker(operand: Operand, plan: RowRecognitionPlan) -> Callable[[PathNode | None], Event]:
    """path → an event whose properties are the rows of group variables; null for those without."""
    assert operand.event_type is not None
    row_class = event_class(operand.event_type)
    numbers = [plan.variables.index(name) for name in operand.event_type.names]
    of_step = tuple(s.variable for s in plan.program.steps)
    count = len(plan.variables)

    def groups(path: PathNode | None) -> Event:
        rows = variable_rows(path, of_step, count)
        return row_class(*[rows[n] or None for n in numbers])

    return groups


def compile_partition_key(plan: RowRecognitionPlan, context: BuildContext) -> Callable[[Event], Any] | None:
    """Return event → the hashable key of its partition; None where there is one partition only."""
    if not plan.partition_by:
        return None
    return key_evaluator(plan.partition_by, context)


def compile_measures(plan: RowRecognitionPlan, of_rows: Callable[[list[list[Event]]], Event]) -> Callable[[Match], Event]:
    """Return match → the row of its measures; ``of_rows``: the same from its rows by variable."""
    of_step = tuple(s.variable for s in plan.program.steps)
    count = len(plan.variables)
    return lambda match: of_rows(variable_rows(match.path, of_step, count))


def compile_measure_values(plan: RowRecognitionPlan, environment: Environment) -> Callable[[list[list[Event]]], tuple[Any, ...]]:
    """Return a match's rows by variable → the values of its measures. A measure that reads the match as a whole gets it as an event."""
    count = len(plan.variables)
    aggregations = compile_aggregations(plan.aggregations, environment, count)
    names = plan.match_type.names
    place = {field_name(name): f"m{n}" for n, name in enumerate(names)}
    printer = PlacePrinter(environment, place.__getitem__, {"match": event_class(plan.match_type)})
    printer.bindings |= {f"aggregate{n}": aggregate for n, aggregate in enumerate(aggregations)}
    printer.streams[0] = "e"
    values = [printer.value(measure) for measure in plan.measures]
    lines = [f"r = rows[{n}]\n    m{n} = {'r or None' if group else 'r[-1] if r else None'}" for n, group in enumerate(plan.groups)]
    lines += [f"m{count + n} = aggregate{n}(rows)" for n in range(len(aggregations))]
    lines += [f"e = match({', '.join(place.values())})"] if any(EVENT.search(value) for value in values) else []
    lines += [f"return ({''.join(f'{value}, ' for value in values)})"]
    return define_function("\n".join(["def evaluate(rows):", *indent_lines(lines), ""]), printer.bindings)


def compile_measures_of_rows(
    plan: RowRecognitionPlan, values: Callable[[list[list[Event]]], tuple[Any, ...]]
) -> Callable[[list[list[Event]]], Event]:
    """Return a match's rows by variable → the row of its measures."""
    row_class = event_class(plan.output_type)
    return lambda rows: row_class(*values(rows))
