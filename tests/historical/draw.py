#!/usr/bin/env python3
"""Draw joins with methods for tests/historical/recorded/drawn.json: python tests/historical/draw.py, then record.py drawn.json.

Joins of two to four streams of which some are methods: commas with conditions, chains and stars of outer and inner joins, arguments of
events, of other methods' rows, constants and variables; over several data windows or none.
"""
from __future__ import annotations

import json
import pathlib
import random
from typing import Any

SEED, COUNT = 15, 200
DRAWN = pathlib.Path(__file__).resolve().parent / "recorded" / "drawn.json"
SCHEMA = (
    "create schema Trade(k string, n int, p double); create schema Quote(k string, b double); create variable int vn = 2; @name('s0') "
)
NAMES = "abcd"
WINDOWS = ("#keepall", "#keepall", "#length(2)", "#lastevent", "#unique(k)", "#length_batch(2)")
OUTER = ("left outer", "right outer", "full outer", "inner")


class Program:
    """One statement while it is drawn. ``kinds`` of its streams: T(rade), Q(uote), m(ethod)."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = chance.choice([2, 2, 2, 3, 3, 4])
        self.kinds = [chance.choice("TQmmm") for _ in range(self.count)]
        if "T" not in self.kinds and "Q" not in self.kinds and chance.random() < 0.7:
            self.kinds[chance.randrange(self.count)] = "T"
        self.order = list(range(self.count))
        """A method reads events, and methods before it in this order: no circles."""
        chance.shuffle(self.order)

    def key(self, stream: int) -> str:
        return f"{NAMES[stream]}.{'key' if self.kinds[stream] == 'm' else 'k'}"

    def number(self, stream: int) -> str | None:
        name = {"T": "n", "m": "v"}.get(self.kinds[stream])
        return None if name is None else f"{NAMES[stream]}.{name}"

    def source(self, stream: int) -> str:
        chance = self.chance
        if self.kinds[stream] != "m":
            window = chance.choice(WINDOWS)
            if len([kind for kind in self.kinds if kind != "m"]) == 1 and chance.random() < 0.4:
                window = ""
            return f"{'Trade' if self.kinds[stream] == 'T' else 'Quote'}{window} as {NAMES[stream]}"
        return f"method:Lookup.{self.call(stream)} as {NAMES[stream]}"

    def call(self, stream: int) -> str:
        chance, place = self.chance, self.order.index(stream)
        read = [n for n in range(self.count) if n != stream and (self.kinds[n] != "m" or self.order.index(n) < place)]
        numbers = [name for n in read if (name := self.number(n)) is not None]
        kind = chance.choice(["everything", "everything", "rows", "next", "single", "constant"])
        if kind == "rows" and read:
            return f"rows({self.key(chance.choice(read))}, {chance.choice([*numbers, '1', '2', 'vn'])})"
        if kind == "next" and numbers:
            return f"next({chance.choice(numbers)})"
        if kind == "single" and read:
            return f"single({self.key(chance.choice(read))})"
        return f"rows('{chance.choice('AB')}', {chance.choice([1, 2])})" if kind == "constant" else "everything()"

    def pair(self, one: int, other: int) -> str:
        left, right = self.number(one), self.number(other)
        if left is not None and right is not None and self.chance.random() < 0.3:
            return f"{left} = {right}"
        return f"{self.key(one)} = {self.key(other)}"

    def condition(self, one: int, other: int) -> str:
        left, right, kind = self.number(one), self.number(other), self.chance.random()
        if kind < 0.7 or left is None or right is None:
            return self.pair(one, other)
        return f"{right} {self.chance.choice(['<', '>=', '!='])} {left}" if kind < 0.85 else f"{right} between {left} and 3"

    def joined(self) -> str:
        chance, sources = self.chance, [self.source(n) for n in range(self.count)]
        if chance.random() < 0.4:
            parts = [f" {chance.choice(OUTER)} join {sources[n]} on {self.pair(chance.randrange(n), n)}" for n in range(1, self.count)]
            return sources[0] + "".join(parts)
        conditions = [self.condition(chance.randrange(n), n) for n in range(1, self.count) if chance.random() < 0.75]
        return ", ".join(sources) + (f" where {' and '.join(conditions)}" if conditions else "")

    def text(self) -> str:
        chance, joined = self.chance, self.joined()
        select = chance.choice(["select irstream", "select irstream", "select"])
        kind = chance.random()
        if kind < 0.15:
            return f"{select} count(*) as c, {self.key(0)} as k from {joined} group by {self.key(0)}"
        if kind < 0.2:
            return f"{select} count(*) as c from {joined}"
        numbers = [f"{number} as n{n}" for n in range(self.count) if (number := self.number(n)) is not None]
        return f"{select} {', '.join([*(f'{self.key(n)} as k{n}' for n in range(self.count)), *numbers])} from {joined}"


def steps(chance: random.Random) -> list[dict[str, Any]]:
    drawn: list[dict[str, Any]] = []
    for _ in range(chance.randint(3, 7)):
        kind, key = chance.random(), chance.choice("ABC")
        if kind < 0.5:
            drawn.append({"op": "event", "type": "Trade", "props": {"k": key, "n": chance.randrange(4), "p": 1.0}})
        elif kind < 0.9:
            drawn.append({"op": "event", "type": "Quote", "props": {"k": key, "b": 1.0}})
        else:
            drawn.append({"op": "set_variable", "values": [{"name": "vn", "value": chance.choice([1, 2])}]})
    return [*drawn, {"op": "iterate", "statement": "s0"}]


def main() -> None:
    chance = random.Random(SEED)
    cases = [
        {"name": f"{n}", "any_order": True, "steps": [{"op": "deploy", "epl": SCHEMA + Program(chance).text()}, *steps(chance)]}
        for n in range(COUNT)
    ]
    DRAWN.write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    main()
