"""What an aggregation prints into a kernel, and how its state is taken and released."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import TypedExpression
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.ring import Member, Ring
from runtime.batch.storage.arrays import ArrayField, Arrays
from runtime.batch.storage.kinds import DTYPES, INTEGERS
from windows.protocol import State

At = Callable[[str, Code], ScalarPrinter]
"""at(position text, lines): a printer of expressions on the event at that place."""


@attrs.define
class AccumulatorPrinter:
    """``name`` begins its arrays' names. ``enter`` / ``leave`` print for the group ``g`` (a text) and the event at a place.

    ``state`` / ``restore``: of the group in a slot, as ``runtime.aggregation`` has it; the events that the group counts are
    ``ring.members(slot)``, those that pass the aggregation's filter ``counted``.
    """

    name: str
    plan: AggregationPlan

    def fields(self) -> list[ArrayField]:
        raise NotImplementedError

    def enter(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def leave(self, code: Code, at: At, place: str) -> None:
        raise NotImplementedError

    def value(self, group: str) -> ScalarText:
        raise NotImplementedError

    def full(self) -> str | None:
        """Return a text, true where there is no space for what a delta brings; None where there always is."""
        return None

    def grow(self, arrays: Arrays, more: int) -> None:
        """Make space for ``more`` events."""

    @property
    def shared(self) -> Any:
        """What aggregations have in common that share one state; None for one with a state of its own."""
        return None

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        raise NotImplementedError

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        raise NotImplementedError

    def counted(self, slot: int, ring: Ring) -> Iterator[tuple[Member, Any]]:
        """Return the group's events that pass the filter, with the value of the argument."""
        passes = None if self.plan.filter is None else ring.evaluator(self.plan.filter)
        value = ring.evaluator(self.argument)
        return ((member, value(member[1])) for member in ring.members(slot) if passes is None or passes(member[1]))

    @property
    def argument(self) -> TypedExpression:
        return self.plan.arguments[0]


class OfNumbers(AccumulatorPrinter):
    """Base of those that take numbers; ``dtype`` is what values are kept in."""

    @property
    def kind(self) -> str:
        kind = column_kind(self.argument.type)
        if kind not in (*INTEGERS, "float", "double"):
            raise NotCompilable(f"{self.plan.function} of {kind}")
        return kind

    @property
    def dtype(self) -> Any:
        return np.int64 if self.kind in INTEGERS else DTYPES[self.kind]
