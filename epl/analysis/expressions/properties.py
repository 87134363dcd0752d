"""Which properties of which streams an expression reads outside aggregations: what decides the shape of a result set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from epl.plan.expressions import (
    Applied,
    Constant,
    DynamicProperty,
    Element,
    Function,
    Invoke,
    MapValue,
    Previous,
    Prior,
    PropertyOf,
    StreamEvent,
    StreamEvents,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
)


@attrs.frozen
class Read:
    """A property path of a stream as Esper names it (``a.b[0]``), or the stream's event itself (empty path).

    ``chain``: what is called on it (``a.b.length()``, ``a[i]``), which Esper takes for a value of its own, not for one of the property.
    """

    stream: int
    path: str
    chain: TypedExpression | None = attrs.field(default=None, hash=False)

    def __str__(self) -> str:
        return f"property '{self.path}'" if self.path else f"stream {self.stream}"


def reads(expressions: Iterable[TypedExpression], *, of_lambdas: bool = False) -> tuple[Read, ...]:
    """Return every read of the expressions, each once, in order. Values of aggregations and sub-queries are not looked into, nor, as in
    Esper, the bodies of lambdas unless ``of_lambdas``."""
    return tuple(dict.fromkeys(read for expression in expressions for read in _reads(expression, of_lambdas)))


def _reads(expression: TypedExpression, of_lambdas: bool) -> Iterator[Read]:
    if isinstance(expression, Function) and not of_lambdas:
        return
    whole = property_or_call(expression)
    if whole is not None:
        yield whole
        for argument in _arguments(expression):
            yield from _reads(argument, of_lambdas)
        return
    if isinstance(expression, SubqueryValue):
        yield from _reads(expression.operand, of_lambdas) if expression.operand is not None else ()
        return
    if isinstance(expression, Previous) and expression.value is None:
        yield Read(expression.stream, expression.counted)
        return
    if isinstance(expression, (Previous, Prior)):
        yield from _reads(expression.value, of_lambdas) if expression.value is not None else ()
        return
    for child in expression.children():
        yield from _reads(child.body if isinstance(expression, Applied) and isinstance(child, Function) else child, of_lambdas)


def property_or_call(expression: TypedExpression) -> Read | None:
    """Return the property path that the expression as a whole is, or the path and what is called on it; None for anything else."""
    path = property_read(expression)
    if path is not None:
        return path
    owner = call_receiver(expression)
    below = None if owner is None else property_or_call(owner)
    return None if below is None else Read(below.stream, below.path, expression)


def call_receiver(expression: TypedExpression) -> TypedExpression | None:
    """Return what a method, a property or an index that is computed is asked of; None for anything else, as functions of classes."""
    if isinstance(expression, Invoke):
        is_method = expression.null_receiver or expression.function.startswith(("enum.", "dt."))
        return expression.arguments[0] if is_method else None
    return expression.operand if isinstance(expression, (PropertyOf, DynamicProperty, Element, MapValue)) else None


def _arguments(expression: TypedExpression) -> Iterator[TypedExpression]:
    """Yield what the calls of a chain are given."""
    owner = call_receiver(expression)
    if owner is not None:
        yield from (child for child in expression.children() if child is not owner)
        yield from _arguments(owner)


def property_read(expression: TypedExpression) -> Read | None:
    """Return the read that the expression as a whole is, or None."""
    if isinstance(expression, StreamProperty):
        return Read(expression.stream, expression.name)
    if isinstance(expression, (StreamEvent, StreamEvents)):
        return Read(expression.stream, "")
    if isinstance(expression, (PropertyOf, DynamicProperty)):
        below = property_read(expression.operand)
        mark = "?" if isinstance(expression, DynamicProperty) else ""
        return None if below is None else Read(below.stream, f"{below.path}.{expression.name}{mark}".lstrip("."))
    if isinstance(expression, Element) and isinstance(expression.index, Constant):
        below = property_read(expression.operand)
        return None if below is None else Read(below.stream, f"{below.path}[{expression.index.value}]")
    if isinstance(expression, MapValue) and isinstance(expression.key, Constant):
        below = property_read(expression.operand)
        return None if below is None else Read(below.stream, f"{below.path}('{expression.key.value}')")
    return None


def missing(reads: Iterable[Read], available: Iterable[Read]) -> Read | None:
    """Return the first of ``reads`` that ``available`` lacks; as in Esper, one with a lambda is never equal to another."""
    have = frozenset(available)
    return next((read for read in reads if read not in have or _has_lambda(read)), None)


def _has_lambda(read: Read) -> bool:
    return read.chain is not None and any(isinstance(node, Function) for node in read.chain.walk())
