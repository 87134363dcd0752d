"""From what each statement needs to one key for each event type that comes in.

A *dimension* gives every stream that a stateful operator reads one property, such that every stateful operator finds it among its
own keys, and an insert into carries the property of the stream that it fills from the property of the one that it reads. Any dimension is a
key by which the rows may be split; all of them together are the most selective one.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.analysis.partitioning.chain import may_share_events
from epl.analysis.partitioning.facts import Demand, Facts, Meeting, RowFeed
from epl.analysis.partitioning.verdicts import Key, key_paths
from epl.event_types import EventType

LONGEST = 8
"""Names in a path: where an event is nested in one of its own stream, paths would grow for ever."""

Dimension = dict[int, Key]
"""By number of the stream."""


@attrs.frozen
class StreamEdge:
    """Rows of stream ``source`` become rows of stream ``target`` by ``feed``, or are rows of it (a sub-type's: None)."""

    source: int
    target: int
    feed: RowFeed | None

    def back(self, key: Key) -> Key | None:
        return key if self.feed is None else self.feed.back(key)

    @property
    def joined(self) -> bool:
        """Whether another stream may have the property instead."""
        return self.feed is not None and self.feed.joined


class StreamGraph:
    """The streams of a chain of statements, and how rows go from one to the other."""

    def __init__(self, facts: Sequence[Facts]) -> None:
        self.facts = facts
        self.streams: list[EventType] = []
        for fact in facts:
            if fact.reads is not None and not any(fact.reads is s for s in self.streams):
                self.streams.append(fact.reads)
        self.number = {id(s): i for i, s in enumerate(self.streams)}
        self.edges = [
            StreamEdge(self.number[id(fact.reads)], i, feed)
            for fact in facts for feed in fact.feeds for i, stream in enumerate(self.streams) if feed.target.is_a(stream)
        ]
        self.edges += [
            StreamEdge(i, j, None) for i, sub in enumerate(self.streams) for j,
            stream in enumerate(self.streams) if i != j and sub.is_a(stream)
        ]
        self.meetings = [meeting for fact in facts for meeting in fact.meetings]
        self.changed = [
            frozenset(name for fact in facts if fact.reads is not None and may_share_events(fact.reads, s) for name in fact.changes)
            for s in self.streams
        ]

    def numbers(self, meeting: Meeting) -> list[int]:
        """Return the numbers of the streams whose rows meet."""
        return [self.number[id(each)] for each in meeting.reads]

    @property
    def roots(self) -> list[int]:
        """The streams whose events come in from outside."""
        filled = {id(feed.target) for fact in self.facts for feed in fact.feeds} | {id(fact.reads) for fact in self.facts if fact.stored}
        return [i for i, stream in enumerate(self.streams) if id(stream) not in filled]

    def demands(self) -> list[tuple[int, Demand]]:
        return [(self.number[id(f.reads)], demand) for f in self.facts for demand in f.demands]

    def needy(self, streams: Iterable[int]) -> set[int]:
        """Return these, and all whose rows become theirs."""
        needy = set(streams)
        while new := {e.source for e in self.edges if e.target in needy} - needy:
            needy |= new
        return needy

    def components(self, needy: set[int]) -> list[list[int]]:
        """Return the streams by which of them have to agree."""
        leader = {i: i for i in needy}
        for _ in needy:
            for edge in self.edges:
                if edge.target in leader:
                    leader[edge.source] = leader[edge.target] = min(leader[edge.source], leader[edge.target])
            for meeting in self.meetings:
                numbers = [number for number in self.numbers(meeting) if number in leader]
                leader.update(dict.fromkeys(numbers, min(leader[number] for number in numbers)) if numbers else {})
        return [[i for i in sorted(needy) if leader[i] == first] for first in sorted(set(leader.values()))]


def dimensions(graph: StreamGraph, demands: Sequence[tuple[int, Demand]]) -> list[list[Dimension]]:
    """Return for each component all dimensions, none where its demands do not go together."""
    needy = graph.needy({stream for stream, _ in demands})
    candidates = _candidates(graph, demands, needy)
    return [_together(graph, component, candidates) for component in graph.components(needy)]


def _candidates(graph: StreamGraph, demands: Sequence[tuple[int, Demand]], needy: set[int]) -> dict[int, list[Key]]:
    """Return the properties that each stream may be split by: those that all its operators have among their keys, or, where it has none,
    those that are carried to streams that have. """
    candidates: dict[int, list[Key]] = {i: [] for i in needy}
    own: dict[int, list[Key]] = {}
    for stream, demand in demands:
        before = own.get(stream, list(demand.paths))
        own[stream] = [p for p in before if p in demand.paths and not _is_changed(graph, stream, p)]
    candidates.update(own)
    todo = list(own)
    while todo:
        target = todo.pop()
        for edge in graph.edges:
            if edge.target != target or edge.source in own:
                continue
            for path in [edge.back(p) for p in candidates[target]]:
                if path is None or max(map(len, key_paths(path))) > LONGEST or path in candidates[edge.source]:
                    continue
                if not _is_changed(graph, edge.source, path):
                    candidates[edge.source].append(path)
                    todo.append(edge.source)
    return candidates


def _is_changed(graph: StreamGraph, stream: int, key: Key) -> bool:
    """Return whether a statement gives a property that the key reads another value."""
    return any(path[0] in graph.changed[stream] for path in key_paths(key))


def _together(graph: StreamGraph, component: list[int], candidates: dict[int, list[Key]]) -> list[Dimension]:
    """Choose one property of each stream, so that every edge carries the target's from the source's."""
    dimensions: list[Dimension] = [{}]
    for stream in component:
        extended = ({**before, stream: path} for before in dimensions for path in candidates[stream])
        dimensions = [dimension for dimension in extended if _agrees(graph, dimension, stream)]
    return dimensions


def _agrees(graph: StreamGraph, dimension: Dimension, latest: int) -> bool:
    return all(
        edge.back(dimension[edge.target]) == dimension[edge.source]
        for edge in graph.edges
        if not edge.joined and latest in (edge.source, edge.target) and edge.source in dimension and edge.target in dimension
    ) and all(_is_met(graph, meeting, dimension) for meeting in graph.meetings)


def _is_met(graph: StreamGraph, meeting: Meeting, dimension: Dimension) -> bool:
    """Return whether the rows meet, and carry the property on to the streams that they fill, as far as the dimension has them."""
    paths = [dimension.get(number) for number in graph.numbers(meeting)]
    if not any(all(path in (None, key) for path, key in zip(paths, way)) for way in meeting.ways):
        return False
    if None in paths or not meeting.feeds:
        return True
    targets = [i for i, stream in enumerate(graph.streams) if i in dimension and meeting.feeds[0].target.is_a(stream)]
    return all(any(meeting.feeds[n].back(dimension[i]) == paths[n] for n in meeting.lasting) for i in targets)


def solution_keys(graph: StreamGraph, solutions: Sequence[Sequence[Dimension]]) -> dict[str, tuple[Key, ...]]:
    """Return by name of each type that comes in, its properties, one a dimension; dimensions that are the same there count once."""
    keys: dict[str, tuple[Key, ...]] = {}
    for root in graph.roots:
        component = next((dims for dims in solutions if dims and root in dims[0]), ())
        roots = [i for i in graph.roots if component and i in component[0]]
        distinct = dict.fromkeys(tuple(d[i] for i in roots) for d in component)
        keys[graph.streams[root].name] = tuple(paths[roots.index(root)] for paths in distinct)
    return keys


__all__ = ["Dimension", "StreamGraph", "dimensions", "solution_keys"]
