"""Draws clauses beside what the reference does with them, their rows, and moves of the clock between these."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import attrs

from epl.dialects import types as k
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import SQL
from epl.dialects.syntax.read_patterns import PatternReader
from epl.dialects.syntax.reader import Reader
from tests.dialects import draw
from tests.dialects.reference_rows import Clause, Expression, Failed, K, N, Place, Row, marked

TABLE = (SqlColumn("n", k.INTEGER), SqlColumn("ts", k.BIGINT, is_time=True), SqlColumn("k", k.INTEGER))
VALUES = (0, 1, 2, 3, None)
OPTIONAL_END = re.compile(r"\$[*?{]")
"""Waited for, though it changes nothing."""
OTHERS = ("NEXT", "/")
"""Not drawn with anchors: a condition that is true only before another row contradicts ``$``, and one that fails may be asked by the
reference on a way that ``^`` closes."""


def compared(sign: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    return lambda one, other: None if one is None or other is None else sign(one, other)


equal, differs = compared(lambda a, b: a == b), compared(lambda a, b: a != b)
less, least = compared(lambda a, b: a < b), compared(lambda a, b: a <= b)


def both(one: Any, other: Any) -> Any:
    return False if one is False or other is False else None if one is None or other is None else True


def either(one: Any, other: Any) -> Any:
    return True if one is True or other is True else None if one is None or other is None else False


def total(values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def divided(two: int, by: Any) -> Any:
    if by == 0:
        raise Failed
    return None if by is None else two // by


def here(p: Place) -> Any:
    return p.value(p.row, K)


def ks(p: Place, label: str | None, *, final: bool = False) -> list[Any]:
    return [p.value(row, K) for row in p.of(label, final=final)]


Made = Callable[[str, str, int, str, int], Expression]
CONDITIONS: list[tuple[str, bool, Made]] = [
    ("k = {n}", True, lambda o, v, n, q, b: lambda p: equal(here(p), n)),
    ("k <> {n}", True, lambda o, v, n, q, b: lambda p: differs(here(p), n)),
    ("k IN (0, {n})", True, lambda o, v, n, q, b: lambda p: None if here(p) is None else here(p) in (0, n)),
    ("k IS NULL OR k > {n}", True, lambda o, v, n, q, b: lambda p: here(p) is None or here(p) > n),
    ("2 / k > {b}", True, lambda o, v, n, q, b: lambda p: less(b, divided(2, here(p)))),
    ("k >= PREV(k, {n})", False, lambda o, v, n, q, b: lambda p: least(p.value(p.row - n, K), here(p))),
    ("{o}.k > PREV({o}.k)", False, lambda o, v, n, q, b: lambda p: less(p.value(p.row - 1, K), here(p))),
    ("k < NEXT(k)", False, lambda o, v, n, q, b: lambda p: less(here(p), p.value(p.row + 1, K))),
    ("NEXT(k, 2) = k", False, lambda o, v, n, q, b: lambda p: equal(p.value(p.row + 2, K), here(p))),
    ("k > {b} AND NEXT(k) > 1", False, lambda o, v, n, q, b: lambda p: both(less(b, here(p)), less(1, p.value(p.row + 1, K)))),
    ("NEXT(k) > 1 OR k = {n}", False, lambda o, v, n, q, b: lambda p: either(less(1, p.value(p.row + 1, K)), equal(here(p), n))),
    ("k < {n} OR NEXT(k) = k", False, lambda o, v, n, q, b: lambda p: either(less(here(p), n), equal(p.value(p.row + 1, K), here(p)))),
    ("NEXT({o}.k) IS NULL", False, lambda o, v, n, q, b: lambda p: p.value(p.row + 1, K) is None),
    ("k > LAST({v}.k)", False, lambda o, v, n, q, b: lambda p: less(p.value(p.last(v), K), here(p))),
    ("k >= FIRST({v}.k)", False, lambda o, v, n, q, b: lambda p: least(p.value(p.first(v), K), here(p))),
    ("k <> LAST(k, {n})", False, lambda o, v, n, q, b: lambda p: differs(here(p), p.value(p.last(None, n), K))),
    ("k = FIRST(k)", False, lambda o, v, n, q, b: lambda p: equal(here(p), p.value(p.first(None), K))),
    ("count(*) < {n} + 2", False, lambda o, v, n, q, b: lambda p: len(p.of(None)) < n + 2),
    ("count({v}.*) < 3", False, lambda o, v, n, q, b: lambda p: len(p.of(v)) < 3),
    ("sum(k) < 2 * {n} + 2", False, lambda o, v, n, q, b: lambda p: less(total(ks(p, None)), 2 * n + 2)),
    ("sum({v}.k) <= 3", False, lambda o, v, n, q, b: lambda p: least(total(ks(p, v)), 3)),
    ("MATCH_NUMBER() % 2 = {b}", False, lambda o, v, n, q, b: lambda p: p.number % 2 == b),
    ("{v}.k IS NULL", False, lambda o, v, n, q, b: lambda p: p.value(p.last(v), K) is None),
    ("PREV(LAST({v}.k, {n}), 1) < 2", False, lambda o, v, n, q, b: lambda p: less(p.value(p.near(p.last(v, n), -1), K), 2)),
    ("LAST(CLASSIFIER(), 1) = '{q}'", False, lambda o, v, n, q, b: lambda p: equal(p.label(p.last(None, 1)), q)),
    ("PREV(CLASSIFIER()) <> '{q}'", False, lambda o, v, n, q, b: lambda p: differs(p.label(p.row - 1), q)),
]  # fmt: skip
"""Text, whether it reads its row alone, and what it is over own variable, another, a number, a variable's name, a bit."""

MEASURES: list[tuple[str, Callable[[str, int, bool], Expression]]] = [
    ("MATCH_NUMBER()", lambda v, n, f: lambda p: p.number),
    ("CLASSIFIER()", lambda v, n, f: lambda p: p.label(p.last(None))),
    ("CLASSIFIER({v})", lambda v, n, f: lambda p: p.label(p.last(v))),
    ("FIRST(n)", lambda v, n, f: lambda p: p.value(p.first(None), N)),
    ("{F}LAST(n)", lambda v, n, f: lambda p: p.value(p.last(None, final=f), N)),
    ("{F}LAST({v}.n, {n})", lambda v, n, f: lambda p: p.value(p.last(v, n, final=f), N)),
    ("{F}count(*)", lambda v, n, f: lambda p: len(p.of(None, final=f))),
    ("{F}count({v}.*)", lambda v, n, f: lambda p: len(p.of(v, final=f))),
    ("{F}sum({v}.k)", lambda v, n, f: lambda p: total(ks(p, v, final=f))),
    ("{F}array_agg(CLASSIFIER())", lambda v, n, f: lambda p: [p.label(row) for row in p.of(None, final=f)] or None),
    ("NEXT(k)", lambda v, n, f: lambda p: p.value(p.near(p.last(None), 1), K)),
    ("PREV({v}.k, {n})", lambda v, n, f: lambda p: p.value(p.near(p.last(v), -n), K)),
    ("NEXT({v}.k, 2)", lambda v, n, f: lambda p: p.value(p.near(p.last(v), 2), K)),
]  # fmt: skip
"""Text, and what it is over a variable, a number, and whether it is of the whole match."""


@attrs.frozen
class Drawn:
    """``steps``: rows that come, and times to which the clock moves between them."""

    text: str
    clause: Clause
    steps: list[Row | int]


def draw_clause(seed: int) -> Drawn:
    """Return the clause that belongs to a seed."""
    of = draw.Draw(seed)
    drawn = of.random
    pattern = of.pattern(drawn.randint(0, 3))
    while len(pattern) > 60 or not of.used or OPTIONAL_END.search(pattern):
        of.used = []
        pattern = of.pattern(drawn.randint(0, 2))
    primary = sorted(set(of.used))
    anchors = set("^$") & set(pattern)
    subset = sorted(drawn.sample(primary, drawn.randint(1, len(primary)))) if of.chance(0.3) else []
    labels = [*primary, "U"] if subset else primary
    conditions: dict[str, tuple[bool, Expression]] = {}
    defines = []
    for label in [each for each in primary if of.chance(0.8)] or primary[:1]:
        text, reads_row, made = drawn.choice([each for each in CONDITIONS if not anchors or not any(other in each[0] for other in OTHERS)])
        v, n, q, b = drawn.choice(labels), drawn.randint(0, 2), drawn.choice(primary), drawn.randint(0, 1)
        conditions[label] = (reads_row, made(label, v, n, q, b))
        defines.append(f"{label} AS " + text.format(o=label, v=v, n=n, q=q, b=b))
    measures, written = [], []
    for number in range(drawn.randint(1, 3)):
        text, make = drawn.choice(MEASURES)
        v, n, final = drawn.choice(labels), drawn.randint(0, 2), drawn.choice(("", "RUNNING ", "FINAL "))
        measures.append(make(v, n, final == "FINAL "))
        written.append(text.format(v=v, n=n, F=final) + f" AS m{number}")
    per_match, mode = drawn.choice((
        ("one", "ONE ROW PER MATCH"), ("show", "ALL ROWS PER MATCH"), ("omit", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
        ("show", "ALL ROWS PER MATCH") if "{-" in pattern else ("unmatched", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"),
    ))  # fmt: skip
    skip, to = drawn.choice((("past last", ""), ("next", ""), ("first", labels), ("first", labels), ("last", labels)))
    target = drawn.choice(labels) if to else ""
    within = drawn.randint(1, 5) if of.chance(0.25) else None
    text = " ".join(
        f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {", ".join(written)} {mode}
        AFTER MATCH SKIP {skip.upper() if to == "" and skip != "next" else "TO " + (skip.upper() + " " + target if to else "NEXT")}
        {"" if to else "ROW"} PATTERN ({pattern}) {"" if within is None else f"WITHIN INTERVAL '0.00{within}' SECOND"}
        {f"SUBSET U = ({', '.join(subset)})" if subset else ""} DEFINE {", ".join(defines)})""".split()
    )
    tree = PatternReader(Reader(pattern, SQL)).pattern()
    return Drawn(
        text,
        Clause(
            pattern=marked(tree), conditions=conditions, measures=measures, skip=skip,
            target=frozenset(subset if target == "U" else [target]), per_match=per_match, subset=frozenset(subset), within=within,
        ),
        draw_steps(drawn, within is not None),
    )  # fmt: skip


def draw_steps(drawn: random.Random, moves_clock: bool) -> list[Row | int]:
    """Return rows, and moves of the clock."""
    steps: list[Row | int] = []
    time = 0
    for number in range(drawn.randint(1, 6)):
        time += drawn.choice((0, 1, 1, 2))
        steps.append((number, time, drawn.choice(VALUES)))
        if moves_clock and drawn.random() < 0.3:
            time += drawn.randint(1, 4)
            steps.append(time)
    return steps


__all__ = ["TABLE", "VALUES", "Drawn", "draw_clause", "t"]
