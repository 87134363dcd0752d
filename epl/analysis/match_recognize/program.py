"""Normalised row pattern → program: which variable occurrences may follow which, in the order in which Esper finds matches."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.plan.patterns.match_recognize import Alternation, Concatenation, Program, Repetition, RowPattern, RowPatternVariable, Step


@attrs.frozen
class _Part:
    """A piece of the program: steps where it may begin and end, and whether it may be empty."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool = False


def compile_program(pattern: RowPattern, group_readers: frozenset[int] = frozenset()) -> Program:
    """Return one step for each occurrence of a variable.

    A path through the program is a way to match rows; two paths are two ways, even over the same variables. ``group_readers``: variables
    whose conditions
    read rows of group variables: Esper counts their greedy ``+`` in the ranking of matches, those of others not.
    """
    compiler = _Compiler(group_readers)
    whole = compiler.part(pattern)
    accepting = frozenset(whole.last)
    steps = tuple(
        Step(v.number, label, tuple(compiler.then[n]), n in accepting, counted)
        for n, (v, label, counted) in enumerate(compiler.occurrences)
    )
    return Program(steps, whole.first)


class _Compiler:
    def __init__(self, group_readers: frozenset[int]) -> None:
        self.group_readers = group_readers
        self.occurrences: list[tuple[RowPatternVariable, str, bool]] = []
        self.then: list[dict[int, None]] = []

    def part(self, node: RowPattern, repetition: Repetition | None = None) -> _Part:
        """``repetition``: the one directly around a variable."""
        if isinstance(node, RowPatternVariable):
            return self._variable(node, repetition)
        if isinstance(node, Repetition):
            return self._repetition(node)
        if isinstance(node, Concatenation):
            return self._concatenation([self.part(item) for item in node.items])
        assert isinstance(node, Alternation), node
        parts = [self.part(item) for item in node.items]
        return _Part(_unique(n for p in parts for n in p.first), _unique(n for p in parts for n in p.last), any(p.empty for p in parts))

    def _variable(self, node: RowPatternVariable, repetition: Repetition | None) -> _Part:
        number = len(self.occurrences)
        counted = repetition is not None and repetition.greedy and (not repetition.required or node.number in self.group_readers)
        self.occurrences.append((node, node.name + (repetition.mark if repetition else ""), counted))
        self.then.append({})
        return _Part((number,), (number,))

    def _repetition(self, node: Repetition) -> _Part:
        part = self.part(node.item, node)
        if node.unbounded:
            self._link(part.last, part.first)
        return _Part(part.first, part.last, part.empty or not node.required)

    def _concatenation(self, parts: Sequence[_Part]) -> _Part:
        """Return what an item reaches, farthest first: after ``A`` in ``A B? C`` comes C, then B."""
        for index, part in enumerate(parts):
            for reached in reversed(_through_empty(parts[index + 1 :])):
                self._link(part.last, reached.first)
        first = _unique(n for p in _through_empty(parts) for n in p.first)
        last = _unique(n for p in reversed(_through_empty(parts[::-1])) for n in p.last)
        return _Part(first, last, all(p.empty for p in parts))

    def _link(self, sources: Iterable[int], targets: Iterable[int]) -> None:
        for source in sources:
            self.then[source].update(dict.fromkeys(targets))


def _through_empty(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts up to and with the first that cannot be empty."""
    expanded: list[_Part] = []
    for part in parts:
        expanded.append(part)
        if not part.empty:
            break
    return expanded


def _unique(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))
