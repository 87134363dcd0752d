"""The machine of a pattern where the outcomes of its operators are reported: for the coverage of tests.

Only machines that are built while an observer is set report; all others run without a word of this.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.plan.patterns import pattern as plan
from epl.plan.patterns.pattern import PatternNode, PatternPlan
from runtime.operators.operator_context import OperatorContext
from runtime.pattern.building import build_operator
from runtime.pattern.instances import Instance, Match, Parent
from runtime.pattern.machine import Operator, PatternMachine
from windows.event import Event
from windows.protocol import RowReceiver

Observer = Callable[[PatternPlan, int, bool], None]
"""Called with the pattern, the number of a node (in the order of ``root.nodes()``), and whether it came true or became false."""


def possible_outcomes(node: PatternNode) -> tuple[bool, ...]:
    """Return what an operator can come to: true where it matches; false for ``not``, guards and lower bounds, which can fail themselves.

    The first outcome of ``not`` is left to what is above it: it is true until its item matches.
    """
    if isinstance(node, plan.NotNode):
        return (False,)
    ends_early = isinstance(node, plan.UntilNode) and node.low is not None and node.until is not None
    if ends_early or isinstance(node, (plan.WithinNode, plan.WhileNode)):
        return (True, False)
    return (True,)


class ObservedMachine(PatternMachine):
    """A machine that calls an observer."""

    def __init__(
        self, source: PatternPlan, context: OperatorContext, first: RowReceiver, observe: Observer, *, stream: int = 0
    ) -> None:
        self.failing: list[PatternNode] = []
        """The nodes that fail at this moment, the innermost last."""
        self._observe = observe
        self._source = source
        self._numbers = {id(node): number for number, node in enumerate(source.root.nodes())}
        super().__init__(source, context, first, build_operator, stream=stream)

    def operator(self, node: PatternNode, above: PatternNode | None = None) -> Operator:
        operator = super().operator(node, above)
        build = operator.instance

        def observe(parent: Parent, match: Match) -> Instance:
            return build(ReportingInstance(self, node, parent, match), match)

        operator.instance = observe  # type: ignore[method-assign]
        return operator

    def report_outcome(self, node: PatternNode, outcome: bool) -> None:
        """Report an outcome, and that of the atom that ``every`` runs itself."""
        self._observe(self._source, self._numbers[id(node)], outcome)
        if isinstance(node, plan.EveryNode) and isinstance(node.item, (plan.FilterNode, plan.ScheduleNode)):
            self._observe(self._source, self._numbers[id(node.item)], outcome)


class ReportingInstance(Instance):
    """Stands between an instance and the one above it, which it reports to in the instance's name."""

    __slots__ = ("machine", "node")

    def __init__(self, machine: ObservedMachine, node: PatternNode, parent: Parent, match: Match) -> None:
        super().__init__(parent, match)
        self.machine = machine
        self.node = node

    def take_match(self, child: Instance, match: Match, ended: bool) -> None:
        self.machine.report_outcome(self.node, True)
        self.parent.take_match(child, match, ended)

    def take_failure(self, child: Instance) -> None:
        machine, node = self.machine, self.node
        below = machine.failing[-1] if machine.failing else None
        if False in possible_outcomes(node) and not any(below is inner for inner in node.inner()):
            machine.report_outcome(node, False)
        machine.failing.append(node)
        try:
            self.parent.take_failure(child)
        finally:
            machine.failing.pop()

    def note(self, child: Instance, event: Event) -> None:
        if isinstance(self.parent, Instance):
            self.parent.note(child, event)


def build_machine(source: PatternPlan, context: OperatorContext, first: RowReceiver, **options: Any) -> PatternMachine:
    """Return the machine of a pattern, which reports to the environment's observer where there is one."""
    observe = context.environment.pattern_observer
    if observe is None:
        return PatternMachine(source, context, first, build_operator, **options)
    return ObservedMachine(source, context, first, observe, **options)


__all__ = ["ObservedMachine", "Observer", "build_machine", "possible_outcomes"]
