"""Rows of several streams that have to meet: those of a join, and those of a sub-query and of the statement that asks it.

They meet under a split where conditions say that properties of theirs are equal: rows whose keys differ never have to do with each other.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from epl.analysis.partitioning.facts import Demand, Meeting, NotPartitionable, StageCollector, Way
from epl.analysis.partitioning.paths import carry_columns, expression_path, may_be_key, trace_path
from epl.analysis.partitioning.verdicts import Path
from epl.event_types import EventType
from epl.plan.expression_text import expression_text
from epl.plan.expressions import Equality, StreamEvent, SubqueryValue, TypedExpression
from epl.plan.join.joins import JoinPlan, JoinStep
from epl.plan.join.subqueries import SubqueryPlan

Place = tuple[int, Path]
"""A property of the rows of a stream, by the stream's number."""


def equalities(conditions: Iterable[TypedExpression]) -> Iterator[tuple[TypedExpression, TypedExpression]]:
    """Yield the sides of conditions that say that two values are equal."""
    for condition in conditions:
        if isinstance(condition, Equality) and not condition.negated and not condition.arrays:
            yield condition.left, condition.right


def join_conditions(plan: JoinPlan) -> tuple[TypedExpression, ...]:
    """Return what a join's rows are found by."""
    drive = plan.drives[0]
    return (*(condition for step in _steps(drive.steps) for condition in step.lookup.applied), *drive.across)


def optional_streams(plan: JoinPlan) -> set[int]:
    """Return the streams of which a row may lack an event."""
    optional = (step for drive in plan.drives for step in _steps(drive.steps) if step.optional)
    return {stream for step in optional for stream in step.streams}.difference(plan.required)


def _steps(steps: Sequence[JoinStep]) -> Iterator[JoinStep]:
    for step in steps:
        yield step
        yield from _steps(step.then)


def places(node: TypedExpression, streams: Sequence[StageCollector]) -> Iterator[Place]:
    """Yield the property of rows as they came in that an expression over the streams is, if it is one."""
    if may_be_key(node.type):
        for number, stream in enumerate(streams):
            path = trace_path(stream.stages, expression_path(node, number))
            if path is not None:
                yield number, path


class JoinedRows(StageCollector):
    """Goes along the operators after a join. ``streams``: what leads from each stream's rows to the join.

    The streams have to be split by one of ``classes``, sets of properties of which rows that are joined have equal values.
    """

    def __init__(self, statement: str, plan: JoinPlan, streams: Sequence[StageCollector]) -> None:
        super().__init__(statement)
        self.streams = tuple(streams)
        self.stateful = True
        optional = optional_streams(plan)
        self._lasting = [number for number in range(len(streams)) if number not in optional]
        """Streams of which every row has an event: elsewhere a null may stand for rows of any key."""
        pairs = [(one, other) for left, right in equalities(join_conditions(plan))
                 for one in places(left, streams) for other in places(right, streams)]  # fmt: skip
        everywhere = set(range(len(streams)))
        self._classes = [together for together in _together(pairs) if {number for number, _ in together} == everywhere]
        if not self._classes:
            raise NotPartitionable("the join", "no condition says that a property of one stream equals one of each other stream")

    def add_columns(self, row_type: EventType, columns: Sequence[TypedExpression]) -> None:
        for number, stream in enumerate(self.streams):
            stream.add_stage(carry_columns(row_type, columns, number))

    def demand(self, operator: str, keys: Iterable[TypedExpression]) -> None:
        keys = tuple(keys)
        lasting = {place for key in keys for place in places(key, self.streams) if place[0] in self._lasting}
        self._classes = [together for together in self._classes if lasting & together]
        if not self._classes:
            texts = ", ".join(expression_text(key) for key in keys)
            raise NotPartitionable(operator, f"no key of its own ({texts}) is one by which the join finds rows, of a stream that each has")

    def meeting(self, reads: Sequence[EventType]) -> Meeting:
        """Return by which properties the streams have to be split."""
        ways = dict.fromkeys(
            way for together in self._classes
            for way in product(*([path for number, path in sorted(together) if number == stream] for stream in range(len(self.streams)))))
        return Meeting(self.statement, "the join", tuple(reads), tuple(ways), tuple(self._lasting))

    def stream_demands(self, number: int, ways: Sequence[Way]) -> tuple[Demand, ...]:
        """Return what is demanded of one stream: by its windows, and by the join."""
        paths = tuple(dict.fromkeys(way[number] for way in ways))
        return (*self.streams[number].demands, Demand(self.statement, "the join", paths))


def _together(pairs: Sequence[tuple[Place, Place]]) -> list[frozenset[Place]]:
    """Return the sets of places that are equal because of the pairs, in the order of those."""
    sets: dict[Place, frozenset[Place]] = {}
    for one, other in pairs:
        together = sets.get(one, frozenset([one])) | sets.get(other, frozenset([other]))
        sets.update(dict.fromkeys(together, together))
    return list(dict.fromkeys(sets[one] for one, _ in pairs))


def subquery_meeting(
    statement: str, node: SubqueryValue, inner: StageCollector, outer: Sequence[StageCollector], reads: Sequence[EventType],
    row_type: EventType
) -> tuple[int, Meeting]:
    """Return the stream of the statement with which the sub-query's rows meet, and how. ``outer``, ``reads``: the statement's streams."""
    plan: SubqueryPlan = node.plan
    asked = [each.stream for each in node.outer if isinstance(each, StreamEvent)]
    if len(asked) == len(node.outer):
        streams = [inner, *(outer[number] for number in asked)]
        pairs = [(one, other) for key, value in _lookup_pairs(plan) for one in places(key, streams) for other in places(value, streams)]
        for place, number in enumerate(asked, 1):
            candidates = [_way(one, other, place) for one, other in pairs]
            ways = tuple(dict.fromkeys(way for way in candidates if way is not None))
            if ways:
                return number, Meeting(statement, "the sub-query", (reads[number], row_type), ways)
    raise NotPartitionable("the sub-query", "its where clause does not say that a property of its rows equals one of the statement's")


def _lookup_pairs(plan: SubqueryPlan) -> Iterable[tuple[TypedExpression, TypedExpression]]:
    """Return the keys of the rows that are read, and the outer values that they equal, null included."""
    lookup = plan.lookup
    if lookup is None or lookup.index is None or lookup.listed or lookup.others:
        return ()
    return zip(lookup.index.hash, lookup.keys, strict=True)


def _way(one: Place, other: Place, outer: int) -> Way | None:
    """Return (the statement's property, the sub-query's) where one place is the sub-query's and the other one that stream's."""
    for inner, asked in ((one, other), (other, one)):
        if inner[0] == 0 and asked[0] == outer:
            return asked[1], inner[1]
    return None


__all__ = ["JoinedRows", "equalities", "join_conditions", "places", "subquery_meeting"]
