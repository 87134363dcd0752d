"""Typed expressions → vectors. ``leaf`` gives the vector of a column of the row that is meant."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.errors import EplError
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.vectors import NotColumnar, Vector

Leaf = Callable[[y.Typed], Vector]


def vector(typed: y.Typed, leaf: Leaf) -> Vector:
    """Return the expression's values for all rows; raises NotColumnar where it is to be computed row by row."""
    match typed:
        case y.Constant():
            return x.constant(typed.type, typed.value)
        case y.Junction():
            return x.junction([vector(each, leaf) for each in typed.operands], typed.is_all)
        case y.Apply():
            return _apply(typed, leaf)
        case y.Member():
            return _member(typed, leaf)
        case y.Navigated() | y.Aggregated() | y.MatchNumber() | y.Field():
            return leaf(typed)
        case _:
            raise NotColumnar(type(typed).__name__)


def _apply(typed: y.Apply, leaf: Leaf) -> Vector:
    operation = typed.operation
    if operation is None:
        raise NotColumnar("a function")
    if operation == "cast" and isinstance(typed.arguments[0], y.Constant):
        return _cast_constant(typed, typed.arguments[0].value)
    operands = [vector(each, leaf) for each in typed.arguments]
    first = operands[0]
    if operation in x.COMPARE:
        return x.compared(operation, first, operands[1])
    if operation in ("+", "-", "*", "/", "%"):
        return x.arithmetic(operation, typed.type, first, operands[1])
    if operation == "not":
        return x.negated(first)
    if operation in ("is null", "is not null"):
        absent = np.zeros(first.values.shape, bool) if first.nulls is None else first.nulls
        return Vector(k.BOOLEAN, absent if operation == "is null" else ~absent, None, is_constant=first.is_constant)
    if operation == "cast":
        return x.as_instant(first, typed.type)
    if operation == "abs" and first.kind.name in ("double", "real"):
        return Vector(typed.type, np.abs(first.values), first.nulls, is_constant=first.is_constant)
    if operation == "abs" and first.kind.name in k.INTEGERS and not np.any(first.values == np.iinfo(np.int64).min):
        return Vector(typed.type, np.abs(first.values), first.nulls, is_constant=first.is_constant)
    raise NotColumnar(operation)


def _cast_constant(typed: y.Apply, value: object) -> Vector:
    """``price > 0.5`` compares a double with a decimal, cast once; what cannot be cast fails where a row comes to it."""
    try:
        return x.constant(typed.type, None if value is None else typed.function(value))
    except (ArithmeticError, ValueError, TypeError, EplError) as error:
        raise NotColumnar("a constant that cannot be cast") from error


def _member(typed: y.Member, leaf: Leaf) -> Vector:
    """``a in (1, 2)`` is ``a = 1 or a = 2``."""
    value = vector(typed.value, leaf)
    return x.junction([x.compared("=", value, vector(each, leaf)) for each in typed.items], is_all=False)


__all__ = ["Leaf", "vector"]
