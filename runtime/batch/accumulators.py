"""Aggregations of one group as lines that take a row in, take it out and give the value. Arithmetic is that of runtime.aggregation, step by
step, so that doubles are equal to the last bit."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from epl.plan.expressions import TypedExpression
from epl.plan.result_set import AggregationPlan
from runtime.batch.arrays import GROUP, RING, Arrays, Field
from runtime.batch.code import Code
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.ring import Member, Ring
from runtime.batch.scalars import DTYPES, INTEGERS, ScalarPrinter, Text, is_steady, kind_of
from runtime.batch.windows.base import Window
from windows.protocol import State

At = Callable[[str, Code], ScalarPrinter]
"""at(position text, lines): a printer of expressions on the event at that place."""


@attrs.define
class Accumulator:
    """``name`` begins its arrays' names. ``enter`` / ``leave`` print for the group ``g`` (a text) and the event at a place.

    ``state`` / ``restore``: of the group in a slot, as ``runtime.aggregation`` has it; the events that the group counts are
    ``ring.members(slot)``, those that pass the aggregation's filter ``counted``.
    """

    name: str
    plan: AggregationPlan

    def fields(self) -> list[Field]:
        raise NotImplementedError

    def enter(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def leave(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def value(self, group: str) -> Text:
        raise NotImplementedError

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        raise NotImplementedError

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        raise NotImplementedError

    def counted(self, slot: int, ring: Ring) -> Iterator[tuple[Member, Any]]:
        """The group's events that pass the filter, with the value of the argument."""
        passes = None if self.plan.filter is None else ring.evaluator(self.plan.filter)
        value = ring.evaluator(self.argument)
        return ((member, value(member[1])) for member in ring.members(slot) if passes is None or passes(member[1]))

    @property
    def argument(self) -> TypedExpression:
        return self.plan.arguments[0]


class Count(Accumulator):
    """``count(*)`` and ``count(x)``."""

    def fields(self) -> list[Field]:
        return [Field(f"{self.name}_n", np.int64, GROUP)]

    def _step(self, code: Code, at: At, place: str, sign: str) -> None:
        valid = at(place, code).value(self.argument).valid if self.plan.arguments else None
        with code.block(f"if {valid or 'True'}"):
            code.add(f"{self.name}_n[g] {sign}= 1")

    def enter(self, code: Code, at: At, place: str) -> None:
        self._step(code, at, place, "+")

    def leave(self, code: Code, at: At, place: str) -> None:
        self._step(code, at, place, "-")

    def value(self, group: str) -> Text:
        return Text(f"{self.name}_n[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return int(arrays[f"{self.name}_n"][slot])

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_n"][slot] = state


class OfNumbers(Accumulator):
    """Base of those that take numbers; ``dtype`` is what values are kept in."""

    @property
    def kind(self) -> str:
        kind = kind_of(self.argument.type)
        if kind not in (*INTEGERS, "float", "double"):
            raise NotCompilable(f"{self.plan.function} of {kind}")
        return kind

    @property
    def dtype(self) -> Any:
        return np.int64 if self.kind in INTEGERS else DTYPES[self.kind]


class Sum(OfNumbers):
    """``sum(x)``: total and number; the last value that leaves takes all rounding errors with it."""

    def fields(self) -> list[Field]:
        return [Field(f"{self.name}_t", self.dtype, GROUP), Field(f"{self.name}_n", np.int64, GROUP)]

    def _total(self, sign: str, value: str) -> str:
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

    def value(self, group: str) -> Text:
        return Text(f"{self.name}_t[{group}]", f"({self.name}_n[{group}] > 0)")


    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return [arrays[f"{self.name}_t"][slot].item(), int(arrays[f"{self.name}_n"][slot])]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_t"][slot], arrays[f"{self.name}_n"][slot] = state


class Average(Sum):
    """``avg(x)``: the sum in its own type, divided as doubles."""

    def value(self, group: str) -> Text:
        return Text(f"(np.float64({self.name}_t[{group}]) / {self.name}_n[{group}])", f"({self.name}_n[{group}] > 0)")


class ExtremeEver(OfNumbers):
    """min and max of what never leaves; NaN is greater than every number."""

    @property
    def largest(self) -> bool:
        return self.plan.function in ("max", "maxever")

    def fields(self) -> list[Field]:
        return [Field(f"{self.name}_v", self.dtype, GROUP), Field(f"{self.name}_h", np.bool_, GROUP)]

    def enter(self, code: Code, at: At, place: str) -> None:
        printer = at(place, code)
        text = printer.keep(printer.value(self.argument))
        found = f"{self.name}_v[g]"
        test = f"{text.value} {'>' if self.largest else '<'} {found}"
        if self.kind in ("float", "double"):
            test = f"({test} or {f'{text.value} != {text.value}' if self.largest else f'{found} != {found}'})"
        with code.block(f"if {text.valid or 'True'} and (not {self.name}_h[g] or {test})"):
            code.add(f"{found} = {text.value}", f"{self.name}_h[g] = True")

    def leave(self, code: Code, at: At, place: str) -> None:
        pass

    def value(self, group: str) -> Text:
        return Text(f"{self.name}_v[{group}]", f"{self.name}_h[{group}]")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return arrays[f"{self.name}_v"][slot].item() if arrays[f"{self.name}_h"][slot] else None

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        arrays[f"{self.name}_h"][slot] = state is not None
        arrays[f"{self.name}_v"][slot] = 0 if state is None else state


class ExtremeWindow(ExtremeEver):
    """min and max of a window whose events leave in order of arrival: a list of the candidates of each group, best first.

    ``f`` / ``b``: positions of a group's first and last candidate, -1 for none; ``x`` / ``p``: the next and previous one by ring place.
    A candidate that is no better than a newcomer goes. Cost: constant an event, amortised.
    """

    def fields(self) -> list[Field]:
        name = self.name
        return [
            Field(f"{name}_f", np.int64, GROUP, -1), Field(f"{name}_b", np.int64, GROUP, -1),
            Field(f"{name}_x", np.int64, RING, -1), Field(f"{name}_p", np.int64, RING, -1),
            Field(f"{name}_w", self.dtype, RING),
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

    def value(self, group: str) -> Text:
        name = self.name
        return Text(f"{name}_w[{name}_f[{group}] & mask]", f"({name}_f[{group}] >= 0)")

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        values = [value for _, value in self.counted(slot, ring) if value is not None]
        return [sorted(value for value in values if value == value), sum(value != value for value in values)]

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        name, mask = self.name, arrays.sizes[RING] - 1
        found: list[tuple[int, Any]] = []
        for (position, _), value in self.counted(slot, ring):
            if value is None:
                continue
            while found and self._ranks_before(value, found[-1][1]):
                found.pop()
            found.append((position, value))
        places = [position for position, _ in found]
        for position, before, after in zip(places, [-1, *places[:-1]], [*places[1:], -1]):
            arrays[f"{name}_p"][position & mask], arrays[f"{name}_x"][position & mask] = before, after
        for position, value in found:
            arrays[f"{name}_w"][position & mask] = value
        arrays[f"{name}_f"][slot], arrays[f"{name}_b"][slot] = (places[0], places[-1]) if places else (-1, -1)

    def _ranks_before(self, value: Any, other: Any) -> bool:
        """Whether the newcomer is no worse than the other."""
        if self.largest:
            return bool(value >= other or value != value)
        return bool(value <= other or other != other)


def accumulator(plan: AggregationPlan, number: int, window: Window | None) -> Accumulator:
    """The accumulator of one aggregation; raises NotCompilable."""
    if window is not None and not all(is_steady(e) for e in plan.expressions):
        raise NotCompilable(f"{plan.function} of what may change while an event is held")
    if plan.distinct or plan.group_by is not None or plan.constants:
        raise NotCompilable(f"{plan.function} with distinct, group_by or parameters")
    function = plan.function
    if function in ("min", "max"):
        kind: type[Accumulator] = ExtremeEver if window is None or plan.ever else ExtremeWindow
        if kind is ExtremeWindow and window is not None and not window.in_order:
            raise NotCompilable(f"{function} of events that leave in another order than they came in")
    elif function in KINDS:
        kind = KINDS[function]
    else:
        raise NotCompilable(f"the aggregation {function} is not computed in columns")
    made = kind(f"a{number}", plan)
    return Filtered(f"a{number}", plan, made) if plan.filter is not None else made


@attrs.define
class Filtered(Accumulator):
    """Only rows for which the filter is true."""

    inner: Accumulator

    def fields(self) -> list[Field]:
        return self.inner.fields()

    def enter(self, code: Code, at: At, place: str) -> None:
        assert self.plan.filter is not None
        with code.block(f"if {at(place, code).test(self.plan.filter)}"):
            self.inner.enter(code, at, place)

    def leave(self, code: Code, at: At, place: str) -> None:
        assert self.plan.filter is not None
        with code.block(f"if {at(place, code).test(self.plan.filter)}"):
            self.inner.leave(code, at, place)

    def value(self, group: str) -> Text:
        return self.inner.value(group)

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return self.inner.state(arrays, slot, ring)

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        self.inner.restore(arrays, slot, state, ring)


KINDS: dict[str, type[Accumulator]] = {"count": Count, "sum": Sum, "avg": Average, "minever": ExtremeEver, "maxever": ExtremeEver}


# ------------------------------------------------------------------ the aggregations of a group together


def group_state(accumulators: Sequence[Accumulator], arrays: Arrays, slot: int, ring: Ring) -> State:
    """As ``runtime.aggregation.groups.Group`` gives it: no row has failed."""
    return [[each.state(arrays, slot, ring) for each in accumulators], []]


def restore_group(accumulators: Sequence[Accumulator], arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
    """Raises Declined for a group of which some rows raised."""
    states, failed = state
    if failed:
        raise Declined("aggregations that do not count an event since their argument raised")
    for each, saved in zip(accumulators, states, strict=True):
        each.restore(arrays, slot, saved, ring)


__all__ = ["Accumulator", "accumulator", "group_state", "restore_group"]
