"""A graph as a Mermaid flowchart."""
from __future__ import annotations

import re
from collections.abc import Iterator

from runtime.explain.graph import EdgeKind, Graph, GraphNode, NodeKind
from runtime.explain.labels import clean
from runtime.explain.palette import FILLS, STROKES

SHAPES: dict[NodeKind, tuple[str, str]] = {
    "type": ("([", "])"), "store": ("[(", ")]"), "variable": ("[(", ")]"), "state": ("((", "))"), "start": ("([", "])"),
    "accept": ("(((", ")))"), "filter": ("[/", "/]"), "observer": ("{{", "}}"), "output": ("([", "])"), "note": (">", "]"),
}
ARROWS: dict[EdgeKind, str] = {"flow": "-->", "lookup": "-.->", "control": "-.->", "part": "-.-"}

WORD_JOINER = "\u2060"
"""Between two dollars, which would begin a formula even as entities."""
_SYNTAX = re.compile(r"[^\w ,:=()/?.-]|(?<![^\W_])[_.-]|[_.-](?![^\W_])")
"""All but letters, digits and signs that are never Mermaid's, Markdown's or HTML's; ``_``, ``.`` and ``-`` within words are none either."""


def escape(text: str) -> str:
    """Return a text for between quotes: what could be syntax is an entity.

    >>> escape("a.b = 'x' and c_1 < 5"), escape('"]; click n0 call f() %%{init: {}}%%')
    ('a.b = #39;x#39; and c_1 #60; 5', '#34;#93;#59; click n0 call f() #37;#37;#123;init: #123;#125;#125;#37;#37;')
    """
    return _SYNTAX.sub(lambda sign: f"#{ord(sign[0])};", clean(text).replace("$$", f"${WORD_JOINER}$"))


def mermaid(graph: Graph) -> str:
    """Return the text of a flowchart, for Markdown, GitHub, documentation sites and Mermaid's own editor."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    yield from (f"    {_node(node)}" for node in graph.nodes if node.group is None)
    for group in graph.groups:
        yield f'    subgraph {group.id}["{escape(group.title)}"]'
        yield from (f"        {_node(node)}" for node in graph.nodes if node.group == group.id)
        yield "    end"
    for edge in graph.edges:
        label = f'|"{escape(edge.label)}"|' if edge.label else ""
        yield f"    {edge.source} {ARROWS[edge.kind]}{label} {edge.target}"
    for kind in dict.fromkeys(node.kind for node in graph.nodes):
        yield f"    classDef {_class(kind)} fill:{FILLS[kind]},stroke:{STROKES[kind]},color:#1b1b1b"


def _node(node: GraphNode) -> str:
    begin, end = SHAPES.get(node.kind, ("[", "]"))
    return f'{node.id}{begin}"{"<br>".join(map(escape, node.lines))}"{end}:::{_class(node.kind)}'


def _class(kind: NodeKind) -> str:
    """Return a kind as a name: some kinds are words of Mermaid's."""
    return f"{kind}_node"


__all__ = ["escape", "mermaid"]
