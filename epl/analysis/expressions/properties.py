"""Which properties of which streams an expression reads outside aggregations: what decides the shape of a result set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from epl.plan.expressions import (
    Constant,
    DynamicProperty,
    Element,
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
    """A property path of a stream as Esper names it (``a.b[0]``), or the stream's event itself (empty path)."""

    stream: int
    path: str

    def __str__(self) -> str:
        return f"property '{self.path}'" if self.path else f"stream {self.stream}"


def reads(expressions: Iterable[TypedExpression]) -> tuple[Read, ...]:
    """Return every read of the expressions, each once, in order. Values of aggregations and sub-queries are not looked into."""
    return tuple(dict.fromkeys(read for expression in expressions for read in _reads(expression)))


def _reads(expression: TypedExpression) -> Iterator[Read]:
    whole = path_of(expression)
    if whole is not None:
        yield whole
        return
    if isinstance(expression, SubqueryValue):
        yield from _reads(expression.operand) if expression.operand is not None else ()
        return
    if isinstance(expression, (Previous, Prior)):
        yield from _reads(expression.value) if expression.value is not None else ()
        return
    for child in expression.children():
        yield from _reads(child)


def path_of(expression: TypedExpression) -> Read | None:
    """Return the read that the expression as a whole is, or None."""
    if isinstance(expression, StreamProperty):
        return Read(expression.stream, expression.name)
    if isinstance(expression, (StreamEvent, StreamEvents)):
        return Read(expression.stream, "")
    if isinstance(expression, (PropertyOf, DynamicProperty)):
        below = path_of(expression.operand)
        mark = "?" if isinstance(expression, DynamicProperty) else ""
        return None if below is None else Read(below.stream, f"{below.path}.{expression.name}{mark}".lstrip("."))
    if isinstance(expression, Element) and isinstance(expression.index, Constant):
        below = path_of(expression.operand)
        return None if below is None else Read(below.stream, f"{below.path}[{expression.index.value}]")
    if isinstance(expression, MapValue) and isinstance(expression.key, Constant):
        below = path_of(expression.operand)
        return None if below is None else Read(below.stream, f"{below.path}('{expression.key.value}')")
    return None


def missing(reads: Iterable[Read], available: Iterable[Read]) -> Read | None:
    """Return the first of ``reads`` that ``available`` lacks."""
    have = frozenset(available)
    return next((read for read in reads if read not in have), None)
