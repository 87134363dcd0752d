"""Joins: conditions → for each driving stream, the steps that find its rows."""
from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import combinations

import attrs

from epl.analysis.clauses.from_clause.join_order import Tree, as_path, breadth_first, descendants, inner_orders
from epl.analysis.lookups.named_indexes import NO_INDEXES, NamedIndexes
from epl.analysis.lookups.planner import conjuncts, plan_lookup
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan import expressions as typed
from epl.plan.expressions import Equality, Logic, StreamProperty, TypedExpression
from epl.plan.join.joins import DrivePlan, JoinKind, JoinPlan, JoinStep
from epl.value_types import BOXED_BOOLEAN

On = Sequence[Sequence[TypedExpression]]
"""For each joined stream, from 1, the comparisons of its on clause."""

Reads = Mapping[int, frozenset[int]]
"""Historical stream → the streams that its arguments read."""
NOTHING: frozenset[int] = frozenset()
Indexes = Mapping[int, NamedIndexes]
"""The indexes of the rows of a stream, by its number."""
NO_STREAMS: Indexes = {}

HARMLESS = (
    typed.StreamProperty, typed.PropertyOf, typed.Constant, typed.Parameter, typed.VariableValue, typed.ContextValue, typed.CurrentTime,
    typed.Convert, typed.Arithmetic, typed.Bitwise, typed.Concatenation, typed.Negation, typed.Not, typed.Logic, typed.Equality,
    typed.Order, typed.Range, typed.Membership, typed.Conditional, typed.Coalesce,
)  # fmt: skip
"""What may be evaluated more or less often than Esper does, and of rows that are dropped later: it has no effect and does not raise."""


def optional_streams(kinds: Sequence[JoinKind], on: On) -> frozenset[int]:
    """Return the streams of which rows may lack an event."""
    tree = _Tree(kinds, on, {}, NO_STREAMS)
    return frozenset().union(*map(tree.optional_streams, range(len(kinds) + 1))).difference(tree.required)


def plan_join(
    kinds: Sequence[JoinKind], on: On, where: TypedExpression | None, unidirectional: Sequence[int] = (), hints: Container[str] = (),
    reads: Reads | None = None, named: Indexes = NO_STREAMS,
) -> tuple[JoinPlan, TypedExpression | None]:
    """Return the plan, and what of ``where`` is still to be evaluated on its rows.

    The conditions of an inner join are evaluated where its rows are found. An outer join finds its rows by the on clauses alone, in which
    null equals null but in those of a historical stream that is no table; so does an inner join of a unidirectional stream, beside its
    where clause. ``named``: the indexes of the streams.
    """
    reads = reads or {}
    driving = tuple(unidirectional) or _driving(len(kinds) + 1, reads)
    if not any(kind in ("left", "right", "full") for kind in kinds):
        conditions, rest = _steering(where)
        joining = [condition for each in on for condition in each]
        if unidirectional and not reads:  # Esper raises where a null would have to be converted
            joining = [each if _converts(each) else _null_equals_null(each) for each in joining]
        conditions = (*joining, *conditions)
        drives = _inner(len(kinds) + 1, driving, conditions, hints, reads, named)
        return JoinPlan(kinds=tuple(kinds), drives=drives, unidirectional=tuple(unidirectional)), rest
    if "comma" in kinds:
        raise EplUnsupportedError("An outer join beside a stream without an on clause is not supported")
    tree = _Tree(kinds, on, reads, named, _steering(where)[0])
    if len(kinds) > 1:
        asking = _asking_outer(len(kinds) + 1, reads)
        tree.check_reads(asking)
        driving = tuple(unidirectional) or asking
    plan = JoinPlan(
        kinds=tuple(kinds), drives=tuple(DrivePlan(stream=stream, steps=tree.steps(stream)) for stream in driving),
        unidirectional=tuple(unidirectional), required=tree.required, in_turn=tree.in_turn,
    )  # fmt: skip
    return plan, where


def _driving(count: int, reads: Reads) -> Sequence[int]:
    """Return the streams that have events; where none has, the historical ones that read no other."""
    return [n for n in range(count) if n not in reads] or [n for n, read in reads.items() if not read]


def _asking_outer(count: int, reads: Reads) -> Sequence[int]:
    """Return the streams whose rows ask for those of others in an outer join of several: also historical streams that read no other, whose
    rows that nothing matches are in the iterator, as in Esper's."""
    return [n for n in range(count) if not reads.get(n)]


def _steering(where: TypedExpression | None) -> tuple[tuple[TypedExpression, ...], TypedExpression | None]:
    """Return the conjuncts that may steer look-ups, and the condition that the others are."""
    steering: list[TypedExpression] = []
    others: list[TypedExpression] = []
    for condition in conjuncts(where):
        (steering if condition.streams and _is_harmless(condition) else others).append(condition)
    if len(others) < 2:
        return tuple(steering), others[0] if others else None
    return tuple(steering), Logic(operator="and", operands=tuple(others), type=BOXED_BOOLEAN)


def _is_harmless(node: TypedExpression) -> bool:
    if isinstance(node, typed.SubqueryValue):  # it reads whole events
        return node.operand is None or _is_harmless(node.operand)
    return isinstance(node, HARMLESS) and all(map(_is_harmless, node.children()))


# ------------------------------------------------------------------ inner joins


def _inner(
    count: int, driving: Collection[int], conditions: Sequence[TypedExpression], hints: Container[str], reads: Reads,
    named: Indexes,
) -> tuple[DrivePlan, ...]:
    conditions = (*conditions, *_infer_equalities(conditions))
    orders = inner_orders(count, _lookup_targets(count, conditions), hints)
    return tuple(
        _drive(stream, _after_reads(stream, orders[stream], reads), conditions, named) for stream in range(count) if stream in driving
    )


def _after_reads(stream: int, tree: Tree, reads: Reads) -> Tree:
    """Return the order, in which a historical stream waits for the streams that its arguments read."""
    if not reads:
        return tree
    waiting, known = list(descendants(stream, tree)), [stream]
    while waiting:
        ready = next(each for each in waiting if reads.get(each, NOTHING).issubset(known))
        waiting.remove(ready)
        known.append(ready)
    return as_path(stream, known[1:])


def _drive(stream: int, tree: Tree, conditions: Sequence[TypedExpression], named: Indexes) -> DrivePlan:
    steps, used = _inner_steps(stream, frozenset({stream}), tree, conditions, named)
    own = tuple(c for c in conditions if c.streams == {stream})
    following = {_sides(equality): equality for equality in _infer_equalities(used)}
    across = tuple(c for c in conditions if c not in used and c not in own and not _follows(c, following.get(_sides(c))))
    if any(_is_navigable(condition) for condition in across):  # looking it up is worth more than the order of rows
        return _drive(stream, as_path(stream, list(descendants(stream, tree))), conditions, named)
    return DrivePlan(stream=stream, steps=steps, conditions=own, across=across)


def _inner_steps(
    stream: int, known: frozenset[int], tree: Tree, conditions: Sequence[TypedExpression], named: Indexes
) -> tuple[tuple[JoinStep, ...], list[TypedExpression]]:
    """Return the steps after a stream, and the conditions that they test."""
    steps, used = [], []
    for sought in tree[stream]:
        useful = [c for c in conditions if sought in c.streams and c.streams <= {sought, *known}]
        then, tested = _inner_steps(sought, known | {sought}, tree, conditions, named)
        steps.append(JoinStep(lookup=plan_lookup(useful, sought, known, named.get(sought, NO_INDEXES)), then=then))
        used += [*useful, *tested]
    return tuple(steps), used


def _infer_equalities(conditions: Sequence[TypedExpression]) -> Iterator[Equality]:
    """Yield ``a.x = c.x`` where ``a.x = b.x and b.x = c.x`` is written: properties of one type, each equal to all others. Null equals null
    where it does in all that is written of them."""
    equal: dict[StreamProperty, dict[StreamProperty, None]] = {}
    written = set()
    never_null: set[StreamProperty] = set()
    for condition in conditions:
        if isinstance(condition, Equality) and not condition.negated and not condition.arrays:
            left, right = condition.left, condition.right
            if isinstance(left, StreamProperty) and isinstance(right, StreamProperty) and left.type == right.type:
                written.add(frozenset((left, right)))
                never_null.update(() if condition.null_safe else (left,))
                together = {**equal.get(left, {left: None}), **equal.get(right, {right: None})}
                equal.update(dict.fromkeys(together, together))
    for together in {id(each): each for each in equal.values()}.values():
        null_safe = never_null.isdisjoint(together)
        for left, right in combinations(together, 2):
            if left.stream != right.stream and frozenset((left, right)) not in written:
                yield Equality(type=BOXED_BOOLEAN, left=left, right=right, null_safe=null_safe)


def _sides(condition: TypedExpression) -> frozenset[TypedExpression]:
    return frozenset((condition.left, condition.right)) if isinstance(condition, Equality) and not condition.negated else frozenset()


def _follows(condition: TypedExpression, equality: Equality | None) -> bool:
    """Return whether a condition holds where an equality of the same properties does."""
    return equality is not None and isinstance(condition, Equality) and (condition.null_safe or not equality.null_safe)


def _lookup_targets(count: int, conditions: Sequence[TypedExpression]) -> Mapping[int, set[int]]:
    """Return which streams a look-up can go to from which."""
    related: dict[int, set[int]] = {stream: set() for stream in range(count)}
    for condition in conditions:
        if _is_navigable(condition) and len(condition.streams) == 2:
            one, other = condition.streams
            related[one].add(other)
            related[other].add(one)
    return related


def _is_navigable(condition: TypedExpression) -> bool:
    return isinstance(condition, (Equality, typed.Order, typed.Range, typed.Membership)) and not getattr(condition, "negated", False)


# ------------------------------------------------------------------ outer joins


class _Tree:
    """The streams of outer joins, each related to one of those before it: by its on clause, without one to the last of them.

    ``in_turn``: see JoinPlan. ``where``: conditions that rows must satisfy, too.
    """

    def __init__(self, kinds: Sequence[JoinKind], on: On, reads: Reads, named: Indexes, where: Sequence[TypedExpression] = ()) -> None:
        self._where = where
        self._reads = reads
        self._named = named
        self.in_turn = any(reads.values())
        self.conditions: dict[frozenset[int], tuple[TypedExpression, ...]] = {}
        self._optional: set[tuple[int, int]] = set()
        self._related: dict[int, list[int]] = {stream: [] for stream in range(len(kinds) + 1)}
        inner: set[int] = set()
        for joined, (kind, conditions) in enumerate(zip(kinds, on), 1):
            earlier = min(conditions[0].streams) if conditions else joined - 1
            asked = any(stream in reads and not named.get(stream, NO_INDEXES).is_table for stream in (earlier, joined))
            self.conditions[frozenset((earlier, joined))] = tuple(conditions) if asked else tuple(map(_null_equals_null, conditions))
            self._related[earlier].append(joined)
            self._related[joined].append(earlier)
            if kind in ("left", "full"):
                self._optional.add((earlier, joined))
            if kind in ("right", "full"):
                self._optional.add((joined, earlier))
            if kind == "inner":
                inner |= {earlier, joined}
        self.required = tuple(sorted(inner))

    def steps(self, start: int) -> tuple[JoinStep, ...]:
        """Return the steps from a driving stream."""
        return self._below(start, breadth_first(start, self._related, len(self._related)))

    def optional_streams(self, start: int) -> frozenset[int]:
        """Return the streams that the steps from a driving stream may find no event of, or of a stream before them."""
        tree = breadth_first(start, self._related, len(self._related))
        optional: set[int] = set()
        for stream, children in tree.items():  # a stream comes before those below it
            optional.update(child for child in children if stream in optional or (stream, child) in self._optional)
        return frozenset(optional)

    def _below(self, stream: int, tree: Tree) -> tuple[JoinStep, ...]:
        """Return the steps after a stream, those that must find an event first."""
        children = sorted(tree[stream], key=lambda child: (stream, child) in self._optional)
        return tuple(self._step(stream, child, tree) for child in children)

    def _step(self, stream: int, child: int, tree: Tree) -> JoinStep:
        conditions, named = self.conditions[frozenset((stream, child))], self._named.get(child, NO_INDEXES)
        return JoinStep(
            lookup=plan_lookup(conditions, child, {stream}, named),
            order=plan_lookup((*conditions, *self._where), child, {stream}, named).index if self._where else None,
            optional=(stream, child) in self._optional, then=self._below(child, tree),
        )  # fmt: skip

    def check_reads(self, asking: Sequence[int]) -> None:
        """Refuse arguments of a historical stream that read others than those along which the steps from one of ``asking`` lead to it, as
        Esper does."""
        for stream in asking:
            self._check_reads(self.steps(stream), frozenset({stream}))

    def _check_reads(self, steps: Sequence[JoinStep], known: frozenset[int]) -> None:
        for step in steps:
            sought = step.lookup.sought
            missing = self._reads.get(sought, NOTHING) - known
            if missing:
                raise EplValidationError(
                    f"Historical stream {sought} parameter dependency originating in stream {min(missing)} cannot or may not be satisfied "
                    "by the join"
                )
            self._check_reads(step.then, known | {sought})


def _converts(condition: TypedExpression) -> bool:
    return any(isinstance(node, typed.Convert) for node in condition.walk())


def _null_equals_null(condition: TypedExpression) -> TypedExpression:
    return attrs.evolve(condition, null_safe=True) if isinstance(condition, Equality) else condition


__all__ = ["optional_streams", "plan_join"]
