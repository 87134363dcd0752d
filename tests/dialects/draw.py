"""Draws queries with row patterns, and the tables that they run over, from seeds.

``ANSWERS`` holds what Trino 483 gives for 1,000 of them; tests need no other system.
"""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

ANSWERS = pathlib.Path(__file__).with_name("answers.json")
COLUMNS, TYPES = ["g", "id", "k"], ["integer", "integer", "integer"]
MEASURES = (
    "MATCH_NUMBER()", "CLASSIFIER()", "{F}LAST(k)", "{F}FIRST(k, {n})", "{F}LAST({v}.k, {n})", "{F}FIRST({v}.id)", "PREV({v}.k, {n})",
    "NEXT({v}.id)", "PREV(FIRST({v}.id, {n}), {n})", "NEXT(LAST(k, {n}), {n})", "{F}array_agg(CLASSIFIER())", "{F}array_agg({v}.id)",
    "{F}count(*)", "{F}count({v}.*)", "{F}sum({v}.k)", "{F}max({v}.k + MATCH_NUMBER())", "CLASSIFIER({v})", "{F}LAST(CLASSIFIER(), {n})",
    "PREV(CLASSIFIER())", "NEXT(CLASSIFIER({v}))", "{v}.k + k", "{F}avg({v}.k)", "{F}array_agg(CLASSIFIER({v}))", "id", "{v}.k IS NULL",
    "COALESCE({v}.id, -1)", "{F}min(CLASSIFIER({v}))", "{F}FIRST({v}.k + 1, {n}) * 2", "{F}count({v}.k)",
)  # fmt: skip
CONDITIONS = (
    "true", "k = {n}", "k < {n}", "k <> {n}", "{o}.k > PREV({o}.k)", "k <= PREV(k, {n})", "k < NEXT(k)", "k > LAST({v}.k)",
    "k >= FIRST({v}.k)", "k <> LAST(k, {n})", "k = FIRST(k)", "count(*) < {n} + 2", "count({v}.*) < 3", "sum(k) < 2 * {n} + 2",
    "sum({v}.k) <= 3", "FIRST(CLASSIFIER()) = '{p}'", "LAST(CLASSIFIER(), 1) = '{p}'", "PREV(CLASSIFIER()) <> '{p}'",
    "MATCH_NUMBER() % 2 = {b}", "{v}.k IS NULL", "LAST({v}.k, 1) < k OR {v}.id IS NULL", "PREV(LAST({v}.k, {n}), 1) < 2",
    "CLASSIFIER({v}) = '{p}'", "array_agg(CLASSIFIER()) <> ARRAY['{p}']", "max({v}.id) < id - 1", "k BETWEEN 0 AND {n}", "id % 2 = {b}",
    "avg(k) < 1.5", "NOT (k = {n} AND id > 2)", "k IN (0, {n})", "LAST({v}.k) IN (k, 1)", "min(CLASSIFIER()) = '{p}'",
)  # fmt: skip
QUANTIFIERS = ("*", "+", "?", "{2}", "{,2}", "{1,3}", "{2,}", "{0,1}")


class Draw:
    """One query."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables = list("ABCDE"[: self.random.randint(1, 5)])
        self.used: list[str] = []

    def pick(self, *choices: Any) -> Any:
        """Return one of the choices."""
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        """Return true so often."""
        return self.random.random() < share

    def atom(self, depth: int) -> str:
        """Return a variable, an anchor or a group."""
        roll = self.random.random()
        if depth == 0 or roll < 0.55:
            variable = self.pick(*self.variables)
            self.used.append(variable)
            return str(variable)
        if roll < 0.58:
            return str(self.pick("^", "$"))
        if roll < 0.62:
            return "()"
        if roll < 0.69:
            return "{- " + self.pattern(depth - 1) + " -}"
        if roll < 0.76:
            return "PERMUTE(" + ", ".join(self.pattern(depth - 1) for _ in range(self.random.randint(2, 3))) + ")"
        return "(" + self.pattern(depth - 1) + ")"

    def pattern(self, depth: int) -> str:
        """Return a pattern."""
        parts = []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            atom = self.atom(depth)
            if self.chance(0.45):
                atom += self.pick(*QUANTIFIERS) + ("?" if self.chance(0.35) else "")
            parts.append(atom)
        written = " ".join(parts)
        if depth and self.chance(0.25):
            return f"{written} | {self.pattern(depth - 1)}"
        return written

    def filled(self, template: str, own: str, labels: list[str]) -> str:
        """Return an expression over the labels."""
        return template.format(
            F=self.pick("", "FINAL ", "RUNNING "), n=self.random.randint(0, 2), v=self.pick(*labels), o=own, p=self.pick(*self.variables),
            b=self.random.randint(0, 1),
        )  # fmt: skip

    def query(self) -> tuple[str, list[list[Any]]]:
        """Return a text and the rows of its table ``t``."""
        pattern = self.pattern(self.random.randint(0, 3))
        if not self.used:
            pattern += " A"
            self.used.append("A")
        primary = sorted(set(self.used))
        labels = list(primary)
        subset = ""
        if self.chance(0.3):
            members = self.random.sample(primary, self.random.randint(1, len(primary)))
            subset = f"SUBSET U = ({', '.join(members)})"
            labels.append("U")
        self.variables = primary
        defined = [variable for variable in primary if self.chance(0.75)] or primary[:1]
        defines = ", ".join(f"{variable} AS {self.filled(self.pick(*CONDITIONS), variable, labels)}" for variable in defined)
        measures = ", ".join(
            f"{self.filled(self.pick(*MEASURES), labels[0], labels)} AS m{place}" for place in range(self.random.randint(1, 3))
        )
        hidden = "{-" in pattern
        rows = self.pick(
            "", "ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH SHOW EMPTY MATCHES", "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
            "ALL ROWS PER MATCH" if hidden else "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        )  # fmt: skip
        skip = self.pick(
            "", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO NEXT ROW", f"AFTER MATCH SKIP TO LAST {self.pick(*labels)}",
            f"AFTER MATCH SKIP TO FIRST {self.pick(*labels)}",
        )  # fmt: skip
        partition = "PARTITION BY g " if self.chance(0.4) else ""
        order = self.pick("ORDER BY id", "ORDER BY id DESC", "ORDER BY k, id", "ORDER BY k DESC NULLS FIRST, id")
        clause = f"{partition}{order} MEASURES {measures} {rows} {skip} PATTERN ({pattern}) {subset} DEFINE {defines}"
        table = [[self.random.randint(0, 1), place + 1, self.pick(0, 1, 2, 3, None)] for place in range(self.random.randint(1, 12))]
        return f"SELECT * FROM t MATCH_RECOGNIZE ({' '.join(clause.split())}) AS m", table


def draw(seed: int) -> tuple[str, list[list[Any]]]:
    """Return the text and the rows that belong to a seed."""
    return Draw(seed).query()


def answers() -> list[dict[str, Any]]:
    """Return the recorded answers: ``seed``, and ``rows`` or ``error``."""
    listed: list[dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return listed
