"""A plan as a graph: nodes, edges and groups as frozen data, which each format writes in its own way."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from typing import Literal as Choice

import attrs

NodeKind = Choice[
    "type", "filter", "pattern", "source", "window", "store", "call", "join", "where", "match", "rows", "output", "insert", "state",
    "accept", "start", "operator", "observer", "lookup", "subquery", "context", "action", "variable", "statement", "note",
]
"""What a node stands for: its colour and shape in pictures."""
EdgeKind = Choice["flow", "lookup", "control", "part"]
"""``flow``: events or rows go along it; ``lookup``: rows are read; ``control``: one begins, ends or sets the other; ``part``: the one is a
part of the other, which is drawn in a group."""


@attrs.frozen(kw_only=True)
class GraphNode:
    """``lines``: its label. ``group``: the id of the group that it is drawn in, None for the main one. ``attributes``: facts
    for programs."""

    id: str
    kind: NodeKind
    lines: tuple[str, ...]
    group: str | None = None
    attributes: tuple[tuple[str, Any], ...] = ()


@attrs.frozen(kw_only=True)
class GraphEdge:
    source: str
    target: str
    kind: EdgeKind = "flow"
    label: str = ""


@attrs.frozen(kw_only=True)
class GraphGroup:
    """A part of the plan with a picture of its own: a row pattern, a pattern, the plan of a join."""

    id: str
    title: str


@attrs.frozen(kw_only=True)
class Graph:
    """``kind``: of what (statement, module, query). Ids are of this graph alone and hold nothing of a user's text."""

    kind: Choice["statement", "module", "query"]
    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...] = ()
    attributes: tuple[tuple[str, Any], ...] = ()

    def within(self, group: str | None) -> tuple[Sequence[GraphNode], Sequence[GraphEdge]]:
        """Return the nodes of a group, and the edges between them."""
        nodes = [node for node in self.nodes if node.group == group]
        ids = {node.id for node in nodes}
        return nodes, [edge for edge in self.edges if edge.source in ids and edge.target in ids]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: what the format ``json`` writes."""
        return {
            "kind": self.kind, "title": self.title, **_plain(self.attributes),
            "groups": [{"id": group.id, "title": group.title} for group in self.groups],
            "nodes": [
                {"id": n.id, "kind": n.kind, "label": "\n".join(n.lines), **({"group": n.group} if n.group else {}), **_plain(n.attributes)}
                for n in self.nodes
            ],
            "edges": [
                {"source": e.source, "target": e.target, "kind": e.kind, **({"label": e.label} if e.label else {})} for e in self.edges
            ],
        }


def _plain(attributes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes}


class Drawing:
    """A graph while it grows. Ids are numbers in the order in which nodes are added."""

    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self.groups: list[GraphGroup] = []

    def node(self, kind: NodeKind, *lines: str, group: str | None = None, **attributes: Any) -> str:
        """Add a node and return its id; empty lines are left away."""
        node_id = f"n{len(self.nodes)}"
        facts = tuple((name, value) for name, value in attributes.items() if value not in (None, ""))
        self.nodes.append(GraphNode(id=node_id, kind=kind, lines=tuple(line for line in lines if line), group=group, attributes=facts))
        return node_id

    def edge(self, source: str, target: str, kind: EdgeKind = "flow", label: str = "") -> None:
        """Add an edge, once."""
        edge = GraphEdge(source=source, target=target, kind=kind, label=label)
        if edge not in self.edges:
            self.edges.append(edge)

    def group(self, title: str) -> str:
        """Add a group and return its id."""
        group = GraphGroup(id=f"g{len(self.groups)}", title=title)
        self.groups.append(group)
        return group.id

    def graph(self, kind: Choice["statement", "module", "query"], title: str, **attributes: Any) -> Graph:
        return Graph(kind=kind, title=title, nodes=tuple(self.nodes), edges=tuple(self.edges), groups=tuple(self.groups),
                     attributes=tuple((name, value) for name, value in attributes.items() if value not in (None, "")))


__all__ = ["Drawing", "EdgeKind", "Graph", "GraphEdge", "GraphGroup", "GraphNode", "NodeKind"]
