"""In which order the streams of a join are looked up: it decides the order of rows, as in Esper 9.0.0 (learnt from its output).

An inner join takes one of two ways, the same for all of its streams:

* nested: the longest path, from the driving stream, on which each stream is related to the one before it; then the others.
* merge: the tree of streams that are related to the driving one, to those related to it, and so on; branches are combined as
  ``branches`` has them.

``@Hint('force_nested_iter')`` and ``@Hint('prefer_merge_join')`` choose. Without them a join is nested if each stream is the beginning of a
path through all others, or if some streams are related to no other.
"""
from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

Related = Mapping[int, Container[int]]
"""Stream → the streams that a condition relates it to."""

MOST_PATHS = 20_000
"""So many beginnings of paths are looked at; then the longest one so far is taken."""


def inner_orders(count: int, related: Related, hints: Container[str] = ()) -> list[list[int]]:
    """Return for each driving stream the others in the order in which they are looked up."""
    paths = [_longest_path(stream, count, related) for stream in range(count)]
    trees = [_merged(stream, count, related) for stream in range(count)]
    connected = all(len(tree) == count - 1 for tree in trees)
    nested = not connected or "force_nested_iter" in hints
    if not nested and "prefer_merge_join" not in hints:
        nested = all(length == count - 1 for length, _ in paths)
    return [order for _, order in paths] if nested else trees


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


def _merged(start: int, count: int, related: Related) -> list[int]:
    children: dict[int, list[int]] = {start: []}
    waiting = [start]
    for stream in waiting:
        for other in range(count):
            if other not in children and other in related[stream]:
                children[stream].append(other)
                children[other] = []
                waiting.append(other)
    return list(_below(start, children))


def _below(stream: int, children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    for child in branches(stream, children):
        yield child
        yield from _below(child, children)


def branches(stream: int, children: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the children of a stream from the outermost loop to the innermost: the last first, but those without children of their own
    before the others, where these are fewer than all and not at the end.
    """
    below = list(children[stream])
    last_first = below[::-1]
    deep = [bool(children[child]) for child in below]
    if len(below) == 2 and all(deep):
        return below
    if len(below) > 2 and deep[-1]:
        return last_first
    return sorted(last_first, key=lambda child: bool(children[child]))


__all__ = ["Related", "branches", "inner_orders"]
