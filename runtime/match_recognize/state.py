"""Matches in progress as plain values: paths share their beginnings, so each row of each path is written once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.match_recognize.machine import Strand
from runtime.match_recognize.ranking import PathNode
from windows.event import only_events


class PathWriter:
    """Numbers path nodes; ``nodes`` are (number of the node before or -1, row, step), every node behind the one it refers to."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, Any, int]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[PathNode] = []

    def number(self, path: PathNode | None) -> int:
        """The number of a path's last node."""
        chain: list[PathNode] = []
        node = path
        while node is not None and id(node) not in self._numbers:
            chain.append(node)
            node = node[0]
        before = -1 if node is None else self._numbers[id(node)]
        for node in reversed(chain):
            self.nodes.append((before, node[1], node[2]))
            self._kept.append(node)
            before = self._numbers[id(node)] = len(self.nodes) - 1
        return before

    def strands(self, strands: Sequence[Strand]) -> list[tuple[int, int, int, tuple[Any, ...]]]:
        return [(step, began, self.number(path), looked_at) for step, began, path, looked_at in strands]


class PathReader:
    """The paths that a writer wrote."""

    def __init__(self, nodes: Sequence[Sequence[Any]]) -> None:
        self._paths: list[PathNode] = []
        for before, event, step in nodes:
            self._paths.append((None if before < 0 else self._paths[before], event, step))
        only_events(path[1] for path in self._paths)

    def path(self, number: int) -> PathNode:
        return self._paths[number]

    def strands(self, written: Sequence[Sequence[Any]]) -> list[Strand]:
        return [(step, began, self._paths[number], tuple(looked_at)) for step, began, number, looked_at in written]
