"""What is no part of a kernel's source, so that one shape is compiled once: constants, variables and ``?``, functions of one string."""
from __future__ import annotations

from typing import Any

import attrs

from epl.plan.expressions import Constant, Parameter, TypedExpression


@attrs.define
class Parameters:
    """What stands in a kernel's parameter arrays: filled before each batch, so that constants, variables and ``?`` are never compiled in.

    ``integers`` and ``floats`` hold (node) whose value is put there, strings as codes; ``tables``: functions of one string property.
    """

    integers: list[TypedExpression] = attrs.field(factory=list)
    floats: list[TypedExpression] = attrs.field(factory=list)
    tables: list[tuple[TypedExpression, str]] = attrs.field(factory=list)
    ranked: bool = False

    def integer(self, node: TypedExpression) -> str:
        return f"PI[{_place(self.integers, node)}]"

    def floating(self, node: TypedExpression) -> str:
        return f"PF[{_place(self.floats, node)}]"

    def table(self, node: TypedExpression, kind: str) -> int:
        return _place(self.tables, (node, kind))


def _place(known: list[Any], value: Any) -> int:
    """Where it stands, at the end if it is new. Compared by text: -0.0 equals 0.0 and is another constant."""
    text = repr(value)
    for place, other in enumerate(known):
        if repr(other) == text:
            return place
    known.append(value)
    return len(known) - 1


@attrs.frozen(kw_only=True)
class Presence(TypedExpression):
    """Stands among a kernel's parameters: 1 where the variable's or parameter's value is not null."""

    node: TypedExpression


def is_fixed(node: TypedExpression) -> bool:
    """Whether its value is the same in every batch."""
    return isinstance(node.node if isinstance(node, Presence) else node, (Constant, Parameter))


__all__ = ["Parameters", "Presence", "is_fixed"]
