"""Places for the nodes of a picture: layers from left to right, by fast-sugiyama (extra ``plot``)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from runtime.explain.graph import GraphEdge, GraphNode
from runtime.extras import MissingPackage, install

GAP_ACROSS, GAP_DOWN, LANE = 38.0, 22.0, 12.0
"""Between layers, between nodes of a layer; and the height of a line that passes a layer."""
Point = tuple[float, float]


@attrs.frozen
class Box:
    """A node's rectangle: the middle, and its size."""

    x: float
    y: float
    width: float
    height: float


@attrs.frozen
class GraphLayout:
    """``boxes`` by node id; ``bends``: the points that an edge passes, by (source, target)."""

    boxes: Mapping[str, Box]
    bends: Mapping[tuple[str, str], Sequence[Point]]
    width: float
    height: float


def lay_out(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], sizes: Mapping[str, Point], labels: Sequence[float]) -> GraphLayout:
    """Return places for nodes of these sizes; notes go below. ``labels``: how wide that of each edge is. Raise ImportError without the
    library."""
    notes = [node for node in nodes if node.kind == "note"]
    drawn = [node for node in nodes if node.kind != "note"]
    placed = _Placed(drawn, edges, sizes)
    columns, width = placed.columns(edges, labels)
    rows, height = placed.rows()
    boxes = {node.id: Box(sum(columns[placed.layer[n]]) / 2, rows[n], *sizes[node.id]) for n, node in enumerate(drawn)}
    bends = {
        (drawn[s].id, drawn[t].id): [(x, rows[n]) for n in chain for x in columns[placed.layer[n]]]
        for (s, t), chain in placed.chains.items()
    }
    for note in notes:
        wide, high = sizes[note.id]
        boxes[note.id] = Box(wide / 2, height + (GAP_DOWN if height else 0) + high / 2, wide, high)
        width, height = max(width, wide), boxes[note.id].y + high / 2
    return GraphLayout(boxes, bends, width, height)


class _Placed:
    """Layers and positions of nodes, numbered from 0, and of the bends of edges that pass a layer, numbered after them."""

    def __init__(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], sizes: Mapping[str, Point]) -> None:
        self.nodes = nodes
        self.sizes = [sizes[node.id] for node in nodes]
        self.numbers = {node.id: number for number, node in enumerate(nodes)}
        self.links = list(dict.fromkeys((self.numbers[e.source], self.numbers[e.target]) for e in edges if e.source != e.target))
        self.layer: dict[int, int] = {}
        self.position: dict[int, float] = {}
        self.chains: dict[tuple[int, int], list[int]] = {}
        self._place()

    def _place(self) -> None:
        """Connected parts one below the other, in the order of their first nodes."""
        try:
            from fast_sugiyama import from_edges
        except ImportError as error:
            raise MissingPackage(f"pictures in notebooks need fast-sugiyama: {install('plot')}") from error
        below, unused = 0.0, len(self.nodes)
        parts = from_edges(self.links, vertex_spacing=1.0, dummy_vertices=True, dummy_size=0.4) if self.links else []
        # The library numbers nodes by their place in a set of them, and calls bends by numbers beyond the largest of its own.
        for positions, across, down, segments in sorted(parts, key=lambda part: min(int(n) for n, _ in part[0])):
            known = {node for link in self.links for node in link}
            renamed: dict[int, int] = {}
            for name, (x, y) in positions:
                number = int(name)
                if number not in known or number in self.layer:
                    renamed[number] = number = unused
                    unused += 1
                self.layer[number], self.position[number] = round(down - y), below + x
            self._follow([(renamed.get(int(s), int(s)), renamed.get(int(t), int(t))) for s, t in segments or ()])
            below += across + 1
        for number in range(len(self.nodes)):
            if number not in self.layer:
                self.layer[number], self.position[number] = 0, below
                below += 1

    def _follow(self, segments: Sequence[tuple[int, int]]) -> None:
        """Set the bends of each edge: an edge against the direction of the layers may be given from its target."""
        following: dict[int, int] = {s: t for s, t in segments if s >= len(self.nodes)}
        for source, target in segments:
            chain: list[int] = []
            while target >= len(self.nodes) and target in following and target not in chain:
                chain.append(target)
                target = following[target]
            if chain and source < len(self.nodes):
                self.chains[source, target] = chain

    def columns(self, edges: Sequence[GraphEdge], labels: Sequence[float]) -> tuple[dict[int, tuple[float, float]], float]:
        """Return the left and the right end of each layer, and the whole width. A label widens the gap before the later end of its edge."""
        gaps: dict[int, float] = {}
        for edge, label in zip(edges, labels):
            ends = {self.layer[self.numbers[edge.source]], self.layer[self.numbers[edge.target]]}
            if len(ends) == 2:
                gaps[max(ends)] = max(gaps.get(max(ends), 0), label + 24)
        columns: dict[int, tuple[float, float]] = {}
        at = 0.0
        for layer in sorted(set(self.layer.values())):
            at += max(GAP_ACROSS, gaps.get(layer, 0)) if columns else 0
            wide = max((self.sizes[n][0] for n in range(len(self.nodes)) if self.layer[n] == layer), default=0.0)
            columns[layer] = at, at + wide
            at += wide
        return columns, at

    def rows(self) -> tuple[dict[int, float], float]:
        """Return the middle of each node and bend from the top: the library's positions, stretched until nothing of a layer overlaps."""
        heights = {n: self.sizes[n][1] if n < len(self.nodes) else LANE for n in self.layer}
        at_position: dict[float, list[int]] = {}
        for number, position in sorted(self.position.items(), key=lambda item: (item[1], item[0])):
            at_position.setdefault(position, []).append(number)
        rows: dict[int, float] = {}
        ends: dict[int, float] = {}
        last: tuple[float, float] | None = None
        for position, numbers in at_position.items():
            row = max((ends[self.layer[n]] + GAP_DOWN + heights[n] / 2 for n in numbers if self.layer[n] in ends), default=0.0)
            if last is not None:
                row = max(row, last[1] + min(position - last[0], 1.0) * 1.5 * GAP_DOWN)
            last = position, row
            for n in numbers:
                rows[n] = row
                ends[self.layer[n]] = row + heights[n] / 2
        top = min((rows[n] - heights[n] / 2 for n in rows), default=0.0)
        return {n: row - top for n, row in rows.items()}, max((row - top + heights[n] / 2 for n, row in rows.items()), default=0.0)


__all__ = ["Box", "GraphLayout", "Point", "lay_out"]
