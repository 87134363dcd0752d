"""min and max, in Java's order: NaN is greater than every number, -0.0 less than 0.0."""
from __future__ import annotations

from typing import Any

import numpy as np

from epl.zeros import plain, sort_value
from runtime.batch.accumulators.base import At, OfNumbers
from runtime.batch.compiler.hosted import heap_insert
from runtime.batch.printing.expressions import ScalarText, sign_of_zero
from runtime.batch.printing.source_code import Code
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import GROUP, RING, ArrayField, Arrays
from windows.keys import freeze
from windows.protocol import State


class ExtremeEverPrinter(OfNumbers):
    """min and max of what never leaves."""

    @property
    def largest(self) -> bool:
        return self.plan.function in ("max", "maxever")

    def fields(self) -> list[ArrayField]:
        return [ArrayField(f"{self.name}_v", self.dtype, GROUP), ArrayField(f"{self.name}_h", np.bool_, GROUP)]

    def enter(self, code: Code, at: At, place: str) -> None:
        printer = at(place, code)
        text = printer.keep(printer.value(self.argument))
        extreme = f"{self.name}_v[g]"
        test = f"{text.value} {'>' if self.largest else '<'} {extreme}"
        if self.kind in ("float", "double"):
            zero = sign_of_zero(self.kind, text.value, extreme, ">" if self.largest else "<")
            test = f"({test} or {f'{text.value} != {text.value}' if self.largest else f'{extreme} != {extreme}'} or {zero})"
        with code.block(f"if {text.valid or 'True'} and (not {self.name}_h[g] or {test})"):
            code.add(f"{extreme} = {text.value}", f"{self.name}_h[g] = True")

    def leave(self, code: Code, at: At, place: str) -> None:
        pass

    def value(self, group: str) -> ScalarText:
        return ScalarText(f"{self.name}_v[{group}]", f"{self.name}_h[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return arrays[f"{self.name}_v"][slot].item() if arrays[f"{self.name}_h"][slot] else None

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_h"][slot] = state is not None
        arrays[f"{self.name}_v"][slot] = 0 if state is None else state


class ExtremeHeld(ExtremeEverPrinter):
    """Base for windows: of the values of the events that are held."""

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        values = [value for _, value in self.counted(slot, ring) if value is not None]
        nans = sum(value != value for value in values)
        if self.plan.distinct:
            values, nans = list({freeze(value): value for value in values if value == value}.values()), min(nans, 1)
        return [[plain(value) for value in sorted(sort_value(value) for value in values if value == value)], nans]


class ExtremeWindow(ExtremeHeld):
    """min and max of a window whose events leave in order of arrival: a list of the candidates of each group, best first.

    ``f`` / ``b``: positions of a group's first and last candidate, -1 for none; ``x`` / ``p``: the next and previous one by ring place.
    A candidate that is no better than a newcomer goes. Cost: constant an event, amortised.
    """

    def fields(self) -> list[ArrayField]:
        name = self.name
        return [
            ArrayField(f"{name}_f", np.int64, GROUP, -1), ArrayField(f"{name}_b", np.int64, GROUP, -1),
            ArrayField(f"{name}_x", np.int64, RING, -1), ArrayField(f"{name}_p", np.int64, RING, -1),
            ArrayField(f"{name}_w", self.dtype, RING),
        ]

    def enter(self, code: Code, at: At, place: str) -> None:
        name = self.name
        printer = at(place, code)
        text = printer.keep(printer.value(self.argument))
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"d = {name}_b[g]")
            last = f"{name}_w[d & mask]"
            sign = "<" if self.largest else ">"
            worse = f"{last} {sign} {text.value} or {last} == {text.value}"
            if self.kind in ("float", "double"):
                zero = sign_of_zero(self.kind, text.value, last, ">" if self.largest else "<")
                worse = f"{last} {sign} {text.value} or {last} == {text.value} and {text.value} != 0 or {zero}"
                worse += f" or {text.value} != {text.value}" if self.largest else f" or {last} != {last}"
            with code.block(f"while d >= 0 and ({worse})"):
                code.add(f"d = {name}_p[d & mask]")
            code.add(f"{name}_w[{place} & mask] = {text.value}", f"{name}_p[{place} & mask] = d", f"{name}_x[{place} & mask] = -1")
            with code.block("if d >= 0"):
                code.add(f"{name}_x[d & mask] = {place}")
            with code.block("else"):
                code.add(f"{name}_f[g] = {place}")
            code.add(f"{name}_b[g] = {place}")

    def leave(self, code: Code, at: At, place: str) -> None:
        name = self.name
        with code.block(f"if {name}_f[g] == {place}"):
            code.add(f"d = {name}_x[{place} & mask]", f"{name}_f[g] = d")
            with code.block("if d >= 0"):
                code.add(f"{name}_p[d & mask] = -1")
            with code.block("else"):
                code.add(f"{name}_b[g] = -1")

    def value(self, group: str) -> ScalarText:
        name = self.name
        return ScalarText(f"{name}_w[{name}_f[{group}] & mask]", f"({name}_f[{group}] >= 0)")

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        name, mask = self.name, arrays.sizes[RING] - 1
        ranked: list[tuple[int, Any]] = []
        for (position, _), value in self.counted(slot, ring):
            if value is None:
                continue
            while ranked and self._outranks(value, ranked[-1][1]):
                ranked.pop()
            ranked.append((position, value))
        places = [position for position, _ in ranked]
        for position, before, after in zip(places, [-1, *places[:-1]], [*places[1:], -1]):
            arrays[f"{name}_p"][position & mask], arrays[f"{name}_x"][position & mask] = before, after
        for position, value in ranked:
            arrays[f"{name}_w"][position & mask] = value
        arrays[f"{name}_f"][slot], arrays[f"{name}_b"][slot] = (places[0], places[-1]) if places else (-1, -1)

    def _outranks(self, value: Any, other: Any) -> bool:
        """Return whether the newcomer is no worse than the other."""
        value, other = sort_value(value), sort_value(other)
        if self.largest:
            return bool(value >= other or value != value)
        return bool(value <= other or other != other)


class ExtremeHeap(ExtremeHeld):
    """min and max of a window whose events leave in any order: a skew heap of each group's events.

    ``f``: the position of a group's best event, -1 for none; ``l`` / ``r`` / ``u``: the two below and the one above by ring place. Cost:
    the logarithm of the group's size an event, amortised.
    """

    def fields(self) -> list[ArrayField]:
        links = [ArrayField(f"{self.name}_{part}", np.int64, RING, -1) for part in "lru"]
        return [ArrayField(f"{self.name}_f", np.int64, GROUP, -1), *links, ArrayField(f"{self.name}_w", self.dtype, RING)]

    def _links(self) -> str:
        return f"{', '.join(f'{self.name}_{part}' for part in 'lruw')}, mask, {self.largest}"

    def enter(self, code: Code, at: At, place: str) -> None:
        name = self.name
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"{name}_w[{place} & mask] = {text.value}")
            code.add(f"{name}_f[g] = heap_insert({name}_f[g], {place}, {self._links()})")

    def leave(self, code: Code, at: At, place: str) -> None:
        name = self.name
        text = at(place, code).value(self.argument)
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"{name}_f[g] = heap_remove({name}_f[g], {place}, {self._links()})")

    def value(self, group: str) -> ScalarText:
        name = self.name
        return ScalarText(f"{name}_w[{name}_f[{group}] & mask]", f"({name}_f[{group}] >= 0)")

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        name, mask = self.name, arrays.sizes[RING] - 1
        links = [arrays[f"{name}_{part}"] for part in "lruw"]
        root = -1
        for (position, _), value in self.counted(slot, ring):
            if value is not None:
                arrays[f"{name}_w"][position & mask] = value
                root = heap_insert(root, position, links, mask, self.largest)
        arrays[f"{name}_f"][slot] = root
