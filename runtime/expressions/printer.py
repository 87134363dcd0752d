"""Typed expressions → Python source. Everything that can be decided at deploy is decided here; the text holds only what an event decides.

``value(node)`` prints the node's value (None is null), ``test(node)`` something that is truthy exactly where the value is true: there
null needs no care of its own. A node's text is one Python expression in brackets; operands that are needed twice are kept in t1, t2 … by
``:=``.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from epl.generated_code import field_name, literal
from epl.plan.expressions import Constant, Parameter, TypedExpression
from epl.value_types import Scalar
from runtime.expressions.environment import Environment

Print = Callable[["Printer", Any], str]

VALUES: dict[type[TypedExpression], Print] = {}
TESTS: dict[type[TypedExpression], Print] = {}


def prints(kind: type[TypedExpression], table: dict[type[TypedExpression], Print] = VALUES) -> Callable[[Print], Print]:
    """Register the printer of one kind of node."""

    def register(function: Print) -> Print:
        table[kind] = function
        return function

    return register


def scalar_kind(node: TypedExpression) -> str:
    """Return the scalar kind (``int``, ``String``), or empty."""
    return node.type.kind if isinstance(node.type, Scalar) else ""


def may_be_null(node: TypedExpression) -> bool:
    return node.value is None if isinstance(node, Constant) else node.type.nullable


class Printer:
    """Prints expressions over streams ``e0 … en`` and collects the objects that their text names."""

    def __init__(self, environment: Environment, arity: int, bindings: dict[str, Any] | None = None) -> None:
        self.environment = environment
        self.bindings: dict[str, Any] = {} if bindings is None else bindings
        self.streams: dict[int, str] = {n: f"e{n}" for n in range(arity)}
        self.instance_cells: dict[str, Callable[[Environment], Any]] = {}
        """Of the names in ``bindings`` those whose object each instance of a statement has one of its own of."""
        self._temporaries = 0

    def value(self, node: TypedExpression) -> str:
        return VALUES[type(node)](self, node)

    def test(self, node: TypedExpression) -> str:
        printer = TESTS.get(type(node))
        return printer(self, node) if printer is not None else self.value(node)

    # ------------------------------------------------------------------ what a generated function may hold elsewhere

    def property(self, stream: int, name: str) -> str:
        """Return a property of the stream's event."""
        return f"{self.streams[stream]}.{field_name(name)}"

    def print_aggregation(self, slot: int) -> str:
        """Return the value of an aggregation."""
        return f"aggregations[{slot}].value()"

    def context_value(self, path: tuple[str, ...]) -> str:
        """Return a property of the context partition."""
        return f"{self.bind_cell(attrgetter('context'), 'context')}.get({literal('.'.join(path))})"

    # ------------------------------------------------------------------ names

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def bind(self, value: Any, prefix: str = "k") -> str:
        """Return a name for an object in the generated code."""
        for name, known in self.bindings.items():
            if known is value:
                return name
        name = f"{prefix}{len(self.bindings)}"
        self.bindings[name] = value
        return name

    def bind_cell(self, read: Callable[[Environment], Any], prefix: str) -> str:
        """Return a name for an object of the environment that an instance of a statement may have of its own."""
        name = self.bind(read(self.environment), prefix)
        self.instance_cells[name] = read
        return name

    def constant(self, value: Any) -> str:
        """Return plain values as literals, others by name."""
        if value is None or value is True or value is False or type(value) in (int, str):
            return literal(value)
        return literal(value) if type(value) is float and math.isfinite(value) else self.bind(value)

    # ------------------------------------------------------------------ null care

    def null_test(self, node: TypedExpression, *, negated: bool) -> str:
        """Return ``node is null``, or ``is not null``; decided here where the value is known (Python warns of ``3 is None``)."""
        if isinstance(node, Constant) or (isinstance(node, Parameter) and node.key in self.environment.parameters):
            value = node.value if isinstance(node, Constant) else self.environment.parameters[node.key]
            return literal((value is None) is not negated)
        return f"({self.value(node)} is {'not ' if negated else ''}None)"

    def operand(self, node: TypedExpression, kept: list[str]) -> str:
        """Return an operand whose null ends the operation; its text may be used many times. ``kept`` gets ``(t := value)`` to be checked
        first."""
        if isinstance(node, Constant) and node.value is not None:
            return self.constant(node.value)
        name = self.temporary()
        kept.append(f"({name} := {self.value(node)})")
        return name

    def once(self, node: TypedExpression, kept: list[str]) -> str:
        """Do as ``operand``, for a text that is used once: nothing is kept of what cannot be null."""
        return self.operand(node, kept) if may_be_null(node) else self.value(node)

    def guard(self, kept: Sequence[str], body: str) -> str:
        """Return ``body``, or None if anything kept is null."""
        return f"(None if {' or '.join(f'{k} is None' for k in kept)} else {body})" if kept else body

    def guard_test(self, kept: Sequence[str], body: str) -> str:
        """Return ``body`` if nothing kept is null, else False."""
        return f"({' and '.join(f'{k} is not None' for k in kept)} and {body})" if kept else body

    def unary(self, node: TypedExpression, build: Callable[[str], str]) -> str:
        """Return ``build(operand)``, null of null."""
        kept: list[str] = []
        text = build(self.once(node, kept))
        return self.guard(kept, text)
