"""Draws queries within Flink's subset, and the tables that they run over, from seeds. ``ANSWERS``: what Flink 2.2 gives."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

ANSWERS = pathlib.Path(__file__).with_name("answers_flink.json")
COLUMNS, TYPES = ["id", "k", "ts"], ["INT", "INT", "TIMESTAMP(3)"]
CONDITIONS = (
    "k = {n}", "k < {n}", "k <> {n}", "k > LAST(k, 1)", "{o}.k >= {n}", "k <= LAST({v}.k) OR LAST({v}.k) IS NULL",
    "SUM({o}.k) < 2 * {n} + 2", "COUNT(*) < {n} + 2",
    "{o}.id - FIRST(id) < {n} + 1", "k IN (0, {n})", "LAST({o}.k, 1) IS NULL OR {o}.k > LAST({o}.k, 1)",
)  # fmt: skip
MEASURES = ("FIRST({v}.id)", "LAST({v}.id)", "COUNT({v}.k)", "SUM({v}.k)", "{v}.k", "LAST(id, {n})", "COUNT(*)", "MAX({v}.k)", "AVG(k)")
GREEDY, RELUCTANT = ("*", "+", "{1,2}", "{2,}", "{0,2}"), ("*?", "+?", "{1,2}?", "{2,}?", "?", "{2}")


def draw(seed: int) -> tuple[str, list[list[Any]]]:
    """Return the text and the rows of its table ``t``."""
    drawn = random.Random(seed)
    labels = list("ABCD"[: drawn.randint(2, 4)])
    parts = []
    for place, label in enumerate(labels):
        if drawn.random() < 0.5:
            choices = (*RELUCTANT, *GREEDY) if place < len(labels) - 1 else RELUCTANT
            label += drawn.choice(choices)
        parts.append(label)
    if all(part.endswith(("*", "*?", "?")) or part[1:].startswith("{0") for part in parts):
        parts[0] = labels[0]

    def filled(template: str, own: str) -> str:
        return template.format(n=drawn.randint(0, 2), o=own, v=drawn.choice(labels))

    defines = ", ".join(f"{label} AS {filled(drawn.choice(CONDITIONS), label)}" for label in labels if drawn.random() < 0.8)
    defines = defines or f"{labels[0]} AS {labels[0]}.k >= 0"
    measures = ", ".join(f"{filled(drawn.choice(MEASURES), labels[0])} AS m{place}" for place in range(3))
    skip = drawn.choice(("", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW", f"AFTER MATCH SKIP TO LAST {labels[-1]}"))
    within = drawn.choice(("", "", "WITHIN INTERVAL '4' SECOND"))
    clause = f"ORDER BY ts MEASURES {measures} {skip} PATTERN ({' '.join(parts)}) {within} DEFINE {defines}"
    second, rows = 0, []
    for place in range(drawn.randint(1, 10)):
        second += drawn.randint(1, 2)
        rows.append([place + 1, drawn.randint(0, 3), f"2024-01-01 00:00:{second:02d}.000"])
    return f"SELECT * FROM t MATCH_RECOGNIZE ({' '.join(clause.split())}) AS m", rows


def answers() -> list[dict[str, Any]]:
    """Return the recorded answers: ``seed``, and ``rows`` or ``error``."""
    listed: list[dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return listed
