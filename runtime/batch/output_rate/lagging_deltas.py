"""``output every`` after a window in a kernel: what comes out of the window is taken when output is due; until then aggregations do not
see it, as an iterator shows.

Events come out of the window, and leave it, in the order of their positions. So the deltas that wait are emitted by two numbers a position:
in which delta it came out (``d_in``), in which it left (``d_out``). Positions stay until both are taken.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from epl.plan.result_set import OutputPlan
from runtime.batch.output_rate.base import HeldState, Rate
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.result_set.events import SelectEvents
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import RING, Array, ArrayField
from runtime.batch.storage.registers import Registers
from windows.event import Event
from windows.protocol import Damaged, State

REGISTERS = Registers("d_head", "d_tail")
"""The first position whose leaving is not taken, and the first whose coming is not."""
SPAN = REGISTERS.places("d_head", "d_tail")


class LaggingDeltas(Rate):
    """Every delta, taken by itself when the condition is met. A fully aggregated select gives its current row where none came."""

    keeps_rows = False

    def __init__(self, of: SelectEvents, plan: OutputPlan) -> None:
        super().__init__(of, plan)
        assert of.window is not None
        if not of.window.in_order:
            raise NotCompilable("output every after a window whose events leave in another order")
        self.window = of.window
        self.window.low = "d_head"

    def fields(self) -> list[ArrayField]:
        waiting = [ArrayField("d_in", np.int64, RING), ArrayField("d_out", np.int64, RING)]
        return [*super().fields(), ArrayField("d_registers", np.int64, "registers"), *waiting]

    def registers(self) -> list[tuple[str, Registers]]:
        return [*super().registers(), ("d_registers", REGISTERS)]

    # ------------------------------------------------------------------ in the kernel

    def capacity(self) -> str:
        return f"{4 * self.breadth} * ({self.window.released} - d_tail + head - d_head + 1)"

    def arrive(self, code: Code) -> None:
        for name, low, high in (("d_in", "na", "nb"), ("d_out", "oa", "ob")):
            with code.block(f"for q in range({low}, {high})"):
                code.add(f"{name}[q & mask] = delta")

    def begin(self, code: Code) -> None:
        """Do nothing with a delta that comes."""

    def take(self, code: Code) -> None:
        pass

    def skip(self, code: Code) -> None:
        if self.of.rows.shape == "un-aggregated":
            code.add(f"d_tail = {self.window.released}", "d_head = head")

    def flush(self, code: Code) -> None:
        released = self.window.released
        code.add("took = False")
        with code.block(f"while d_tail < {released} or d_head < head"):
            code.add("number = d_in[d_tail & mask]")
            with code.block(f"if d_tail >= {released} or (d_head < head and d_out[d_head & mask] < number)"):
                code.add("number = d_out[d_head & mask]")
            for low, high, at, end, mark in (("na", "nb", "d_tail", released, "d_in"), ("oa", "ob", "d_head", "head", "d_out")):
                code.add(f"{low} = {at}")
                with code.block(f"while {at} < {end} and {mark}[{at} & mask] == number"):
                    code.add(f"{at} += 1")
                code.add(f"{high} = {at}")
            code.add("delta += 1")
            self.count(code)
            code.add("took = True")
            super().begin(code)
            self.print_delta(code)
        if self.of.rows.shape == "fully aggregated":
            with code.block("if not took"):
                for needed, new in ((self.of.needs_new, True), (self.of.needs_old, False)):
                    if needed:
                        self.emit(code, None, new)

    # ------------------------------------------------------------------ around it

    def since(self, ring: Ring) -> int:
        """Return the first position whose event may still leave an aggregation."""
        return int(ring.arrays["d_registers"][REGISTERS["d_head"]])

    def counted(self, ring: Ring) -> Array:
        """Return the positions of the events that aggregations count."""
        return np.arange(*ring.arrays["d_registers"][SPAN].tolist())

    def gather_state(self, held: HeldState) -> State:
        ring = held.ring
        head, tail = ring.arrays["d_registers"][SPAN].tolist()
        deltas: dict[int, tuple[list[Event], list[Event]]] = {}
        spans = (np.arange(tail, self.window.end(ring)), np.arange(head, ring.head))
        for part, (positions, mark) in enumerate(zip(spans, ("d_in", "d_out"))):
            if self.of.where is not None:
                positions = positions[ring.at("w_keep", positions)]
            for number, event in zip(ring.at(mark, positions).tolist(), ring.events(positions)):
                deltas.setdefault(number, ([], []))[part].append(event)
        return {"deltas": [list(deltas[number]) for number in sorted(deltas)], "kept": []}

    def begin_restore(self, gathered: State, ring: Ring) -> None:
        """Put the events that have left the window in front of its events, before those are there."""
        if gathered["kept"]:
            raise Declined("deltas that are not to be emitted")
        ring.gone = [event for _, old in gathered["deltas"] for event in old]

    def number(self, gathered: State, ring: Ring) -> None:
        """Note, once the window's events are there, which of them wait, and in which delta."""
        deltas = list(gathered["deltas"])
        came = [number for number, (new, _) in enumerate(deltas, -len(deltas)) for _ in new]
        left = [number for number, (_, old) in enumerate(deltas, -len(deltas)) for _ in old]
        out = np.arange(self.window.end(ring))
        kept = out if self.of.where is None else out[ring.at("w_keep", out)]
        if len(came) > len(kept):
            raise Damaged(f"{len(came)} events wait for output where the window holds {len(kept)}")
        first = kept[len(kept) - len(came)] if came else len(out)
        numbers = dict(zip(kept[len(kept) - len(came) :].tolist(), came))
        last: Any = came[0] if came else 0
        for position in range(first, len(out)):
            last = numbers.get(position, last)
            ring.put("d_in", np.array([position]), last)
        ring.put("d_out", np.arange(len(left)), np.array(left, np.int64))
        ring.arrays["d_registers"][SPAN] = 0, first


__all__ = ["LaggingDeltas"]
