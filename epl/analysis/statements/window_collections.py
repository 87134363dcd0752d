"""Named windows that expressions read as collections: ``W.countOf()`` and ``W(a > 1).firstOf()`` are sub-queries of all columns."""
from __future__ import annotations

from typing import TypeVar

import attrs

from epl.analysis.expressions.rewriting import rewrite_syntax
from epl.catalog import Catalog
from epl.syntax import From, GroupElement, OrderItem, Select, SelectItem, Statement, Stream, TypeFilter, Wildcard
from epl.syntax.expressions import Call, Chain, Expression, Lambda, Logical, Name, Subquery
from epl.syntax.nodes import Node
from epl.syntax.statements import Declaration

AnyNode = TypeVar("AnyNode", bound=Node)


def with_window_collections(statement: Statement, catalog: Catalog) -> Statement:
    """Return the statement with a sub-query in place of each named window that a method is called on, or that has conditions.

    As in Esper, a window's name then means the window, whatever stream has that name; and within group by, order by and sub-queries it
    does not.
    """
    windows = frozenset(
        name for name in catalog.named_windows
        if name in statement.text and name.lower() not in catalog.aggregations and name not in catalog.functions.single_row
    )
    return _replace_windows(statement, windows) if windows else statement


def _replace_windows(node: AnyNode, windows: frozenset[str]) -> AnyNode:
    def replace(at: Node) -> Node | None:
        if isinstance(at, (GroupElement, OrderItem, Subquery)):
            return at
        if isinstance(at, (Lambda, Declaration)) and not windows.isdisjoint(at.parameters):
            hidden = windows.difference(at.parameters)
            return at if at.body is None else attrs.evolve(at, body=_replace_windows(at.body, hidden))
        return _of_window(at, windows) if isinstance(at, Chain) and at.root is None else None

    return rewrite_syntax(node, replace)


def _of_window(chain: Chain, windows: frozenset[str]) -> Expression | None:
    """Return the chain with a sub-query as its root; None where it does not begin with a window."""
    first, rest = chain.links[0], chain.links[1:]
    if isinstance(first, Call):
        conditions = first.arguments
    elif isinstance(first, Name) and rest and isinstance(rest[0], Call):
        conditions = ()
    else:
        return None
    if first.name not in windows:
        return None
    where = conditions[0] if len(conditions) == 1 else Logical("and", conditions, span=first.span) if conditions else None
    source = Stream(TypeFilter(first.name, span=first.span), span=first.span)
    items = (SelectItem(Wildcard(span=first.span), span=first.span),)
    rows = Subquery(Select(items, From((source,), span=first.span), where=where, span=first.span), span=first.span)
    return Chain(links=tuple(_replace_windows(link, windows) for link in rest), root=rows, span=chain.span) if rest else rows
