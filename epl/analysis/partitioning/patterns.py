"""EPL patterns: local to a key where each event of the first atom begins an instance of its own, and every later atom takes only events
whose key is that of an earlier tag.

The root is a *source*: ``every a=A``, ``every-distinct(a.k) a=A``, or one of these ``->`` whatever goes by the key; or several of them
below ``or``, which have nothing to do with each other. What comes after the first tag waits for one key: operators, guards and timers there
are local. In front of it they are one for all keys.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from epl.analysis.lookups.conditions import conjuncts
from epl.analysis.partitioning.facts import Demand, Facts, Meeting, NotPartitionable, RowFeed, StageCollector, Way
from epl.analysis.partitioning.meetings import equalities
from epl.analysis.partitioning.paths import Carrying, carry_columns, expression_path, may_be_key, trace_path
from epl.analysis.partitioning.verdicts import Path
from epl.event_types import EventType
from epl.plan.expression_text import expression_text
from epl.plan.expressions import Element, PropertyOf, StreamEvents, StreamProperty, SubqueryValue, TypedExpression
from epl.plan.patterns.pattern import (
    AndNode,
    EveryDistinctNode,
    EveryNode,
    FilterNode,
    FollowedByNode,
    NotNode,
    OrNode,
    PatternNode,
    PatternPlan,
    UntilNode,
)
from epl.plan.stores.tables import TableValue
from epl.plan.walk import plan_expressions

OPERATOR = "the pattern"
IN_FRONT = "it is in front of the first tag, and so one for all keys"


@attrs.define
class _Branch:
    """A source and what follows it. ``keys``: the properties of the first atom's events that will do, None for any."""

    atoms: list[FilterNode] = attrs.field(factory=list)
    keys: frozenset[Path] | None = None
    lasting: frozenset[int] = frozenset()
    """The atoms that each match has an event of, by number."""

    def ways(self) -> tuple[Way, ...] | None:
        """Return the properties by which the atoms' events meet; None where there is only the first atom."""
        if len(self.atoms) == 1:
            return None if self.keys is None else tuple((path,) for path in sorted(self.keys))
        first = self.atoms[0]
        candidates = dict.fromkeys(path for atom in self.atoms[1:] for _, place, path in _equal_properties(atom) if place == first.place)
        ways = [way for path in candidates if self.keys is None or path in self.keys for way in self._ways((path,))]
        if not ways:
            raise NotPartitionable(*self._in_the_way())
        return tuple(ways)

    def _ways(self, begun: Way) -> Iterator[Way]:
        """Yield what continues the properties of the first atoms."""
        if len(begun) == len(self.atoms):
            yield begun
            return
        known = {atom.place: path for atom, path in zip(self.atoms, begun) if atom.place is not None}
        for own in dict.fromkeys(own for own, place, path in _equal_properties(self.atoms[len(begun)]) if known.get(place) == path):
            yield from self._ways((*begun, own))

    def _in_the_way(self) -> tuple[str, str]:
        """Return the first atom that does not go by the key of those before it, and why."""
        first = self.atoms[0]
        known = {path for atom in self.atoms[1:] for _, place, path in _equal_properties(atom) if place == first.place}
        for number, atom in enumerate(self.atoms[1:], 2):
            part = _Branch(self.atoms[:number], self.keys)
            if not any(True for path in known if self.keys is None or path in self.keys for _ in part._ways((path,))):
                return _name(atom), "no condition says that a property of it equals the key of an earlier tag"
        raise AssertionError(self)


def _equal_properties(atom: FilterNode) -> Iterator[tuple[Path, int, Path]]:
    """Yield (property of the atom's event, place of a tag, property of its event) for each equality between two."""
    for left, right in equalities(each for condition in atom.conditions for each in conjuncts(condition)):
        if may_be_key(left.type) and may_be_key(right.type):
            for one, other in ((left, right), (right, left)):
                own = expression_path(one)
                for stream in other.streams if own is not None else ():
                    path = expression_path(_single(other), stream)
                    if own is not None and stream and path is not None:
                        yield own, stream - 1, path


def _single(expression: TypedExpression) -> TypedExpression:
    """Return the property of a repeated tag's event, ``b[0].k``, as if there was but one: all of them have the same key."""
    if isinstance(expression, PropertyOf):
        operand = expression.operand
        if isinstance(operand, Element) and isinstance(operand.operand, StreamEvents):
            return StreamProperty(type=expression.type, stream=operand.operand.stream, name=expression.name)
        return attrs.evolve(expression, operand=_single(operand))
    return expression


def _name(node: FilterNode) -> str:
    return f"the atom {node.tag}={node.filter.event_type.name}" if node.tag else f"the atom {node.filter.event_type.name}"


# ------------------------------------------------------------------ the tree


class _Tree:
    """The sources of a pattern."""

    def __init__(self, plan: PatternPlan) -> None:
        self._plan = plan

    def branches(self, node: PatternNode) -> list[_Branch]:
        """Return the sources at the root."""
        if isinstance(node, OrNode):
            return [branch for item in node.items for branch in self.branches(item)]
        return [self._source(node)]

    def _source(self, node: PatternNode) -> _Branch:
        if isinstance(node, EveryNode):
            return _Branch([self._check_every(node.item)], None, frozenset({0}))
        if isinstance(node, EveryDistinctNode):
            atom = self._check_every(node.item)
            paths = (expression_path(key, atom.place + 1) for key in node.keys if may_be_key(key.type) and atom.place is not None)
            keys = frozenset(path for path in paths if path is not None)
            if not keys:
                raise NotPartitionable("the pattern's every-distinct", "no key of it is a property of its own atom's events")
            return _Branch([atom], keys, frozenset({0}))
        if isinstance(node, FollowedByNode):
            branch = self._source(node.items[0])
            for item in node.items[1:]:
                _follow(item, branch, lasting=True)
            return branch
        if isinstance(node, FilterNode):
            raise NotPartitionable(_name(node), "without every it is matched once, whatever its key")
        raise NotPartitionable(f"the pattern's {self._plan.node_title(node)}", IN_FRONT)

    def _check_every(self, node: PatternNode) -> FilterNode:
        if isinstance(node, FilterNode):
            return node
        raise NotPartitionable(
            f"the pattern's every over '{self._plan.node_title(node)}'",
            "it begins again only when that ends, for all keys; every over the "
            "first atom alone would begin it for each event")


def _follow(node: PatternNode, branch: _Branch, *, lasting: bool) -> None:
    """Add the atoms below a node that comes after the first tag. ``lasting``: whether each match has what it matches."""
    if isinstance(node, FilterNode):
        branch.atoms.append(node)
        if lasting and node.place is not None and node.contained is None:
            branch.lasting |= {len(branch.atoms) - 1}
    passes = isinstance(node, (AndNode, FollowedByNode)) or not isinstance(node, (NotNode, OrNode, UntilNode))
    for inner in node.inner():
        _follow(inner, branch, lasting=lasting and passes)


def _refuse_marks(plan: PatternPlan, limited: bool) -> None:
    if plan.suppress:
        raise NotPartitionable("@SuppressOverlappingMatches", "it compares the matches of all keys")
    if plan.discard:
        raise NotPartitionable("@DiscardPartialsOnMatch", "it ends what waits whatever its key")
    for node in plan.root.nodes():
        if isinstance(node, FilterNode) and node.consume:
            raise NotPartitionable("@consume", "it takes an event from all that wait, whatever their keys")
        if isinstance(node, FilterNode) and (node.filter.event_type.kind == "variant" or node.filter.event_type.any_type):
            raise NotPartitionable(
                _name(node), f"rows of several types meet in the variant stream '{node.filter.event_type.name}'")
        if isinstance(node, FollowedByNode) and any(limit is not None for limit in node.limits):
            raise NotPartitionable("the pattern's -[n]>", "it counts what waits of all keys")
    if limited:
        raise NotPartitionable(OPERATOR, "the limit on sub-expressions (max_subexpressions) is one for all keys")
    for each in (n for e in plan_expressions(plan) for n in e.walk()):
        if isinstance(each, SubqueryValue):
            raise NotPartitionable("the sub-query", "in a pattern it is not known to be local to a key")
        if isinstance(each, TableValue):
            raise NotPartitionable(f"the table '{each.table.name}'", "in a pattern it is not known to be local to a key")


# ------------------------------------------------------------------ rows


class PatternRows(StageCollector):
    """Goes along the operators after a pattern: rows have a property for each tag."""

    def __init__(self, statement: str, plan: PatternPlan, limited: bool) -> None:
        super().__init__(statement)
        _refuse_marks(plan, limited)
        self._branches = _Tree(plan).branches(plan.root)
        self._ways = [branch.ways() for branch in self._branches]
        self._stages = [[self._first_stages(plan, atom) for atom in branch.atoms] for branch in self._branches]
        self.stateful = any(len(branch.atoms) > 1 or branch.keys is not None for branch in self._branches) or any(
            not isinstance(node, (EveryNode, FilterNode, OrNode)) for node in plan.root.nodes())

    @staticmethod
    def _first_stages(plan: PatternPlan, atom: FilterNode) -> tuple[Carrying, ...]:
        single = atom.place is not None and not plan.tags[atom.place].repeated
        names: Mapping[str, Path] = {plan.tags[atom.place].name: ()} if single and atom.place is not None else {}
        return (Carrying(names),)

    def add_stage(self, stage: Carrying) -> None:
        self._stages = [[(*stages, stage) for stages in branch] for branch in self._stages]

    def add_columns(self, row_type: EventType, columns: Sequence[TypedExpression]) -> None:
        self.add_stage(carry_columns(row_type, columns))

    def demand(self, operator: str, keys: Iterable[TypedExpression]) -> None:
        """Note that the operator is local to its keys: properties of a tag that each match has, by which the pattern goes."""
        keys = tuple(keys)
        self.stateful = True
        texts = ", ".join(expression_text(key) for key in keys)
        if len(self._branches) > 1:
            raise NotPartitionable(operator, f"no tag of its keys ({texts}) is in each match of the pattern")
        branch, ways = self._branches[0], self._ways[0]
        places = {(number, path) for key in keys if may_be_key(key.type) for number in branch.lasting
                  if (path := trace_path(self._stages[0][number], expression_path(key)))}  # fmt: skip
        if ways is None:
            ways = tuple(dict.fromkeys((path,) for _, path in sorted(places)))
        self._ways[0] = ways = tuple(way for way in ways if any(way[number] == path for number, path in places))
        if not ways:
            raise NotPartitionable(operator, f"no key of its own ({texts}) is one by which the pattern goes, of a tag that each match has")

    def facts(self, target: EventType | None) -> list[Facts]:
        """Return what each atom's events need. ``target``: the type of what rows are inserted into."""
        facts: list[Facts] = []
        for branch, ways, stages in zip(self._branches, self._ways, self._stages):
            reads = tuple(atom.filter.event_type for atom in branch.atoms)
            joined = len(reads) > 1 or len(self._branches) > 1
            feeds = [() if target is None else (RowFeed(target, each, joined=joined),) for each in stages]
            lasting = tuple(sorted(branch.lasting)) if len(self._branches) == 1 else ()
            meeting = None
            if ways is not None and joined:
                meeting = Meeting(self.statement, OPERATOR, reads, ways, lasting, tuple(feed for each in feeds for feed in each))
            for number, read in enumerate(reads):
                paths = () if ways is None else tuple(dict.fromkeys(way[number] for way in ways))
                demands = () if ways is None else (Demand(self.statement, OPERATOR, paths),)
                meetings = () if number or meeting is None else (meeting,)
                facts.append(Facts(self.statement, read, demands, feeds[number], stateful=self.stateful, meetings=meetings))
        return facts


__all__ = ["PatternRows"]
