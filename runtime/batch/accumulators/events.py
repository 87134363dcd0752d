"""first and last of a window's events; firstever and lastever."""
from __future__ import annotations

import numpy as np

from runtime.batch.accumulators.base import AccumulatorPrinter, At
from runtime.batch.printing.expressions import ScalarText, column_kind, element_text
from runtime.batch.printing.python_values import from_python, to_python
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import GROUP, RING, ArrayField, Arrays
from runtime.batch.storage.kinds import DTYPES, TEXTS
from windows.protocol import State


class OfValues(AccumulatorPrinter):
    """Base of those that keep values of any kind as they are."""

    @property
    def kind(self) -> str:
        if len(self.plan.arguments) > 1:
            raise NotCompilable(f"{self.plan.function} with an index")
        return column_kind(self.argument.type)

    @property
    def nothing(self) -> int:
        """What is kept of null: of strings it is the code that says so."""
        return -1 if self.kind in TEXTS else 0


def _code(text: str) -> ScalarText:
    value = f"np.int64({text})"
    return ScalarText(value, f"({value} >= 0)")


class FirstOrLastPrinter(OfValues):
    """``first(x)``, ``last(x)`` of a data window: a list of each group's events in order of arrival.

    ``f`` / ``b``: positions of a group's first and last event, -1 for none; ``x`` / ``p``: the next and previous one by ring place;
    ``w`` / ``v``: the values.
    """

    def fields(self) -> list[ArrayField]:
        name = self.name
        return [
            ArrayField(f"{name}_f", np.int64, GROUP, -1), ArrayField(f"{name}_b", np.int64, GROUP, -1),
            ArrayField(f"{name}_x", np.int64, RING, -1), ArrayField(f"{name}_p", np.int64, RING, -1),
            ArrayField(f"{name}_w", DTYPES[self.kind], RING), ArrayField(f"{name}_v", np.bool_, RING),
        ]

    def enter(self, code: Code, at: At, place: str) -> None:
        name = self.name
        text = at(place, code).value(self.argument)
        value = text.value
        if self.kind in TEXTS and text.valid is not None:
            value = f"{value} if {text.valid} else -1"
        code.add(
            f"{name}_w[{place} & mask] = {value}", f"{name}_v[{place} & mask] = {text.valid or 'True'}",
            f"d = {name}_b[g]", f"{name}_p[{place} & mask] = d", f"{name}_x[{place} & mask] = -1", f"{name}_b[g] = {place}",
        )
        with code.block("if d >= 0"):
            code.add(f"{name}_x[d & mask] = {place}")
        with code.block("else"):
            code.add(f"{name}_f[g] = {place}")

    def leave(self, code: Code, at: At, place: str) -> None:
        name = self.name
        code.add(f"d = {name}_p[{place} & mask]", f"e = {name}_x[{place} & mask]")
        for one, other, end, link in (("d", "e", "f", "x"), ("e", "d", "b", "p")):
            with code.block(f"if {one} >= 0"):
                code.add(f"{name}_{link}[{one} & mask] = {other}")
            with code.block("else"):
                code.add(f"{name}_{end}[g] = {other}")

    def value(self, group: str) -> ScalarText:
        name = self.name
        place = f"{name}_{'f' if self.plan.function == 'first' else 'b'}[{group}]"
        if self.kind in TEXTS:
            return _code(f"({name}_w[{place} & mask] if {place} >= 0 else -1)")
        return ScalarText(element_text(f"{name}_w[{place} & mask]", self.kind), f"({place} >= 0 and {name}_v[{place} & mask])")

    @property
    def shared(self) -> object:
        return "linear", self.plan.stream, self.plan.filter, self.plan.group_by

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        mask, following = arrays.sizes[RING] - 1, arrays[f"{self.name}_x"]
        places, place = [], int(arrays[f"{self.name}_f"][slot])
        while place >= 0:
            places.append(place)
            place = int(following[place & mask])
        return [[event, 1] for event in ring.events(np.array(places, np.int64))]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        name, mask, pool = self.name, arrays.sizes[RING] - 1, ring.surroundings.pool
        counted = {id(member[1]): (member[0], value) for member, value in self.counted(slot, ring)}
        once = len(state) == len(counted) and all(count == 1 for _, count in state)
        if not once or {id(event) for event, _ in state} != counted.keys():
            raise Declined("aggregations that keep other events than the window holds")
        members = [counted[id(event)] for event, _ in state]
        places = [position for position, _ in members]
        for position, before, after in zip(places, [-1, *places[:-1]], [*places[1:], -1]):
            arrays[f"{name}_p"][position & mask], arrays[f"{name}_x"][position & mask] = before, after
        for position, value in members:
            arrays[f"{name}_v"][position & mask] = value is not None
            arrays[f"{name}_w"][position & mask] = self.nothing if value is None else from_python(value, self.kind, pool)
        arrays[f"{name}_f"][slot], arrays[f"{name}_b"][slot] = (places[0], places[-1]) if places else (-1, -1)


class EverPrinter(OfValues):
    """``firstever(x)``, ``lastever(x)``: the first or last value that was not null."""

    def fields(self) -> list[ArrayField]:
        return [ArrayField(f"{self.name}_v", DTYPES[self.kind], GROUP, self.nothing), ArrayField(f"{self.name}_h", np.bool_, GROUP)]

    def enter(self, code: Code, at: At, place: str) -> None:
        text = at(place, code).value(self.argument)
        condition = "True" if self.plan.function == "lastever" else f"not {self.name}_h[g]"
        with code.block(f"if {text.valid or 'True'} and {condition}"):
            code.add(f"{self.name}_v[g] = {text.value}", f"{self.name}_h[g] = True")

    def leave(self, code: Code, at: At, place: str) -> None:
        pass

    def value(self, group: str) -> ScalarText:
        if self.kind in TEXTS:
            return _code(f"{self.name}_v[{group}]")
        return ScalarText(element_text(f"{self.name}_v[{group}]", self.kind), f"{self.name}_h[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        if not arrays[f"{self.name}_h"][slot]:
            return None
        return to_python(arrays[f"{self.name}_v"][slot], self.kind, ring.surroundings.pool)

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_h"][slot] = state is not None
        arrays[f"{self.name}_v"][slot] = self.nothing if state is None else from_python(state, self.kind, ring.surroundings.pool)
