"""What is not a part of a kernel's source, so that one shape is compiled once: constants, variables and ``?``, functions of one string."""
from __future__ import annotations

from typing import Any

import attrs

from epl.plan.expressions import Constant, Parameter, TypedExpression
from runtime.batch.refusals import NotCompilable

MOST_CONSTANTS = 1_000
MOST_OPERATIONS = 20_000


@attrs.define
class Parameters:
    """What is in a kernel's parameter arrays: filled before each batch, so that constants, variables and ``?`` are never compiled in.

    ``integers`` and ``floats`` hold (node) whose value is put there, strings as codes; ``tables``: functions of one string property.
    """

    integers: list[TypedExpression] = attrs.field(factory=list)
    floats: list[TypedExpression] = attrs.field(factory=list)
    tables: list[tuple[TypedExpression, str]] = attrs.field(factory=list)
    ranked: bool = False
    _places: dict[tuple[str, str], int] = attrs.field(factory=dict)
    _printed: int = 0

    def integer(self, node: TypedExpression) -> str:
        return f"PI[{self._place('PI', self.integers, node)}]"

    def floating(self, node: TypedExpression) -> str:
        return f"PF[{self._place('PF', self.floats, node)}]"

    def table(self, node: TypedExpression, kind: str) -> int:
        return self._place("T", self.tables, (node, kind))

    def count(self) -> None:
        """Count one more operation of the kernel; NotCompilable where there are too many to be compiled in seconds."""
        self._printed += 1
        if self._printed > MOST_OPERATIONS:
            raise NotCompilable(f"more than {MOST_OPERATIONS} operations")

    def _place(self, array: str, known: list[Any], value: Any) -> int:
        """Return the parameter's place, at the end if it is new. Compared by text: -0.0 equals 0.0 and is another constant."""
        place = self._places.setdefault((array, repr(value)), len(known))
        if place == len(known):
            if place == MOST_CONSTANTS:
                raise NotCompilable(f"more than {MOST_CONSTANTS} constants")
            known.append(value)
        return place


@attrs.frozen(kw_only=True)
class Presence(TypedExpression):
    """A kernel's parameter: 1 where the variable's or parameter's value is not null."""

    node: TypedExpression


def is_fixed(node: TypedExpression) -> bool:
    """Return whether its value is the same in every batch."""
    return isinstance(node.node if isinstance(node, Presence) else node, (Constant, Parameter))


__all__ = ["Parameters", "Presence", "is_fixed"]
