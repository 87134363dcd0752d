"""The operator of each node of a pattern."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.plan.patterns import pattern as plan
from epl.plan.patterns.pattern import PatternNode
from runtime.pattern.atoms import EveryFilter, FilterOperator
from runtime.pattern.every_distinct import EveryDistinctOperator
from runtime.pattern.followed_by import FollowedByOperator
from runtime.pattern.guards import While, Within
from runtime.pattern.machine import Operator, PatternMachine
from runtime.pattern.observers import AtObserver, IntervalObserver, ScheduleObserver
from runtime.pattern.operators import AndOperator, EveryOperator, NotOperator, OrOperator
from runtime.pattern.until import Until


def build_operator(machine: PatternMachine, node: PatternNode, above: PatternNode | None) -> Operator:
    """Return the operator of a node; some depend on what is ``above``, which is None at the root."""
    if isinstance(node, plan.ScheduleNode):
        return ScheduleObserver(node, machine, stays=above is None or isinstance(above, plan.OrNode))
    if isinstance(node, plan.FilterNode) and isinstance(above, plan.UntilNode):
        return EveryFilter(node, machine, node)
    if isinstance(node, plan.FollowedByNode):
        return FollowedByOperator(node, machine, is_root=above is None)
    if isinstance(node, plan.WithinNode):
        return Within(node, machine, lingers=isinstance(above, (plan.EveryNode, plan.EveryDistinctNode)))
    return OPERATORS[type(node)](node, machine)


def _every(node: plan.EveryNode, machine: PatternMachine) -> Operator:
    if isinstance(node.item, plan.FilterNode):
        return EveryFilter(node.item, machine, node)
    if isinstance(node.item, plan.ScheduleNode):
        return ScheduleObserver(node.item, machine, stays=True, ends=False)
    return EveryOperator(node, machine)


OPERATORS: dict[type[PatternNode], Callable[[Any, PatternMachine], Operator]] = {
    plan.AndNode: AndOperator,
    plan.CrontabNode: AtObserver,
    plan.EveryDistinctNode: EveryDistinctOperator,
    plan.EveryNode: _every,
    plan.FilterNode: lambda node, machine: FilterOperator(node, machine, node),
    plan.IntervalNode: IntervalObserver,
    plan.NotNode: NotOperator,
    plan.OrNode: OrOperator,
    plan.UntilNode: Until,
    plan.WhileNode: While,
}

__all__ = ["build_operator"]
