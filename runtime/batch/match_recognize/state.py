"""The state of a row pattern kernel as the row tier has it: partitions with their partial matches, and the rows of the window.

Layers come as ``LayeredPartition`` keeps them where no condition looks at the rows of a match, else as single partial matches with their
paths. A row that is in the window counts as taken: rows leave in order, so that it changes nothing.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from runtime.batch.match_recognize.held_matches import first_row_times, waiting_matches
from runtime.batch.match_recognize.layers import ways_in_tree
from runtime.batch.match_recognize.layout import NO_ROW, REGISTERS, MatchKernel
from runtime.batch.storage.arrays import RING, Array
from runtime.batch.storage.held_rows import RowsById
from runtime.batch.storage.records import Records
from runtime.match_recognize.lattice import bits
from windows.event import Event
from windows.paging import Compared, Long, Marked
from windows.protocol import State


@attrs.define
class PatternState:
    """Of one run. ``key_values``: of a row the values of its partition's key."""

    kernel: MatchKernel
    arrays: Records
    registers: Array
    rows: RowsById
    first: int
    key_values: Callable[[Event], list[Any]]

    def register(self, name: str) -> int:
        return int(self.registers[REGISTERS[name]])

    # ------------------------------------------------------------------ rows

    def window_ids(self) -> Array:
        """Return the ids of the rows in the window, oldest first."""
        assert self.kernel.window is not None
        if self.kernel.window.whole:
            return np.arange(self.register("head"), self.register("tail")) + self.register("shift")
        return self.in_ring("w_row")

    def in_ring(self, name: str) -> Array:
        places = np.arange(self.register("head"), self.register("tail")) & (self.arrays.sizes[RING] - 1)
        values: Array = self.arrays[name][places]
        return values

    def history_names(self, prefix: str = "h", suffix: str = "_row") -> list[str]:
        return [f"{prefix}{n}{suffix}" for n in range(1, self.kernel.plan.lookback + 1)]

    def next_due(self) -> int | None:
        """Return when a row of a time window is to leave next, or matches that an interval holds back are to be emitted."""
        dues = [self._window_due(), None if self.kernel.interval is None else self.kernel.interval.next_due(self.arrays)]
        return min((due for due in dues if due is not None), default=None)

    def _window_due(self) -> int | None:
        if self.kernel.window is None or not self.kernel.window.timed or self.register("head") == self.register("tail"):
            return None
        return int(self.in_ring("w_time")[0] + self.arrays["size"][0])

    # ------------------------------------------------------------------ the whole

    def state(self, ids: Array) -> State:
        """Return the state. ``ids``: those of all rows that are held."""
        events = self.rows.events(ids)
        return {"windows": self._window(events), "prior": None, "match_recognize": self._recognizer(events), "result_set": None}

    def _window(self, events: dict[int, Event]) -> State:
        window = self.kernel.window
        if window is None:
            return None
        size, held = int(self.arrays["size"][0]), [events[n] for n in self.window_ids().tolist()]
        if window.kind == "keepall":
            return Long(held)
        if window.kind == "length":
            return {"size": size, "events": Long(held)}
        timed = Long([event, time] for event, time in zip(held, self.in_ring("w_time").tolist()))
        return {"events": timed, "duration": size} if not window.timed else {"events": timed, "duration": size, "due": self._window_due()}

    def _recognizer(self, events: dict[int, Event]) -> State:
        ids = self.window_ids().tolist() if self.kernel.window is not None else []
        histories = []
        if ids and self.kernel.plan.lookback:
            before = [self.in_ring(name).tolist() for name in self.history_names("w_before", "")]
            histories = [[events[n], [events.get(b) for b in seen]] for n, seen in zip(ids, zip(*before))]
        partitions: Marked | Compared = self._partitions(events)
        if self.kernel.interval is not None:  # reads all of them
            partitions = Compared("partitions", partitions)
        return {
            "row": self.first, "partitions": partitions, "numbers": Long([events[n], n + 1] for n in ids),
            "taken": Long(n + 1 for n in ids), "twice": [], "histories": Long(histories), "interval": self._interval(partitions, events),
        }

    def _partitions(self, events: dict[int, Event]) -> Marked:
        count = self.register("groups")
        histories = [self.arrays[name][:count].tolist() for name in self.history_names()]
        layers = None if self.kernel.has_partial_matches else _Layers.of(self.arrays, count, self.register("gone"))

        def row(group: int) -> list[Any] | None:
            writer = _Paths(events)
            history = [events.get(column[group]) for column in histories]
            if layers is None:
                partial_matches = self._partial_matches(group, writer)
                last, written = (writer.first(partial_matches[0][2]) if partial_matches else None), partial_matches
            else:
                last, written = self._layers(*layers.at(group), events, writer)
            known_by = last if last is not None else history[0] if history else None
            return None if known_by is None else [self.key_values(known_by), [history, written, writer.nodes]]

        columns = [self.arrays[name][:count] for name in self.history_names()]
        return Marked("partitions", partition_marks(self.arrays, columns, layers, self.register("gone"), count), row)

    # ------------------------------------------------------------------ interval

    def _interval(self, partitions: Iterable[Any], events: dict[int, Event]) -> State:
        """Return the state as ``runtime.match_recognize.interval`` writes it."""
        interval, arrays = self.kernel.interval, self.arrays
        if interval is None:
            return None
        starts = bits(self.kernel.plan.program.start)
        begins: list[int] = []
        for _, (_, written, _) in partitions:
            if self.kernel.writes_layers:
                begins += [number for _, number, taken in written[2] if taken & starts]
            else:
                begins += [begin for _, begin, _, _ in written]
        waiting = Compared("held matches", [row for at in waiting_matches(arrays) for row in self._waiting_matches(*at, events)])
        return {"waiting": waiting, "due": interval.next_due(arrays), "began": Long(first_row_times(arrays, begins, self.register("now")))}

    def _waiting_matches(self, began: int, places: Sequence[int], events: dict[int, Event]) -> list[Any]:
        """Return what is held back of one time, by partition. Its last row gives a match its sequence number, which does not change where
        others are released; a later match has no lower one, and a higher one than those of other partitions."""
        arrays, number, before = self.arrays, 0, -1
        by_group: dict[int, tuple[list[Any], _Paths]] = {}
        for place in places:
            group, end = int(arrays["m_group"][place]), int(arrays["m_end"][place])
            number, before = max(end, number + (group != before)), group
            matches, writer = by_group.setdefault(group, ([], _Paths(events)))
            matches.append([number, int(arrays["m_begin"][place]), end, writer.chain(self._waiting_path(place))])
        return [[[began, self.key_values(writer.nodes[-1][1])], [matches, writer.nodes]] for matches, writer in by_group.values()]

    def _waiting_path(self, place: int) -> list[tuple[int, int]]:
        """(row, step) of a match that is held back."""
        node, length = int(self.arrays["m_node"][place]), int(self.arrays["m_len"][place])
        if self.kernel.has_partial_matches:
            return self._way(node)
        nodes = slice(node, node + length)
        return list(zip(self.arrays["p_row"][nodes].tolist(), self.arrays["p_mark"][nodes].tolist()))

    # ------------------------------------------------------------------ layers

    def _layers(
        self, gone: int, layers: list[tuple[int, int]], events: dict[int, Event], writer: _Paths
    ) -> tuple[Event | None, Any]:
        """(a row that the partition is known by if it has partial matches, the partial matches)."""
        latest = self._latest(layers, gone) if layers else ()
        alive = any(n > gone for s, n in zip(self.kernel.plan.program.steps, latest) if s.then)
        layers = [(n, taken) for n, taken in layers if n >= gone] if alive else []
        last = events[layers[-1][0]] if layers else None
        if self.kernel.writes_layers:
            return last, [gone, list(latest) if alive else None, [[events[n], n + 1, taken] for n, taken in layers]]
        return last, self._tree_partial_matches([n for n, _ in layers], latest, gone, writer) if alive else []

    def _latest(self, layers: Sequence[tuple[int, int]], low: int) -> tuple[int, ...]:
        """Return by step the latest first row of a match whose last row it took, 0 for none."""
        program = self.kernel.plan.program
        was = [0] * len(program.steps)
        for row, taken in layers:
            now = [0] * len(was)
            for number in range(len(was)):
                if taken >> number & 1:
                    sources = [was[s] for s, step in enumerate(program.steps) if number in step.then and was[s] > low]
                    now[number] = row + 1 if number in program.start else max(sources, default=0)
            was = now
        return tuple(was)

    def _tree_partial_matches(self, rows: Sequence[int], latest: Sequence[int], low: int, writer: _Paths) -> list[Any]:
        """Partial matches that wait after each step that took the last row."""
        program, ways = self.kernel.plan.program, ways_in_tree(self.kernel.plan.program)
        assert ways is not None
        states = []

        def discovery_order(step: int) -> tuple[int, ...]:
            """Oldest first, then in the order of the program's links."""
            way = ways[step]
            return (-len(way), program.start.index(way[0]), *(program.steps[a].then.index(b) for a, b in zip(way, way[1:])))  # noqa: RUF007

        for step in sorted((s for s, n in enumerate(latest) if n > low), key=discovery_order):
            way = ways[step]
            number = writer.chain(list(zip(rows[len(rows) - len(way) :], way)))
            looked_at = [writer.last(number, self._variable_steps(v)) for v in self._slots()]
            states += [[target, latest[step], number, looked_at] for target in program.steps[step].then]
        return states

    def _slots(self) -> list[int]:
        """Return the variables that conditions look back at."""
        conditions = self.kernel.plan.conditions
        return sorted({o.number for c in conditions if c is not None for o in c.operands if o.kind == "variable"})

    def _variable_steps(self, variable: int) -> frozenset[int]:
        return frozenset(n for n, s in enumerate(self.kernel.plan.program.steps) if s.variable == variable)

    # ------------------------------------------------------------------ partial matches

    def _partial_matches(self, group: int, writer: _Paths) -> list[Any]:
        arrays, states = self.arrays, []
        place = int(arrays["g_first"][group])
        while place >= 0:
            begin = int(arrays["s_begin"][place])
            if begin > self.register("gone"):
                number = self._path(int(arrays["s_node"][place]), writer)
                looked_at = [writer.last(number, self._variable_steps(v)) for v in self.kernel.slots]
                states.append([int(arrays["s_step"][place]), begin, number, looked_at])
            place = int(arrays["s_next"][place])
        return states

    def _path(self, node: int, writer: _Paths) -> int:
        return writer.chain(self._way(node))

    def _way(self, node: int) -> list[tuple[int, int]]:
        way = []
        while node >= 0:
            way.append((int(self.arrays["p_row"][node]), int(self.arrays["p_mark"][node])))
            node = int(self.arrays["p_prev"][node])
        return way[::-1]


@attrs.frozen
class _Layers:
    """The layers of all partitions, by partition: columns are made lists once, not looked up for each."""

    gone: list[int]
    begins: list[int]
    ends: list[int]
    taken: list[int]
    rows: Array
    marks: Array

    @classmethod
    def of(cls, arrays: Records, count: int, gone: int) -> _Layers:
        low = np.maximum(arrays["g_low"][:count], gone) if "g_low" in arrays.words else np.full(count, gone)
        begins, counts = arrays["g_off"][:count], arrays["g_count"][:count]
        taken = arrays["g_bits"][:count].tolist()
        return cls(low.tolist(), begins.tolist(), (begins + counts).tolist(), taken, arrays["p_row"], arrays["p_mark"])

    def records(self) -> tuple[Array, Array]:
        """Return of each node that a partition has, and of each partition, the partition and what is kept there."""
        taken = np.flatnonzero(np.array(self.taken, np.int64))
        begins, ends, gone = (np.array(each, np.int64)[taken] for each in (self.begins, self.ends, self.gone))
        counts = ends - begins
        groups = np.repeat(taken, counts)
        places = np.repeat(ends - np.cumsum(counts), counts) + np.arange(len(groups))
        heads = np.column_stack([np.full(len(taken), 1), gone, np.array(self.taken, np.int64)[taken]])
        nodes = np.column_stack([np.full(len(groups), 2), self.rows[places], self.marks[places]])
        return np.concatenate([taken, groups]), np.concatenate([heads, nodes])

    def at(self, group: int) -> tuple[int, list[tuple[int, int]]]:
        """(the last row that counts no more, the (row, steps) of the partition's layers)."""
        if not self.taken[group]:
            return self.gone[group], []
        places = slice(self.begins[group], self.ends[group])
        return self.gone[group], list(zip(self.rows[places].tolist(), self.marks[places].tolist()))


def partition_marks(arrays: Records, histories: Sequence[Array], layers: _Layers | None, gone: int, count: int) -> list[bytes]:
    """Return of each partition all that its row depends on, by the ids of rows, as bytes; none where nothing is kept.

    ``histories``: of the rows before, by partition; ``layers``: None where partial matches are kept singly, those that begin after
    ``gone``.
    """
    groups, records = _partial_match_records(arrays, gone, count) if layers is None else layers.records()
    for number, column in enumerate(histories):
        there = np.flatnonzero(column != NO_ROW)
        groups = np.concatenate([groups, there])
        records = np.concatenate([records, np.column_stack([np.full(len(there), 0), np.full(len(there), number), column[there]])])
    order = np.argsort(groups, kind="stable")
    data = np.ascontiguousarray(records[order], np.int64)
    ends = (np.searchsorted(groups[order], np.arange(count), side="right") * data.itemsize * 3).tolist()
    whole, begins = data.tobytes(), [0, *ends[:-1]]
    return [whole[begin:end] for begin, end in zip(begins, ends)]


def _partial_match_records(arrays: Records, gone: int, count: int) -> tuple[Array, Array]:
    """Return partial matches in their order as ``_Layers.records`` does: step and begin, then the path, last row first."""
    groups, places = np.arange(count), arrays["g_first"][:count]
    parts: list[tuple[Array, Array, Array, Array]] = []
    order = 0
    while len(there := np.flatnonzero(places >= 0)):
        groups, places = groups[there], places[there]
        lives = arrays["s_begin"][places] > gone
        matches, of = places[lives], groups[lives]
        head = np.column_stack([np.full(len(matches), 1), arrays["s_begin"][matches], arrays["s_step"][matches]])
        parts.append((of, np.full(len(of), order), np.zeros(len(of), np.int64), head))
        nodes, depth = arrays["s_node"][matches], 1
        while len(on := np.flatnonzero(nodes >= 0)):
            nodes, of = nodes[on], of[on]
            path = np.column_stack([np.full(len(nodes), 2), arrays["p_row"][nodes], arrays["p_mark"][nodes]])
            parts.append((of, np.full(len(of), order), np.full(len(of), depth), path))
            nodes, depth = arrays["p_prev"][nodes], depth + 1
        places, order = arrays["s_next"][places], order + 1
    if not parts:
        return np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
    of, number, depths, records = (np.concatenate(each) for each in zip(*parts))
    sorted_places = np.lexsort((depths, number, of))
    return of[sorted_places], records[sorted_places]


class _Paths:
    """Paths of a partition as ``runtime.match_recognize.state`` writes them: ``nodes`` are [number of the node before or -1, row, step]."""

    def __init__(self, events: dict[int, Event]) -> None:
        self.nodes: list[list[Any]] = []
        self._events = events
        self._known: dict[tuple[int, int, int], int] = {}

    def chain(self, way: Sequence[tuple[int, int]]) -> int:
        """Return the number of the last node of a path of (row's id, step); what paths begin with alike is written once."""
        before = -1
        for row, step in way:
            key = (before, row, step)
            if key not in self._known:
                self._known[key] = len(self.nodes)
                self.nodes.append([before, self._events[row], step])
            before = self._known[key]
        return before

    def first(self, number: int) -> Event:
        """Return the row that the partition of a path is known by."""
        event: Event = self.nodes[number][1]
        return event

    def last(self, number: int, steps: frozenset[int]) -> Event | None:
        """Return the last row that one of the steps took."""
        while number >= 0:
            before, event, step = self.nodes[number]
            if step in steps:
                last_event: Event = event
                return last_event
            number = before
        return None


__all__ = ["NO_ROW", "PatternState"]
