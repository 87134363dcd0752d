"""Partial matches as plain values: paths share their beginnings, so each row of each path is written once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epl.reprs import brief
from runtime.match_recognize.machine import PartialMatch
from runtime.match_recognize.ranking import PathNode
from windows.event import only_events
from windows.protocol import Damaged
from windows.shape import ANYTHING, COUNT, DUE, EVENT, INTEGER, TIME, compiled, optional

MOST_ROWS = 1 << 62

SHAPE = compiled({
    "row": ANYTHING, "partitions": [(optional(EVENT), [optional(EVENT)], ANYTHING)], "numbers": [(EVENT, INTEGER)], "taken": [INTEGER],
    "histories": [(EVENT, [optional(EVENT)])], "interval": ANYTHING, "paths": ANYTHING,
})
INTERVAL = compiled({"waiting": [(TIME, [(INTEGER, INTEGER, COUNT)])], "due": DUE, "began": [(INTEGER, TIME)]})
"""What an interval holds back: [time, [first row, last row, path]], and when first rows came."""
LOOKED_AT = compiled([optional(EVENT)])
"""The last rows of the variables that a partial match looks back at."""


class PathWriter:
    """Numbers path nodes; ``nodes`` are (number of the node before or -1, row, step), every node after the one it refers to."""

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

    def strands(self, strands: Sequence[PartialMatch]) -> list[tuple[int, int, int, tuple[Any, ...]]]:
        return [(step, began, self.number(path), looked_at) for step, began, path, looked_at in strands]


class PathReader:
    """The paths that a writer wrote."""

    def __init__(self, nodes: Sequence[Sequence[Any]], steps: int) -> None:
        check_nodes(nodes, steps)
        self._steps = steps
        self._paths: list[PathNode] = []
        for before, event, step in nodes:
            self._paths.append((None if before < 0 else self._paths[before], event, step))

    def path(self, number: int) -> PathNode:
        return self._paths[number]

    def strands(self, written: Sequence[Sequence[Any]]) -> list[PartialMatch]:
        check_strands(written, self._steps, len(self._paths))
        return [(step, began, self._paths[number], tuple(looked_at)) for step, began, number, looked_at in written]


def check_nodes(nodes: Sequence[Sequence[Any]], steps: int) -> None:
    """Raise Damaged where a path does not end, takes a step that the program has not, or has another value than a row."""
    for number, (before, _, step) in enumerate(nodes):
        if type(before) is not int or not -1 <= before < number:
            raise Damaged("a row of a path does not follow one before it")
        _check_place(step, steps, "step")
    only_events(event for _, event, _ in nodes)


def check_histories(state: Any, lookback: int) -> None:
    """Raise Damaged where a row has more or fewer rows before it than ``prev`` looks back."""
    for _, history, *_ in (*state["partitions"], *state["histories"]):
        if len(history) != lookback:
            raise Damaged(f"a row has {len(history)} rows before it where {lookback} are expected")


def check_strands(written: Sequence[Sequence[Any]], steps: int, paths: int) -> None:
    """Raise Damaged where a partial match is at a step or has a path that is not there."""
    for step, began, number, looked_at in written:
        LOOKED_AT(looked_at)
        _check_place(step, steps, "step")
        _check_place(number, paths, "path")
        check_row(began)


def check_layers(written: Sequence[Any], steps: int) -> None:
    """Raise Damaged where a partition's layers take steps that are not there, or have no number for each step."""
    horizon, latest, layers = written
    if latest is not None and not layers:
        raise Damaged("a partial match has no row")
    if latest is not None and len(latest) != steps:
        raise Damaged(f"there are {len(latest)} first rows for {steps} steps")
    for row in (horizon, *(latest or ()), *(row for _, row, _ in layers)):
        check_row(row)
    for _, _, taken in layers:
        _check_place(taken, 1 << steps, "set of steps")
    only_events(event for event, _, _ in layers)


def check_row(value: Any) -> None:
    """Raise Damaged for what is no number of a row."""
    if type(value) is not int or not -MOST_ROWS <= value < MOST_ROWS:
        raise Damaged(f"there is no row {brief(value)}")


def _check_place(value: Any, count: int, what: str) -> None:
    if type(value) is not int or not 0 <= value < count:
        raise Damaged(f"there is no {what} {brief(value)}")
