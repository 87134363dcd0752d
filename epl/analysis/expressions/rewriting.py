"""Rebuilding typed expressions with some nodes replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

import attrs

from epl.plan.expressions import TypedExpression
from epl.syntax.nodes import Node

Replace = Callable[[TypedExpression], "TypedExpression | None"]
AnyNode = TypeVar("AnyNode", bound=Node)


def rewrite(expression: TypedExpression, replace: Replace) -> TypedExpression:
    """Return the expression with every node for which ``replace`` gives one put in its place, from the root down; what was put in is not
    looked into."""
    replacement = replace(expression)
    if replacement is not None:
        return replacement
    changes = {f.name: _rewrite_value(getattr(expression, f.name), replace) for f in attrs.fields(type(expression))}
    if all(new is getattr(expression, name) for name, new in changes.items()):
        return expression
    return attrs.evolve(expression, **changes)


def _rewrite_value(value: Any, replace: Replace) -> Any:
    if isinstance(value, TypedExpression):
        return rewrite(value, replace)
    if isinstance(value, tuple):
        items = tuple(_rewrite_value(item, replace) for item in value)
        return value if all(a is b for a, b in zip(items, value)) else items
    return value


def rewrite_syntax(node: AnyNode, replace: Callable[[Node], Node | None]) -> AnyNode:
    """Do the same for syntax trees."""
    replacement = replace(node)
    if replacement is not None:
        return replacement  # type: ignore[return-value]
    changes = {f.name: _rewrite_syntax_value(getattr(node, f.name), replace) for f in attrs.fields(type(node)) if f.init}
    if all(new is getattr(node, name) for name, new in changes.items()):
        return node
    return attrs.evolve(node, **changes)


def _rewrite_syntax_value(value: Any, replace: Callable[[Node], Node | None]) -> Any:
    if isinstance(value, Node):
        return rewrite_syntax(value, replace)
    if isinstance(value, tuple):
        items = tuple(_rewrite_syntax_value(item, replace) for item in value)
        return value if all(a is b for a, b in zip(items, value)) else items
    return value


def syntax_nodes(value: Any) -> Iterator[Node]:
    """Yield a syntax tree's nodes, from the root down."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Node):
            yield part
            kind: Any = type(part)
            pending.extend([item for name in _fields_from_the_last(kind) if isinstance(item := getattr(part, name), HOLDERS)])
        elif isinstance(part, tuple):
            pending.extend(reversed(part))


HOLDERS = (Node, tuple)
"""What nodes are in."""


@lru_cache(maxsize=1024)
def _fields_from_the_last(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in reversed(attrs.fields(kind)))
