"""Substitution parameters of one statement: their numbers, and that they agree with one another."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from epl.analysis.expressions.rewriting import rewrite_syntax
from epl.errors import EplValidationError
from epl.plan.expressions import Parameter
from epl.syntax import Statement, SubstitutionParameter
from epl.syntax.nodes import Node
from epl.value_types import ValueType


def number_parameters(statement: Statement) -> Statement:
    """Return the statement with its unnamed parameters numbered from 1 in order of the text; refuse named and unnamed ones side by side."""
    if "?" not in statement.text:
        return statement
    parameters = sorted(_find_parameters(statement), key=lambda p: p.span.start if p.span else 0)
    if not parameters:
        return statement
    unnamed = [p for p in parameters if p.name is None]
    if unnamed and len(unnamed) < len(parameters):
        raise EplValidationError(
            "Inconsistent use of substitution parameters, expecting all substitutions to either all provide a name or provide no name",
            span=parameters[-1].span
        )
    numbers = {id(p): n for n, p in enumerate(unnamed, 1)}

    def number_node(node: Node) -> Node | None:
        return attrs.evolve(node, number=numbers[id(node)]) if isinstance(node, SubstitutionParameter) and id(node) in numbers else None

    return rewrite_syntax(statement, number_node)


def _find_parameters(value: Any) -> Iterable[SubstitutionParameter]:
    if isinstance(value, SubstitutionParameter):
        yield value
    elif isinstance(value, Node):
        for field in attrs.fields(type(value)):
            yield from _find_parameters(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _find_parameters(item)


def parameter_types(parameters: Iterable[Parameter]) -> dict[str | int, ValueType]:
    """Return key → type; refuse two types of one parameter."""
    types: dict[str | int, ValueType] = {}
    for parameter in parameters:
        known = types.setdefault(parameter.key, parameter.type)
        if known != parameter.type:
            raise EplValidationError(
                f"Substitution parameter '{parameter.key}' incompatible type assignment between types '{known}' and '{parameter.type}'"
            )
    return types
