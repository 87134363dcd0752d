"""In which order the streams of a join are looked up: it decides the order of rows, as in Esper 9.0.0 (learnt from its output).

An inner join takes one of two ways, the same for all of its streams:

* nested: the longest path, from the driving stream, on which each stream is related to the one before it; then the others.
* merge: the tree of the streams that are related to the driving one, of those related to them, and so on. The branches of a stream are
  found each by itself, then combined.

``@Hint('force_nested_iter')`` and ``@Hint('prefer_merge_join')`` choose. Without them a join is nested if each stream is the beginning of a
path through all others, or if some streams are related to no other.
"""
from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

Related = Mapping[int, Container[int]]
"""Stream → the streams that a condition relates it to."""

Tree = Mapping[int, Sequence[int]]
"""Stream → those that are looked up once it is known; of a path one each."""

MOST_PATHS = 20_000
"""So many beginnings of paths are looked at; then the longest one so far is taken."""


def inner_orders(count: int, related: Related, hints: Container[str] = ()) -> list[Tree]:
    """Return for each driving stream the order in which the others are looked up."""
    paths = [_longest_path(stream, count, related) for stream in range(count)]
    trees = [breadth_first(stream, related, count) for stream in range(count)]
    connected = all(len(tree) == count for tree in trees)
    nested = not connected or "force_nested_iter" in hints
    if not nested and "prefer_merge_join" not in hints:
        nested = all(length == count - 1 for length, _ in paths)
    return [as_path(stream, order) for stream, (_, order) in enumerate(paths)] if nested else trees


def as_path(start: int, order: Sequence[int]) -> Tree:
    """
    >>> as_path(1, [0, 2])
    {1: [0], 0: [2], 2: []}
    """
    path = [start, *order]
    return {stream: [*following] for stream, following in zip(path, [*([each] for each in path[1:]), []])}


def _longest_path(start: int, count: int, related: Related) -> tuple[int, list[int]]:
    """Return the length of the first of the longest paths, in the order of the streams' numbers, and all streams but ``start``, those of
    the path first."""
    best: list[int] = []
    for looked_at, path in enumerate(_paths([start], count, related)):
        if len(path) - 1 > len(best):
            best = path[1:]
        if len(best) == count - 1 or looked_at == MOST_PATHS:
            break
    return len(best), [*best, *(stream for stream in range(count) if stream != start and stream not in best)]


def _paths(path: list[int], count: int, related: Related) -> Iterator[list[int]]:
    yield path
    for stream in range(count):
        if stream not in path and stream in related[path[-1]]:
            yield from _paths([*path, stream], count, related)


def breadth_first(start: int, related: Related, count: int) -> Tree:
    """Return the tree of the streams that can be reached; those of one stream in the order of their numbers.

    >>> breadth_first(1, {0: [1], 1: [2, 0], 2: [1]}, 3)
    {1: [0, 2], 0: [], 2: []}
    """
    children: dict[int, list[int]] = {start: []}
    waiting = [start]
    for stream in waiting:
        for other in range(count):
            if other not in children and other in related[stream]:
                children[stream].append(other)
                children[other] = []
                waiting.append(other)
    return children


def descendants(start: int, children: Tree) -> Iterator[int]:
    """Yield the streams below ``start``, branches without branches of their own first, of these the last: as they most often turn out."""
    last_first = children[start][::-1]
    for child in sorted(last_first, key=lambda each: bool(children[each])):
        yield child
        yield from descendants(child, children)


__all__ = ["Related", "Tree", "as_path", "breadth_first", "descendants", "inner_orders"]
