"""Curves as an SVG picture: one panel an axis, both scales logarithmic, one colour an engine."""
from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.scaling import AXES, Curve

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 440, 300, 62, 46, 34
COLOURS = {"esper": "#c44e52", "row": "#4c72b0", "batch": "#2a9d5c", "batch-plain": "#8c8c3c"}
OTHERS = ("#8172b3", "#937860", "#444444")


def picture(curves: Sequence[Curve]) -> str:
    """The SVG's text."""
    axes = [axis for axis in AXES if any(c.axis.name == axis.name for c in curves)]
    columns = 2
    rows = -(-len(axes) // columns)
    size = f'width="{columns * WIDTH}" height="{rows * HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="white"/>',
    ]
    for place, axis in enumerate(axes):
        parts.append(f'<g transform="translate({place % columns * WIDTH},{place // columns * HEIGHT})">')
        parts += _panel(axis.title, [c for c in curves if c.axis.name == axis.name])
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, curves: Sequence[Curve]) -> list[str]:
    points = [p for c in curves for p in c.points]
    low_x, high_x = _decades([x for x, _ in points])
    low_y, high_y = _decades([y for _, y in points])
    across, up = WIDTH - LEFT - 20, HEIGHT - BOTTOM - TOP

    def at(size: float, cost: float) -> tuple[float, float]:
        x = LEFT + across * (math.log10(size) - low_x) / (high_x - low_x)
        return x, HEIGHT - BOTTOM - up * (math.log10(cost) - low_y) / (high_y - low_y)

    parts = [f'<text x="{WIDTH / 2}" y="18" text-anchor="middle" font-weight="bold">{escape(title)}</text>']
    for power in range(low_y, high_y + 1):
        y = at(10**low_x, 10**power)[1]
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + across}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10**power:,}</text>')
    for power in range(low_x, high_x + 1):
        x = at(10**power, 10**low_y)[0]
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10**power:,}</text>')
    parts.append(f'<text x="14" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">ns/event, CPU</text>')
    for number, curve in enumerate(curves):
        colour = COLOURS.get(curve.engine, OTHERS[number % len(OTHERS)])
        places = [at(*p) for p in curve.points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        legend = f"{escape(curve.engine)} (slope {curve.slope:.2f})"
        parts.append(f'<text x="{LEFT + number * 124}" y="{HEIGHT - 8}" fill="{colour}">{legend}</text>')
    return parts


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


__all__ = ["picture"]
