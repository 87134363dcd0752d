"""Typed expressions → functions, by their source text."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from epl import java
from epl.functions.like import like_pattern
from epl.functions.patterns import java_pattern
from epl.generated_code import define_names, local_name
from epl.plan.expressions import TypedExpression
from epl.zeros import sort_value
from runtime.expressions import operations, print_logic, print_numbers, print_values
from runtime.expressions.environment import Environment
from runtime.expressions.printer import Printer
from windows.event import Event

PRINTERS = (print_numbers, print_logic, print_values)

OPERATIONS: dict[str, Any] = {
    "insert_stream": True,
    **{f.__name__: f for f in (
        operations.same_double, operations.same_decimal, operations.same_object, operations.same_event,
        operations.double_key, operations.decimal_key, operations.object_key, operations.member,
        operations.member_object, operations.quantified,
        operations.element_at, operations.dynamic_value, operations.dynamic_exists, operations.dynamic_index, operations.index_exists,
        operations.dynamic_key,
        operations.sized_array, operations.no_nulls, operations.without_nulls, operations.each,
        java.wrap_int, java.wrap_long, java.negate, java.to_float, java.integer_divide, java.integer_remainder, java.float_divide,
        java.float_remainder,
        java.decimal_add, java.decimal_subtract, java.decimal_multiply, java.decimal_divide, java.decimal_remainder,
        java.integer_multiply, java.concatenate,
        java_pattern, like_pattern, copysign, sort_value,
    )},
}
"""What generated code may call by name."""


def define_function(text: str, bindings: dict[str, Any]) -> Callable[..., Any]:
    """Return the function ``evaluate`` that the text defines; its text is kept as ``source``."""
    compiled: Callable[..., Any] = define_names(text, {**OPERATIONS, **bindings})["evaluate"]
    compiled.source = text  # type: ignore[attr-defined]
    return compiled


def _signature(arity: int, *more: str) -> str:
    return ", ".join([*(f"e{n}" for n in range(arity)), *more])


Write = Callable[[Printer], tuple[str, str]]
"""(printer) → (parameters, body in one line or several): the text of a function."""


def compile_text(kind: object, parts: Sequence[object], environment: Environment, arity: int, write: Write) -> Callable[..., Any]:
    """Return the function that ``write`` prints for these parts of a plan: printed once for all instances of a statement. What reads cells
    that each instance has of its own (prev, prior, the context) is a function an instance; all others are one and the same."""
    def make() -> tuple[Callable[..., Any], tuple[Callable[[Environment], Any], ...]]:
        printer = Printer(environment, arity)
        parameters, body = write(printer)
        text = f"def evaluate({parameters}):\n    {body}\n"
        cells = printer.instance_cells
        if cells:
            text = "\n    ".join([f"def evaluate({', '.join(cells)}):", *text.splitlines(), "return evaluate"]) + "\n"
        shared = {name: value for name, value in printer.bindings.items() if name not in cells}
        return define_function(text, shared), tuple(cells.values())

    function, cells_read = environment.printed((kind, arity), tuple(parts), make)
    bound: Callable[..., Any] = function(*[read(environment) for read in cells_read]) if cells_read else function
    return bound


def compile_expression(expression: TypedExpression, environment: Environment, arity: int = 1) -> Callable[..., Any]:
    """Compile ``f(e0, …)`` → the value of one expression over events."""
    return compile_text("value", (expression,), environment, arity, lambda p: (_signature(arity), f"return {p.value(expression)}"))


def compile_predicate(expression: TypedExpression, environment: Environment, arity: int = 1) -> Callable[..., bool]:
    """Compile ``f(e0, …)`` → whether the expression is true; null is not."""
    return compile_text("test", (expression,), environment, arity, lambda p: (_signature(arity), _truth(p, expression)))


def compile_row(
    expressions: Sequence[TypedExpression], environment: Environment, arity: int = 1, given_locals: int = 0
) -> Callable[..., tuple[Any, ...]]:
    """Compile ``f(e0, …, insert_stream, aggregations, *locals)`` → a tuple of the expressions' values; locals: see ``compile_scalar``."""
    parameters = _signature(arity, "insert_stream", "aggregations", *map(local_name, range(given_locals)))

    def write(printer: Printer) -> tuple[str, str]:
        return parameters, f"return ({''.join(f'{printer.value(e)}, ' for e in expressions)})"

    return compile_text(("row", given_locals), tuple(expressions), environment, arity, write)


def compile_event(
    expressions: Sequence[TypedExpression], event_class: type[Event], environment: Environment, arity: int = 1
) -> Callable[..., Any]:
    """Compile ``f(row, insert_stream, aggregations)`` → an event of ``event_class`` that holds the expressions' values; ``row`` is the
    event of one stream, or the tuple of those of several."""
    def write(printer: Printer) -> tuple[str, str]:
        values = [printer.value(e) for e in expressions]
        if event_class.type.open or event_class.type.kind == "variant":
            lines = [f"return event_class({', '.join(values)})"]
        else:  # set one by one, which is faster than a call of the class
            fields = zip(event_class.fields, values, strict=True)
            lines = ["r = new(event_class)", *(f"r.{field} = {value}" for field, value in fields), "return r"]
        printer.bindings |= {"event_class": event_class, "new": object.__new__}
        if arity == 1:
            return _signature(1, "insert_stream", "aggregations"), "\n    ".join(lines)
        return "row, insert_stream, aggregations", "\n    ".join([f"{_signature(arity)} = row", *lines])

    return compile_text("event", (event_class, *expressions), environment, arity, write)


def compile_scalar(expression: TypedExpression, environment: Environment, arity: int = 1, given_locals: int = 0) -> Callable[..., Any]:
    """Compile ``f(e0, …, insert_stream, aggregations, *locals)`` → one value; the caller gives the values of the first so many Local
    nodes."""
    locals_ = map(local_name, range(given_locals))
    parameters = _signature(arity, "insert_stream", "aggregations", *locals_)
    kind = ("scalar", given_locals)
    return compile_text(kind, (expression,), environment, arity, lambda p: (parameters, f"return {p.value(expression)}"))


def _truth(printer: Printer, expression: TypedExpression) -> str:
    return f"return True if {printer.test(expression)} else False"
