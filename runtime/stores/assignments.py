"""Assignments to variables at run time: ``on … set``, ``output when … then set``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.plan.assignments import VariableAssignment
from epl.plan.expressions import TypedExpression
from runtime.expressions import Environment
from runtime.stores.variables import VariableCell

Step = Callable[..., Any]
Compile = Callable[[TypedExpression], Callable[..., Any]]
"""How the values' expressions become functions; ``Assignments`` hands its arguments on to them."""


class Assignments:
    """All steps or none: where one fails, the variables are what they were. Watchers hear of it when all are done."""

    def __init__(self, plans: Sequence[VariableAssignment], environment: Environment, compiled: Compile) -> None:
        self._cells = {a.variable.name: _cell(environment, a) for a in plans if a.variable is not None}
        self._steps = [_step(a, environment, compiled) for a in plans]

    def __call__(self, *arguments: Any) -> None:
        before = [(cell, cell.value) for cell in self._cells.values()]
        try:
            for step in self._steps:
                step(*arguments)
        except BaseException:
            for cell, value in before:
                cell.value = value
            raise
        for cell, value in before:
            cell.changed(value)


def _cell(environment: Environment, assignment: VariableAssignment) -> VariableCell:
    assert assignment.variable is not None
    cell = environment.variables[assignment.variable.name]
    assert isinstance(cell, VariableCell)
    return cell


def _step(plan: VariableAssignment, environment: Environment, compiled: Compile) -> Step:
    evaluate = compiled(plan.value)
    if plan.kind == "call":
        return evaluate
    cell = _cell(environment, plan)
    if plan.kind == "property":
        assert plan.property is not None
        return _property_step(cell, plan.property, evaluate)
    if plan.kind == "element":
        assert plan.index is not None
        return _element_step(cell, compiled(plan.index), evaluate)

    def assign(*arguments: Any) -> None:
        cell.value = evaluate(*arguments)

    return assign


def _property_step(cell: VariableCell, name: str, evaluate: Callable[..., Any]) -> Step:
    def assign(*arguments: Any) -> None:
        value = evaluate(*arguments)
        if cell.value is not None:
            cell.value = cell.value.replaced({name: value})

    return assign


def _element_step(cell: VariableCell, index: Callable[..., Any], evaluate: Callable[..., Any]) -> Step:
    def assign(*arguments: Any) -> None:
        at, value = index(*arguments), evaluate(*arguments)
        if cell.value is None or at is None:
            return
        if not 0 <= at < len(cell.value):
            raise EplRuntimeError(
                f"Failed variable write: Array length {len(cell.value)} less than index {at} for variable '{cell.variable.name}'"
            )
        changed = list(cell.value)
        changed[at] = value
        cell.value = changed

    return assign


__all__ = ["Assignments"]
