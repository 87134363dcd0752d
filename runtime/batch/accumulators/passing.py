"""nth and leaving: what depends on the order in which rows come and go."""
from __future__ import annotations

import numpy as np

from runtime.batch.accumulators.base import AccumulatorPrinter, At
from runtime.batch.accumulators.events import OfValues
from runtime.batch.printing.expressions import ScalarText, element_text
from runtime.batch.printing.python_values import from_python, to_python
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import GROUP, ArrayField, Arrays
from runtime.batch.storage.kinds import DTYPES, TEXTS
from windows.protocol import Damaged, State

FARTHEST = 64
"""How many values before the newest ``nth`` may ask for: each group keeps as many."""


class NthPrinter(OfValues):
    """``nth(x, n)``: the value n values before the newest that are not null. By group the last n + 1 values, round and round: ``h`` how
    many were ever put there, ``l`` how many of them are there, ``c`` how many rows with a value are."""

    @property
    def most(self) -> int:
        """How many values are kept."""
        most = int(self.plan.constants[0]) + 1
        if not 1 <= most <= FARTHEST:
            raise NotCompilable(f"nth of more than {FARTHEST} values")
        return most

    def fields(self) -> list[ArrayField]:
        counts = [ArrayField(f"{self.name}_{part}", np.int64, GROUP) for part in "hlc"]
        return [ArrayField(f"{self.name}_v", DTYPES[self.kind], GROUP, self.nothing, self.most), *counts]

    def enter(self, code: Code, at: At, place: str) -> None:
        name = self.name
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"{name}_v[{name}_h[g] % {self.most}, g] = {text.value}", f"{name}_h[g] += 1", f"{name}_c[g] += 1")
            with code.block(f"if {name}_l[g] < {self.most}"):
                code.add(f"{name}_l[g] += 1")

    def leave(self, code: Code, at: At, place: str) -> None:
        name = self.name
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            with code.block(f"if {name}_c[g] > 0"):
                code.add(f"{name}_c[g] -= 1")
            with code.block(f"if {name}_l[g] > {name}_c[g]"):
                code.add(f"{name}_l[g] = {name}_c[g]")

    def value(self, group: str) -> ScalarText:
        name = self.name
        there = f"({name}_l[{group}] == {self.most})"
        nth = f"{name}_v[{name}_h[{group}] % {self.most}, {group}]"
        if self.kind in TEXTS:
            code = f"np.int64({nth} if {there} else -1)"
            return ScalarText(code, f"({code} >= 0)")
        return ScalarText(element_text(nth, self.kind), there)

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        ever, there, count = (int(arrays[f"{self.name}_{part}"][slot]) for part in "hlc")
        values = arrays[f"{self.name}_v"]
        places = [place % self.most for place in range(ever - there, ever)]
        return [[to_python(values[place, slot], self.kind, ring.surroundings.pool) for place in places], count]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        recent, count = state
        if len(recent) > self.most:
            raise Damaged(f"{len(recent)} values where nth keeps {self.most} at most")
        for place, value in enumerate(recent):
            arrays[f"{self.name}_v"][place, slot] = from_python(value, self.kind, ring.surroundings.pool)
        for part, number in zip("hlc", (len(recent), len(recent), count)):
            arrays[f"{self.name}_{part}"][slot] = number


class LeavingPrinter(AccumulatorPrinter):
    """``leaving()``: whether any row has left."""

    def fields(self) -> list[ArrayField]:
        return [ArrayField(f"{self.name}_b", np.bool_, GROUP)]

    def enter(self, code: Code, at: At, place: str) -> None:
        pass

    def leave(self, code: Code, at: At, place: str) -> None:
        code.add(f"{self.name}_b[g] = True")

    def value(self, group: str) -> ScalarText:
        return ScalarText(f"{self.name}_b[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return bool(arrays[f"{self.name}_b"][slot])

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_b"][slot] = state


__all__ = ["LeavingPrinter", "NthPrinter"]
