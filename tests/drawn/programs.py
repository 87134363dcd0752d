"""From a seed to a program: the statements of a feature, and what happens to them.

A feature is a file with ``KINDS`` (functions that add statements to a ``Draw``, and how often each is drawn) and ``BULLETS`` (its census).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.drawn import joins, subqueries
from tests.drawn.drawing import WORDS, Draw
from tests.drawn.world import SCHEMA, steps

FEATURES = {"joins": joins, "subqueries": subqueries}


def program(feature: str, seed: int, words: Sequence[str] = WORDS) -> dict[str, Any]:
    """A trace without output (CONTRIBUTING.md, "Add a case") and, by statement, the lines of the census that it exercises."""
    draw = Draw(f"{feature} {seed}", words)
    kinds, weights = zip(*FEATURES[feature].KINDS)
    for kind in draw.random.choices(kinds, weights, k=1 if draw.chance(0.75) else 2):
        kind(draw)
    happens = steps(draw, list(draw.bullets))
    nulls = {(step["type"], name) for step in happens if step["op"] == "event" for name, value in step["props"].items() if value is None}
    for name, keys in draw.keys.items():
        if keys & nulls:
            draw.bullets[name].append("null keys")
    text = ";\n".join([*SCHEMA, *draw.texts])
    return {
        "name": f"{feature} {seed}",
        "bullets": draw.bullets,
        "steps": [{"op": "deploy", "epl": text}, *happens],
    }


def census_lines(feature: str) -> tuple[str, ...]:
    """What stored programs of the feature must cover."""
    module = FEATURES[feature]
    return (*module.BULLETS, *module.WINDOW_BULLETS, *getattr(module, "OUTPUT_BULLETS", ()))
