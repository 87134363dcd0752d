"""Partial matches as plain values, partition by partition: the paths of a partition share their beginnings, so each row of each path is
written once.

``[key values, [history, partial matches, path nodes]]`` is a partition, ``[[time, key values], [[[sequence number, first row, last row,
path], …], path nodes]]`` what an interval holds back of the matches of one partition that began at one time. Before, all paths stood in one
list, and a partition was known by one of its rows (``current`` reads that form, too).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from epl.reprs import brief
from epl.value_types import ValueType
from runtime.match_recognize.machine import PartialMatch
from runtime.match_recognize.ranking import PathNode
from windows.event import Event, only_events
from windows.keys import key_of_values, values_of_key
from windows.protocol import Damaged
from windows.shape import ANYTHING, COUNT, DUE, EVENT, INTEGER, TIME, Check, compile_check, of_type, optional

MOST_ROWS = 1 << 62

SHAPE = compile_check({
    "row": ANYTHING, "partitions": [([ANYTHING], ([optional(EVENT)], ANYTHING, ANYTHING))], "numbers": [(EVENT, INTEGER)],
    "taken": [INTEGER], "twice": [(INTEGER, INTEGER)], "histories": [(EVENT, [optional(EVENT)])], "interval": ANYTHING,
})
INTERVAL = compile_check({
    "waiting": [((TIME, [ANYTHING]), ([(INTEGER, INTEGER, INTEGER, COUNT)], ANYTHING))], "due": DUE, "began": [(INTEGER, TIME)],
})
"""What an interval holds back, when its timer is due, and when first rows came."""
PATHS_IN_ONE_LIST = compile_check({"partitions": [(EVENT, [optional(EVENT)], ANYTHING)], "interval": ANYTHING, "paths": [ANYTHING]})
WAITING_BY_TIME = compile_check({"waiting": [(TIME, [(INTEGER, INTEGER, COUNT)])]})
"""The form before."""
LOOKED_AT = compile_check([optional(EVENT)])
"""The last rows of the variables that a partial match looks back at."""


class PartitionKeys:
    """A partition's key ↔ the values of its expressions."""

    def __init__(self, types: Sequence[ValueType]) -> None:
        self._types = tuple(types)

    def values(self, key: Any) -> list[Any]:
        return values_of_key(key, len(self._types)) if self._types else []

    @cached_property
    def _check(self) -> Check:
        return compile_check(tuple(of_type(each) for each in self._types))

    def check_values(self, values: Any) -> Any:
        """Return the values. Raise Damaged where they are not values of these types."""
        self._check(values)
        return values

    def key(self, values: Any) -> Any:
        """Return the key; raise Damaged where they are not values of these types."""
        return key_of_values(self.check_values(values), self._types) if self._types else self._check(values)


def current(state: Any, values_of: Callable[[Event], list[Any]]) -> dict[str, Any]:
    """Return the state in the form that is written today, with what is paged read. ``values_of``: the key values of a row. Raise
    Damaged."""
    if state.__class__ is dict and "paths" in state:
        state = _by_partition(state, values_of)
    if state.__class__ is dict:
        state = {"twice": [], **state}
    SHAPE(state)
    interval = state["interval"]
    if interval is not None:
        INTERVAL(interval)
        interval = {**interval, "waiting": list(interval["waiting"])}
    return {**state, "partitions": list(state["partitions"]), "interval": interval}


def _by_partition(state: Any, values_of: Callable[[Event], list[Any]]) -> dict[str, Any]:
    PATHS_IN_ONE_LIST(state)
    paths, interval = state["paths"], state["interval"]
    if interval is not None:
        WAITING_BY_TIME(interval)
        matches = [(time, match) for time, of_time in interval["waiting"] for match in of_time]
        for _, (_, _, number) in matches:
            _check_place(number, len(paths), "path")
            EVENT(paths[number][1])
        waiting = [
            [[time, values_of(paths[number][1])], [[[sequence, begin, end, number]], paths]]
            for sequence, (time, (begin, end, number)) in enumerate(matches)
        ]
        interval = {**interval, "waiting": waiting}
    partitions = [[values_of(event), [history, written, paths]] for event, history, written in state["partitions"]]
    return {**state, "partitions": partitions, "interval": interval}


class PathWriter:
    """Numbers path nodes; ``nodes`` are (number of the node before or -1, row, step), every node after the one it refers to."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[PathNode] = []

    def number(self, path: PathNode | None) -> int:
        """Return the number of a path's last node."""
        chain: list[PathNode] = []
        node = path
        while node is not None and id(node) not in self._numbers:
            chain.append(node)
            node = node[0]
        before = -1 if node is None else self._numbers[id(node)]
        for node in reversed(chain):
            self.nodes.append([before, node[1], node[2]])
            self._kept.append(node)
            before = self._numbers[id(node)] = len(self.nodes) - 1
        return before

    def partial_matches(self, partial_matches: Sequence[PartialMatch]) -> list[list[Any]]:
        return [[step, began, self.number(path), list(looked_at)] for step, began, path, looked_at in partial_matches]


class PathReader:
    """The paths that a writer wrote."""

    def __init__(self, nodes: Sequence[Sequence[Any]], steps: int) -> None:
        check_nodes(nodes, steps)
        self._steps = steps
        self._paths: list[PathNode] = []
        for before, event, step in nodes:
            self._paths.append((None if before < 0 else self._paths[before], event, step))

    def path(self, number: int) -> PathNode:
        """Raise Damaged where there is none."""
        _check_place(number, len(self._paths), "path")
        return self._paths[number]

    def partial_matches(self, written: Sequence[Sequence[Any]], width: int) -> list[PartialMatch]:
        """Return the partial matches, which look back at rows of ``width`` variables."""
        check_partial_matches(written, self._steps, len(self._paths))
        if any(len(looked_at) != width for _, _, _, looked_at in written):
            raise Damaged(f"a partial match does not look back at {width} variables")
        return [(step, began, self._paths[number], tuple(looked_at)) for step, began, number, looked_at in written]


class PathReaders:
    """The reader of each list of nodes, which all partitions had in common before."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._last: Sequence[Any] = ()
        self._reader = PathReader((), steps)

    def of(self, nodes: Sequence[Any]) -> PathReader:
        if nodes is not self._last:
            self._last, self._reader = nodes, PathReader(nodes, self._steps)
        return self._reader


def check_nodes(nodes: Sequence[Sequence[Any]], steps: int) -> None:
    """Raise Damaged where a path does not end, takes a step that the program has not, or has another value than a row."""
    for number, (before, _, step) in enumerate(nodes):
        if type(before) is not int or not -1 <= before < number:
            raise Damaged("a row of a path does not follow one before it")
        _check_place(step, steps, "step")
    only_events(event for _, event, _ in nodes)


def check_histories(state: Any, lookback: int) -> None:
    """Raise Damaged where a row has more or fewer rows before it than ``prev`` looks back."""
    for history in (*(entry[0] for _, entry in state["partitions"]), *(history for _, history in state["histories"])):
        if len(history) != lookback:
            raise Damaged(f"a row has {len(history)} rows before it where {lookback} are expected")


def check_partial_matches(written: Sequence[Sequence[Any]], steps: int, paths: int) -> None:
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
    """Raise Damaged for what is not a number of a row."""
    if type(value) is not int or not -MOST_ROWS <= value < MOST_ROWS:
        raise Damaged(f"there is no row {brief(value)}")


def _check_place(value: Any, count: int, what: str) -> None:
    if type(value) is not int or not 0 <= value < count:
        raise Damaged(f"there is no {what} {brief(value)}")
