"""Sub-queries of one statement, numbered as refusals and column names call them."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from epl.analysis.expressions.rewriting import rewrite_syntax
from epl.analysis.statements.hints import index_hints, read_hints
from epl.syntax import Statement
from epl.syntax.expressions import Subquery
from epl.syntax.nodes import Node

SUBQUERY = re.compile(r"\(\s*select\b", re.IGNORECASE)


def number_subqueries(statement: Statement, *, written: Statement | None = None) -> Statement:
    """Return the statement with its sub-queries numbered from 1 in order of the text, and with what its hints say of them. ``written``:
    the statement before sub-queries were put into it."""
    if (written is None or written is statement) and SUBQUERY.search(statement.text) is None:
        return statement
    subqueries = sorted(outer_subqueries(statement), key=lambda s: s.span.start if s.span else 0)
    shares = "disable_window_subquery_indexshare" not in read_hints(statement)
    numbers = {id(subquery): number for number, subquery in enumerate(subqueries, 1)}

    def number_node(node: Node) -> Node | None:
        if not isinstance(node, Subquery):
            return None
        number = numbers[id(node)]
        return attrs.evolve(node, number=number, shares_indexes=shares, preferred=index_hints(statement, number - 1))

    return rewrite_syntax(statement, number_node)


def has_subqueries(node: Node) -> bool:
    """Return whether there is a sub-query anywhere in it."""
    return any(True for _ in outer_subqueries(node))


def outer_subqueries(value: Any, besides: tuple[type[Node], ...] = ()) -> Iterator[Subquery]:
    """Yield those that are not within another one, nor within a node of the kinds ``besides``."""
    if isinstance(value, Subquery):
        yield value
    elif isinstance(value, Node) and not isinstance(value, besides):
        for field in attrs.fields(type(value)):
            yield from outer_subqueries(getattr(value, field.name), besides)
    elif isinstance(value, tuple):
        for item in value:
            yield from outer_subqueries(item, besides)


__all__ = ["has_subqueries", "number_subqueries", "outer_subqueries"]
