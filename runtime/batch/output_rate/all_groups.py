"""``output all`` of groups in a kernel: every group there ever was has its row, touched or not since the last output."""
from __future__ import annotations

import re
from typing import Any

import attrs
import numpy as np

from epl.plan.expressions import StreamProperty
from epl.plan.result_set import OutputPlan
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.batch.output_rate.base import HeldState, Rate, check_keys
from runtime.batch.output_rate.conditions import STAMP
from runtime.batch.output_rate.waiting_rows import FIRST_COLUMN, WaitingRow, WaitingStreams, batch_out, batch_rows
from runtime.batch.printing.python_values import from_python, to_python
from runtime.batch.printing.source_code import Code
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.result_set.shapes import OutputColumn
from runtime.batch.storage.arrays import GROUP, Array, ArrayField
from runtime.batch.storage.kinds import DTYPES, TEXTS
from windows.event import Event, event_class
from windows.protocol import State


class OfAllGroups(Rate):
    """Base. By group: ``r_known``, whether it has been in a delta; ``r_mark``, the number of the last output before which it was."""

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), ArrayField("r_known", np.bool_, GROUP), ArrayField("r_mark", np.int64, GROUP, -1)]

    def touch(self, code: Code) -> None:
        code.add("r_known[g] = True", "r_mark[g] = stamp")

    def list_slots(self, held: HeldState) -> list[int]:
        """Return the slots of all groups that have been in a delta, in the order of the first."""
        assert held.groups is not None
        slots: list[int] = np.flatnonzero(held.arrays["r_known"][: held.groups.top]).tolist()
        return slots

    def is_touched(self, held: HeldState, slot: int) -> bool:
        return bool(held.arrays["r_mark"][slot] == held.arrays["r_registers"][STAMP])

    def restore_mark(self, held: HeldState, slot: int, touched: bool) -> None:
        held.arrays["r_known"][slot] = True
        held.arrays["r_mark"][slot] = held.arrays["r_registers"][STAMP] if touched else -1


class AllGroupsPrinter(OfAllGroups):
    """all, of a row per group: as it is and as it was before the first touch. ``r_before``: the number of the output for which the latter
    is kept, in ``r_b0`` … by column."""

    keeps_rows = True

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_keys(of)
        self._keeping = False

    @property
    def _computed(self) -> list[OutputColumn]:
        return [*self.columns, *self.order_keys]

    def fields(self) -> list[ArrayField]:
        kept = []
        if self.of.needs_old:
            kept.append(ArrayField("r_before", np.int64, GROUP, -1))
            for number, column in enumerate(self._computed):
                kept += [ArrayField(f"r_b{number}", DTYPES[column.kind], GROUP), ArrayField(f"r_b{number}v", np.bool_, GROUP)]
        return [*super().fields(), *kept]

    def capacity(self) -> str:
        return f"2 * gtop + {super().capacity()}"

    # ------------------------------------------------------------------ in the kernel

    def place(self, code: Code, new: bool) -> None:
        if self._keeping:
            code.add("r_before[g] = stamp")
        else:
            super().place(code, new)

    def _keep(self, code: Code) -> None:
        """Print that the group's row, if it has one, is kept as it is before the delta."""
        self._keeping = True
        inner = Code()
        self.emit(inner, None, False)
        self._keeping = False
        code.add(*(re.sub(r"\bo(\d+v?)\[o\] =", r"r_b\1[g] =", line) for line in inner.lines if not line.lstrip().startswith("o_flag")))

    def take(self, code: Code) -> None:
        for low, high in self.parts():
            with self.events(code, low, high):
                if self.of.needs_old:
                    with code.block("if r_before[g] != stamp"):
                        self._keep(code)
                self.touch(code)
        self.apply(code)

    def flush(self, code: Code) -> None:
        if self.of.needs_new:
            with code.block("for g in range(gtop)"), code.block("if r_known[g]"):
                self.emit(code, None, True)
        if self.of.needs_old:
            with code.block("for g in range(gtop)"), code.block("if r_known[g]"):
                with code.block("if r_before[g] == stamp"):
                    super().place(code, False)
                    if len(self.streams()) > 1:
                        code.add(f"o_flag[o] = {self.of.swaps}")
                    for number, column in enumerate(self._computed):
                        code.add(f"o{number}[o] = r_b{number}[g]", *([f"o{number}v[o] = r_b{number}v[g]"] if column.nullable else []))
                with code.block("elif r_mark[g] != stamp"):
                    self.emit(code, None, False)
        code.add("stamp += 1")

    # ------------------------------------------------------------------ state

    def _rows(self, held: HeldState, slots: list[int]) -> WaitingStreams:
        """Return the rows that are kept of groups, as if they waited."""
        arrays: list[Array] = [np.full(len(slots), self.of.swaps), *(np.zeros(0, np.int64) for _ in range(1, FIRST_COLUMN))]
        for number, column in enumerate(self._computed):
            valid = held.arrays[f"r_b{number}v"][slots]
            arrays += [held.arrays[f"r_b{number}"][slots], valid if column.nullable else valid[:0]]
        return attrs.evolve(held.waiting, arrays=arrays)

    def gather_state(self, held: HeldState) -> State:
        assert held.groups is not None
        before: dict[int, WaitingRow] = {}
        if self.of.needs_old:
            slots = [s for s in self.list_slots(held) if held.arrays["r_before"][s] == held.arrays["r_registers"][STAMP]]
            before = dict(zip(slots, self._rows(held, slots).rows()))
        entries = []
        for slot in self.list_slots(held):
            kept = batch_out([before[slot]]) if slot in before else None
            entries.append([key_to_state(held.groups.key(slot)), [held.groups.event(slot), kept, self.is_touched(held, slot)]])
        return [entries]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered[0]]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        for key, (_, before, touched) in gathered[0]:
            slot = held.slot(key)
            self.restore_mark(held, slot, touched)
            if before is None or not before[0]:
                continue
            one = attrs.evolve(held.waiting, arrays=[])
            one.put(batch_rows(before, False))
            held.arrays["r_before"][slot] = held.arrays["r_registers"][STAMP]
            for number, column in enumerate(self._computed):
                held.arrays[f"r_b{number}"][slot] = one.arrays[FIRST_COLUMN + 2 * number][0]
                valid = one.arrays[FIRST_COLUMN + 2 * number + 1]
                held.arrays[f"r_b{number}v"][slot] = valid[0] if column.nullable else True


class AllGroupEventsPrinter(OfAllGroups):
    """all, grouped aggregated: every row; after those of each delta, the last event of each group that a row has left (not so with order
    by); in the end the last event of each group that was not touched. ``e0`` …: what is read of these events, by group."""

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        check_keys(of)
        of.kept_of_groups = {}

    def fields(self) -> list[ArrayField]:
        kept = []
        for name, kind in (self.of.kept_of_groups or {}).items():
            number = self.of.number(name)
            kept += [ArrayField(f"e{number}", DTYPES[kind], GROUP), ArrayField(f"e{number}v", np.bool_, GROUP)]
        return [*super().fields(), *kept]

    def capacity(self) -> str:
        return f"gtop + 2 * {super().capacity()}"

    def take(self, code: Code) -> None:
        self.emit(Code(), None, True)  # finds what is read of last events
        with self.events(code, "na", "nb"):
            self.touch(code)
            at = "w{0}{1}[q & mask]" if self.of.window is not None else "c{0}{1}[q]"
            for name, kind in (self.of.kept_of_groups or {}).items():
                number = self.of.number(name)
                if self.of.window is not None:
                    self.of.retained[name] = kind
                code.add(*(f"e{number}{valid}[g] = {at.format(number, valid)}" for valid in ("", "v")))
        self.row_per_event(code)
        if self.of.leaves:
            self._print_leaving(code)

    def _print_leaving(self, code: Code) -> None:
        assert self.of.groups is not None
        code.add("delta += 1", "nt = 0")
        with self.events(code, "oa", "ob"):
            code.add("r_mark[g] = stamp")
            with code.block("if g_seen[g] != delta"):
                code.add("g_seen[g] = delta", "g_touched[nt] = g", "nt += 1")
        if self.of.needs_new:
            self.of.groups.sort(code)
            with code.block("for t in range(nt)"):
                code.add("g = np.int64(g_touched[t])")
                self.emit(code, None, True)

    def flush(self, code: Code) -> None:
        if self.of.needs_new:
            with code.block("for g in range(gtop)"), code.block("if r_known[g] and r_mark[g] != stamp"):
                self.emit(code, None, True)
        code.add("stamp += 1")

    # ------------------------------------------------------------------ state

    def _event(self, held: HeldState, slot: int) -> Event:
        """Return the last event of a group, with what is read of it."""
        assert held.groups is not None
        known: dict[str, Any] = dict(zip(held.ring.event_type.names, held.groups.event(slot).values()))
        for name, kind in (self.of.kept_of_groups or {}).items():
            number = self.of.number(name)
            value = to_python(held.arrays[f"e{number}"][slot], kind, held.groups.pool)
            known[name] = value if held.arrays[f"e{number}v"][slot] else None
        return event_class(held.ring.event_type)(*known.values())

    def gather_state(self, held: HeldState) -> State:
        assert held.groups is not None
        groups = []
        for slot in self.list_slots(held):
            event = self._event(held, slot)
            groups.append([key_to_state(held.groups.key(slot)), [event, event if self.is_touched(held, slot) else None]])
        return [held.batch(True), held.batch(False), groups]

    def keys(self, gathered: State, held: HeldState) -> list[Any]:
        return [key_from_state(key) for key, _ in gathered[2]]

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        assert held.groups is not None
        new, old, groups = gathered
        held.waiting.put([*batch_rows(new, True), *batch_rows(old, False)])
        for key, (last, touched) in groups:
            slot = held.slot(key)
            self.restore_mark(held, slot, touched is not None)
            for name, kind in (self.of.kept_of_groups or {}).items():
                number = self.of.number(name)
                node = StreamProperty(stream=0, name=name, type=held.ring.event_type.properties[name].type)
                value = held.ring.evaluator(node)(last)
                held.arrays[f"e{number}v"][slot] = value is not None
                nothing = -1 if kind in TEXTS else 0
                held.arrays[f"e{number}"][slot] = nothing if value is None else from_python(value, kind, held.groups.pool)


__all__ = ["AllGroupEventsPrinter", "AllGroupsPrinter"]
