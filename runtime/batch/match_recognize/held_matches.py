"""The matches that an interval holds back, as the host sees them: how a fresh state begins, when time is due, space, and the row tier's
state.

The arrays are those of ``pattern_interval``.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from epl.plan.expressions import TypedExpression, VariableValue
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import Array, Arrays
from runtime.batch.storage.registers import Registers
from runtime.batch.windows import is_calendar

BEGUN, HELD = "begun", "held"
"""Axes: times at which matches began; matches."""
NEVER = 2**63 - 1
REGISTERS = Registers("timer", "b_head", "b_tail", "b_next", "m_free", "m_made", "holding", "emitting", "kept", "dead", "timing")
"""``timer``: when it is looked next who is due; records before ``b_next`` have nothing that waits; ``holding``: how many matches wait;
``dead``: how many partial matches ended with the row; ``timing``: whether a timer emits."""


@attrs.frozen
class PatternInterval:
    """What the host knows of it. ``variables``: that of each step."""

    period: TypedExpression
    or_terminated: bool

    def start(self, arrays: Arrays, surroundings: RunContext) -> None:
        """Put the period into a fresh state; raises NotCompilable for one of no length."""
        arrays["period"][0] = surroundings.period(self.period)
        if arrays["period"][0] <= 0:
            raise NotCompilable("match_recognize with an interval of no length")
        arrays["i_registers"][REGISTERS["timer"]] = NEVER
        arrays["i_registers"][REGISTERS["m_free"]] = -1

    @staticmethod
    def next_due(arrays: Arrays) -> int | None:
        due = int(arrays["i_registers"][REGISTERS["timer"]])
        return None if due == NEVER else due

    @staticmethod
    def timers(arrays: Arrays) -> Timers:
        registers = arrays["i_registers"]
        return Timers("each", int(arrays["period"][0]), int(registers[REGISTERS["b_tail"]] - registers[REGISTERS["b_head"]]))


def pattern_interval(plan: RowRecognitionPlan) -> PatternInterval | None:
    """Return the printer of an interval; raise NotCompilable."""
    if plan.interval is None:
        return None
    if any(isinstance(node, VariableValue) for node in plan.interval.walk()):
        raise NotCompilable("an interval that is a variable")
    if is_calendar(plan.interval):
        raise NotCompilable("an interval of months or years")
    return PatternInterval(plan.interval, plan.or_terminated)


def live_matches(arrays: Arrays) -> Array:
    """Return the places of the matches that are held."""
    slots: Array = np.flatnonzero(arrays["m_len"][: int(arrays["i_registers"][REGISTERS["m_made"]])])
    return slots


def record_slice(arrays: Arrays) -> slice:
    registers = arrays["i_registers"]
    return slice(int(registers[REGISTERS["b_head"]]), int(registers[REGISTERS["b_tail"]]))


def make_room_for_begun(arrays: Arrays) -> None:
    """Put the records in use first, and make space for as many more."""
    used, registers = record_slice(arrays), arrays["i_registers"]
    count = used.stop - used.start
    for name in ("b_row", "b_time", "b_count", "b_first", "b_last"):
        arrays[name][:count] = arrays[name][used].copy()
    registers[REGISTERS["b_next"]] = max(0, registers[REGISTERS["b_next"]] - used.start)
    registers[REGISTERS["b_head"]], registers[REGISTERS["b_tail"]] = 0, count
    arrays.grow(BEGUN, 2 * count + 1)


def waiting_matches(arrays: Arrays) -> list[tuple[int, list[int]]]:
    """Return (time of the first rows, places of the matches in the order in which they were found), by time."""
    waiting = []
    for record in range(*record_slice(arrays).indices(arrays.sizes[BEGUN])):
        place, of_record = int(arrays["b_first"][record]), []
        for _ in range(int(arrays["b_count"][record])):
            of_record.append(place)
            place = int(arrays["m_next"][place])
        if of_record:
            waiting.append((int(arrays["b_time"][record]), of_record))
    return waiting


def first_row_times(arrays: Arrays, begins: Iterable[int], now: int) -> list[list[int]]:
    """Return [row, when it came] of first rows; where its interval is over, a time that no later row came before."""
    used = record_slice(arrays)
    rows, times = arrays["b_row"][used], arrays["b_time"][used]
    rows_asked = sorted(set(begins))
    places = np.searchsorted(rows, rows_asked, side="right") - 1
    over = min([now - int(arrays["period"][0]), *times[:1].tolist()])
    return [[row, int(times[place]) if place >= 0 else over] for row, place in zip(rows_asked, places.tolist())]


@attrs.define
class HeldRestore:
    """Fills fresh arrays with what waits."""

    arrays: Arrays

    def begun(self, began: Iterable[Sequence[int]]) -> None:
        """Note first rows that have come. ``began``: (row, when it came)."""
        first: dict[int, int] = {}
        for row, time in sorted(map(tuple, began)):
            first.setdefault(time, row)
        arrays, times = self.arrays, sorted(first)
        arrays.grow(BEGUN, len(times) + 1)
        arrays["b_time"][: len(times)] = times
        arrays["b_row"][: len(times)] = [first[time] for time in times]
        arrays["i_registers"][REGISTERS["b_tail"]] = len(times)

    def hold(self, began: int, begin: int, end: int, node: int, length: int, group: int) -> None:
        """Hold one more match of which the first row came at ``began``; by time, those of one time in the order in which they were
        found."""
        arrays, registers = self.arrays, self.arrays["i_registers"]
        place = int(registers[REGISTERS["m_made"]])
        arrays.grow(HELD, place + 1)
        for name, value in (("next", -1), ("begin", begin), ("end", end), ("node", node), ("len", length), ("group", group)):
            arrays[f"m_{name}"][place] = value
        record = int(np.searchsorted(arrays["b_time"][record_slice(arrays)], began))
        if arrays["b_count"][record]:
            arrays["m_next"][arrays["b_last"][record]] = place
        else:
            arrays["b_first"][record] = place
        arrays["b_last"][record] = place
        arrays["b_count"][record] += 1
        registers[REGISTERS["m_made"]] = registers[REGISTERS["holding"]] = place + 1

    def timer(self, due: int | None) -> None:
        registers = self.arrays["i_registers"]
        registers[REGISTERS["timer"]] = NEVER if due is None else due
        counts = self.arrays["b_count"][record_slice(self.arrays)]
        registers[REGISTERS["b_next"]] = int(np.flatnonzero(counts)[0]) if counts.any() else len(counts)


__all__ = [
    "BEGUN",
    "HELD",
    "NEVER",
    "REGISTERS",
    "HeldRestore",
    "PatternInterval",
    "first_row_times",
    "live_matches",
    "make_room_for_begun",
    "pattern_interval",
    "waiting_matches",
]
