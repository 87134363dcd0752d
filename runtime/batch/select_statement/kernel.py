"""A select statement's plan → kernel source, and the description of what the kernel takes, keeps and gives."""
from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial

import attrs
import numpy as np

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.result_set import Shape
from epl.plan.statements import SelectPlan
from epl.plan.streams import only_stream, stream_filter
from runtime.batch import contracts
from runtime.batch.accumulators import AccumulatorPrinter
from runtime.batch.output_rate.base import Rate
from runtime.batch.output_rate.touched_groups import rate_printer
from runtime.batch.printing.expressions import is_steady
from runtime.batch.printing.parameters import Parameters
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import not_in_columns
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.result_set.groups import GroupKeys
from runtime.batch.result_set.level_rows import LevelRows
from runtime.batch.result_set.levels import GroupingLevel
from runtime.batch.result_set.shapes import OutputColumn, ResultSetPrinter
from runtime.batch.runs.filter_conditions import filter_conditions
from runtime.batch.runs.order_and_limit import FinishPlan
from runtime.batch.storage.arrays import RING, ArrayField
from runtime.batch.storage.kinds import DTYPES
from runtime.batch.storage.registers import ACCUMULATORS_FULL, DONE, GROUPS_FULL, OUTPUT_FULL, SELECT
from runtime.batch.windows import Window
from runtime.batch.windows.held_rows import HeldRowsWindow


@attrs.frozen
class SelectKernel:
    """What the host needs to know: the source; ``inputs`` property → kind of the columns it reads; ``fields`` of its state;
    ``columns`` of its output; ``streams``: whether it gives insert and remove stream, the first where it gives one; ``parameters``;
    ``window``; ``accumulators``; ``event_type`` of the stream; ``shape`` of the result set; ``groups``, None for a single one;
    ``rate``, None without an output clause; ``where``, the condition after the window; ``finish`` of the rows, by the ``keys``
    that are emitted after the columns; ``levels`` of a rollup; ``parts``: the groupings of aggregations that
    have their own."""

    source: str
    inputs: tuple[tuple[str, str], ...]
    fields: tuple[ArrayField, ...]
    columns: tuple[OutputColumn, ...]
    streams: tuple[bool, ...]
    parameters: Parameters
    window: Window | None
    accumulators: tuple[AccumulatorPrinter, ...]
    event_type: EventType
    shape: Shape
    groups: GroupKeys | None = None
    rate: Rate | None = None
    where: TypedExpression | None = None
    keys: tuple[OutputColumn, ...] = ()
    finish: FinishPlan | None = None
    levels: tuple[GroupingLevel, ...] = ()
    parts: tuple[GroupingLevel, ...] = ()

    @property
    def computed(self) -> tuple[OutputColumn, ...]:
        """What is emitted as values, not fetched by row."""
        return tuple(c for c in (*self.columns, *self.keys) if c.through is None)

    @property
    def leaves(self) -> bool:
        """Whether rows leave; else a window only holds them until output is due."""
        return self.window is not None and not isinstance(self.window, HeldRowsWindow)


def select_kernel(plan: SelectPlan) -> SelectKernel:
    """Return the kernel of a statement; raise NotCompilable saying why there is none."""
    return _SelectPrinter(plan).kernel()


class _SelectPrinter:
    def __init__(self, plan: SelectPlan) -> None:
        _check(plan)
        self.plan = plan
        self.of = SelectEvents(plan)
        output = self.of.rows.output
        self.rate = None if output is None else rate_printer(self.of, output)
        self.result_set = self.rate or ResultSetPrinter(self.of)
        self.result_set.levels = [LevelRows(events, level, self.result_set) for level, events in self.of.levels]
        self.result_set.local = [LevelRows(events, level, self.result_set) for level, events in self.of.parts]

    # ------------------------------------------------------------------ the function

    def kernel(self) -> SelectKernel:
        body = Code(2)
        with body.block("if pending == 0"):
            body.add("na = 0", "nb = 0", "oa = 0", "ob = 0")
            self.result_set.advance(body, self._choose)
        body.add(f"need = out + {self.result_set.capacity()}")
        with body.block("if need > out_capacity"):
            body.add("pending = 1", f"status = {OUTPUT_FULL}", "break")
        groups_full = None if self.of.leaves else self.result_set.full()
        for full, status in ((groups_full, GROUPS_FULL), (self.result_set.lists_full(), ACCUMULATORS_FULL)):
            if full is not None:
                with body.block(f"if {full}"):
                    body.add("pending = 1", f"status = {status}", "break")
        body.add("pending = 0", "delta += 1")
        self.result_set.deliver(body)
        self._retain(body)
        fields = self._fields()
        head, tail = Code(1), Code(1)
        self._unpack(head, fields)
        head.add(*SELECT.read("R"), f"status = {DONE}")
        head.add("while True:")
        tail.add(*SELECT.write_lines("R"))
        for array, registers in self.result_set.registers():
            tail.add(*registers.write_lines(array))
        tail.add("return status")
        kernel = f"def kernel(R, n, first, until, jump, causes, times, C, S, O, PI, PF, T, K):\n{head.text()}{body.text()}{tail.text()}"
        source = self.result_set.functions.text() + kernel
        of, rows = self.of, self.result_set
        return SelectKernel(
            source, tuple(of.inputs.items()), tuple(fields), tuple(rows.columns), rows.streams(), of.parameters, of.window,
            tuple(of.accumulators), of.filter.event_type, of.rows.shape, of.groups, self.rate, of.where,
            tuple(rows.order_keys), of.finish, tuple(level for level, _ in of.levels), tuple(level for level, _ in of.parts),
        )

    def _unpack(self, code: Code, fields: list[ArrayField]) -> None:
        names = [f"c{n}{v}" for n in range(len(self.of.inputs)) for v in ("", "v")]
        if names:
            code.add(f"{', '.join(names)}, = C")
        if fields:
            code.add(f"{', '.join(f.name for f in fields)}, = S")
        if self.of.window is not None:
            code.add("mask = np.int64(np.uint32(len(w_row) - 1))")
        for array, registers in self.result_set.registers():
            code.add(*registers.read(array))
        outputs = ["o_flag", "o_row", "o_cause", "o_timer", "o_time", "o_delta"]
        for number, column in enumerate((*self.result_set.columns, *self.result_set.order_keys)):
            if column.through is None:
                outputs += [f"o{number}", f"o{number}v"]
        code.add(f"{', '.join(outputs)}, = O")

    def _fields(self) -> list[ArrayField]:
        fields = [] if self.of.window is None else [ArrayField("w_row", np.int64, RING), *self.of.window.fields()]
        if self.of.where is not None:
            fields.append(ArrayField("w_keep", np.bool_, RING))
        for name, kind in self.of.retained.items():
            number = self.of.number(name)
            fields += [ArrayField(f"w{number}", DTYPES[kind], RING), ArrayField(f"w{number}v", np.bool_, RING)]
        for each in self.of.accumulators:
            fields += each.fields()
        return [*fields, *self.result_set.fields()]

    # ------------------------------------------------------------------ rows in

    def _passes(self, code: Code) -> None:
        """Print that the row at ``i`` goes no further if a condition is not true."""
        conditions = filter_conditions(self.of.filter)
        if not self.of.leaves and self.plan.where is not None:
            conditions = (*conditions, self.plan.where)
        code.add("r = np.int64(np.uint32(i))", "i += 1")
        for condition in conditions:
            with code.block(f"if not {self.of.at('r', code, ring=False).test(condition)}"):
                code.add("continue")

    def _choose(self, code: Code) -> None:
        if self.of.window is None:
            self._next_row(code)
        else:
            self.of.window.advance(code, self._take, partial(self.of.at, "r", ring=False))

    def _next_row(self, code: Code) -> None:
        with code.block("if i >= n"):
            code.add("break")
        code.add("now = times[i]", "timer = False")
        self._passes(code)
        code.add("na = r", "nb = r + 1")

    def _take(self, code: Code) -> None:
        full = self.result_set.full()
        if full is not None and self.of.leaves:
            with code.block(f"if {full}"):
                code.add(f"status = {GROUPS_FULL}", "break")
        self._passes(code)
        keeps: AbstractContextManager[None] = nullcontext()
        if self.of.where is not None:
            code.add(f"keeps = {self.of.at('r', code, ring=False).test(self.of.where)}", "w_keep[tail & mask] = keeps")
            keeps = code.block("if keeps")
        if self.of.leaves:
            with keeps:
                self.result_set.admit(code)
        code.add("na = tail", "nb = tail + 1", "tail += 1", "w_row[na & mask] = first + r", "oa = head", "ob = head", "RETAIN")

    def _retain(self, code: Code) -> None:
        """Store what later deltas read of the event where the event is taken in; it is known only now."""
        lines = []
        for name in self.of.retained:
            number = self.of.number(name)
            lines += [f"w{number}[na & mask] = c{number}[r]", f"w{number}v[na & mask] = c{number}v[r]"]
        replaced: list[str] = []
        for line in code.lines:
            indent = line[: len(line) - len(line.lstrip())]
            replaced += [f"{indent}{each}" for each in lines] if line.strip() == "RETAIN" else [line]
        code.lines[:] = replaced


WIDEST = 256
"""Columns and aggregations of a select: compiling a kernel of many more takes minutes."""


def _check(plan: SelectPlan) -> None:
    """Refuse what no part of the kernel handles."""
    rows, stream = plan.result_set, only_stream(plan.streams, not_in_columns)
    if stream_filter(stream, not_in_columns).event_type.kind == "variant":
        raise not_in_columns("a variant stream")
    contracts.SELECT.require(plan, not_in_columns)
    reasons: list[tuple[bool, str]] = [
        (len(stream.windows) > 1, "several windows"),
        (plan.output_type is not None and not plan.output_type.properties, "a select of no columns"),
        (len(rows.columns) + len(rows.aggregations) > WIDEST, f"more than {WIDEST} columns and aggregations"),
    ]
    if _filters_after_windows(plan) and plan.where is not None and not is_steady(plan.where):
        reasons.append((True, "where after a window with what may change while an event is held"))
    for refused, reason in reasons:
        if refused:
            raise not_in_columns(reason)


def _filters_after_windows(plan: SelectPlan) -> bool:
    return plan.where is not None and any(stream.windows for stream in plan.streams)


__all__ = ["SelectKernel", "select_kernel"]
