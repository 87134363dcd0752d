"""The row tier's state of match_recognize → the arrays of a row pattern kernel."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.value_types import Scalar
from runtime.batch.compiler.intrinsics import double_word
from runtime.batch.match_recognize.held_matches import HeldRestore
from runtime.batch.match_recognize.layout import FEW_LAYERS, NO_ROW, NODE, PARTIAL_MATCH, REGISTERS, SMALL, SMALL_KEYS, WORK
from runtime.batch.match_recognize.partitions import index_keys
from runtime.batch.match_recognize.state import PatternState
from runtime.batch.refusals import Declined
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import CODES, GROUP, HASH, RING
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import INSTANTS, TEXTS
from runtime.conversion.arrow import value_arrow_type
from runtime.match_recognize.state import INTERVAL, PartitionKeys, check_histories, check_layers, check_nodes, check_partial_matches
from windows.event import Event
from windows.protocol import Damaged, State

NULL_WORD = 2**62


@attrs.define
class PatternRestore:
    """Fills a fresh run. Row numbers are kept: number n has the id n - 1; rows whose number is unknown get ids below 0."""

    target: PatternState
    intake_type: Any
    surroundings: RunContext
    _keys: PartitionKeys = attrs.field(init=False)
    _ids: dict[int, int] = attrs.field(factory=dict)
    _events: list[Event] = attrs.field(factory=list)
    _groups: dict[tuple[int, ...], int] = attrs.field(factory=dict)
    _place: dict[int, int] = attrs.field(factory=dict)
    _intake: Any = None

    @_keys.default
    def _keys_of_the_plan(self) -> PartitionKeys:
        return PartitionKeys([node.type for node in self.target.kernel.plan.partition_by])

    # ------------------------------------------------------------------ rows

    def restore(self, window: State, recognizer: State) -> None:
        """Restore the state. Raise Declined where columns cannot hold the rows. ``recognizer``: in its current form."""
        self._check(recognizer)
        self._number(recognizer)
        self._check_numbers(recognizer)
        self._hold()
        self._restore_window(window, recognizer)
        for values, (history, written, paths) in recognizer["partitions"]:
            if not history and not (written[1] if self._layered else written):
                continue  # all of its rows have been taken, or are in the window
            known = len(self._groups)
            group = self._group(values)
            if len(self._groups) == known:
                raise Damaged("two partitions have one key")
            for name, seen in zip(self.target.history_names(), history):
                self._remember(group, name, seen)
            self._count_partial_matches(group, written, paths)
        if self.target.kernel.interval is not None:
            self._hold_back(recognizer["interval"])
        self._index()

    def _check_numbers(self, recognizer: State) -> None:
        """Raise Damaged where rows do not have numbers of their own, below that of the next row."""
        numbers = list(self._ids.values())
        if len(set(numbers)) != len(numbers) or max(numbers, default=-1) >= recognizer["row"]:
            raise Damaged("two rows have one number, or a row has that of one that is still to come")
        numbered = [(event, number) for event, number in recognizer["numbers"]]
        numbered += [(event, number) for _, (_, written, _) in recognizer["partitions"] for event, number, _ in self._layers(written)]
        if any(self._ids[id(event)] != number - 1 for event, number in numbered):
            raise Damaged("a row has two numbers")

    def _check(self, recognizer: State) -> None:
        """Raise Damaged for numbers that are not places: compiled code looks up by them, and compares them with nothing."""
        check_histories(recognizer, self.target.kernel.plan.lookback)
        steps = len(self.target.kernel.plan.program.steps)
        for paths in self._paths(recognizer):
            check_nodes(paths, steps)
        for values, (_, written, paths) in recognizer["partitions"]:
            self._keys.check_values(values)
            if self._layered:
                check_layers(written, steps)
            else:
                check_partial_matches(written, steps, len(paths))
        for (_, values), (matches, paths) in self._waiting(recognizer):
            self._keys.check_values(values)
            check_partial_matches([(0, begin, number, ()) for _, begin, _, number in matches], steps, len(paths))

    @staticmethod
    def _waiting(recognizer: State) -> Sequence[Any]:
        """Return what an interval holds back."""
        waiting: Sequence[Any] = () if recognizer["interval"] is None else recognizer["interval"]["waiting"]
        return waiting

    def _paths(self, recognizer: State) -> Iterable[Sequence[Any]]:
        """Return the lists of paths, each once."""
        rows = (*recognizer["partitions"], *self._waiting(recognizer))
        return {id(paths): paths for _, (*_, paths) in rows}.values()

    def _number(self, recognizer: State) -> None:
        """Give each row an id: its number where that is known."""
        for event, number in recognizer["numbers"]:
            self._know(event, number - 1)
        for _, (_, written, paths) in recognizer["partitions"]:
            for event, number, _ in self._layers(written):
                self._know(event, number - 1)
            for _, begin, number, _ in self._partial_matches(written):
                self._know(_first_row(paths, number), begin - 1)
        for _, (matches, paths) in self._waiting(recognizer):
            for _, begin, end, number in matches:
                self._know(_first_row(paths, number), begin - 1)
                self._know(paths[number][1], end - 1)
        others = [event for _, (history, *_) in recognizer["partitions"] for event in history]
        others += [node[1] for paths in self._paths(recognizer) for node in paths]
        others += [seen for _, history in recognizer["histories"] for seen in history]
        for event in others:
            if event is not None and id(event) not in self._ids:
                self._know(event, -1 - len(self._ids))

    def _know(self, event: Event, number: int) -> None:
        if id(event) not in self._ids:
            self._ids[id(event)] = number
            self._events.append(event)

    def event_id(self, event: Event | None) -> int:
        return NO_ROW if event is None else self._ids[id(event)]

    def _layers(self, written: Any) -> Sequence[Any]:
        return written[2] if self._layered else ()

    def _partial_matches(self, written: Any) -> Sequence[Any]:
        return () if self._layered else written

    @property
    def _layered(self) -> bool:
        return self.target.kernel.writes_layers

    def _hold(self) -> None:
        """Hold the rows as a batch, and the values of its columns by id."""
        self._events.sort(key=lambda event: self._ids[id(event)])
        ids = np.array([self._ids[id(event)] for event in self._events], np.int64)
        self._place = {number: place for place, number in enumerate(ids.tolist())}
        self._intake = BatchIntake.of(self.intake_type, self._events, self.surroundings.environment.settings.units_per_second)
        self.target.rows.put(ids, self._intake)

    def _value(self, name: str, number: int) -> tuple[Any, Any]:
        kind = dict(self.target.kernel.inputs)[name]
        values, valid = self._intake.column(name, kind, self.surroundings.pool)
        return values[self._place[number]], valid[self._place[number]]

    # ------------------------------------------------------------------ window

    def _restore_window(self, state: State, recognizer: State) -> None:
        target, window = self.target, self.target.kernel.window
        target.registers[REGISTERS["gone"]] = 0
        if window is None:
            return
        arrays, timed = target.arrays, window.kind in ("time", "ext_timed")
        entries = list(state if window.kind == "keepall" else state["events"])
        if window.kind != "keepall":
            arrays["size"][0] = state["duration"] if timed else state["size"]
        held = [event for event, _ in entries] if timed else entries
        numbers = [number for _, number in recognizer["numbers"]]
        if len(numbers) != len(held) or any(id(e) not in self._ids for e in held):
            raise Declined("a window whose rows match_recognize does not know")
        arrays.grow(RING, len(held) + 1)
        ids = [self.event_id(event) for event in held]
        if "w_row" in (f.name for f in target.kernel.fields):
            arrays["w_row"][: len(ids)] = ids
        elif ids and ids != list(range(recognizer["row"] - len(ids), recognizer["row"])):
            raise Declined("a window whose rows do not follow one another")
        target.registers[REGISTERS["shift"]] = ids[0] if ids else 0
        if timed:
            arrays["w_time"][: len(ids)] = [time for _, time in entries]
        target.registers[REGISTERS["tail"]] = len(ids)
        target.registers[REGISTERS["gone"]] = ids[0] if ids else recognizer["row"]
        histories = {id(event): history for event, history in recognizer["histories"]}
        for number, name in enumerate(target.history_names("w_before", "")):
            arrays[name][: len(ids)] = [self.event_id(histories[id(e)][number]) if id(e) in histories else NO_ROW for e in held]
        if window.timed and state["due"] != target.next_due():
            raise Declined("a time window whose clock was set back")

    # ------------------------------------------------------------------ partitions

    def _group(self, values: Sequence[Any]) -> int:
        words = self._words(values)
        group = self._groups.setdefault(words, len(self._groups))
        arrays = self.target.arrays
        arrays.grow(GROUP, len(self._groups))
        if self.target.kernel.keys:
            arrays["g_key"][:, group] = words
        self.target.registers[REGISTERS["groups"]] = len(self._groups)
        return group

    def _words(self, values: Sequence[Any]) -> tuple[int, ...]:
        """Return the partition's key as the kernel prints it (``pattern_keys.words_of_key``)."""
        kernel, words = self.target.kernel, []
        for node, kind, value in zip(kernel.plan.partition_by, kernel.keys, values):
            nullable = not (isinstance(node.type, Scalar) and node.type.primitive)
            if kind in TEXTS:
                words.append(self.surroundings.pool.code(value))
            elif kind in ("long", "float", "double"):
                words.append(0 if value is None else int(value) if kind == "long" else int(double_word(np.float64(value))))
                words += [int(value is not None)] if nullable else []
            elif value is None:
                words.append(NULL_WORD)
            elif kind in INSTANTS:
                words.append(pa.array([value], value_arrow_type(node.type)).cast(pa.timestamp("us")).view(pa.int64())[0].as_py())
            else:
                words.append(int(value))
        return tuple(words)

    def _index(self) -> None:
        """Fill the index in which keys are looked up."""
        arrays, count = self.target.arrays, len(self._groups)
        if not self.target.kernel.keys:
            return
        if CODES in arrays.sizes:
            arrays.grow(CODES, len(self.surroundings.pool) + 1)
        if HASH in arrays.sizes:
            arrays.grow(HASH, 4 * count + 1)
        if SMALL in arrays.sizes:
            keys = arrays["g_key"][0, :count]
            arrays.grow(SMALL, int(keys[(keys >= 0) & (keys < SMALL_KEYS)].max(initial=0)) + 1)
        index_keys(arrays, count)

    def _remember(self, group: int, name: str, event: Event | None) -> None:
        arrays, back = self.target.arrays, name.removesuffix("_row")
        arrays[name][group] = self.event_id(event)
        if event is not None:
            for prop in self.target.kernel.previous:
                number = self.target.kernel.number(prop)
                arrays[f"{back}_{number}"][group], arrays[f"{back}_{number}v"][group] = self._value(prop, self.event_id(event))

    # ------------------------------------------------------------------ partial matches

    def _count_partial_matches(self, group: int, written: Any, paths: Sequence[Any]) -> None:
        if self.target.kernel.has_partial_matches:
            self._put_partial_matches(group, written, paths)
            return
        if self._layered:
            horizon, latest, layers = written
            rows = [(number - 1, taken) for _, number, taken in layers] if latest is not None else []
        else:
            horizon, latest, rows = self._build_layers(written, paths)
        self._put_layers(group, horizon, latest, rows)

    def _build_layers(self, partial_matches: Sequence[Any], paths: Sequence[Any]) -> tuple[int, Any, list[tuple[int, int]]]:
        """Partial matches of a tree as layers: all of them took the last row."""
        marks: list[list[int]] = []
        latest = [0] * len(self.target.kernel.plan.program.steps)
        for _, begin, number, _ in partial_matches:
            latest[paths[number][2]] = begin
            back = 0
            while number >= 0:
                number, event, step = paths[number]
                if back == len(marks):
                    marks.append([self.event_id(event), 0])
                marks[back][1] |= 1 << step
                back += 1
        return 0, latest if partial_matches else None, [(row, taken) for row, taken in reversed(marks)]

    def _put_layers(self, group: int, horizon: int, latest: Sequence[int] | None, rows: Sequence[tuple[int, int]]) -> None:
        arrays, registers = self.target.arrays, self.target.registers
        if "g_low" in arrays.words:
            arrays["g_low"][group] = horizon
        if latest is None:
            return
        size = max(FEW_LAYERS, (len(rows) - 1).bit_length())
        capacity = 1 << size
        begin = int(registers[REGISTERS["nodes"]])
        self._reserve(begin + capacity)
        registers[REGISTERS["nodes"]] = begin + capacity
        arrays["g_off"][group], arrays["g_cap"][group], arrays["g_size"][group] = begin, capacity, size
        arrays["g_count"][group] = len(rows)
        for place, (row, taken) in enumerate(rows, begin):
            self._put_node(place, row, taken)
        goes_on = [n for n, step in enumerate(self.target.kernel.plan.program.steps) if step.then and latest[n] > horizon]
        arrays["g_bits"][group] = sum(1 << n for n in goes_on)
        for number in goes_on:
            if f"lat{number}" in arrays.words:
                arrays[f"lat{number}"][group] = latest[number]

    def _reserve(self, size: int) -> None:
        self.target.arrays.grow(NODE, size)
        self.target.arrays.grow("scratch", self.target.arrays.sizes[NODE])

    def _put_node(self, place: int, row: int, mark: int) -> None:
        arrays = self.target.arrays
        arrays["p_row"][place], arrays["p_mark"][place] = row, mark
        for prop in self.target.kernel.retained:
            number = self.target.kernel.number(prop)
            arrays[f"p{number}"][place], arrays[f"p{number}v"][place] = self._value(prop, row)

    def _put_partial_matches(self, group: int, partial_matches: Sequence[Any], paths: Sequence[Any]) -> None:
        arrays, registers = self.target.arrays, self.target.registers
        first = int(registers[REGISTERS["made"]])
        if not partial_matches:
            return
        arrays.grow(PARTIAL_MATCH, first + len(partial_matches))
        registers[REGISTERS["made"]] = first + len(partial_matches)
        nodes: dict[int, int] = {}
        for place, (step, begin, number, _) in enumerate(partial_matches, first):
            node = self._path(number, paths, nodes)
            arrays["p_refs"][node] += 1
            arrays["s_step"][place], arrays["s_begin"][place], arrays["s_node"][place] = step, begin, node
            arrays["s_next"][place] = place + 1 if place + 1 < first + len(partial_matches) else -1
            for variable in self.target.kernel.slots:
                arrays[f"s_look{variable}"][place] = self._last_row(variable, node)
        arrays["g_first"][group], arrays["g_count"][group] = first, len(partial_matches)

    def _path(self, number: int, paths: Sequence[Any], nodes: dict[int, int]) -> int:
        """Return the node of a path's last row; ``nodes`` by path's number."""
        way = []
        while number >= 0 and number not in nodes:
            way.append(number)
            number = paths[number][0]
        node = nodes[number] if number >= 0 else -1
        for number in reversed(way):
            _, event, step = paths[number]
            place = int(self.target.registers[REGISTERS["nodes"]])
            self._reserve(place + 1)
            self.target.registers[REGISTERS["nodes"]] = place + 1
            self._put_node(place, self.event_id(event), step)
            self.target.arrays["p_prev"][place] = node
            if node >= 0:
                self.target.arrays["p_refs"][node] += 1
            node = nodes[number] = place
        return node

    def _check_begins(self, state: State) -> None:
        """Raise Damaged where it is not known when a partial match began: compiled code looks up the time of its first row."""
        arrays, registers = self.target.arrays, self.target.registers
        if self.target.kernel.has_partial_matches:
            begins = arrays["s_begin"][: registers[REGISTERS["made"]]].tolist()
        else:
            arrays_of_begins = [arrays[name] for name in arrays.words if name.startswith("lat")]
            begins = [begin for each in arrays_of_begins for begin in each[: len(self._groups)].tolist() if begin > 0]
        if begins and min(begins) < min((row for row, _ in state["began"]), default=min(begins) + 1):
            raise Damaged("it is not known when a partial match began")

    def _hold_back(self, state: State) -> None:
        """Restore what an interval holds back."""
        arrays, held = self.target.arrays, HeldRestore(self.target.arrays)
        INTERVAL(state)
        self._check_begins(state)
        nodes: dict[int, dict[int, int]] = {}
        waiting = [(began, values, paths, *match) for (began, values), (matches, paths) in state["waiting"] for match in matches]
        held.begun([*state["began"], *((begin, began) for began, _, _, _, begin, _, _ in waiting)])
        arrays.grow(WORK, len(waiting) + 1)
        for began, values, paths, _, begin, end, number in sorted(waiting, key=lambda each: (each[0], each[3])):
            way = _path_nodes(paths, number)
            if self.target.kernel.has_partial_matches:
                node = self._path(number, paths, nodes.setdefault(id(paths), {}))
                arrays["p_refs"][node] += 1
            else:
                node = self._block(way)
            held.hold(began, begin, end, node, len(way), self._group(values))
        held.timer(state["due"])

    def _block(self, way: Sequence[Any]) -> int:
        """Return a path as nodes side by side; the first of them."""
        registers = self.target.registers
        begin = int(registers[REGISTERS["nodes"]])
        capacity = 1 << max(FEW_LAYERS, (len(way) - 1).bit_length())
        self._reserve(begin + capacity)
        registers[REGISTERS["nodes"]] = begin + capacity
        for place, (_, event, step) in enumerate(way, begin):
            self._put_node(place, self.event_id(event), step)
        return begin

    def _last_row(self, variable: int, node: int) -> int:
        arrays, steps = self.target.arrays, self.target.kernel.plan.program.steps
        while node >= 0 and steps[int(arrays["p_mark"][node])].variable != variable:
            node = int(arrays["p_prev"][node])
        return node


def _path_nodes(paths: Sequence[Any], number: int) -> list[Any]:
    """Return the nodes of a path, first to last."""
    way = []
    while number >= 0:
        way.append(paths[number])
        number = paths[number][0]
    return way[::-1]


def _first_row(paths: Sequence[Any], number: int) -> Event:
    return _path_nodes(paths, number)[0][1]  # type: ignore[no-any-return]


__all__ = ["PatternRestore"]
