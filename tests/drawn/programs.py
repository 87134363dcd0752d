"""From a seed to a program: the statements of a feature, and what happens to them.

A feature is a file with ``KINDS`` (functions that add statements to a ``Draw``, and how often each is drawn) and ``BULLETS`` (its census).
One that has ``draw_program`` instead draws the statements and all that happens to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from tests.drawn import contexts, joins, stores, subqueries
from tests.drawn.drawing import WORDS, Draw
from tests.drawn.world import SCHEMA, steps

FEATURES: dict[str, ModuleType] = {"joins": joins, "subqueries": subqueries, "stores": stores, "contexts": contexts}


def program(feature: str, seed: int, words: Sequence[str] = WORDS) -> dict[str, Any]:
    """A trace without output (CONTRIBUTING.md, "Add a case") and, by statement, the lines of the census that it exercises."""
    draw = Draw(f"{feature} {seed}", words)
    happens = _drawn(FEATURES[feature], draw)
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


def _drawn(feature: ModuleType, draw: Draw) -> list[dict[str, Any]]:
    """Draw the statements; give what happens to them."""
    if hasattr(feature, "draw_program"):
        happens: list[dict[str, Any]] = feature.draw_program(draw)
        return happens
    kinds, weights = zip(*feature.KINDS)
    for kind in draw.random.choices(kinds, weights, k=1 if draw.chance(0.75) or len(kinds) == 1 else 2):
        kind(draw)
    return steps(draw, list(draw.bullets))


def census_lines(feature: str) -> tuple[str, ...]:
    """What stored programs of the feature must cover."""
    module = FEATURES[feature]
    return (*module.BULLETS, *module.WINDOW_BULLETS, *getattr(module, "OUTPUT_BULLETS", ()))
