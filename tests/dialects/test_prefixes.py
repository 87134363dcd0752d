"""Of the whole language of a clause: with each row comes what the rows so far decide, nothing earlier, and nothing later."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dialects.draw_clauses import TABLE, VALUES, Drawn, draw_clause
from tests.dialects.reference_rows import Future, Match, Row, TooLong
from tests.dialects.row_by_row import RowByRow

PARTS, SEEDS = 10, 60
OUTCOMES = 400
"""So many futures are tried before a match is said to be late."""
EXTREMES = (-1000, 1000, *VALUES)


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_decided_is_emitted_at_once(part: int) -> None:
    tried = 0
    for seed in range(part, PARTS * SEEDS, PARTS):
        drawn = draw_clause(seed)
        try:
            follow(drawn, seed)
        except TooLong:
            continue
        tried += 1
    assert tried > 0.9 * SEEDS


def follow(drawn: Drawn, seed: int) -> None:
    """Send the rows one by one, restarted now and then."""
    stream = RowByRow(drawn.text, TABLE)
    emitted: list[Row] = []
    so_far: list[Row] = []
    time = 0
    for number, step in enumerate(drawn.steps):
        if isinstance(step, int):
            time = step
            emitted += stream.clock(step)
        else:
            time = step[1]
            so_far.append(step)
            emitted += stream.row(step, keeps_failures=True)
        if (seed + number) % 2 == 0:
            stream.restart()
        where = (seed, drawn.text, drawn.steps[: number + 1], emitted)
        for continued in continuations(so_far, time, seed):
            expected = flat(drawn.clause.matches(continued))
            assert expected[: len(emitted)] == emitted, ("too early, or wrong", *where, continued, expected)
        assert is_open(drawn, so_far, time, len(emitted)), ("too late", *where)
    emitted += stream.finish(keeps_failures=True)
    assert emitted == flat(drawn.clause.matches(so_far)), (seed, drawn.text, drawn.steps)


def flat(matches: list[Match]) -> list[Row]:
    return [row for match in matches for row in match.rows]


def continuations(rows: list[Row], time: int, seed: int) -> Iterator[list[Row]]:
    """Yield what the rows may go on to: all of one and two rows at the same time or the next, and some that are longer."""
    yield rows
    drawn = random.Random(seed)
    for length, tries in ((1, 0), (2, 0), (4, 8), (6, 4)):
        values: Any = itertools.product(VALUES, repeat=length) if not tries else ([drawn.choice(VALUES) for _ in range(length)]
                                                                                 for _ in range(tries))
        for each in values:
            yield [*rows, *later(rows, time, each, drawn, (0, 1, 1, 5))]


def later(rows: list[Row], time: int, values: Any, drawn: random.Random, gaps: tuple[int, ...]) -> Iterator[Row]:
    for place, value in enumerate(values, len(rows)):
        time += drawn.choice(gaps)
        yield place, time, value


def is_open(drawn: Drawn, rows: list[Row], time: int, emitted: int) -> bool:
    """Return whether what is found after what was emitted depends on what comes, or nothing is emitted in any case. Of rows that have not
    come, conditions may hold or not."""
    seen: set[Any] = set()
    emits = False
    for attempt in range(OUTCOMES):
        chance = random.Random(attempt)
        values = [chance.choice(EXTREMES) for _ in range(attempt % 15)]
        gaps = chance.choice(((0, 1, 1, 2), (0, 0, 0, 1), (0,), (6,)))
        continued = [*rows, *later(rows, time, values, chance, gaps)]
        future = Future(len(rows), chance, (0.5, 0.7, 0.9, 1.0)[attempt % 4])
        following = list(after(drawn.clause.matches(continued, future), emitted))
        emits = emits or any(match.rows for match in following)
        seen.add(repr(following))
        if emits and len(seen) > 1:
            return True
    return not emits


def after(matches: list[Match], emitted: int) -> Iterator[Match]:
    """Yield what is found after so many rows, up to what is emitted next."""
    for match in matches:
        if emitted <= 0:
            yield match
            if match.rows:
                return
        emitted -= len(match.rows)
