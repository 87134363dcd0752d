"""The engine against the reference that backtracks, and against Trino's recorded answers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from epl.dialects import types as k
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax.lexis import SQL
from epl.dialects.syntax.read_patterns import PatternReader
from epl.dialects.syntax.reader import Reader
from epl.errors import EplError
from runtime.dialects.sql import run_rows
from tests.dialects import draw
from tests.dialects.reference import Reference

TABLE = tuple(SqlColumn(name, k.INTEGER) for name in draw.COLUMNS)
ANSWERS = draw.answers()
SHARE = 100


def ours(text: str, rows: list[list[Any]]) -> dict[str, Any]:
    try:
        _, result = run_rows(text, {"t": (TABLE, [tuple(row) for row in rows])})
        return {"rows": sorted(map(repr, map(list, result)))}
    except EplError as error:
        return {"error": error.message}


@pytest.mark.parametrize("share", range(0, len(ANSWERS), SHARE))
def test_drawn_queries_give_what_trino_gives(share: int) -> None:
    for answer in ANSWERS[share : share + SHARE]:
        text, rows = draw.draw(answer["seed"])
        if "error" in answer:
            expected: dict[str, Any] = {"error": answer["error"]}
        else:
            expected = {"rows": sorted(map(repr, answer["rows"]))}
        assert ours(text, rows) == expected, (answer["seed"], text, rows)


def test_thousand_answers_are_recorded() -> None:
    assert len(ANSWERS) == 1000
    assert sum("rows" in answer and len(answer["rows"]) > 0 for answer in ANSWERS) > 400
    assert sum("error" in answer for answer in ANSWERS) > 50


def pattern_of(seed: int) -> str:
    drawn = draw.Draw(seed)
    pattern = drawn.pattern(drawn.random.randint(0, 2))
    return pattern if drawn.used else pattern + " A"


@pytest.mark.parametrize("seed", range(300))
def test_engine_and_reference_prefer_the_same_match(seed: int) -> None:
    """Variables hold for drawn values of the row, or for the row before: no empty alternative stands first, where systems differ."""
    drawn = random.Random(seed)
    written = pattern_of(seed)
    rows = [(0, place + 1, drawn.randint(0, 2)) for place in range(drawn.randint(1, 7))]
    holds = {label: {drawn.randint(0, 2), drawn.randint(0, 2)} for label in "ABCDE"}
    pattern = PatternReader(Reader(written, SQL)).pattern()
    used = {node.name.canonical for node in draw_variables(pattern)}
    conditions = {label: lambda rows, start, way, label=label: rows[start + len(way) - 1][2] in holds[label] for label in used}
    defines = ", ".join(f"{label} AS k IN ({', '.join(map(str, sorted(holds[label])))})" for label in sorted(used))
    text = (
        "SELECT s, labels FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES FIRST(id) AS s, array_agg(CLASSIFIER()) AS labels "
        f"AFTER MATCH SKIP TO NEXT ROW PATTERN ({written}) DEFINE {defines})"
    )
    reference = Reference(pattern, conditions, rows)
    expected = []
    for start in range(len(rows)):
        way = reference.match(start)
        if way is not None:
            expected.append((start + 1, list(way)) if way else (None, None))
    assert list(run_rows(text, {"t": (TABLE, rows)})[1]) == expected, written


def draw_variables(pattern: Any) -> list[Any]:
    from epl.dialects.syntax import tree as t

    return [node for node in t.descendants(pattern) if isinstance(node, t.PatternVariable)]
