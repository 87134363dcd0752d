"""count, sum, avg, stddev."""
from __future__ import annotations

import numpy as np

from runtime.batch.accumulators.base import AccumulatorPrinter, At, OfNumbers
from runtime.batch.printing.expressions import LONGS, ScalarText
from runtime.batch.printing.source_code import Code
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import GROUP, ArrayField, Arrays
from windows.protocol import State


class Count(AccumulatorPrinter):
    """``count(*)`` and ``count(x)``."""

    def fields(self) -> list[ArrayField]:
        return [ArrayField(f"{self.name}_n", np.int64, GROUP)]

    def _step(self, code: Code, at: At, place: str, sign: str) -> None:
        valid = at(place, code).value(self.argument).valid if self.plan.arguments else None
        with code.block(f"if {valid or 'True'}"):
            code.add(f"{self.name}_n[g] {sign}= 1")

    def enter(self, code: Code, at: At, place: str) -> None:
        self._step(code, at, place, "+")

    def leave(self, code: Code, at: At, place: str) -> None:
        if not self.plan.ever:
            self._step(code, at, place, "-")

    def value(self, group: str) -> ScalarText:
        return ScalarText(f"{self.name}_n[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return int(arrays[f"{self.name}_n"][slot])

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_n"][slot] = state


class SumPrinter(OfNumbers):
    """``sum(x)``: total and number; the last value that leaves takes all rounding errors with it."""

    def fields(self) -> list[ArrayField]:
        return [ArrayField(f"{self.name}_t", self.dtype, GROUP), ArrayField(f"{self.name}_n", np.int64, GROUP)]

    def _total(self, sign: str, value: str) -> str:
        if self.kind == "long":
            return f"{LONGS[sign]}({self.name}_t[g], {value})"
        text = f"{self.name}_t[g] {sign} {value}"
        return f"wrap_int({text})" if self.kind in ("byte", "short", "int") else text

    def enter(self, code: Code, at: At, place: str) -> None:
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"{self.name}_t[g] = {self._total('+', text.value)}", f"{self.name}_n[g] += 1")

    def leave(self, code: Code, at: At, place: str) -> None:
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            with code.block(f"if {self.name}_n[g] <= 1"):
                code.add(f"{self.name}_t[g] = 0", f"{self.name}_n[g] = 0")
            with code.block("else"):
                code.add(f"{self.name}_t[g] = {self._total('-', text.value)}", f"{self.name}_n[g] -= 1")

    def value(self, group: str) -> ScalarText:
        return ScalarText(f"{self.name}_t[{group}]", f"({self.name}_n[{group}] > 0)")


    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return [arrays[f"{self.name}_t"][slot].item(), int(arrays[f"{self.name}_n"][slot])]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_t"][slot], arrays[f"{self.name}_n"][slot] = state


class AveragePrinter(SumPrinter):
    """``avg(x)``: the sum in its own type, divided as doubles."""

    def value(self, group: str) -> ScalarText:
        return ScalarText(f"(np.float64({self.name}_t[{group}]) / {self.name}_n[{group}])", f"({self.name}_n[{group}] > 0)")


class StandardDeviationPrinter(OfNumbers):
    """``stddev(x)``: Welford's recurrence in both directions; mean, sum of squares, number."""

    def fields(self) -> list[ArrayField]:
        name = self.name
        return [ArrayField(f"{name}_m", np.float64, GROUP), ArrayField(f"{name}_s", np.float64, GROUP),
            ArrayField(f"{name}_n", np.int64, GROUP)]

    def enter(self, code: Code, at: At, place: str) -> None:
        text = at(place, code).value(self.argument)
        name = self.name
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"v = np.float64({text.value})", f"{name}_n[g] += 1")
            with code.block(f"if {name}_n[g] == 1"):
                code.add(f"{name}_m[g] = v", f"{name}_s[g] = 0.0")
            with code.block("else"):
                self._move(code, "+")

    def _move(self, code: Code, sign: str) -> None:
        name = self.name
        code.add(
            f"before = {name}_m[g]", f"{name}_m[g] = before {sign} (v - before) / {name}_n[g]",
            f"{name}_s[g] = {name}_s[g] {sign} (v - before) * (v - {name}_m[g])",
        )

    def leave(self, code: Code, at: At, place: str) -> None:
        text = at(place, code).value(self.argument)
        name = self.name
        with code.block(f"if {text.valid or 'True'}"):
            with code.block(f"if {name}_n[g] <= 1"):
                code.add(f"{name}_m[g] = 0.0", f"{name}_s[g] = 0.0", f"{name}_n[g] = 0")
            with code.block("else"):
                code.add(f"v = np.float64({text.value})", f"{name}_n[g] -= 1")
                self._move(code, "-")

    def value(self, group: str) -> ScalarText:
        name = self.name
        return ScalarText(f"np.sqrt({name}_s[{group}] / ({name}_n[{group}] - 1))", f"({name}_n[{group}] > 1)")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        mean, squares = (arrays[f"{self.name}_{part}"][slot].item() for part in "ms")
        return [mean, squares, int(arrays[f"{self.name}_n"][slot])]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        for part, value in zip("msn", state, strict=True):
            arrays[f"{self.name}_{part}"][slot] = value
