"""The longest match of each row of a partition, all at once from the last row back: where conditions are of the row alone, what follows a
row does not depend on where the match began. Row by row it would take the square of the rows."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.dialects.frames import Frame
from runtime.dialects.program import MATCH, PatternProgram

Found = tuple[int, int, int]
"""The row at which a match is final, its first row, how many rows it has."""


def longest_of_all(
    rows: Sequence[tuple[Any, ...]], program: PatternProgram, conditions: Sequence[Callable[[Frame], Any] | None],
    reached: Callable[[int], tuple[Sequence[int], bool]],
) -> list[Found]:
    """Return the longest match of each row that begins one, the last row first. ``reached``: the instructions that take a row, by the one
    from which they are reached without a row, and whether the pattern may end there."""
    steps = [(pc, program.first[pc], *reached(pc + 1)) for pc, operation in enumerate(program.operations) if operation == MATCH]
    begins, may_be_empty = reached(0)
    ends = {pc: len(rows) for pc, *_ in steps}
    """By instruction, the row at which nothing is left of a match that has come there."""
    lengths = {pc: 0 for pc, *_ in steps}
    """How many rows a match takes from there on at most; 0 where there is none."""
    matches: list[Found] = []
    frame = Frame(rows)
    for row in reversed(range(len(rows))):
        frame.start = frame.row = frame.end = row
        holds = [condition is None or condition(frame) is True for condition in conditions]
        later_ends, later_lengths, ends, lengths = ends, lengths, {}, {}
        for pc, place, following, may_end in steps:
            ends[pc], lengths[pc] = row, 0
            if holds[place]:
                ends[pc] = max([later_ends[each] for each in following], default=row)
                longest = max([later_lengths[each] for each in following], default=0)
                lengths[pc] = longest + 1 if longest or may_end else 0
        length = max([lengths[pc] for pc in begins], default=0)
        if length or may_be_empty:
            matches.append((max([ends[pc] for pc in begins], default=row - 1), row, length))
    return matches


__all__ = ["Found", "longest_of_all"]
