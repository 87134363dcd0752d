"""The aggregations of a fused function as text: one group, or a group a key; what enters, what leaves, what a row reads."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import attrs

from epl.plan.context.contexts import Path
from epl.plan.expressions import (
    Aggregated,
    AggregationMethodCall,
    Invoke,
    Local,
    Previous,
    Prior,
    StreamEvent,
    SubqueryValue,
    TypedExpression,
)
from epl.plan.result_set import ResultSetPlan
from runtime.aggregation.generated_steps import AccumulatorSteps, GroupSteps, accumulator_steps
from runtime.aggregation.grouped import Aggregator, Ungrouped
from runtime.aggregation.keys import needs_freezing
from runtime.expressions import Environment
from runtime.expressions.generated_steps import PlacePrinter
from runtime.expressions.printer import may_be_null
from runtime.expressions.source_lines import under

GROUPS = {"k": "g", "kl": "gl"}
NOT_TWICE = (Aggregated, AggregationMethodCall, Invoke, Local, Previous, Prior, SubqueryValue)
"""What is not asked for before it is known that all goes well: a function may have effects, the others look at what changes."""


Reach = Callable[[Any], Any] | None
"""What an aggregation reads → its accumulator; None where that is the same."""


class SelectPrinter(PlacePrinter):
    """Prints over the event in a variable and the aggregations in others. ``fixed``: the properties of a partition that are read once,
    when its functions are bound."""

    def __init__(self, environment: Environment, fixed: frozenset[Path] = frozenset()) -> None:
        super().__init__(environment)
        self.readers: dict[int, str] = {}
        self._fixed = fixed
        self._values: dict[Path, str] = {}

    def context_value(self, path: Path) -> str:
        if path not in self._fixed:
            return super().context_value(path)
        name = self._values.get(path)
        if name is None:
            name, key = f"of_context{len(self._values)}", ".".join(path)
            self._values[path] = name
            self.instance_cells[name] = lambda environment: environment.context.get(key)
        return name

    def over(self, event: str, readers: dict[int, str]) -> SelectPrinter:
        """Let expressions, from now on, be about this event and these aggregations (slot → text of the value)."""
        self.streams[0] = event
        self.readers = readers
        return self

    def print_aggregation(self, slot: int) -> str:
        return self.readers[slot]


def can_repeat(expressions: Sequence[TypedExpression]) -> bool:
    """Return whether expressions may be evaluated, and again by the operators where one of them raises."""
    return not any(isinstance(n, NOT_TWICE) for e in expressions for n in e.walk())


@attrs.frozen
class Aggregations:
    """The aggregations of a statement, all of which can be printed.

    Texts speak of an event ``e`` that enters and ``o`` that leaves: their keys are ``k`` and ``kl``, their groups ``g`` and ``gl``, their
    values ``new0`` … and ``old0`` …; the accumulators are ``a0`` … (of ``g``) and ``b0`` … (of ``gl``; of one group: ``a0`` …).
    """

    plan: ResultSetPlan
    groups: GroupSteps
    accumulators: tuple[AccumulatorSteps, ...]
    reach: tuple[Reach, ...]
    printer: SelectPrinter

    @classmethod
    def of(cls, plan: ResultSetPlan, aggregator: Aggregator, printer: SelectPrinter) -> Aggregations | None:
        """Return what prints them; None where one of them, or the key, cannot be printed."""
        groups = aggregator.steps()
        known = None if groups is None else _accumulators(plan, groups.blank)
        return None if groups is None or known is None else cls(plan, groups, *known, printer)

    def objects(self, aggregator: Aggregator) -> dict[str, Any]:
        """Return the objects of an instance that the texts name. ``aggregator``: the instance's."""
        named = aggregator.objects()
        if isinstance(aggregator, Ungrouped):
            for n, (reach, reader) in enumerate(zip(self.reach, aggregator.group.readers)):
                named[f"a{n}"] = reader if reach is None else reach(reader)
        return named

    @property
    def keyed(self) -> bool:
        return self.groups.keyed

    # ------------------------------------------------------------------ before anything changes

    def guard(self) -> str:
        """Return a condition under which the operators themselves must do it: some aggregation does not count some row."""
        return self.groups.guard

    def evaluation_lines(self, event: str, key: str, prefix: str) -> list[str]:
        """Return lines that evaluate an event's key and values; they may raise."""
        printer = self.printer.over(event, {})
        lines = [f"{key} = {self._key(event)}", self.groups.find(key, GROUPS[key])] if self.keyed else []
        known: dict[str, str] = {}
        for n, plan in enumerate(self.plan.aggregations):
            if not self.accumulators[n].counts_rows:
                text = printer.value(plan.arguments[0])
                lines += [f"{prefix}{n} = {known.setdefault(text, text)}"]
                known[text] = f"{prefix}{n}"
        return lines

    def uncounted(self, group: str) -> list[str]:
        """Return a condition under which a group, found by ``evaluation_lines``, does not count all of its rows."""
        return [self.groups.uncounted[group]] if self.keyed else []

    def _key(self, event: str) -> str:
        keys = self.plan.group_by
        if any(needs_freezing(k.type) for k in keys):
            return f"key_of({event})"
        texts = [self.printer.value(k) for k in keys]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    # ------------------------------------------------------------------ changes

    def enter(self) -> list[str]:
        lines = [*self.groups.enter, *(self._unpack_lines("a", self.groups.entered) if self.keyed else [])]
        for n, steps in enumerate(self.accumulators):
            lines += self._step(n, steps.enter(f"a{n}", f"new{n}"), f"new{n}")
        return lines

    def leave(self) -> list[str]:
        lines = [*self.groups.leave, *(self._unpack_lines("b", self.groups.left) if self.keyed else [])]
        a = "b" if self.keyed else "a"
        for n, steps in enumerate(self.accumulators):
            lines += self._step(n, steps.leave(f"{a}{n}", f"old{n}"), f"old{n}")
        return lines

    def lookup_lines(self) -> list[str]:
        """Return lines that find the accumulators of the key ``k``, changing nothing; those of an empty group where there is none."""
        return [self.groups.find("k", "g"), *self._unpack_lines("a", self.groups.known)] if self.accumulators else []

    def _unpack_lines(self, prefix: str, readers: str) -> list[str]:
        names = [f"{prefix}{n}" for n in range(len(self.accumulators))]
        lines = [f"{', '.join(names)}, = {readers}"] if names else []
        return [*lines, *(f"{name} = {each.reach(name)}" for name, each in zip(names, self.accumulators) if each.reach is not None)]

    def _step(self, n: int, lines: Sequence[str], value: str) -> Sequence[str]:
        """Return a step; null counts for nothing."""
        if not lines or self.accumulators[n].counts_rows or not may_be_null(self.plan.aggregations[n].arguments[0]):
            return lines
        return under(f"if {value} is not None:", lines)

    def readers(self, leaving: bool = False) -> dict[int, str]:
        """Return Slot → the text of its value."""
        a = "b" if leaving and self.keyed else "a"
        return {n: steps.value(f"{a}{n}") for n, steps in enumerate(self.accumulators)}


def _accumulators(plan: ResultSetPlan, blank: Sequence[Any]) -> tuple[tuple[AccumulatorSteps, ...], tuple[Reach, ...]] | None:
    """Return the steps of the aggregations, as those of an empty group have them, and how each is reached; None where one of them, or the
    key, cannot be printed."""
    steps = [accumulator_steps(p, reader) for p, reader in zip(plan.aggregations, blank, strict=True)]
    asked = [e for p in plan.aggregations for e in p.arguments]
    known = [each for each in steps if each is not None]
    if len(known) < len(steps) or not can_repeat([*asked, *plan.group_by]) or _whole_events(asked):
        return None
    reach = [None if each.reach is None else attrgetter(each.reach("").removeprefix(".")) for each in known]
    return tuple(known), tuple(reach)


def _whole_events(expressions: Sequence[TypedExpression]) -> bool:
    return any(isinstance(e, StreamEvent) for e in expressions)


__all__ = ["Aggregations", "SelectPrinter", "can_repeat"]
