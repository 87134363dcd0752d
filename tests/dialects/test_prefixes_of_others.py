"""YDB's and Alibaba's clauses row by row against what their manuals say, computed again from all rows so far with each row."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from epl.dialects.syntax.lexis import SQL
from epl.dialects.syntax.read_patterns import PatternReader
from epl.dialects.syntax.reader import Reader
from tests.dialects.draw_clauses import TABLE, VALUES, less
from tests.dialects.reference import Reference, Way
from tests.dialects.reference_rows import Row
from tests.dialects.row_by_row import RowByRow
from tests.dialects.test_matching import draw_variables, pattern_of

K = 2


# YDB: the longest match, when no way of its first row is left


class Longest(Reference):
    """``waits``: whether a way could take the row that has not come."""

    waits = False

    def _take(self, label: str, start: int, way: Way) -> Iterator[Way]:
        self.waits = self.waits or start + len(way) == len(self.rows)
        yield from super()._take(label, start, way)

    def longest(self, start: int) -> Way | None:
        """Return the longest match; of several the one whose rows come first by the names of the variables."""
        labels = sorted(self.conditions)

        def rank(way: Way) -> Any:
            return -len(way), [[step for step, each in enumerate(way) if each == label] for label in labels]

        return min(self.ways(self.pattern, start, ()), key=rank, default=None)


def of_ydb(pattern: Any, conditions: dict[str, Any], rows: Sequence[Row], skips_past: bool) -> list[list[Row]]:
    """Return what is emitted with each row, and at the end: the first row's number and the variables of each match."""
    emitted: list[list[Row]] = []
    begun: list[int] = []
    after = 0
    for count in range(1, len(rows) + 2):
        come, ended = rows[:count], count > len(rows)
        begun += [] if ended else [count - 1]
        now: list[Row] = []
        for start in list(begun):
            reference = Longest(pattern, conditions, come)
            way = reference.longest(start)
            if start not in begun or (reference.waits and not ended):
                continue
            begun.remove(start)
            if way is not None and not (skips_past and start < after):
                after = max(after, start + len(way))
                now.append((len(way), list(way)))
        begun = [start for start in begun if not skips_past or start >= after]
        emitted.append(now)
    return emitted


@pytest.mark.parametrize("part", range(5))
def test_ydb_emits_the_longest_match_when_it_is_known(part: int) -> None:
    for seed in range(part, 200, 5):
        drawn = random.Random(seed)
        written = next(text for each in itertools.count(seed, 1000) if not set("^$") & set(text := pattern_of(each)) and len(text) < 40)
        pattern = PatternReader(Reader(written, SQL)).pattern()
        used = sorted({node.name.canonical for node in draw_variables(pattern)})
        conditions: dict[str, Any] = {}
        defines = []
        for label in used:
            text, condition = ydb_condition(drawn, label, used)
            conditions[label] = condition
            defines.append(f"{label} AS {text}")
        skips_past = drawn.random() < 0.5
        lists = ", ".join(f"AGGREGATE_LIST({label}.n) AS l{label}" for label in used)
        text = (
            f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {lists} AFTER MATCH SKIP "
            f"{'PAST LAST' if skips_past else 'TO NEXT'} ROW PATTERN ({written}) DEFINE {', '.join(defines)}) AS m"
        )
        rows = [(number, number, drawn.choice(VALUES)) for number in range(drawn.randint(1, 7))]
        stream = RowByRow(text, TABLE, "ydb")
        expected = of_ydb(pattern, conditions, rows, skips_past)
        for number, row in enumerate(rows):
            assert [labelled(each, used) for each in stream.row(row)] == expected[number], (seed, text, rows, number)
            stream.restart()
        assert [labelled(each, used) for each in stream.finish()] == expected[-1], (seed, text, rows)


def labelled(row: Row, used: list[str]) -> Row:
    """Return the length and the variables of a match, by the rows that each variable has."""
    pairs = sorted((number, label) for label, numbers in zip(used, row) for number in numbers)
    return len(pairs), [label for _, label in pairs]


def ydb_condition(drawn: random.Random, own: str, used: list[str]) -> tuple[str, Callable[[Any, int, Way], bool]]:
    values = drawn.choice(VALUES[:4]), drawn.choice(VALUES[:4])
    others = [label for label in used if label != own]
    if not others or drawn.random() < 0.6:
        return f"{own}.k IN {values}", lambda rows, start, way: rows[start + len(way) - 1][K] in values
    other = drawn.choice(others)

    def rises(rows: Any, start: int, way: Way) -> bool:
        last = next((step for step in range(len(way) - 2, -1, -1) if way[step] == other), None)
        return last is not None and less(rows[start + last][K], rows[start + len(way) - 1][K]) is True

    return f"{own}.k > LAST({other}.k)", rises


# Alibaba: a run for each first row; strict, followed by, followed by any


class Chains:
    """``links``: how each variable but the first follows the one before; ``values``: that rows of each variable have; ``rises``: a row of
    the last variable has more than that of the first, so that a later run may be complete before an earlier one."""

    def __init__(self, links: Sequence[str], values: Sequence[frozenset[int]], skip: str, within: int | None, rises: bool) -> None:
        self.links, self.values, self.skip, self.within, self.rises = links, values, skip, within, rises
        self.rows: list[Row] = []
        self.now = 0
        self.limit = 0
        self.ended: set[int] = set()
        self.complete: list[tuple[int, ...]] = []

    def fits(self, variable: int, place: int, first: int) -> bool:
        if self.rises and variable == len(self.values) - 1:
            return less(self.rows[first][K], self.rows[place][K]) is True
        return self.rows[place][K] in self.values[variable]

    def chains(self, chain: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Yield all that a chain comes to over the rows so far, with whether it goes on with the next row."""
        if len(chain) == len(self.values):
            yield chain, False
            return
        variable, link = len(chain), self.links[len(chain) - 1]
        following = [place for place in range(chain[-1] + 1, len(self.rows)) if self.fits(variable, place, chain[0])]
        if link == "strict":
            following = [place for place in following if place == chain[-1] + 1]
        elif link == "followed by":
            following = following[:1]
        for place in following:
            yield from self.chains((*chain, place))
        if link == "any" or (chain[-1] == len(self.rows) - 1 if link == "strict" else not following):
            yield chain, True

    def of(self, start: int) -> list[tuple[tuple[int, ...], bool]]:
        gone = start in self.ended or start < self.limit or not self.fits(0, start, start)
        return [] if gone else list(self.chains((start,)))

    def row(self, row: Row) -> list[tuple[int, ...]]:
        """Return the matches and the runs that time ends, before a row and with it."""
        over = self.clock(row[1])
        self.rows.append(row)
        last = len(self.rows) - 1
        self.complete += [chain for start in range(last + 1) for chain, goes_on in self.of(start) if not goes_on and chain[-1] == last]
        return over + self.final()

    def clock(self, now: int) -> list[tuple[int, ...]]:
        """Return the runs that time ends, and the matches that waited for them."""
        over: list[tuple[int, ...]] = []
        for start, row in enumerate(self.rows):
            if self.within is not None and now - row[1] >= self.within and start not in self.ended:
                over += [chain for chain, goes_on in self.of(start) if goes_on]
                self.ended.add(start)
        return over + self.final()

    def final(self) -> list[tuple[int, ...]]:
        if self.skip == "none":
            matches, self.complete = self.complete, []
            return matches
        matches = []
        self.complete.sort(key=lambda chain: chain[0])
        while self.complete and not any(goes_on for start in range(self.complete[0][0]) for _, goes_on in self.of(start)):
            match = self.complete.pop(0)
            matches.append(match)
            self.limit = max(self.limit, match[-1] + 1 if self.skip == "past last" else match[0] + 1)
            self.complete = [chain for chain in self.complete if chain[0] >= self.limit]
        return matches


WRITTEN = {"strict": " ", "followed by": " {- X*? -} ", "any": " {- X* -} "}
SKIPS = {"past last": "AFTER MATCH SKIP PAST LAST ROW", "next": "AFTER MATCH SKIP TO NEXT ROW", "none": "AFTER MATCH NO SKIP"}


@pytest.mark.parametrize("part", range(5))
def test_alibaba_emits_matches_and_timeouts_at_their_time(part: int) -> None:
    for seed in range(part, 300, 5):
        drawn = random.Random(seed)
        variables = "ABC"[: drawn.randint(2, 3)]
        skip = drawn.choice(list(SKIPS))
        kinds = list(WRITTEN) if skip == "none" else ["strict", "followed by"]
        links = [drawn.choice(kinds) for _ in variables[1:]]
        values = [frozenset(drawn.choices(VALUES[:4], k=2)) for _ in variables]
        within = drawn.randint(2, 6) if drawn.random() < 0.7 else None
        written = variables[0] + "".join(WRITTEN[link] + label for link, label in zip(links, variables[1:]))
        rises = drawn.random() < 0.6
        tests = [f"{label}.k IN ({', '.join(map(str, each))})" for label, each in zip(variables, values)]
        tests = [*tests[:-1], f"{variables[-1]}.k > A.k"] if rises else tests
        defines = ", ".join(f"{label} AS {test}" for label, test in zip(variables, tests))
        timed = "" if within is None else f"WITHIN INTERVAL '0.00{within}' SECOND"
        mode = "ONE ROW PER MATCH" + (" SHOW TIMEOUT MATCHES" if within is not None else "")
        measures = ", ".join(f"{label}.n AS m{label}" for label in variables)
        text = (
            f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures} {mode} {SKIPS[skip]} PATTERN ({written}) {timed} "
            f"DEFINE {defines})"
        )
        stream, chains = RowByRow(text, TABLE, "alibaba"), Chains(links, values, skip, within, rises)
        time = 0
        for number in range(16):
            time += drawn.choice((0, 1, 1, 3))
            row = (number, time, drawn.choice(VALUES))
            assert shown(stream.row(row)) == shown(chains.row(row)), (seed, text, chains.rows)
            if within is not None and drawn.random() < 0.3:
                time += 2
                assert shown(stream.clock(time)) == shown(chains.clock(time)), (seed, text, chains.rows, time)
            if drawn.random() < 0.4 or stream.partition.runs.complete:
                stream.restart()
        needed = {place for start in range(len(chains.rows)) for chain, goes_on in chains.of(start) if goes_on for place in chain}
        assert len(stream.partition.rows.items) <= 2 * len(needed) + 17


def shown(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows of one moment in one order, runs as what their measures show."""
    return sorted(tuple([each for each in row if each is not None]) for row in rows)
