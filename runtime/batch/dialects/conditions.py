"""Typed expressions → vectors. ``leaf`` gives the vector of a column of the row that is meant."""
from __future__ import annotations

import numpy as np

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.functions.times import SECONDS
from epl.errors import EplError
from runtime.batch.dialects import row_functions
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.vectors import Leaf, NotColumnar, Vector

UNITS = {unit: round(seconds * 1_000_000) for unit, seconds in SECONDS.items()}
"""Microseconds."""


def vector(typed: y.Typed, leaf: Leaf) -> Vector:
    """Return the expression's values for all rows; raises NotColumnar where it is to be computed row by row."""
    if isinstance(typed, (y.Navigated, y.AggregateValue, y.MatchNumber, y.ColumnValue)):
        return leaf(typed)
    try:
        return _operated(typed, leaf)
    except NotColumnar:
        return row_functions.vector(typed, leaf)


def _operated(typed: y.Typed, leaf: Leaf) -> Vector:
    """Return the values by operations over whole columns."""
    match typed:
        case y.ConstantValue():
            return x.constant(typed.type, typed.value)
        case y.Junction():
            return x.junction([vector(each, leaf) for each in typed.operands], typed.is_all)
        case y.Apply():
            return _apply(typed, leaf)
        case y.MembershipTest():
            return _member(typed, leaf)
        case y.Choice():
            values = [vector(each, leaf) for each in (*(value for _, value in typed.whens), typed.otherwise)]
            return x.chosen([vector(test, leaf) for test, _ in typed.whens], values, typed.type)
        case y.Coalesced():
            operands = [vector(each, leaf) for each in typed.operands]
            return x.chosen([x.present(each) for each in operands[:-1]], operands, typed.type)
        case _:
            raise NotColumnar(type(typed).__name__)


def _apply(typed: y.Apply, leaf: Leaf) -> Vector:
    operation = typed.operation
    if operation is None:
        raise NotColumnar("a function")
    if operation == "cast" and isinstance(typed.arguments[0], y.ConstantValue):
        return _cast_constant(typed, typed.arguments[0].value)
    if operation == "date_diff" and isinstance(typed.arguments[0], y.ConstantValue):
        return _date_diff(str(typed.arguments[0].value), [vector(each, leaf) for each in typed.arguments[1:]])
    operands = [vector(each, leaf) for each in typed.arguments]
    if not operands:
        raise NotColumnar(operation)
    first = operands[0]
    if operation in x.COMPARE:
        return x.compare_vectors(operation, first, operands[1])
    if operation in ("+", "-", "*", "/", "%"):
        return x.arithmetic(operation, typed.type, first, operands[1])
    if operation == "not":
        return x.negate_vector(first)
    if operation in ("is null", "is not null"):
        present = x.present(first)
        return present if operation == "is not null" else x.negate_vector(present)
    if operation in ("is distinct", "is not distinct"):
        return x.same(first, operands[1], negated=operation == "is distinct")
    if operation == "cast":
        return x.as_instant(first, typed.type)
    if operation == "abs" and first.kind.name in ("double", "real"):
        return Vector(typed.type, np.abs(first.values), first.nulls, is_constant=first.is_constant)
    if operation == "abs" and first.kind.name in k.INTEGERS and not np.any(first.values == np.iinfo(np.int64).min):
        return Vector(typed.type, np.abs(first.values), first.nulls, is_constant=first.is_constant)
    raise NotColumnar(operation)


def _date_diff(unit: str, moments: list[Vector]) -> Vector:
    if unit.lower() not in UNITS:
        raise NotColumnar("months between moments")
    return x.spans(UNITS[unit.lower()], *moments)


def _cast_constant(typed: y.Apply, value: object) -> Vector:
    """``price > 0.5`` compares a double with a decimal, cast once; what cannot be cast fails where a row comes to it."""
    try:
        return x.constant(typed.type, None if value is None else typed.function(value))
    except (ArithmeticError, ValueError, TypeError, EplError) as error:
        raise NotColumnar("a constant that cannot be cast") from error


def _member(typed: y.MembershipTest, leaf: Leaf) -> Vector:
    """Return ``a in (1, 2)`` as ``a = 1 or a = 2``."""
    value = vector(typed.value, leaf)
    return x.junction([x.compare_vectors("=", value, vector(each, leaf)) for each in typed.items], is_all=False)


__all__ = ["vector"]
