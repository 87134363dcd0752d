"""Aggregations of one group as lines that take a row in, take it out and give the value. Arithmetic is that of runtime.aggregation, step by
step, so that doubles are equal to the last bit."""
from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from epl.plan.expressions import TypedExpression
from epl.plan.result_set import AggregationPlan
from runtime.batch.arrays import GROUP, RING, Field
from runtime.batch.code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.scalars import DTYPES, INTEGERS, ScalarPrinter, Text, kind_of

At = Callable[[str, Code], ScalarPrinter]
"""at(position text, lines): a printer of expressions on the event at that place."""


@attrs.define
class Accumulator:
    """``name`` begins its arrays' names. ``enter`` / ``leave`` print for the group ``g`` (a text) and the event at a place."""

    name: str
    plan: AggregationPlan
    windowed: bool

    def fields(self) -> list[Field]:
        raise NotImplementedError

    def enter(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def leave(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def value(self, group: str) -> Text:
        raise NotImplementedError

    @property
    def argument(self) -> TypedExpression:
        return self.plan.arguments[0]


class Count(Accumulator):
    """``count(*)`` and ``count(x)``. State: the number."""

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


class Sum(Accumulator):
    """``sum(x)``: total and number; the last value that leaves takes all rounding errors with it."""

    @property
    def kind(self) -> str:
        kind = kind_of(self.argument.type)
        if kind not in (*INTEGERS, "float", "double"):
            raise NotCompilable(f"sum of {kind}")
        return kind

    def fields(self) -> list[Field]:
        dtype = np.int64 if self.kind in INTEGERS else DTYPES[self.kind]
        return [Field(f"{self.name}_t", dtype, GROUP), Field(f"{self.name}_n", np.int64, GROUP)]

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


class Average(Sum):
    """``avg(x)``: the sum in its own type, divided as doubles."""

    def value(self, group: str) -> Text:
        return Text(f"(np.float64({self.name}_t[{group}]) / {self.name}_n[{group}])", f"({self.name}_n[{group}] > 0)")


class ExtremeEver(Accumulator):
    """min and max of what never leaves; NaN is greater than every number."""

    @property
    def kind(self) -> str:
        kind = kind_of(self.argument.type)
        if kind not in (*INTEGERS, "float", "double"):
            raise NotCompilable(f"{self.plan.function} of {kind}")
        return kind

    @property
    def largest(self) -> bool:
        return self.plan.function in ("max", "maxever")

    def fields(self) -> list[Field]:
        dtype = np.int64 if self.kind in INTEGERS else DTYPES[self.kind]
        return [Field(f"{self.name}_v", dtype, GROUP), Field(f"{self.name}_h", np.bool_, GROUP)]

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
            Field(f"{name}_w", np.int64 if self.kind in INTEGERS else DTYPES[self.kind], RING),
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


def accumulator(plan: AggregationPlan, number: int, windowed: bool) -> Accumulator:
    """The accumulator of one aggregation; raises NotCompilable."""
    if plan.distinct or plan.group_by is not None or plan.constants:
        raise NotCompilable(f"{plan.function} with distinct, group_by or parameters")
    function = plan.function
    if function in ("min", "max"):
        kind: type[Accumulator] = ExtremeWindow if windowed and not plan.ever else ExtremeEver
    elif function in KINDS:
        kind = KINDS[function]
    else:
        raise NotCompilable(f"the aggregation {function} is not computed in columns")
    made = kind(f"a{number}", plan, windowed)
    return Filtered(f"a{number}", plan, windowed, made) if plan.filter is not None else made


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


KINDS: dict[str, type[Accumulator]] = {"count": Count, "sum": Sum, "avg": Average, "minever": ExtremeEver, "maxever": ExtremeEver}
