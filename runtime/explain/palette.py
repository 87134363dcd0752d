"""Colours of pictures: tints of the Okabe–Ito palette, which colour-blind readers can tell apart; text on them has a contrast above 10."""
from __future__ import annotations

from runtime.explain.graph import NodeKind

BLUE, SKY, GREEN, YELLOW, ORANGE, RED, PURPLE, GREY = (
    ("#cfe3f3", "#0072b2"), ("#ddf0fb", "#56b4e9"), ("#cdeadf", "#009e73"), ("#faf4bd", "#b3a500"), ("#fbe6c3", "#e69f00"),
    ("#f8d9c6", "#d55e00"), ("#f3dbe8", "#cc79a7"), ("#f0f0f0", "#777777"),
)
"""(fill, line)."""

COLOURS: dict[NodeKind, tuple[str, str]] = {
    "type": BLUE, "filter": SKY, "source": SKY, "call": SKY, "pattern": PURPLE, "match": PURPLE, "operator": PURPLE, "observer": YELLOW,
    "state": GREY, "start": BLUE, "accept": GREEN, "window": ORANGE, "store": ORANGE, "variable": ORANGE, "join": RED, "lookup": RED,
    "subquery": RED, "where": SKY, "rows": GREEN, "output": BLUE, "insert": BLUE, "context": YELLOW, "action": RED, "statement": GREEN,
    "note": GREY,
}
FILLS = {kind: fill for kind, (fill, _) in COLOURS.items()}
STROKES = {kind: stroke for kind, (_, stroke) in COLOURS.items()}

__all__ = ["COLOURS", "FILLS", "STROKES"]
