"""Syntax tree → text: `unparse` writes EPL that reads back as the same tree, `expression_text` prints as Esper does, `quoted` as
Esper's refusals show it."""

from __future__ import annotations

from epl.syntax import Expression, Node
from epl.unparse import clauses, expressions, statements
from epl.unparse.esper_text import Names as Names
from epl.unparse.esper_text import esper_text

_WRITERS = {**expressions.WRITERS, **clauses.WRITERS, **statements.WRITERS}
_LONGEST = 40
_SHOWN = 35


def unparse(node: Node) -> str:
    """Return EPL text of a node; parsing it gives an equal node. Canonical: keywords in lower case, one space between words.

    >>> from epl.parse import parse_expression
    >>> unparse(parse_expression("sum( a )>=10 AND(b is null)"))
    'sum(a) >= 10 and b is null'
    """
    return _WRITERS[type(node)](node, unparse)


def expression_text(expression: Expression, first_subquery: int = 1, names: Names | None = None) -> str:
    """Return the expression as Esper prints it: the name of a column without alias.

    ``first_subquery`` numbers the subqueries of all columns (``subselect_1``): how many the statement has before this expression, plus one.
    ``names``: what the names stand for where the analysis knows it.

    >>> from epl.parse import parse_expression
    >>> expression_text(parse_expression("( price * 2 ) || 'x'"))
    'price*2||"x"'
    """
    return esper_text(expression, first_subquery, names)


def quoted(expression: Expression, names: Names | None = None) -> str:
    """Return the expression's text in single quotes; a long one is cut, with its length after.

    >>> from epl.parse import parse_expression
    >>> quoted(parse_expression("case when 1=2 then 1 when 1=3 then true end"))
    "'case when 1=2 then 1 when 1=3 then ...(43 chars)'"
    """
    text = expression_text(expression, names=names)
    return f"'{text}'" if len(text) <= _LONGEST else f"'{text[:_SHOWN]}...({len(text)} chars)'"
