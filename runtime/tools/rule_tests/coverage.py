"""What the cases of one module reached: statements that emitted rows, transitions of row patterns, outcomes of pattern operators."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from epl.plan.patterns.match_recognize import Program, RowRecognitionPlan
from epl.plan.patterns.pattern import PatternPlan
from epl.plan.statements import CreateContextPlan, SelectPlan, StatementPlan
from epl.plan.walk import walk_plan
from runtime.api.statement import Statement
from runtime.pattern.observed import possible_outcomes

Edge = tuple["int | None", int]
"""From a step of a program (None: the beginning) to the step that takes the next row."""
Outcome = tuple[int, bool]
"""The number of an operator in its pattern, and whether it came true or became false."""


@attrs.define
class Coverage:
    """Counts by statement name. ``silent`` statements emit nothing by their kind and are not counted."""

    emitted: dict[str, bool] = attrs.field(factory=dict)
    edges: dict[str, dict[Edge, bool]] = attrs.field(factory=dict)
    outcomes: dict[str, dict[Outcome, bool]] = attrs.field(factory=dict)
    """By the name of the statement, with a number where a statement has several patterns."""
    _programs: dict[str, RowRecognitionPlan] = attrs.field(factory=dict)
    _names: dict[int, list[str]] = attrs.field(factory=dict)
    _kept: list[RowRecognitionPlan | PatternPlan] = attrs.field(factory=list)
    _patterns: dict[str, PatternPlan] = attrs.field(factory=dict)

    def add_deployment(self, statements: Iterable[Statement]) -> None:
        """Note the statements of a module that is to be covered."""
        for statement in statements:
            body = statement.plan.body
            if body.output_type is not None and statement.plan.kind in ("select", "select row", "on select", "on insert", "on split"):
                self.emitted.setdefault(statement.name, False)
            if isinstance(body, SelectPlan) and body.row_recognition is not None:
                plan = body.row_recognition
                self._programs[statement.name] = plan
                self._kept.append(plan)  # its number stays its own
                self._names.setdefault(id(plan), []).append(statement.name)
                reached = self.edges.setdefault(statement.name, {})
                for edge in program_edges(plan.program):
                    reached.setdefault(edge, False)
            self._add_patterns(statement.plan)

    def _add_patterns(self, statement: StatementPlan) -> None:
        of = f"context {statement.body.context.name}" if isinstance(statement.body, CreateContextPlan) else statement.name
        patterns = [part for part in walk_plan(statement.body) if isinstance(part, PatternPlan)]
        for number, pattern in enumerate(patterns, 1):
            name = of if len(patterns) == 1 else f"{of}, pattern {number}"
            self._patterns[name] = pattern
            self._kept.append(pattern)
            self._names.setdefault(id(pattern), []).append(name)
            reached = self.outcomes.setdefault(name, {})
            for at, node in enumerate(pattern.root.nodes()):
                for outcome in possible_outcomes(node):
                    reached.setdefault((at, outcome), False)

    def took(self, plan: RowRecognitionPlan, before: int | None, step: int) -> None:
        """Note that a step of a row pattern took a row: an observer (runtime.match_recognize.observed)."""
        for name in self._names.get(id(plan), ()):
            self.edges[name][before, step] = True

    def came(self, plan: PatternPlan, node: int, outcome: bool) -> None:
        """Note that an operator of a pattern came true or became false: an observer (runtime.pattern.observed)."""
        for name in self._names.get(id(plan), ()):
            if (node, outcome) in self.outcomes[name]:
                self.outcomes[name][node, outcome] = True

    def emits(self, name: str) -> None:
        """Note that a statement emitted rows."""
        if name in self.emitted:
            self.emitted[name] = True

    def lines(self) -> Iterator[str]:
        """Yield the report: totals, then what was not reached."""
        if self.emitted:
            yield f"statements that emitted rows: {_share(self.emitted.values())}"
            yield from (f"  {name}: emitted nothing" for name, reached in self.emitted.items() if not reached)
        for name, edges in self.edges.items():
            yield f"{name}: transitions of its row pattern: {_share(edges.values())}"
            shown = self._programs[name].program.steps
            for (before, step), reached in edges.items():
                if not reached:
                    start = "the beginning" if before is None else f"{shown[before].label} ({before})"
                    yield f"  never taken: {start} → {shown[step].label} ({step})"
        for name, outcomes in self.outcomes.items():
            yield f"{name}: outcomes of its pattern's operators: {_share(outcomes.values())}"
            pattern = self._patterns[name]
            titles = [pattern.node_title(node) for node in pattern.root.nodes()]
            yield from (f"  never {'true' if came else 'false'}: {titles[at]}" for (at, came), reached in outcomes.items() if not reached)


def program_edges(program: Program) -> Iterator[Edge]:
    """Yield every transition of a program."""
    for step in program.start:
        yield None, step
    for number, step_plan in enumerate(program.steps):
        for target in step_plan.then:
            yield number, target


def _share(reached: Iterable[bool]) -> str:
    listed = list(reached)
    return f"{sum(listed)} of {len(listed)} ({100 * sum(listed) // max(len(listed), 1)} %)"


__all__ = ["Coverage", "program_edges"]
