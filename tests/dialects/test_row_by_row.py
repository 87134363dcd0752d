"""Rows that come one after the other: the same matches as over a table, each at the earliest row that decides it."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from epl.dialects.syntax.lexis import SQL
from epl.dialects.syntax.read_patterns import PatternReader
from epl.dialects.syntax.reader import Reader
from epl.errors import EplError
from runtime.dialects.sql import run_rows
from tests.dialects import draw
from tests.dialects.reference import Reference
from tests.dialects.row_by_row import RowByRow
from tests.dialects.test_matching import TABLE, draw_variables, pattern_of

VALUES = (0, 1, 2)
AHEAD = 3
"""So many further rows are tried in all ways."""


@pytest.mark.parametrize("share", range(0, 1000, 100))
def test_rows_one_by_one_give_what_a_table_gives(share: int) -> None:
    """Drawn queries of the whole language, restarted between rows."""
    for seed in range(share, share + 100):
        text, drawn = draw.draw(seed)
        text = re.sub(r"ORDER BY .*? MEASURES", "ORDER BY id MEASURES", text.replace("PARTITION BY g ", ""))
        rows = [tuple(row) for row in drawn]
        assert of_stream(text, rows, seed) == of_table(text, rows), (seed, text, rows)


def of_table(text: str, rows: list[Any]) -> Any:
    try:
        return list(run_rows(text, {"t": (TABLE, rows)})[1])
    except EplError as error:
        return error.message


def of_stream(text: str, rows: list[Any], seed: int) -> Any:
    emitted: list[Any] = []
    try:
        stream = RowByRow(text, TABLE)
        for number, row in enumerate(rows):
            emitted += stream.row(row)
            if (seed + number) % 3 == 0:
                stream.restart()
        emitted += stream.finish()
    except EplError as error:
        return error.message
    return emitted


def test_long_runs_that_lead_nowhere_cost_one_look_a_row() -> None:
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+ B) DEFINE A AS k > 0, B AS k < 0)"
    stream = RowByRow(text, TABLE)
    looks = 0
    condition = stream.machine.conditions[0]

    def counted(frame: Any) -> Any:
        nonlocal looks
        looks += 1
        return condition(frame)

    stream.machine.conditions[0] = counted
    for number in range(2000):
        assert stream.row((0, number, int(number % 500 < 499))) == []
    assert looks < 3 * 2000
    assert len(stream.partition.hopeless) < 1000


def test_ways_that_have_counted_other_rows_are_all_tried() -> None:
    """At one row and place of the pattern, what is preferred has too few rows of B."""
    text = ("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES array_agg(CLASSIFIER()) AS labels PATTERN ((A | B)* C) "
            "DEFINE A AS k > 0, B AS k > 0, C AS {})")
    for condition, labels in (("k = 0 AND count(B.*) = 2", ["A", "B", "B", "C"]), ("k = 0 AND sum(B.k) = 3", ["A", "A", "B", "C"])):
        stream, emitted = RowByRow(text.format(condition), TABLE), []
        for number, value in enumerate((1, 2, 3, 0)):
            emitted += stream.row((0, number, value))
            stream.restart()
        assert emitted == [(labels,)]


@pytest.mark.parametrize("seed", range(60))
def test_ydb_gives_over_streams_what_it_gives_over_tables(seed: int) -> None:
    drawn = random.Random(seed)
    written = next(text for each in itertools.count(seed, 1000) if not set("^$") & set(text := pattern_of(each)) and len(text) < 60)
    rows = [(0, place + 1, drawn.choice(VALUES)) for place in range(drawn.randint(1, 9))]
    used = sorted({node.name.canonical for node in draw_variables(PatternReader(Reader(written, SQL)).pattern())})
    defines = ", ".join(f"{label} AS {label}.k IN ({drawn.choice(VALUES)}, {drawn.choice(VALUES)})" for label in used)
    skip = drawn.choice(("PAST LAST ROW", "TO NEXT ROW"))
    text = (
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST({used[0]}.id) AS f, COUNT({used[-1]}.k) AS c "
        f"AFTER MATCH SKIP {skip} PATTERN ({written}) DEFINE {defines}) AS m"
    )
    stream, emitted = RowByRow(text, TABLE, "ydb"), []
    for row in rows:
        emitted += stream.row(row)
        stream.restart()
    assert emitted + stream.finish() == list(run_rows(text, {"t": (TABLE, rows)}, "ydb")[1])
    assert stream.states.count == 0


class Prefixes:
    """What the reference says is decided after each row: what all continuations have in common."""

    def __init__(self, seed: int) -> None:
        drawn = random.Random(seed)
        self.written = next(written for each in itertools.count(seed, 1000) if len(written := pattern_of(each)) < 70)
        self.rows = [drawn.choice(VALUES) for _ in range(drawn.randint(1, 5))]
        self.holds = {label: {drawn.choice(VALUES), drawn.choice(VALUES)} for label in "ABCDE"}
        self.skips_to_next = drawn.random() < 0.5
        self.pattern = PatternReader(Reader(self.written, SQL)).pattern()
        self.used = sorted({node.name.canonical for node in draw_variables(self.pattern)})
        self.conditions = {
            label: lambda rows, start, way, label=label: rows[start + len(way) - 1] in self.holds[label] for label in self.used
        }

    @property
    def text(self) -> str:
        defines = ", ".join(f"{label} AS k IN ({', '.join(map(str, sorted(self.holds[label])))})" for label in self.used)
        skip = "TO NEXT ROW" if self.skips_to_next else "PAST LAST ROW"
        return (
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST(id) AS s, array_agg(CLASSIFIER()) AS labels "
            f"AFTER MATCH SKIP {skip} PATTERN ({self.written}) DEFINE {defines})"
        )

    def matches(self, rows: list[int]) -> list[Any]:
        reference = Reference(self.pattern, self.conditions, rows)
        found, here = [], 0
        while here < len(rows):
            way = reference.match(here)
            if way is not None:
                found.append((here + 1, list(way)) if way else (None, None))
            here += len(way) if way and not self.skips_to_next else 1
        return found

    def continued(self, rows: list[int]) -> Iterator[list[int]]:
        for length in range(AHEAD + 1):
            for more in itertools.product(VALUES, repeat=length):
                yield [*rows, *more]

    def decided(self, rows: list[int]) -> list[Any]:
        common: list[Any] | None = None
        for continued in self.continued(rows):
            matches = self.matches(continued)
            if common is None:
                common = matches
            else:
                same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(common, matches))
                common = [one for one, _ in same]
            if not common:
                return []
        return common or []


    def changes(self, rows: list[int], decided: list[Any]) -> bool:
        """Return whether a longer continuation has other matches in the place of these."""
        drawn = random.Random(len(rows))
        for attempt in range(1500):
            values = drawn.sample(VALUES, 1 + attempt % 3)
            if self.matches([*rows, *drawn.choices(values, k=AHEAD + 1 + attempt % 9)])[: len(decided)] != decided:
                return True
        return False


@pytest.mark.parametrize("seed", range(150))
def test_a_match_is_emitted_at_the_row_that_decides_it(seed: int) -> None:
    prefixes = Prefixes(seed)
    stream = RowByRow(prefixes.text, TABLE)
    emitted: list[Any] = []
    for number, value in enumerate(prefixes.rows):
        emitted += stream.row((0, number + 1, value))
        so_far = prefixes.rows[: number + 1]
        decided = prefixes.decided(so_far)
        assert emitted == decided[: len(emitted)], ("too early", prefixes.text, so_far)
        assert emitted == decided or prefixes.changes(so_far, decided), ("too late", prefixes.text, so_far)
    emitted += stream.finish()
    assert emitted == prefixes.matches(prefixes.rows)
