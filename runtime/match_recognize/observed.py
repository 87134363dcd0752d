"""The machine where each step that a row pattern takes is reported: for the coverage of tests."""
from __future__ import annotations

from collections.abc import Callable

from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.match_recognize.machine import CompiledConditions, Machine, PartialMatch
from runtime.match_recognize.ranking import Match, PathNode
from windows.event import Event

Observer = Callable[[RowRecognitionPlan, "int | None", int], None]
"""Called with the plan, the step before (None: the match begins) and the step that takes a row."""


class ObservedRowMachine(Machine):
    """A machine that calls an observer."""

    def __init__(self, plan: RowRecognitionPlan, tests: CompiledConditions, observe: Observer) -> None:
        super().__init__(plan.program, tests)
        self._plan = plan
        self._observe = observe

    def _take(
        self, step: int, began: int, path: PathNode, looked_at: tuple[Event | None, ...], row: int, after: list[PartialMatch],
        matches: list[Match],
    ) -> None:
        before = path[0]
        self._observe(self._plan, None if before is None else before[2], step)
        super()._take(step, began, path, looked_at, row, after, matches)


__all__ = ["ObservedRowMachine", "Observer"]
