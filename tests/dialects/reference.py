"""Row patterns by backtracking, written from the standard's words: it enumerates the ways through a pattern in the order of preference and
takes the first one. It shares the tree of the syntax with the engine, and nothing else; exponential, for small tables.

A condition is a Python function of (rows, start, labels so far, the row that is tested included).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from epl.dialects.syntax import tree as t

Condition = Callable[[Sequence[Any], int, tuple[str, ...]], bool]
Way = tuple[str, ...]


class Reference:
    """Matches over one partition. ``conditions``: by variable; a variable without one takes any row."""

    def __init__(self, pattern: t.SqlPattern, conditions: dict[str, Condition], rows: Sequence[Any]) -> None:
        self.pattern = pattern
        self.conditions = conditions
        self.rows = rows

    def match(self, start: int) -> Way | None:
        """Return the variables of the preferred match that begins at a row."""
        return next(self.ways(self.pattern, start, ()), None)

    def ways(self, node: t.SqlPattern, start: int, way: Way) -> Iterator[Way]:
        """Yield the extensions of a way by a pattern, preferred first."""
        match node:
            case t.PatternVariable():
                yield from self._take(node.name.canonical, start, way)
            case t.PatternGroup() | t.Exclusion():
                yield from self.ways(node.pattern, start, way)
            case t.Sequence():
                yield from self._sequence(node.parts, start, way)
            case t.PatternAlternation():
                for choice in node.choices:
                    yield from self.ways(choice, start, way)
            case t.Permutation():
                for order in itertools.permutations(node.parts):
                    yield from self._sequence(order, start, way)
            case t.Anchor():
                if start + len(way) == (0 if node.sign == "^" else len(self.rows)):
                    yield way
            case t.QuantifiedPattern():
                yield from self._repeated(node, node.least, node.most, start, way)

    def _take(self, label: str, start: int, way: Way) -> Iterator[Way]:
        longer = (*way, label)
        if start + len(longer) <= len(self.rows):
            condition = self.conditions.get(label)
            if condition is None or condition(self.rows, start, longer):
                yield longer

    def _sequence(self, parts: Sequence[t.SqlPattern], start: int, way: Way) -> Iterator[Way]:
        if not parts:
            yield way
            return
        for longer in self.ways(parts[0], start, way):
            yield from self._sequence(parts[1:], start, longer)

    def _repeated(self, node: t.QuantifiedPattern, least: int, most: int | None, start: int, way: Way) -> Iterator[Way]:
        """Bounded repetitions are so many copies. In an unbounded one, an iteration that took no row is the last one."""
        fewer = None if most is None else most - 1
        if least == 0 and not node.greedy:
            yield way
        if most is None or most > 0:
            for longer in self.ways(node.pattern, start, way):
                if most is None and least <= 1 and longer == way:
                    yield longer
                else:
                    yield from self._repeated(node, max(0, least - 1), fewer, start, longer)
        if least == 0 and node.greedy:
            yield way
