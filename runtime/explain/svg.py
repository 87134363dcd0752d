"""A graph as SVG: the main picture, and below it a framed one for each group. No script, no link, no font or image from elsewhere."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape as escape_html
from itertools import pairwise

import attrs

from runtime.explain.graph import Graph, GraphEdge, GraphNode
from runtime.explain.labels import clean, wrap_lines
from runtime.explain.layout import Box, GraphLayout, Point, lay_out
from runtime.explain.palette import FILLS, STROKES

CHARACTER, LINE, PADDING, MARGIN = 6.6, 15.0, 10.0, 12.0
"""Of text at 12 px: the width of a character, the height of a line; and the space around text and pictures."""
WIDEST, MOST_LINES = 34, 9
"""Characters of a label's line, and lines of a label."""
ROUND = {"state", "accept", "start"}
"""Kinds drawn with round ends."""
STYLE = "font-family:system-ui,'Segoe UI','DejaVu Sans',Arial,sans-serif;font-size:12px"
DASHES = {"flow": "", "lookup": ' stroke-dasharray="6 4"', "control": ' stroke-dasharray="2 3"', "part": ""}


@attrs.frozen
class Panel:
    title: str
    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
    layout: GraphLayout
    lines: Mapping[str, Sequence[str]]


def escape(text: str) -> str:
    return escape_html(clean(text))


def svg(graph: Graph) -> str:
    """Return an SVG element. Raise ImportError where the layout library is missing."""
    panels = [_panel("", *graph.within(None)), *(_panel(group.title, *graph.within(group.id)) for group in graph.groups)]
    width = max(max(panel.layout.width, len(clean(panel.title)) * CHARACTER) for panel in panels) + 4 * MARGIN
    lines: list[str] = []
    top = MARGIN
    for panel in panels:
        height = panel.layout.height + (LINE + 3 * MARGIN if panel.title else 0)
        if panel.title:
            lines.append(f'<rect x="{MARGIN}" y="{top:.0f}" width="{width - 2 * MARGIN:.0f}" height="{height:.0f}" rx="8" fill="none" '
                         f'stroke="#999" stroke-dasharray="4 4"/><text x="{2 * MARGIN}" y="{top + LINE + 3:.0f}" font-weight="600">'
                         f"{escape(panel.title)}</text>")
        inner = top + (LINE + 2 * MARGIN if panel.title else 0)
        lines += [f'<g transform="translate({2 * MARGIN:.0f},{inner:.0f})">', *_draw_panel(panel), "</g>"]
        top += height + 1.5 * MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" viewBox="0 0 {width:.0f} {top:.0f}" '
            f'role="img" aria-label="{escape(graph.title)}" style="{STYLE};background:#fff;max-width:none">'
            f'<title>{escape(graph.title)}</title>{ARROW}{"".join(lines)}</svg>')


ARROW = ('<defs><marker id="epl-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
         '<path d="M0,0L8,4L0,8z" fill="#555"/></marker></defs>')


def _panel(title: str, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> Panel:
    lines = {node.id: wrap_lines(node.lines, 60 if node.kind == "note" else WIDEST, MOST_LINES) for node in nodes}
    sizes = {node.id: _size(node, lines[node.id]) for node in nodes}
    gaps = [len(clean(edge.label)) * CHARACTER * 0.9 for edge in edges]
    return Panel(title, nodes, edges, lay_out(nodes, edges, sizes, gaps), lines)


def _size(node: GraphNode, lines: Sequence[str]) -> tuple[float, float]:
    width = max((len(line) for line in lines), default=1) * CHARACTER + 2 * PADDING
    if node.kind in ROUND and len(lines) == 1:
        width = max(width, 40.0)
        return width, 40.0
    return width, len(lines) * LINE + 1.4 * PADDING


def _draw_panel(panel: Panel) -> Iterator[str]:
    boxes = panel.layout.boxes
    labels: list[str] = []
    for edge in panel.edges:
        line, label = _edge(edge, boxes[edge.source], boxes[edge.target], panel.layout.bends.get((edge.source, edge.target), ()),
                            twin=_has_twin(edge, panel.edges))
        yield line
        labels.append(label)
    for node in panel.nodes:
        yield from _node(node, boxes[node.id], panel.lines[node.id])
    yield from labels


def _has_twin(edge: GraphEdge, edges: Sequence[GraphEdge]) -> bool:
    return any(each.source == edge.target and each.target == edge.source for each in edges if each is not edge)


def _node(node: GraphNode, box: Box, lines: Sequence[str]) -> Iterator[str]:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    corner = min(box.height / 2, 18) if node.kind in {"type", "output"} else box.height / 2 if node.kind in ROUND else 5
    colours = f'fill="{FILLS[node.kind]}" stroke="{STROKES[node.kind]}"'
    yield f'<g><title>{escape(" · ".join(node.lines))}</title>'
    yield (f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{corner:.1f}" {colours} '
           f'stroke-width="1.4"/>')
    if node.kind == "accept":
        yield (f'<rect x="{left + 3.5:.1f}" y="{top + 3.5:.1f}" width="{box.width - 7:.1f}" height="{box.height - 7:.1f}" '
               f'rx="{corner - 3.5:.1f}" fill="none" stroke="{STROKES[node.kind]}"/>')
    first = box.y - (len(lines) - 1) * LINE / 2 + 4
    for number, text in enumerate(lines):
        bold = ' font-weight="600"' if number == 0 and len(lines) > 1 and node.kind != "note" else ""
        anchor, x = ("start", left + PADDING) if node.kind == "note" else ("middle", box.x)
        yield f'<text x="{x:.1f}" y="{first + number * LINE:.1f}" text-anchor="{anchor}" fill="#1b1b1b"{bold}>{escape(text)}</text>'
    yield "</g>"


def _edge(edge: GraphEdge, source: Box, target: Box, bends: Sequence[Point], *, twin: bool) -> tuple[str, str]:
    """Return the line and the label of an edge."""
    style = f'fill="none" stroke="#555" stroke-width="1.3"{DASHES[edge.kind]} marker-end="url(#epl-arrow)"'
    if edge.source == edge.target:
        top = source.y - source.height / 2
        loop = _curve((source.x - 9, top + 2), (source.x - 20, top - 24), (source.x + 20, top - 24), (source.x + 9, top))
        return f'<path d="{loop}" {style}/>', _label(edge, source.x, top - 20)
    if target.x < source.x:  # against the direction of the layers: below both
        down = max(source.y + source.height / 2, target.y + target.height / 2)
        begin, end = (source.x, source.y + source.height / 2), (target.x, target.y + target.height / 2)
        back = _curve(begin, (source.x, down + 26), (target.x, down + 26), end)
        return f'<path d="{back}" {style}/>', _label(edge, (source.x + target.x) / 2, down + 17)
    shift = -7.0 if twin else 0.0
    points = [(source.x + source.width / 2, source.y + shift), *bends, (target.x - target.width / 2, target.y + shift)]
    line = "".join(_between(before, after) for before, after in pairwise(points))
    (x1, y1), (x2, y2) = points[-2:]
    return f'<path d="{line}" {style}/>', _label(edge, (x1 + x2) / 2, (y1 + y2) / 2 - 4)


def _between(begin: Point, end: Point) -> str:
    middle = (begin[0] + end[0]) / 2
    return _curve(begin, (middle, begin[1]), (middle, end[1]), end)


def _curve(*points: Point) -> str:
    begin, *others = (f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{begin}C{' '.join(others)}"


def _label(edge: GraphEdge, x: float, y: float) -> str:
    if not edge.label:
        return ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="11" fill="#333" stroke="#fff" stroke-width="3" '
            f'paint-order="stroke">{escape(edge.label)}</text>')


__all__ = ["STYLE", "escape", "svg"]
