"""A recording as a matplotlib figure: a lane for the events of each type, for each window, for partial matches and for the rows emitted.

Moments go from left to right: a column each, or by engine time. Nothing of the figure depends on when or where it is drawn.
"""
from __future__ import annotations

import io
import pathlib
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runtime.explain.labels import clean
from runtime.extras import MissingPackage, install
from runtime.pictures.lanes import Lane, Places, build_lanes
from runtime.pictures.tracks import Recorded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


TYPES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b3a500", "#56b4e9")
"""A colour for the events of each type: Okabe and Ito's, which colour-blind readers can tell apart."""
BAR, BAR_LINE, INK, FAINT = "#dceaf5", "#0072b2", "#1b1b1b", "#d9d9d9"
OUTCOMES = {"match": "#009e73", "given up": "#d55e00", "open": "#777777"}
ROW, COLUMN, LETTER, SMALL = 0.27, 0.55, 0.072, 8
"""Inches: the height of a row, the least width of a column, the width of a letter; points: the size of small letters."""
SETTINGS: Any = {"svg.hashsalt": "epl", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "path.simplify": False,
                 "text.parse_math": False, "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"]}


def timeline(recording: Recorded, *, axis: str = "auto", title: str | None = None, width: float | None = None) -> Figure:
    """Return the figure. ``axis``: ``time``, ``steps`` or ``auto``; ``width``: inches. Raise ImportError without matplotlib, ValueError for
    another axis."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackage(f"timelines need matplotlib: {install('plot')}") from error
    places = Places(recording.moments, axis, recording.units_per_second)
    lanes = build_lanes(recording)
    rows = sum(lane.rows for lane in lanes) + 0.5 * len(lanes)
    margin = 0.35 + LETTER * max((len(lane.title) for lane in lanes), default=8)
    inches = width or margin + max(3.0, places.columns * max(COLUMN, LETTER * (1.5 + _longest(lanes, places)))) + 0.2
    heading = textwrap.wrap(clean(" ".join((title or "").split()), 600), int((inches - 0.3) / (LETTER * 1.05)))
    head = 0.2 + 0.19 * len(heading)
    height = head + rows * ROW + 0.45
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(inches, height))
        axes = figure.add_axes((margin / inches, 0.45 / height, 1 - (margin + 0.2) / inches, 1 - (head + 0.45) / height))
        _draw(axes, lanes, places, rows)
        for number, line in enumerate(heading):
            figure.text(0.1 / inches, 1 - (0.16 + 0.19 * number) / height, line, fontsize=9, family="monospace", va="center", color=INK)
    return figure


def _longest(lanes: Sequence[Lane], places: Places) -> int:
    """Characters of the longest text that a column holds."""
    return max([4, *(len(mark.text) for lane in lanes for mark in lane.marks), *(len(places.label(place)) for place in places.ticks)])


def _draw(axes: Axes, lanes: Sequence[Lane], places: Places, rows: float) -> None:
    axes.set_xlim(places.left, places.right)
    axes.set_ylim(rows, 0)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#999999")
    axes.set_yticks([])
    axes.set_xticks([places.x(place) for place in places.ticks], [places.label(place) for place in places.ticks], fontsize=SMALL, color=INK)
    axes.tick_params(axis="x", color="#999999", length=3)
    for place in places.ticks:
        axes.axvline(places.x(place), color=FAINT, linewidth=0.6, zorder=0)
    top = 0.0
    for number, lane in enumerate(lanes):
        if number % 2 == 0:
            axes.axhspan(top, top + lane.rows + 0.5, color="#f7f7f7", zorder=-1, linewidth=0)
        axes.text(-0.008, top + (lane.rows + 0.5) / 2, clean(lane.title), transform=axes.get_yaxis_transform(), ha="right", va="center",
                  fontsize=9, color=INK)
        _draw_lane(axes, lane, places, top + 0.25)
        top += lane.rows + 0.5


def _draw_lane(axes: Axes, lane: Lane, places: Places, top: float) -> None:
    for bar in lane.bars:
        begin, end = places.x(bar.begins), places.right if bar.ends is None else places.x(bar.ends)
        middle = top + bar.row + 0.5
        if lane.kind == "window":
            axes.barh(middle, end - begin, left=begin, height=0.72, color=BAR, linewidth=0, zorder=2)
            low, high = middle - 0.36, middle + 0.36
            outline = [(end, low), (begin, low), (begin, high), (end, high)]
            axes.plot(*zip(*(outline if bar.ends is None else [*outline, outline[0]])), color=BAR_LINE, linewidth=0.9, zorder=3)
            letters = (end - begin) / (places.right - places.left) * axes.get_window_extent().width / axes.figure.dpi / LETTER - 1.5
            axes.annotate(clean(bar.text, max(2, int(letters))), (begin, middle), xytext=(4, 0), textcoords="offset points", va="center",
                          fontsize=SMALL, color=INK, zorder=4, clip_on=False)
        else:
            colour = OUTCOMES[bar.outcome]
            style = "-" if bar.outcome == "match" else (0, (4, 2))
            axes.plot([begin, end], [middle, middle], color=colour, linewidth=1.6, linestyle=style, zorder=2, solid_capstyle="butt")
            sign = {"match": "D", "given up": "x", "open": ">"}[bar.outcome]
            axes.plot([end], [middle], marker=sign, color=colour, markersize=6, zorder=3, clip_on=False, linestyle="none")
    for mark in lane.marks:
        x, y = places.x(mark.place), top + mark.row + 0.5
        if lane.kind == "partials":
            axes.text(x, y, mark.text, ha="center", va="center", fontsize=SMALL, color=INK, zorder=5,
                      bbox={"boxstyle": "round,pad=0.22", "facecolor": "#ffffff", "edgecolor": OUTCOMES[mark.outcome], "linewidth": 1})
            continue
        colour = TYPES[mark.colour % len(TYPES)]
        axes.plot([x], [y], marker={"event": "o", "insert": "^", "remove": "v"}[mark.sign], color=colour, markersize=5.5, linestyle="none",
                  zorder=3, clip_on=False)
        axes.annotate(mark.text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=SMALL, color=INK, zorder=4)


# ---------------------------------------------------------------------- files


def save(figure: Figure, path: str | pathlib.Path, identifier: str = "") -> None:
    """Write the figure, as the name ends: .svg, .png or .pdf. ``identifier``: stands in an SVG's metadata."""
    file = pathlib.Path(path)
    if file.suffix.lower() == ".svg":
        file.write_text(svg_text(figure, identifier), encoding="utf-8")
        return
    if file.suffix.lower() not in (".png", ".pdf"):
        raise ValueError(f"a picture is written as .svg, .png or .pdf, not as {file.suffix!r}")
    figure.savefig(file, dpi=150, facecolor="white", metadata={"CreationDate": None} if file.suffix.lower() == ".pdf" else None)


def svg_text(figure: Figure, identifier: str = "") -> str:
    """Return the figure as an SVG element, the same each time."""
    import matplotlib as mpl

    out = io.StringIO()
    nothing: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with mpl.rc_context(SETTINGS):
        figure.savefig(out, format="svg", facecolor="white", metadata={**nothing, **({"Identifier": identifier} if identifier else {})})
    return _lighten(out.getvalue()[out.getvalue().index("<svg"):])


def _lighten(text: str) -> str:
    """Return the text without comments, which repeat every text, and without empty lines."""
    lines = (line.rstrip() for line in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines())
    return "\n".join(_round_line(line) for line in lines if line) + "\n"


def _round_line(line: str) -> str:
    if line.startswith("<svg") or " id=" in line:
        return line
    return re.sub(r"(\d+\.\d{2})\d+", r"\1", line)


__all__ = ["save", "svg_text", "timeline"]
