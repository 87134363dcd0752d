"""In which order an event reaches statements that share named windows, tables or variables, as Esper's filter index has it.

What one of them changes, the next one sees. All others have nothing in common that the order of one event could show: of each type they
come first, in the order of their deployment. An event meets the receivers of its own type before those of its super-types.

A filter is a path: its conditions, sorted by ``RANKS``, those of one rank as written. Filters that ask for the same value by the same
operator have an index in common, and conditions of one index lead to one node, where the next condition is looked up:

    E(k = 'a')                      k =  ─ 'a' ─ s1
    E(k = 'a', price > 5)                    └ price > ─ 5 ─ s2
    E(price > 1)                    price > ─ 1 ─ s3                 order: s2, s1, s3, s4
    E                               s4

At each node the indexes come first, that of the oldest statement first, then the statements whose path ends there. Ranges go by their ends.
Where a node has an index for a later condition and none for the first, the path goes that way.
A statement whose filter has several paths, by ``or``, comes after all of these.

What a context starts while events flow, the filters of partitions and of what begins and ends them, has a path too. Where paths end at one
node it comes as it has started: after the statements that were there when its partition began, before those deployed since
(``compute_turn``). The conditions of a context, those of the partition's category alone, come first in a path, the statement's own after
them.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.context.contexts import CATEGORY
from epl.plan.expression_text import expression_text
from epl.plan.expressions import (
    Conditional,
    Constant,
    ContextValue,
    Convert,
    Equality,
    Invoke,
    Local,
    Logic,
    Membership,
    Order,
    Range,
    TypedExpression,
    VariableValue,
)
from epl.plan.filter_specifications import FilterSpecification, RangeLookup
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
PARTITIONS = 43
"""Bits of a turn for the partition, below those for the statement."""
NUMBERS = 43
"""Bits of a turn for the number, below those for the partition."""
TURNS = 123
"""Bits of a turn, below those for the node at which the paths end."""


@attrs.frozen
class FilterStep:
    """One condition of a path: the index that looks it up, and where in the index it is."""

    rank: int
    value: str
    bounds: Bounds = ()


Path = tuple[FilterStep, ...]


class Placed:
    """The place that the filters of a stream of a context's statement have in common, brought up to date by ``arranged``.

    ``turn``: of the first entry that has started. ``is_late``: the place counts among the filters of the same statement only, as that of
    what begins and ends partitions of nested contexts, which get an event one after the other.
    """

    __slots__ = ("close", "is_late", "own_order", "paths", "turn", "_arranged", "_place")

    def __init__(
        self, order: Places, paths: Sequence[Path], turn: int, arranged: Callable[[], None], close: Callable[[], None], *, is_late: bool
    ) -> None:
        self.own_order = order
        self._place = order[1]
        self.paths = paths
        self.turn = turn
        self.close = close
        self.is_late = is_late
        self._arranged = arranged

    def entry_places(self, turn: int) -> Places:
        """Return the order of an entry that has started at a turn."""
        self._arranged()
        rank, place, statement, stream = self.own_order
        return (rank, self._place, statement, place + turn) if self.is_late else (rank, place + turn, statement, stream)


def compute_turn(statement: int, partition: int = -1, part: int = 0, number: int = 0) -> int:
    """Return when a filter started, among those whose paths end at one node. ``statement``: the newest one that there was;
    ``partition``: of a context that had begun, -1 for none; ``part``: 0 to 3, orders what starts with one partition; ``number``: what
    starts between two partitions."""
    return (((statement << PARTITIONS) + ((partition + 1) << 2) + part) << NUMBERS) + number


def filter_paths(plan: FilterPlan) -> Sequence[Path]:
    """Return the paths of a filter: more than one where ``or`` gives alternatives."""
    key = [] if plan.key is None else [_step("in" if len(plan.key.values) > 1 else "=", plan.key.property)]
    return _paths(key, plan.conditions)


def category_properties(plan: FilterSpecification) -> tuple[str, ...]:
    """Return the properties of partitions that say for which category an entry of the filter is, one of each level of categories."""
    return tuple(dict.fromkeys(category[0] for category in map(_find_category, plan.values) if category is not None))


def _find_category(value: TypedExpression) -> tuple[str, int] | None:
    """Return the property of a partition and the place of the category for which a value of an entry is true; None for other values."""
    if isinstance(value, Equality) and isinstance(value.left, ContextValue) and isinstance(value.right, Constant):
        return (".".join(value.left.path), value.right.value) if value.left.path[-1] == CATEGORY else None
    return None


def paths_of_entries(plan: FilterSpecification, categories: Sequence[int] = ()) -> Sequence[Path]:
    """Return the paths of a filter whose entries come and go. The keys of a partition, which are compared as by ``=``, though null is one
    of them, and the test of its category come before what the statement asks for. ``categories``: the values of ``category_properties`` in
    the partition."""
    own = {plan.first_local + number for number, value in enumerate(plan.values) if isinstance(value, ContextValue)}
    keys = [each for each in plan.equal if isinstance(each.operand, Local) and each.operand.number in own]
    added = [_step("=", expression_text(each.expression)) for each in keys]
    steps = [_step("is" if each.null_matches else "=", expression_text(each.expression)) for each in plan.equal if each not in keys]
    if plan.listed is not None:
        steps.append(_step("in", expression_text(plan.listed.expression)))
    if plan.range is not None:
        steps.append(_range_step(plan.range))
    chosen = set(zip(category_properties(plan), categories, strict=True))
    labels = {plan.first_local + number for number, value in enumerate(plan.values) if _find_category(value) in chosen}
    conditions = []
    for condition in plan.conditions:
        test = _category_test(condition, labels)
        if test is None:
            conditions.append(condition)
        else:
            added += _ways(test)[0]
    return [(*_by_rank(added), *path) for path in _paths(steps, conditions)]


def _category_test(condition: TypedExpression, labels: Container[int]) -> TypedExpression | None:
    """Return the test of the category for what tests all of them; None for other conditions, and where the test has alternatives, which
    stays one condition that no index has. ``labels``: the numbers of the values that are true for the category."""
    for label, test in condition.pairs if isinstance(condition, Conditional) else ():
        if isinstance(label, Local) and label.number in labels and len(_ways(test)) == 1:
            return test
    return None


def _range_step(lookup: RangeLookup) -> FilterStep:
    value = expression_text(lookup.expression)
    if lookup.low is not None and lookup.high is not None:
        return _step("range", value, _constants(lookup.low, lookup.high))
    end = lookup.low or lookup.high
    assert end is not None
    return _step("<" if lookup.low is None else ">", value, _constants(end))


def _paths(key: list[FilterStep], conditions: Sequence[TypedExpression]) -> Sequence[Path]:
    ways = [key]
    for condition in conditions:
        ways = [[*before, *steps] for before in ways for steps in _ways(condition)]
        if len(ways) > MOST_PATHS:
            return [(), ()]
    return [_by_rank(steps) for steps in ways]


def _by_rank(steps: Iterable[FilterStep]) -> Path:
    return tuple(sorted(steps, key=lambda step: step.rank))


def _ways(condition: TypedExpression) -> list[list[FilterStep]]:
    """Return the steps of a condition, one list for each alternative."""
    if not isinstance(condition, Logic):
        return [[_path_step(condition)]]
    if condition.operator == "and":
        return [[step for steps in one for step in steps] for one in product(*map(_ways, condition.operands))]
    ways = [way for operand in condition.operands for way in _ways(operand)]
    listed = {step for way in ways for step in way}
    if len(listed) == 1 and all(len(way) == 1 for way in ways) and (step := listed.pop()).rank == RANKS.index("="):
        return [[_step("in", step.value)]]
    return ways


def _path_step(condition: TypedExpression) -> FilterStep:
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


def _step(operator: str, value: str, bounds: Bounds = ()) -> FilterStep:
    return FilterStep(RANKS.index(operator), value, bounds)


def _operator(condition: Equality | Order, mirrored: bool) -> str:
    if isinstance(condition, Order):
        return ">" if condition.operator.startswith(">") is not mirrored else "<"
    return EQUALITIES[condition.null_safe, condition.negated]


def _is_looked_up(value: TypedExpression, *others: TypedExpression) -> bool:
    """Return whether the value is the event's, and what it is compared with is not, nor a variable, which may change."""
    if 0 not in value.streams or _calls(value) or any(0 in other.streams for other in others):
        return False
    return not any(isinstance(node, VariableValue) for each in (value, *others) for node in each.walk())


def _calls(expression: TypedExpression) -> bool:
    return any(isinstance(node, Invoke) for node in expression.walk())


def _constants(*ends: TypedExpression) -> Bounds:
    """Return the values of constants, ascending; () where one is known later only."""
    plain = [end.operand if isinstance(end, Convert) else end for end in ends]
    values = [each.value for each in plain if isinstance(each, Constant) and each.value is not None]
    try:
        return tuple(sorted(values)) if len(values) == len(ends) else ()
    except TypeError:  # of kinds that do not compare
        return ()


# ------------------------------------------------------------------ the order


def leading_place(event_type: EventType) -> int:
    """Return the place of a receiver of the type whose filter does not decide about it: before all that ``arrange`` gives for the type,
    after all of its sub-types."""
    return (_first(event_type) << TURNS) - 1


def _first(event_type: EventType) -> int:
    return (DEEPEST - sum(1 for _ in event_type.lineage())) * PLACES


def arrange(receivers: Iterable[Any], event_type: EventType) -> None:
    """Give the receivers of one event type, each with ``paths`` and ``order``, their places."""
    root = _Node()
    for receiver in sorted(receivers, key=_since):
        for path in receiver.paths:
            root.at(path).here.append(receiver)
    for place, node in enumerate(root.in_order(), _first(event_type)):
        for receiver in node.here:
            if isinstance(receiver, Placed):
                rank, _, statement, stream = receiver.own_order
                receiver.own_order = (rank, place << TURNS, statement, stream)
            else:
                rank, _, statement, stream = receiver.order
                receiver.order = (rank, (place << TURNS) + compute_turn(statement), statement, stream)


class _Node:
    """Where paths of equal steps lead. ``here``: the receivers whose paths end; ``indexes``: by what is looked up, as they were made."""

    __slots__ = ("here", "indexes")

    def __init__(self) -> None:
        self.here: list[Any] = []
        self.indexes: dict[tuple[int, str], dict[Bounds, _Node]] = {}

    def at(self, path: Path) -> _Node:
        """Return the node where a path ends: at each the first step left that there is an index for, or a new one for the first of all."""
        node, left = self, list(path)
        while left:
            step = next((step for step in left if (step.rank, step.value) in node.indexes), left[0])
            left.remove(step)
            node = node.indexes.setdefault((step.rank, step.value), {}).setdefault(step.bounds, _Node())
        return node

    def in_order(self) -> Iterator[_Node]:
        """Yield the nodes below, then this one."""
        for index in self.indexes.values():
            for node in _ascending(index):
                yield from node.in_order()
        yield self


def _since(receiver: Any) -> tuple[int, int]:
    if isinstance(receiver, Placed):
        return receiver.turn, receiver.own_order[3]
    return compute_turn(receiver.order[2]), receiver.order[3]


def _ascending(index: dict[Bounds, _Node]) -> Iterable[_Node]:
    try:
        return [index[bounds] for bounds in sorted(index)]
    except TypeError:
        return index.values()


__all__ = ["FilterStep", "Path", "Placed", "Places", "arrange", "category_properties", "compute_turn", "filter_paths", "leading_place",
    "paths_of_entries"]
