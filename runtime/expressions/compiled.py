"""Typed expressions → functions, by their source text."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from epl import java
from epl.functions.like import like_pattern
from epl.functions.patterns import java_pattern
from epl.generated_code import defined, local_name
from epl.plan.expressions import TypedExpression
from epl.zeros import ordered
from runtime.expressions import operations, print_logic, print_numbers, print_values
from runtime.expressions.environment import Environment
from runtime.expressions.printer import Printer
from windows.event import Event

PRINTERS = (print_numbers, print_logic, print_values)

OPERATIONS: dict[str, Any] = {
    "insert_stream": True,
    **{f.__name__: f for f in (
        operations.same_double, operations.double_key, operations.same_decimal, operations.same_object, operations.same_event,
        operations.member, operations.quantified,
        operations.element_at, operations.dynamic_value, operations.dynamic_exists, operations.dynamic_index, operations.index_exists,
        operations.dynamic_key,
        operations.sized_array, operations.no_nulls, operations.each,
        java.wrap_int, java.wrap_long, java.negate, java.to_float, java.integer_divide, java.integer_remainder, java.float_divide,
        java.float_remainder,
        java.decimal_add, java.decimal_subtract, java.decimal_multiply, java.decimal_divide, java.decimal_remainder,
        java.integer_multiply, java.concatenated,
        java_pattern, like_pattern, copysign, ordered,
    )},
}
"""What generated code may call by name."""


def function_of(text: str, bindings: dict[str, Any]) -> Callable[..., Any]:
    """The function ``evaluate`` that the text defines; its text is kept as ``source``."""
    made: Callable[..., Any] = defined(text, {**OPERATIONS, **bindings})["evaluate"]
    made.source = text  # type: ignore[attr-defined]
    return made


def _signature(arity: int, *more: str) -> str:
    return ", ".join([*(f"e{n}" for n in range(arity)), *more])


def compile_expression(expression: TypedExpression, environment: Environment, arity: int = 1) -> Callable[..., Any]:
    """``f(e0, …)`` → the value of one expression over events."""
    printer = Printer(environment, arity)
    return function_of(f"def evaluate({_signature(arity)}):\n    return {printer.value(expression)}\n", printer.bindings)


def compile_predicate(expression: TypedExpression, environment: Environment, arity: int = 1) -> Callable[..., bool]:
    """``f(e0, …)`` → whether the expression is true; null is not."""
    printer = Printer(environment, arity)
    return function_of(f"def evaluate({_signature(arity)}):\n    return True if {printer.test(expression)} else False\n", printer.bindings)


def compile_row(expressions: Sequence[TypedExpression], environment: Environment, arity: int = 1) -> Callable[..., tuple[Any, ...]]:
    """``f(e0, …, insert_stream, aggregations)`` → a tuple of the expressions' values."""
    printer = Printer(environment, arity)
    values = "".join(f"{printer.value(e)}, " for e in expressions)
    return function_of(f"def evaluate({_signature(arity, 'insert_stream', 'aggregations')}):\n    return ({values})\n", printer.bindings)


def compile_event(expressions: Sequence[TypedExpression], made: type[Event], environment: Environment) -> Callable[..., Any]:
    """``f(e0, insert_stream, aggregations)`` → an event of the class ``made`` that holds the expressions' values."""
    printer = Printer(environment, 1)
    values = [printer.value(e) for e in expressions]
    if made.type.open or made.type.kind == "variant":
        lines = [f"return made({', '.join(values)})"]
    else:  # set one by one, which is faster than a call of the class
        lines = ["r = new(made)", *(f"r.{field} = {value}" for field, value in zip(made.fields, values, strict=True)), "return r"]
    text = "\n    ".join([f"def evaluate({_signature(1, 'insert_stream', 'aggregations')}):", *lines])
    return function_of(f"{text}\n", {**printer.bindings, "made": made, "new": object.__new__})


def compile_scalar(expression: TypedExpression, environment: Environment, arity: int = 1, given_locals: int = 0) -> Callable[..., Any]:
    """``f(e0, …, insert_stream, aggregations, *locals)`` → one value; the caller gives the values of the first so many Local nodes."""
    printer = Printer(environment, arity)
    given = map(local_name, range(given_locals))
    return function_of(
        f"def evaluate({_signature(arity, 'insert_stream', 'aggregations', *given)}):\n    return "
        f"{printer.value(expression)}\n", printer.bindings)
