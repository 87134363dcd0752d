"""A graph in the DOT language of Graphviz."""
from __future__ import annotations

from collections.abc import Iterator

from runtime.explain.graph import EdgeKind, Graph, GraphNode, NodeKind
from runtime.explain.labels import clean
from runtime.explain.palette import FILLS, STROKES

SHAPES: dict[NodeKind, str] = {
    "type": "oval", "store": "cylinder", "variable": "cylinder", "state": "circle", "start": "oval", "accept": "doublecircle",
    "filter": "parallelogram", "observer": "hexagon", "output": "oval", "note": "note",
}
STYLES: dict[EdgeKind, str] = {"flow": "solid", "lookup": "dashed", "control": "dotted", "part": "dotted"}


def escape(text: str) -> str:
    r"""Return a text for between quotes, of which nothing is an escape or an entity.

    >>> escape('"]; n0 [URL="x\\N"]')
    '\\"]; n0 [URL=\\"x\\\\N\\"]'
    """
    return clean(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def dot(graph: Graph) -> str:
    """Return the text of a digraph: ``dot -Tsvg`` draws it."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield "digraph plan {"
    yield f'    graph [rankdir=LR, label="{escape(graph.title)}", labelloc=t, fontname="Helvetica"]'
    yield '    node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11]'
    yield '    edge [fontname="Helvetica", fontsize=10, color="#555555"]'
    yield from (f"    {_node(node)}" for node in graph.nodes if node.group is None)
    for group in graph.groups:
        yield f"    subgraph cluster_{group.id} {{"
        yield f'        label="{escape(group.title)}"; color="#999999"; style=rounded'
        yield from (f"        {_node(node)}" for node in graph.nodes if node.group == group.id)
        yield "    }"
    for edge in graph.edges:
        label = f', label="{escape(edge.label)}"' if edge.label else ""
        arrow = ", arrowhead=none" if edge.kind == "part" else ""
        yield f"    {edge.source} -> {edge.target} [style={STYLES[edge.kind]}{arrow}{label}]"
    yield "}"


def _node(node: GraphNode) -> str:
    label = "\\n".join(map(escape, node.lines))
    shape = f", shape={SHAPES[node.kind]}, style=filled" if node.kind in SHAPES else ""
    return f'{node.id} [label="{label}", fillcolor="{FILLS[node.kind]}", color="{STROKES[node.kind]}"{shape}]'


__all__ = ["dot", "escape"]
