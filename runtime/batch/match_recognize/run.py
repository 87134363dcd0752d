"""Running a row pattern kernel: arrays in, kernel, Arrow out; partial matches are kept between batches."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.event_types import EventType
from runtime.batch.compiler.hosted import fill_table, mark_chains
from runtime.batch.match_recognize.held_matches import HELD, live_matches, make_room_for_begun
from runtime.batch.match_recognize.layout import (
    BEGUN_FULL,
    DONE,
    GROUPS_FULL,
    HASH_FULL,
    HELD_FULL,
    KEYS_FULL,
    NO_ROW,
    NODE,
    NODES_FULL,
    OUTPUT_FULL,
    PARTIAL_MATCH,
    PARTIAL_MATCHES_FULL,
    REGISTERS,
    RING_FULL,
    SCRATCH,
    SMALL,
    WORK,
    MatchKernel,
)
from runtime.batch.match_recognize.measures import PatternColumn
from runtime.batch.match_recognize.partitions import free_unused_slots, matches_in_progress
from runtime.batch.match_recognize.restore import PatternRestore
from runtime.batch.match_recognize.state import PatternState
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.inputs import KernelInputs
from runtime.batch.runs.order_and_limit import CAUSE, DELTA, ROW, TIME, TIMER, OutputOrder
from runtime.batch.runs.run import BatchOutput, Causes, RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import CODES, GROUP, HASH, RING, Array, longer, read_only
from runtime.batch.storage.computed import build_column
from runtime.batch.storage.held_rows import RowsById
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import DTYPES
from runtime.conversion.arrow import arrow_schema
from runtime.expressions import compile_expression
from runtime.match_recognize.state import check_row, current
from windows.event import Event
from windows.protocol import State

NO_ROWS = np.zeros(0, np.int64)
NO_FLAGS = np.zeros(0, np.bool_)


class MatchRun:
    """A row pattern kernel with its state; see runtime.batch.runs.run.Run. ``first`` counts all rows that ever came: the next row's id."""

    def __init__(self, kernel: MatchKernel, output_type: EventType, surroundings: RunContext) -> None:
        if surroundings.environment.settings.max_states is not None:
            raise NotCompilable("a limit of match_recognize states is not kept in columns")
        self.kernel, self.output_type, self.surroundings = kernel, output_type, surroundings
        self.function = surroundings.compile(kernel.source)
        self.pool = surroundings.pool
        self.arrays = kernel.arrays()
        if kernel.window is not None:
            kernel.window.start(self.arrays, surroundings)
        if kernel.interval is not None:
            kernel.interval.start(self.arrays, surroundings)
        self.registers = np.zeros(len(REGISTERS), np.int64)
        self.registers[REGISTERS["delta"]] = 1
        self.registers[REGISTERS["free"]] = self.registers[REGISTERS["vacant"]] = -1
        self.first = 0
        self.rows = RowsById()
        through = [c.through for c in kernel.columns if c.through is not None]
        computed = [c.kind for c in (*kernel.columns, *kernel.order_keys) if c.through is None]
        self._finish = None if kernel.finish is None else OutputOrder(kernel.finish, computed, surroundings)
        self._given = KernelInputs(kernel.inputs, through, kernel.parameters, surroundings)
        self._capacity = 1024

    # ------------------------------------------------------------------ a batch

    def prepare(self, intake: BatchIntake) -> None:
        self._given.prepare(intake)
        if self.kernel.window is not None:
            self.kernel.window.check(intake, self.arrays, self.pool)

    def feed(self, intake: BatchIntake, times: Array, until: int, *, jump: bool = False, causes: bool = False) -> BatchOutput:
        registers = self.registers
        columns, *constants = self._given.of(intake)
        times = read_only(times)
        if CODES in self.arrays.sizes:
            self.arrays.grow(CODES, len(self.pool) + 1)
        with_causes = causes or self._finish is not None
        outputs = self._outputs(max(self._capacity, intake.rows // 8))
        self.rows.add(self.first, intake)
        registers[REGISTERS["i"]] = registers[REGISTERS["out"]] = 0
        while True:
            status = self.function(
                registers, intake.rows, self.first, until, jump, with_causes, times, columns, self.arrays.tuple(), tuple(outputs),
                *constants,
            )
            if status == DONE:
                break
            if status == OUTPUT_FULL:
                capacity = max(2 * len(outputs[0]), int(registers[REGISTERS["wanted"]]))
                outputs = [longer(a, capacity) for a in outputs]
            else:
                self._grow_arrays(status)
        output = self._arrow(outputs, int(registers[REGISTERS["out"]]), causes)
        self.first += intake.rows
        if self.rows.crowded:
            self.rows.tidy(self.row_ids())
        return output

    def next_due(self) -> int | None:
        """Return when a row of a time window is to leave next, or matches that an interval holds back are to be emitted."""
        return self._logical().next_due()

    def timers(self) -> list[Timers]:
        timers: list[Timers] = []
        if self.kernel.window is not None and self.kernel.window.timed:
            head, tail = self.registers[REGISTERS.places("head", "tail")].tolist()
            timers.append(Timers("each", int(self.arrays["size"][0]), tail - head))
        if self.kernel.interval is not None:
            timers.append(self.kernel.interval.timers(self.arrays))
        return timers

    def matches_in_progress(self) -> int:
        """Return how many of its states the row tier would count."""
        groups, created, gone = (int(self.registers[REGISTERS[name]]) for name in ("groups", "made", "gone"))
        return matches_in_progress(self.kernel, self.arrays, groups, created, gone)

    def memory(self) -> int:
        return self.arrays.memory()

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        return self._logical().state(self.row_ids())

    def restore(self, state: State) -> None:
        recognizer = current(state["match_recognize"], self._key_values)
        check_row(recognizer["row"])
        self.first = recognizer["row"]
        PatternRestore(self._logical(), self.kernel.event_type, self.surroundings).restore(state["windows"], recognizer)

    def _logical(self) -> PatternState:
        return PatternState(self.kernel, self.arrays, self.registers, self.rows, self.first, self._key_values)

    def _key_values(self, event: Event) -> list[Any]:
        return [evaluate(event) for evaluate in self._key_evaluators]

    @cached_property
    def _key_evaluators(self) -> list[Callable[[Event], Any]]:
        return [compile_expression(node, self.surroundings.environment, 1) for node in self.kernel.plan.partition_by]

    def row_ids(self) -> Array:
        """Return the ids of the rows that the state holds, ascending."""
        arrays, registers = self.arrays, self.registers
        groups = int(registers[REGISTERS["groups"]])
        parts: list[Array] = [arrays["p_row"][self._live_nodes()]]
        if self.kernel.window is not None:
            logical = self._logical()
            parts += [logical.window_ids(), *(logical.in_ring(name) for name in logical.history_names("w_before", ""))]
        parts += [arrays[f"h{n}_row"][:groups] for n in range(1, self.kernel.plan.lookback + 1)]
        ids: Array = np.unique(np.concatenate(parts))
        real: Array = ids[ids != NO_ROW]
        return real

    # ------------------------------------------------------------------ space

    def _grow_arrays(self, status: int) -> None:
        arrays, registers = self.arrays, self.registers
        if status == RING_FULL:
            arrays.grow(RING, 2 * arrays.sizes[RING], int(registers[REGISTERS["head"]]), int(registers[REGISTERS["tail"]]))
        elif status == GROUPS_FULL:
            if not free_unused_slots(self.kernel, arrays, registers):
                arrays.grow(GROUP, 2 * arrays.sizes[GROUP])
        elif status == HASH_FULL:
            groups = int(registers[REGISTERS["groups"]])  # also those of small keys, which the table had not to hold before
            arrays.grow(HASH, 2 * max(arrays.sizes[HASH], 2 * groups))
            fill_table(arrays["g_table"], arrays["g_key"], np.arange(arrays["g_key"].shape[1]) < groups)
        elif status == KEYS_FULL:
            arrays.grow(SMALL, int(registers[REGISTERS["wanted"]]))
        elif status == BEGUN_FULL:
            make_room_for_begun(arrays)
        elif status == HELD_FULL:
            arrays.grow(HELD, 2 * arrays.sizes[HELD])
        elif status == NODES_FULL:
            self._grow_nodes(2 * arrays.sizes[NODE])
        else:
            axis = {PARTIAL_MATCHES_FULL: PARTIAL_MATCH}.get(status, WORK)
            arrays.grow(axis, 2 * arrays.sizes[axis])

    def _live_nodes(self) -> Array:
        """Return the nodes that partial matches hold, and those that an interval holds back."""
        arrays, gone = self.arrays, self.registers[REGISTERS["gone"]]
        held = live_matches(arrays) if self.kernel.interval is not None else NO_ROWS
        if not self.kernel.has_partial_matches:
            groups = np.flatnonzero(arrays["g_bits"][: self.registers[REGISTERS["groups"]]])
            begins, counts = arrays["g_off"][groups], arrays["g_count"][groups]
            if len(held):
                begins, counts = np.concatenate([begins, arrays["m_node"][held]]), np.concatenate([counts, arrays["m_len"][held]])
            ends = np.cumsum(counts)
            return np.repeat(begins - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)
        created = int(self.registers[REGISTERS["made"]])
        mark = np.zeros(int(self.registers[REGISTERS["nodes"]]), np.bool_)
        mark_chains(arrays["s_node"][:created][arrays["s_begin"][:created] > gone], arrays["p_prev"], mark)
        if len(held):
            mark_chains(arrays["m_node"][held], arrays["p_prev"], mark)
        return np.flatnonzero(mark)

    def _grow_nodes(self, size: int) -> None:
        self.arrays.grow(NODE, size)
        self.arrays.grow(SCRATCH, self.arrays.sizes[NODE])

    # ------------------------------------------------------------------ output

    def _outputs(self, capacity: int) -> list[Array]:
        """Return where causes are not asked for their arrays are not read, but the first one says how much space there is."""
        arrays: list[Array] = [np.empty(capacity, np.int64) for _ in range(3)]
        arrays.append(np.zeros(capacity, np.bool_))
        for column in (*self.kernel.columns, *self.kernel.order_keys):
            if column.through is not None:
                arrays.append(np.empty(capacity, np.int64))
            else:
                arrays += [np.empty(capacity, DTYPES[column.kind]), np.empty(capacity, np.bool_)]
        return arrays

    def _arrow(self, outputs: list[Array], count: int, causes: bool) -> BatchOutput:
        if count == 0:
            return BatchOutput()
        self._capacity = max(self._capacity, count + count // 8)
        finished = [a[:count] for a in outputs]
        if self._finish is not None:
            finished = order_output(self._finish, self.kernel.columns, finished, causes)
        none = finished[2] < 0 if causes else NO_ROWS
        if not none.any():
            return self._batch(finished, causes)
        row, time, delta, timer = (a[none] for a in finished[:4])  # row listeners are called without a row there
        return attrs.evolve(self._batch([a[~none] for a in finished], causes), nothing=Causes(row, timer, time, -delta))

    def _batch(self, outputs: list[Array], causes: bool) -> BatchOutput:
        row, time, delta, timer, *values = outputs
        if len(row) == 0:
            return BatchOutput()
        row_causes = Causes(row, timer, time, delta) if causes else None
        rest = iter(values)
        arrays: list[pa.Array[Any]] = []
        fields = []
        for column, field in zip(self.kernel.columns, arrow_schema(self.output_type)):
            first = next(rest)
            if column.through is not None:
                array = self._through(column, first)
            else:
                array = build_column(column.kind, first, next(rest), field.type, self.pool)
            arrays.append(array if pa.types.is_dictionary(array.type) else array.cast(field.type))
            fields.append(pa.field(field.name, arrays[-1].type))
        return BatchOutput(pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)), None, row_causes, None)

    def _through(self, column: PatternColumn, ids: Array) -> Any:
        assert column.through is not None
        missing = ids == NO_ROW
        if not missing.any():
            return self.rows.take(column.through, ids)
        values = self.rows.take(column.through, ids[~missing]) if not missing.all() else self.rows.take(column.through, ids[:0])
        places = np.cumsum(~missing) - 1
        return values.take(pa.array(places, mask=missing))


def order_output(finish: OutputOrder, columns: Sequence[PatternColumn], outputs: list[Array], numbered_calls: bool) -> list[Array]:
    """Return the arrays with the rows that go out, in order."""
    row, time, delta, timer, *values = outputs
    computed: list[Array] = []
    rest = iter(values)
    for column in columns:
        if column.through is not None:
            next(rest)
        else:
            computed += [next(rest), next(rest)]
    numbers = np.arange(len(row))
    done = finish([NO_FLAGS, numbers, row, timer, time, delta, *computed, *rest], numbered_calls)
    chosen = done[ROW]
    return [done[CAUSE], done[TIME], done[DELTA], done[TIMER], *(a[chosen] for a in values)]


__all__ = ["MatchRun"]
