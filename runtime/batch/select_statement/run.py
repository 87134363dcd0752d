"""Running a select kernel: arrays in, kernel, Arrow out; state is kept between batches."""
from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.event_types import EventType
from runtime.batch.accumulators import group_state, restore_group
from runtime.batch.output_rate.base import HeldState
from runtime.batch.output_rate.conditions import SENT, start_time
from runtime.batch.output_rate.lagging_deltas import LaggingDeltas
from runtime.batch.output_rate.waiting_rows import WaitingStreams
from runtime.batch.result_set.group_state import GroupState, OneGroup, Words
from runtime.batch.runs.inputs import KernelInputs
from runtime.batch.runs.order_and_limit import OutputOrder
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import BatchOutput, Causes, RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.select_statement.kernel import SelectKernel
from runtime.batch.storage.arrays import GROUP, Array, Arrays, longer, read_only
from runtime.batch.storage.computed import build_column
from runtime.batch.storage.fetched import fetch_rows
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import DTYPES
from runtime.batch.storage.registers import ACCUMULATORS_FULL, DONE, GROUPS_FULL, RING_FULL, SELECT
from runtime.batch.storage.row_store import RowStore
from runtime.batch.windows import Window
from runtime.conversion.arrow import arrow_schema
from windows.protocol import Damaged, State

LONGEST_AGO = 1 << 62
"""Units of time that output may have been due for: a kernel subtracts the two, and never gets to now where that wraps."""

NO_TIMES = np.zeros(0, np.int64)

NOTHING_GATHERED: State = {"deltas": [], "kept": []}
"""What the row tier's buffer of deltas holds right after output."""


class SelectRun:
    """A select kernel with its state; see runtime.batch.runs.run.Run. ``first`` counts all rows that ever came: the number of the next."""

    def __init__(self, kernel: SelectKernel, output_type: EventType, surroundings: RunContext) -> None:
        self.kernel, self.output_type, self.surroundings = kernel, output_type, surroundings
        self.function = surroundings.compile(kernel.source)
        self.pool = surroundings.pool
        self.arrays = Arrays(kernel.fields)
        if kernel.window is not None:
            kernel.window.start(self.arrays, surroundings)
        if kernel.rate is not None:
            kernel.rate.start(self.arrays, surroundings)
        self.registers = np.zeros(len(SELECT), np.int64)
        self.first = 0
        self._hashed = 0
        through = [c.through for c in kernel.columns if c.through is not None]
        self._given = KernelInputs(kernel.inputs, through, kernel.parameters, surroundings)
        self._capacity = 1024
        self._schema = list(arrow_schema(output_type))
        self._types = [field.type for field in self._schema]
        self._last_schema: pa.Schema | None = None
        self._last_types: list[pa.DataType] = []
        self._finish = None if kernel.finish is None else OutputOrder(kernel.finish, [c.kind for c in kernel.computed], surroundings)
        self._whole = kernel.window is None and kernel.streams == (True,) and self._finish is None
        self.lagging: LaggingDeltas | None = None
        self.store = RowStore() if kernel.window is not None else None
        self.ring = Ring(kernel.event_type, kernel.inputs, self.arrays, self.registers, surroundings, self.store)
        if kernel.window is not None:
            counted = kernel.window.counted
            if isinstance(kernel.rate, LaggingDeltas):
                self.lagging = kernel.rate
                counted, self.ring.since = kernel.rate.counted, partial(kernel.rate.since, self.ring)
            self.ring.counted = counted if kernel.where is None else lambda ring: self._filter_positions(counted(ring))
            if kernel.groups is not None and kernel.leaves:
                self.ring.slots = partial(self.ring.at, "w_g")
        self.groups: GroupState | None = None
        if kernel.groups is not None:
            self.groups = GroupState(kernel.groups, kernel.accumulators, self.arrays, self.pool, self.ring)
        self.levels: list[GroupState | OneGroup] = []
        for level in (*kernel.levels, *kernel.parts):
            ring = level.ring(self.ring)
            keyed = None if level.groups is None else GroupState(level.groups, level.accumulators, ring.arrays, self.pool, ring)
            self.levels.append(keyed or OneGroup(level.accumulators, ring.arrays, ring))
        self.waiting: WaitingStreams | None = None
        if kernel.rate is not None:
            units = surroundings.environment.settings.units_per_second
            self.waiting = WaitingStreams(kernel.columns, kernel.keys, kernel.streams, kernel.rate.of.swaps, output_type, self.pool, units)

    def _filter_positions(self, positions: Array) -> Array:
        """Return the positions whose events the where clause lets through."""
        return positions if self.kernel.where is None else positions[self.ring.at("w_keep", positions)]

    def _window_positions(self, window: Window) -> Array:
        """Return the positions of the events that are held."""
        return window.held(self.ring) if self.lagging is None else self.ring.kept()

    # ------------------------------------------------------------------ a batch

    def prepare(self, intake: BatchIntake) -> None:
        self._given.prepare(intake)

    def feed(self, intake: BatchIntake, times: Array, until: int, *, jump: bool = False, causes: bool = False) -> BatchOutput:
        kernel, registers = self.kernel, self.registers
        columns, *constants = self._given.of(intake)
        times = read_only(times)
        with_causes = causes or self._finish is not None
        outputs = self._outputs(with_causes)
        if self.store is not None:
            self.store.add(self.first, intake)
        if kernel.groups is not None:
            self._hashed = kernel.groups.follow(self.arrays, self.pool, self._hashed)
        if kernel.window is not None:
            kernel.window.follow(self.arrays, self.pool)
        for each in self.levels:
            if isinstance(each, GroupState):
                each.keys.follow(each.arrays, self.pool, 0)
        registers[SELECT["i"]], registers[SELECT["out"]] = 0, 0 if self.waiting is None else self.waiting.resume(outputs)
        while True:
            status = self.function(
                registers, intake.rows, self.first, until, jump, with_causes, times, columns, self.arrays.tuple(), tuple(outputs),
                *constants,
            )
            if status == DONE:
                break
            if status == RING_FULL:
                assert kernel.window is not None
                kernel.window.grow(self.ring)
            elif status == GROUPS_FULL:
                self._more_groups()
            elif status == ACCUMULATORS_FULL:
                self._more_lists(int(registers[SELECT["nb"]] - registers[SELECT["na"]]))
            else:
                registers[SELECT["out_capacity"]] = self._capacity = max(2 * self._capacity, int(registers[SELECT["need"]]))
                outputs = [longer(a, self._capacity) if len(a) else a for a in outputs]
        sent = self._emitted_count(outputs)
        if self._finish is not None and sent:
            outputs = self._finish([a[:sent] for a in outputs], causes)
            sent = len(outputs[5])
        output = self._arrow(outputs, sent, intake, causes)
        self.first += intake.rows
        self._note_change()
        if self.store is not None and kernel.window is not None:
            self._forget(kernel.window, self.store)
        return output

    def _more_groups(self) -> None:
        states = [g for g in (self.groups, *self.levels) if isinstance(g, GroupState)]
        waiting = 1 if self.kernel.leaves else max(1, self.ring.tail - self.ring.head)
        for each in [g for g in states if g.top + waiting > g.arrays.sizes[GROUP]]:
            each.keys.grow(each.arrays)

    def _more_lists(self, more: int) -> None:
        for accumulator in self.kernel.accumulators:
            accumulator.grow(self.arrays, more)
        for each in self.levels:
            for accumulator in each.accumulators:
                accumulator.grow(each.arrays, more)

    def _forget(self, window: Window, store: RowStore) -> None:
        """Rows that the window holds no more."""
        oldest, size = window.oldest(self.ring), window.size(self.ring)
        if self.lagging is not None:
            rows = self.ring.at("w_row", self.ring.kept())
            oldest, size = int(rows[0]) if len(rows) else None, len(rows)
        oldest = self.first if oldest is None else oldest
        store.keep(oldest, size, lambda: np.sort(self.ring.at("w_row", self._window_positions(window))))

    def _emitted_count(self, outputs: list[Array]) -> int:
        """Return how many rows are out; those after them wait."""
        out = int(self.registers[SELECT["out"]])
        if self.waiting is None:
            return out
        sent = int(self.arrays["r_registers"][SENT])
        self.waiting.keep(outputs, sent, out)
        self.arrays["r_registers"][SENT] = 0
        return sent

    def next_due(self) -> int | None:
        """Return when a timer of the window, or output, is due next."""
        window, rate = self.kernel.window, self.kernel.rate
        dues = [None if window is None else window.next_due(self.ring), None if rate is None else rate.next_due(self.arrays)]
        return min((due for due in dues if due is not None), default=None)

    def timers(self) -> list[Timers]:
        window, rate = self.kernel.window, self.kernel.rate
        own = None if window is None else window.timers(self.ring)
        return [*([] if own is None else [own]), *([] if rate is None else rate.timers(self.arrays))]

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        window = self.kernel.window
        return {
            "windows": None if window is None else window.state(self.ring), "prior": None, "match_recognize": None,
            "result_set": self._result_set_state(),
        }

    def restore(self, state: State) -> None:
        window = self.kernel.window
        if window is not None:
            if self.lagging is not None:
                self.lagging.begin_restore(self._parts(state["result_set"])[1], self.ring)
            window.restore(self.ring, state["windows"])
            self._note_change()
            if self.kernel.where is not None:
                held, passes = self._window_positions(window), self.ring.evaluator(self.kernel.where)
                self.ring.put("w_keep", held, [bool(passes(event)) for event in self.ring.events(held)])
            if self.lagging is not None:
                self.lagging.number(self._parts(state["result_set"])[1], self.ring)
        self._restore_result_set(state["result_set"])
        if window is not None:
            self.first = len(self._window_positions(window))

    def _note_change(self) -> None:
        for ring in (self.ring, *(each.ring for each in self.levels)):
            ring.changed()

    def _result_set_state(self) -> State:
        """Return the state as the row tier's result set gives it."""
        rate = self.kernel.rate
        if rate is None:
            return self._aggregations()
        assert self.waiting is not None
        held = HeldState(self.arrays, self.ring, self.waiting, self.groups)
        after = None if rate.after is None else rate.after.state(self.arrays)
        if rate.only_after:
            return [self._aggregations(), after]
        return [self._aggregations(), rate.gather_state(held), rate.condition.state(self.arrays), after]

    def _aggregations(self) -> State:
        if self.kernel.shape == "un-aggregated":
            return None
        if len(self.levels) == 1 and self.kernel.parts:
            return self.levels[0].state()
        if self.levels:
            return [each.state() for each in self.levels]
        if self.groups is not None:
            return self.groups.state()
        return group_state(self.kernel.accumulators, self.arrays, 0, self.ring)

    def _parts(self, state: State) -> tuple[State, State, State, State]:
        """Return what the state of a limited result set holds: aggregations, what waits, condition, after."""
        assert self.kernel.rate is not None
        if self.kernel.rate.only_after:
            inner, after = state
            return inner, NOTHING_GATHERED, None, after
        inner, gathered, condition, after = state
        return inner, gathered, condition, after

    def _restore_result_set(self, state: State) -> None:
        rate = self.kernel.rate
        if rate is None:
            self._restore_aggregations(state, ())
            return
        assert self.waiting is not None
        inner, gathered, condition, after = self._parts(state)
        if rate.after is not None:
            rate.after.restore(self.arrays, after)
        held = HeldState(self.arrays, self.ring, self.waiting, self.groups)
        held.slots = self._restore_aggregations(inner, rate.keys(gathered, held))
        rate.restore(gathered, condition, held)
        due = rate.next_due(self.arrays)
        if due is not None and start_time(self.surroundings) - due > LONGEST_AGO:
            raise Damaged(f"output has been due since {due}")

    def _restore_aggregations(self, state: State, first: Iterable[Any]) -> dict[Words, int]:
        window = self.kernel.window
        held = self._filter_positions(self._window_positions(window)) if window is not None and self.kernel.leaves else None
        states = () if not self.levels else [state] if len(self.levels) == 1 and self.kernel.parts else state
        for each, saved in zip(self.levels, states, strict=True):
            each.restore(saved, (), held)
        if self.groups is not None and self.kernel.parts:
            self.groups.begin_without_state(held, self.ring.counted(self.ring))
            return {}
        if self.groups is not None:
            return self.groups.restore(state, first, held)
        if self.kernel.shape != "un-aggregated" and not self.levels:
            restore_group(self.kernel.accumulators, self.arrays, 0, state, self.ring)
        return {}

    def memory(self) -> int:
        return self.arrays.memory()

    # ------------------------------------------------------------------ output

    def _outputs(self, causes: bool) -> list[Array]:
        """Arrays for as many rows as the fullest batch had, empty ones for what is not needed."""
        capacity, columns = self._capacity, self.kernel.columns
        self.registers[SELECT["out_capacity"]] = capacity
        through = any(c.through for c in columns)
        arrays: list[Array] = [np.empty(capacity if len(self.kernel.streams) > 1 else 0, np.bool_)]
        arrays += [np.empty(capacity if through else 0, np.int64)]
        arrays += [np.empty(capacity if causes else 0, d) for d in (np.int64, np.bool_, np.int64, np.int64)]
        for column in self.kernel.computed:
            arrays += [np.empty(capacity, DTYPES[column.kind]), np.empty(capacity if column.nullable else 0, np.bool_)]
        return arrays

    def _with_nothing(self, outputs: list[Array], intake: BatchIntake) -> BatchOutput:
        """Rows of which some are none, since output was due when there was none."""
        none = outputs[5] < 0
        rows = [a[~none] if len(a) else a for a in outputs]
        causes = Causes(*outputs[2:6]).select(none)
        output = self._arrow(rows, len(rows[5]), intake, True)
        return attrs.evolve(output, nothing=attrs.evolve(causes, delta=-causes.delta))

    def _arrow(self, outputs: list[Array], count: int, intake: BatchIntake, causes: bool) -> BatchOutput:
        if count == 0:
            return BatchOutput()
        trimmed = [a[:count] for a in outputs]
        if causes and (trimmed[5] < 0).any():
            return self._with_nothing(trimmed, intake)
        row_causes = Causes(*trimmed[2:6]) if causes else None
        flags, streams = trimmed[0], self.kernel.streams
        if streams == (True,) or (len(streams) > 1 and flags.all()):
            return BatchOutput(self._batch(trimmed, intake), None, row_causes, None)
        if streams == (False,) or not flags.any():
            return BatchOutput(None, self._batch(trimmed, intake), None, row_causes)
        new, old = ([a[chosen] if len(a) else a for a in trimmed] for chosen in (flags, ~flags))
        return BatchOutput(
            self._batch(new, intake), self._batch(old, intake),
            None if row_causes is None else row_causes.select(flags), None if row_causes is None else row_causes.select(~flags),
        )

    def _batch(self, outputs: list[Array], intake: BatchIntake) -> pa.RecordBatch:
        rows, computed = outputs[1], iter(outputs[6:])
        places: Array | None = None
        arrays: list[pa.Array[Any]] = []
        for column, declared in zip(self.kernel.columns, self._types):
            if column.through is None:
                array = build_column(column.kind, next(computed), next(computed), declared, self.pool)
            elif self.store is not None:
                array = self.store.take(column.through, rows)
            elif len(rows) == intake.rows and self._whole:
                array = intake.arrow(column.through)
            else:
                places = rows - self.first if places is None else places
                array = fetch_rows(intake.arrow(column.through), places)
            arrays.append(array if array.type == declared or pa.types.is_dictionary(array.type) else array.cast(declared))
        return pa.RecordBatch.from_arrays(arrays, schema=self._output_schema(arrays))

    def _output_schema(self, arrays: list[pa.Array[Any]]) -> pa.Schema:
        """Return the declared one, with dictionaries where the columns have them."""
        types = [a.type for a in arrays]
        if self._last_schema is None or types != self._last_types:
            self._last_schema, self._last_types = pa.schema([pa.field(f.name, t) for f, t in zip(self._schema, types)]), types
        return self._last_schema


__all__ = ["SelectRun"]
