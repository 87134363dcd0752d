"""Typed expressions → Python functions of a frame: a row of values, or a row of a match (``frames``)."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Any, Protocol, TypeVar

from epl.dialects import typed as y
from epl.dialects.errors import QueryFailed, raise_failure
from epl.dialects.functions.sizes import MOST_CALLS, check_size, too_large
from epl.dialects.plans import Plan
from epl.dialects.values import hashable
from runtime.dialects.step_limit import StepLimit

Function = Callable[[Any], Any]
Value = TypeVar("Value")
FAILURES = (QueryFailed, ArithmeticError, ValueError)
"""What an expression fails with on its values, and ``TRY`` makes null."""


class Queries(Protocol):
    """What runs the queries inside expressions."""

    outers: list[tuple[Any, ...]]
    """Rows of the queries around the one that runs, the next one last."""
    steps: StepLimit

    def rows(self, plan: Plan) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a plan."""


class ExpressionCompiler:
    """Compiles expressions over rows: a frame is the tuple of the row's values."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self._calls = [0]
        """Of lambdas, since the value that is computed was begun."""
        self._lambdas = 0
        """Those around the expression that is compiled."""

    def compile_expression(self, typed: y.Typed) -> Function:
        """Return the function that computes the expression."""
        match typed:
            case y.ConstantValue():
                value = typed.value
                return lambda frame: value
            case y.ColumnValue():
                return self.field(typed)
            case y.Apply():
                return self._apply(typed)
            case y.Junction():
                return _junction([self.compile_expression(each) for each in typed.operands], typed.is_all)
            case y.Choice():
                whens = [(self.compile_expression(test), self.compile_expression(value)) for test, value in typed.whens]
                return _choice(whens, self.compile_expression(typed.otherwise))
            case y.Coalesced():
                return _coalesce([self.compile_expression(each) for each in typed.operands])
            case y.MembershipTest():
                return _member(self.compile_expression(typed.value), [self.compile_expression(each) for each in typed.items])
            case y.Tried():
                return _try(self.compile_expression(typed.operand))
            case y.ListOf():
                items = [self.compile_expression(each) for each in typed.items]
                return lambda frame: check_size(item(frame) for item in items)
            case y.QueryValue():
                return self._query(typed)
            case y.Outer():
                outers, depth, index = self.queries.outers, typed.depth, typed.index
                return lambda frame: outers[-depth][index]
            case y.LambdaParameter():
                cell = typed.cell
                return lambda frame: cell[0]
            case y.LambdaOf():
                return self._lambda(typed)
            case _:
                return self.leaf(typed)

    def field(self, typed: y.ColumnValue) -> Function:
        """Return the function that reads a column."""
        index = typed.index
        return lambda frame: frame[index]

    def leaf(self, typed: y.Typed) -> Function:
        """Return the function of what is of matches alone."""
        raise TypeError(f"{type(typed).__name__} has no value outside of a match")

    def _apply(self, typed: y.Apply) -> Function:
        function, arguments, at = typed.function, [self.compile_expression(each) for each in typed.arguments], typed.at
        if typed.takes_null:
            return _with_nulls(function, arguments, at)
        if len(arguments) == 1:
            return _strict_one(function, arguments[0], at)
        if len(arguments) == 2:
            return _strict_two(function, arguments[0], arguments[1], at)
        return _strict(function, arguments, at)

    def _lambda(self, typed: y.LambdaOf) -> Function:
        is_outermost, calls = self._lambdas == 0, self._calls
        self._lambdas += 1
        cells, body = [each.cell for each in typed.parameters], self.compile_expression(typed.body)
        self._lambdas -= 1

        def closure(frame: Any) -> Callable[..., Any]:
            if is_outermost:
                calls[0] = 0

            def call(*values: Any) -> Any:
                calls[0] += 1
                if calls[0] > MOST_CALLS:
                    raise too_large(f"an expression needs more than {MOST_CALLS} calls of its lambdas")
                before = [cell[0] for cell in cells]
                for cell, value in zip(cells, values):
                    cell[0] = value
                try:
                    return body(frame)
                finally:
                    for cell, value in zip(cells, before):
                        cell[0] = value

            return call

        return closure

    def _query(self, typed: y.QueryValue) -> Function:
        """Compile a query: one that refers to nothing outside runs once, when its value is first needed; another one for each row."""
        rows = self._compile_correlated(typed.plan) if typed.is_correlated else self._once(typed.plan)
        if typed.kind == "exists":
            return lambda frame: bool(rows(frame))
        if typed.kind == "scalar":
            at = typed.at
            return lambda frame: _scalar(rows(frame), at)
        assert typed.value is not None
        value, steps = self.compile_expression(typed.value), self.queries.steps
        if typed.kind == "member":
            if not typed.is_correlated:
                members = _compute_once(lambda frame: Members(rows(frame)))
                return lambda frame: members(frame).has(value(frame))
            return lambda frame: _is_member(value(frame), [row[0] if len(row) == 1 else row for row in rows(frame)])
        assert typed.compare is not None
        compare, is_all = typed.compare, typed.kind == "all"

        def compare_rows(frame: Any) -> bool | None:
            listed = rows(frame)
            items = iter(listed)
            held = _compare_quantified(compare, is_all, value(frame), items)
            steps.take(len(listed) - length_hint(items))
            return held

        return compare_rows

    def _once(self, plan: Plan) -> Callable[[Any], Sequence[tuple[Any, ...]]]:
        queries = self.queries
        return _compute_once(lambda frame: queries.rows(plan))

    def _compile_correlated(self, plan: Plan) -> Callable[[Any], Sequence[tuple[Any, ...]]]:
        queries = self.queries

        def rows(frame: Any) -> Sequence[tuple[Any, ...]]:
            queries.outers.append(frame)
            try:
                return queries.rows(plan)
            finally:
                queries.outers.pop()

        return rows


def _compute_once(compute: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Return the function that gives what is computed when it is first needed."""
    kept: list[Value] = []

    def value(frame: Any) -> Value:
        if not kept:
            kept.append(compute(frame))
        return kept[0]

    return value


class Members:
    """The rows of a query that is the same for each row around it, for ``IN``."""

    __slots__ = ("_is_empty", "_keys", "_nulls")

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        items = [row[0] if len(row) == 1 else row for row in rows]
        self._keys = {hashable(item) for item in items if item == item}  # NaN is not equal to itself
        self._nulls = None in self._keys
        self._is_empty = not items

    def has(self, value: Any) -> bool | None:
        """Return what ``_is_member`` returns."""
        if self._is_empty:
            return False
        if value is None:
            return None
        if value == value and hashable(value) in self._keys:
            return True
        return None if self._nulls else False


def _scalar(rows: Sequence[tuple[Any, ...]], at: int | None) -> Any:
    if len(rows) > 1:
        raise_failure(QueryFailed("SUBQUERY_MULTIPLE_ROWS", "Scalar sub-query has returned multiple rows"), at)
    return None if not rows else rows[0][0] if len(rows[0]) == 1 else rows[0]


def _compare_quantified(
    compare: Callable[[Any, Any], bool | None], is_all: bool, value: Any, rows: Iterator[tuple[Any, ...]]
) -> bool | None:
    """``value compare all/any (rows of one column)``; goes no further than it needs."""
    unknown = False
    for item, *_ in rows:
        result = None if value is None or item is None else compare(value, item)
        if result is None:
            unknown = True
        elif result is not is_all:
            return not is_all
    return None if unknown else is_all


def _with_nulls(function: Callable[..., Any], arguments: list[Function], at: int | None) -> Function:
    def compute(frame: Any) -> Any:
        try:
            return function(*[argument(frame) for argument in arguments])
        except FAILURES as error:
            raise_failure(error, at)

    return compute


def _strict(function: Callable[..., Any], arguments: list[Function], at: int | None) -> Function:
    def compute(frame: Any) -> Any:
        try:
            values = [argument(frame) for argument in arguments]
            return None if None in values else function(*values)
        except FAILURES as error:
            raise_failure(error, at)

    return compute


def _strict_one(function: Callable[..., Any], argument: Function, at: int | None) -> Function:
    def compute(frame: Any) -> Any:
        try:
            value = argument(frame)
            return None if value is None else function(value)
        except FAILURES as error:
            raise_failure(error, at)

    return compute


def _strict_two(function: Callable[..., Any], first: Function, second: Function, at: int | None) -> Function:
    def compute(frame: Any) -> Any:
        try:
            left = first(frame)
            if left is None:
                return None
            right = second(frame)
            return None if right is None else function(left, right)
        except FAILURES as error:
            raise_failure(error, at)

    return compute


def _junction(operands: list[Function], is_all: bool) -> Function:
    def compute(frame: Any) -> bool | None:
        unknown = False
        for operand in operands:
            value = operand(frame)
            if value is None:
                unknown = True
            elif value is not is_all:
                return not is_all
        return None if unknown else is_all

    return compute


def _choice(whens: list[tuple[Function, Function]], otherwise: Function) -> Function:
    def compute(frame: Any) -> Any:
        for test, value in whens:
            if test(frame) is True:
                return value(frame)
        return otherwise(frame)

    return compute


def _coalesce(operands: list[Function]) -> Function:
    def compute(frame: Any) -> Any:
        for operand in operands:
            value = operand(frame)
            if value is not None:
                return value
        return None

    return compute


def _is_member(value: Any, items: Sequence[Any]) -> bool | None:
    if not items:
        return False
    if value is None:
        return None
    unknown = False
    for item in items:
        if item is None:
            unknown = True
        elif item == value:
            return True
    return None if unknown else False


def _member(value: Function, items: list[Function]) -> Function:
    return lambda frame: _is_member(value(frame), [item(frame) for item in items])


def _try(operand: Function) -> Function:
    def compute(frame: Any) -> Any:
        try:
            return operand(frame)
        except FAILURES:
            return None

    return compute


__all__ = ["FAILURES", "ExpressionCompiler", "Function", "Queries"]
