"""Syntax tree → text: `unparse` writes EPL that reads back as the same tree, `expression_text` prints as Esper does, `quote_expression` as
Esper's refusals show it."""

from __future__ import annotations

from epl.syntax import Expression, In, Node, QuantifiedComparison, Select, Subquery, TypeFilter
from epl.unparse import clauses, expressions, statements
from epl.unparse.esper_text import ExpressionNames as ExpressionNames
from epl.unparse.esper_text import esper_text

_WRITERS = {**expressions.WRITERS, **clauses.WRITERS, **statements.WRITERS}
_LONGEST = 40
_SHOWN = 35


def unparse(node: Node) -> str:
    """Return EPL text of a syntax tree; parsing it gives an equal tree. Keywords are in lower case, with one space between words.

    Args:
        node: A node of ``epl.parse``.

    Examples:
        >>> from epl.parse import parse_expression
        >>> unparse(parse_expression("sum( a )>=10 AND(b is null)"))
        'sum(a) >= 10 and b is null'
    """
    return _WRITERS[type(node)](node, unparse)


def expression_text(expression: Expression, names: ExpressionNames | None = None) -> str:
    """Return the expression as Esper prints it: the name of a column without alias.

    ``names``: what the names stand for where the analysis knows it.

    >>> from epl.parse import parse_expression
    >>> expression_text(parse_expression("( price * 2 ) || 'x'"))
    'price*2||"x"'
    """
    return esper_text(expression, names)


def quote_expression(expression: Expression, names: ExpressionNames | None = None) -> str:
    """Return the expression's text in single quotes; a long one is cut, with its length after. Comparisons with the rows of a sub-query are
    called by its number.

    >>> from epl.parse import parse_expression
    >>> quote_expression(parse_expression("case when 1=2 then 1 when 1=3 then true end"))
    "'case when 1=2 then 1 when 1=3 then ...(43 chars)'"
    """
    subquery = _comparison_rows(expression)
    if subquery is not None:
        return subquery_title(subquery)
    text = expression_text(expression, names=names)
    return f"'{text}'" if len(text) <= _LONGEST else f"'{text[:_SHOWN]}...({len(text)} chars)'"


def _comparison_rows(expression: Expression) -> Subquery | None:
    """Return the sub-query with whose rows the expression compares a value."""
    items = expression.items if isinstance(expression, In) else expression.operands if isinstance(expression, QuantifiedComparison) else ()
    return items[0] if len(items) == 1 and isinstance(items[0], Subquery) else None


def subquery_title(subquery: Subquery) -> str:
    """Return how Esper's refusals call a sub-query."""
    select = subquery.select
    source = select.from_.streams[0].source if isinstance(select, Select) and select.from_ is not None else None
    return f"subquery number {subquery.number} querying {source.type_name if isinstance(source, TypeFilter) else 'a stream'}"
