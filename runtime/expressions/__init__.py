"""Typed expressions as Python functions: ``Environment`` holds what they touch, ``compile_…`` makes them."""
from runtime.expressions.compiled import (
    compile_event,
    compile_expression,
    compile_predicate,
    compile_row,
    compile_scalar,
)
from runtime.expressions.environment import Environment

__all__ = [
    "Environment", "compile_event", "compile_expression", "compile_predicate", "compile_row", "compile_scalar",
]
