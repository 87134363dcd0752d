"""``output every`` of an unbound stream in a kernel: rows are held and taken when it is due; until then aggregations do not see them."""
from __future__ import annotations

from runtime.batch.output_rate.base import HeldState, Rate
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined
from windows.protocol import State


class DeltasPrinter(Rate):
    """Every delta, each taken by itself, when the condition is met. A fully aggregated select gives its current row where none came."""

    def capacity(self) -> str:
        return f"{2 * self.breadth} * (tail - head + 1)"

    keeps_rows = False

    def arrivals(self) -> str:
        return "tail - head"

    def begin(self, code: Code) -> None:
        """Do nothing with a row that comes."""

    def take(self, code: Code) -> None:
        pass

    def skip(self, code: Code) -> None:
        if self.of.rows.shape == "un-aggregated":
            code.add("head = tail")

    def flush(self, code: Code) -> None:
        if self.of.rows.shape == "fully aggregated":
            with code.block("if head == tail"):
                for needed, new in ((self.of.needs_new, True), (self.of.needs_old, False)):
                    if needed:
                        self.emit(code, None, new)
        with code.block("for p in range(head, tail)"):
            code.add("na = p")
            self.find(code, True)
            self.print_delta(code)
        code.add("head = tail")

    def gather_state(self, held: HeldState) -> State:
        return {"deltas": [[[event], []] for event in held.ring.events(held.ring.positions())], "kept": []}

    def restore(self, gathered: State, condition: State, held: HeldState) -> None:
        super().restore(gathered, condition, held)
        deltas = list(gathered["deltas"])
        if gathered["kept"] or any(len(new) != 1 or old for new, old in deltas):
            raise Declined("deltas of more than one row, or that are not to be emitted")
        held.ring.hold([new[0] for new, _ in deltas])


__all__ = ["DeltasPrinter"]
