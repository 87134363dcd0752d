"""A row pattern → instructions, in the order of preference."""
from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.syntax import tree as t

MATCH, SPLIT, JUMP, START, END, DONE = range(6)
MOST_STEPS = 100_000
"""Instructions of a program."""


@attrs.frozen
class PatternProgram:
    """``operations[pc]``: what is done; ``first``, ``second``: of SPLIT, where to go, preferred first; of JUMP, ``first``; of MATCH, the
    place of the variable in ``labels``. ``excluded[pc]``: rows that a MATCH takes are not shown. ``leads_on[pc]``: whether a way that has
    rows may come from there to the end (not through ``^``, nor to a row after ``$``)."""

    operations: list[int]
    first: list[int]
    second: list[int]
    excluded: list[bool]
    labels: list[str]
    leads_on: list[bool]


class _Writer:
    def __init__(self, labels: list[str]) -> None:
        self.labels = labels
        self.steps: list[list[int]] = []
        self.excluded: list[bool] = []
        self.hides = False

    def add(self, operation: int, first: int = 0, second: int = 0) -> int:
        if len(self.steps) >= MOST_STEPS:
            message = f"the row pattern needs more than {MOST_STEPS} instructions: its quantifiers or permutations are too large"
            raise QueryFailed("STATEMENT_TOO_LARGE", message)
        self.steps.append([operation, first, second])
        self.excluded.append(self.hides)
        return len(self.steps) - 1

    def pattern(self, node: t.SqlPattern) -> None:
        match node:
            case t.PatternVariable():
                self.add(MATCH, self.labels.index(node.name.canonical))
            case t.PatternGroup():
                self.pattern(node.pattern)
            case t.Sequence():
                for part in node.parts:
                    self.pattern(part)
            case t.PatternAlternation():
                self.choices([lambda choice=choice: self.pattern(choice) for choice in node.choices])  # type: ignore[misc]
            case t.Permutation():
                self.permutation(node)
            case t.Anchor() if node.sign in self.labels:
                self.add(MATCH, self.labels.index(node.sign))
            case t.Anchor():
                self.add(START if node.sign == "^" else END)
            case t.Exclusion():
                before, self.hides = self.hides, True
                self.pattern(node.pattern)
                self.hides = before
            case t.QuantifiedPattern():
                self.write_quantified(node)
            case _:
                raise TypeError(type(node).__name__)

    def choices(self, writers: list[Callable[[], None]]) -> None:
        ends = []
        for write in writers[:-1]:
            split = self.add(SPLIT)
            self.steps[split][1] = len(self.steps)
            write()
            ends.append(self.add(JUMP))
            self.steps[split][2] = len(self.steps)
        writers[-1]()
        for end in ends:
            self.steps[end][1] = len(self.steps)

    def permutation(self, node: t.Permutation) -> None:
        """Write all orders, in the order of the list."""
        if math.factorial(len(node.parts)) > MOST_STEPS:
            raise QueryFailed("STATEMENT_TOO_LARGE", f"PERMUTE of {len(node.parts)} parts has more than {MOST_STEPS} orders")

        def writer(order: tuple[t.SqlPattern, ...]) -> Callable[[], None]:
            def write() -> None:
                for part in order:
                    self.pattern(part)

            return write

        self.choices([writer(order) for order in permutations(node.parts)])

    def write_quantified(self, node: t.QuantifiedPattern) -> None:
        if node.most is None:
            self.looping(node)
            return
        for _ in range(node.least):
            self.pattern(node.pattern)
        splits = []
        for _ in range(node.most - node.least):
            splits.append(self.add(SPLIT))
            self.pattern(node.pattern)
        for split in splits:
            self.leave(split, split + 1, len(self.steps), node.greedy)

    def looping(self, node: t.QuantifiedPattern) -> None:
        """Write a loop: the last iteration that has to be is the one that repeats; an iteration that took no row does not repeat."""
        opening = self.add(SPLIT) if node.least == 0 else None
        begin = len(self.steps)
        for _ in range(max(1, node.least)):
            begin = len(self.steps)
            self.pattern(node.pattern)
        split = self.add(SPLIT)
        self.leave(split, begin, len(self.steps), node.greedy)
        if opening is not None:
            self.leave(opening, opening + 1, len(self.steps), node.greedy)

    def leave(self, split: int, repeat: int, leave: int, greedy: bool) -> None:
        self.steps[split][1:] = (repeat, leave) if greedy else (leave, repeat)


def compile_pattern(pattern: t.SqlPattern, labels: list[str]) -> PatternProgram:
    """Return the program of a pattern over these variables."""
    writer = _Writer(labels)
    writer.pattern(pattern)
    writer.add(DONE)
    operations, first, second = (list(column) for column in zip(*writer.steps))
    return PatternProgram(operations, first, second, writer.excluded, labels, _reaches_end(operations, first, second))


def _reaches_end(operations: list[int], first: list[int], second: list[int]) -> list[bool]:
    """Return which instructions may come to the end after a row was taken: backwards from the end, before and after a ``$``."""
    size = len(operations)
    sources: list[list[int]] = [[] for _ in range(2 * size)]
    for pc, operation in enumerate(operations):
        for ended in (0, 1):
            here = 2 * pc + ended
            if operation in (JUMP, SPLIT):
                sources[2 * first[pc] + ended].append(here)
            if operation == SPLIT:
                sources[2 * second[pc] + ended].append(here)
            elif operation == END or (operation == MATCH and not ended):
                sources[2 * (pc + 1) + (1 if operation == END else 0)].append(here)
    reached = bytearray(2 * size)
    stack = [2 * pc + ended for pc, operation in enumerate(operations) if operation == DONE for ended in (0, 1)]
    while stack:
        here = stack.pop()
        if not reached[here]:
            reached[here] = 1
            stack += sources[here]
    return [bool(each) for each in reached[::2]]


__all__ = ["DONE", "END", "JUMP", "MATCH", "SPLIT", "START", "PatternProgram", "compile_pattern"]
