"""In which order an event reaches statements that share named windows, tables or variables, as Esper's filter index has it.

What one of them changes, the next one sees. All others have nothing in common that the order of one event could show: they come first, in
the order of their deployment.

A filter is a path: its conditions, sorted by ``RANKS``, those of one rank as written. Filters that ask for the same value by the same
operator have an index in common, and conditions of one index lead to one node, where the next condition is looked up:

    E(k = 'a')                      k =  ─ 'a' ─ s1
    E(k = 'a', price > 5)                    └ price > ─ 5 ─ s2
    E(price > 1)                    price > ─ 1 ─ s3                 order: s2, s1, s3, s4
    E                               s4

At each node the indexes come first, that of the oldest statement first, then the statements whose path ends there. Ranges go by their ends.
A statement whose filter has several paths, by ``or``, comes after all of these.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import attrs

from epl.plan.expression_text import expression_text
from epl.plan.expressions import (
    Constant,
    Convert,
    Equality,
    Invoke,
    Logic,
    Membership,
    Order,
    Range,
    TypedExpression,
)
from epl.plan.streams import FilterPlan

Places = tuple[int, int, int, int]
"""Order of a receiver: (rank by priority, place among those that share stores, statement, stream)."""
Bounds = tuple[Any, ...]
"""The constants of a condition, where an index sorts by them; () where it does not."""
RANKS = ("=", "is", "in", "range", "<", ">", "expression", "not in range", "not in", "!=", "is not", "call")
EQUALITIES = {(False, False): "=", (True, False): "is", (False, True): "!=", (True, True): "is not"}
"""Operators by (null-safe, negated)."""
MOST_PATHS = 16
PLACES = 1_000_000_000
DEEPEST = 1_000
"""More than there are types above one."""


@attrs.frozen
class Step:
    """One condition of a path: the index that looks it up, and where in the index it is."""

    rank: int
    value: str
    bounds: Bounds = ()


Path = tuple[Step, ...]


def paths_of(plan: FilterPlan) -> Sequence[Path]:
    """Return the paths of a filter: more than one where ``or`` gives alternatives."""
    key = [] if plan.key is None else [_step("in" if len(plan.key.values) > 1 else "=", plan.key.property)]
    ways = [key]
    for condition in plan.conditions:
        ways = [[*before, *steps] for before in ways for steps in _ways(condition)]
        if len(ways) > MOST_PATHS:
            return [(), ()]
    return [tuple(sorted(steps, key=lambda step: step.rank)) for steps in ways]


def _ways(condition: TypedExpression) -> list[list[Step]]:
    """The steps of a condition, one list for each alternative."""
    if not isinstance(condition, Logic):
        return [[_step_of(condition)]]
    if condition.operator == "and":
        return [[step for steps in one for step in steps] for one in product(*map(_ways, condition.operands))]
    ways = [way for operand in condition.operands for way in _ways(operand)]
    listed = {step for way in ways for step in way}
    if len(listed) == 1 and all(len(way) == 1 for way in ways) and (step := listed.pop()).rank == RANKS.index("="):
        return [[_step("in", step.value)]]
    return ways


def _step_of(condition: TypedExpression) -> Step:
    if isinstance(condition, (Equality, Order)):
        for value, other, mirrored in ((condition.left, condition.right, False), (condition.right, condition.left, True)):
            if _is_looked_up(value, other):
                operator = _operator(condition, mirrored)
                return _step(operator, expression_text(value), _constants(other) if operator in "<>" else ())
    elif isinstance(condition, Range) and _is_looked_up(condition.value, condition.low, condition.high):
        bounds = _constants(condition.low, condition.high)
        return _step("not in range" if condition.negated else "range", expression_text(condition.value), bounds)
    elif isinstance(condition, Membership) and _is_looked_up(condition.value, *condition.items):
        return _step("not in" if condition.negated else "in", expression_text(condition.value))
    return _step("call", "") if _calls(condition) else _step("expression", expression_text(condition))


def _step(operator: str, value: str, bounds: Bounds = ()) -> Step:
    return Step(RANKS.index(operator), value, bounds)


def _operator(condition: Equality | Order, mirrored: bool) -> str:
    if isinstance(condition, Order):
        return ">" if condition.operator.startswith(">") is not mirrored else "<"
    return EQUALITIES[condition.null_safe, condition.negated]


def _is_looked_up(value: TypedExpression, *others: TypedExpression) -> bool:
    """Whether the value is the event's, and what it is compared with is not."""
    return 0 in value.streams and not _calls(value) and all(0 not in other.streams for other in others)


def _calls(expression: TypedExpression) -> bool:
    return any(isinstance(node, Invoke) for node in expression.walk())


def _constants(*ends: TypedExpression) -> Bounds:
    """The values of constants, ascending; () where one is known later only."""
    plain = [end.operand if isinstance(end, Convert) else end for end in ends]
    values = [each.value for each in plain if isinstance(each, Constant) and each.value is not None]
    try:
        return tuple(sorted(values)) if len(values) == len(ends) else ()
    except TypeError:  # of kinds that do not compare
        return ()


# ------------------------------------------------------------------ the order


def arrange(receivers: Iterable[Any], depth: int) -> None:
    """Give the receivers of one event type, each with ``paths`` and ``order``, their places. ``depth``: of the type, which comes before its
    super-types."""
    ends = [(path, each) for each in sorted(receivers, key=lambda receiver: receiver.order[2:]) for path in each.paths]
    first = (DEEPEST - depth) * PLACES
    for place, receiver in enumerate(_arranged(ends, 0), first):
        rank, _, statement, stream = receiver.order
        receiver.order = (rank, place, statement, stream)


def _arranged(ends: Sequence[tuple[Path, Any]], level: int) -> list[Any]:
    """The receivers of one node, whose paths have the steps before ``level`` in common."""
    indexes: dict[tuple[int, str], dict[Bounds, list[Any]]] = {}
    here = []
    for path, receiver in ends:
        if len(path) == level:
            here.append(receiver)
        else:
            step = path[level]
            indexes.setdefault((step.rank, step.value), {}).setdefault(step.bounds, []).append((path, receiver))
    return [each for index in indexes.values() for node in _ascending(index) for each in _arranged(node, level + 1)] + here


def _ascending(index: dict[Bounds, list[Any]]) -> Iterable[list[Any]]:
    try:
        return [index[bounds] for bounds in sorted(index)]
    except TypeError:
        return index.values()


__all__ = ["Path", "Places", "Step", "arrange", "paths_of"]
