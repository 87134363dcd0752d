"""EPL text → syntax tree.

Every node carries its span: offsets into the text given. Text that is not EPL raises `EplSyntaxError` whose message begins as Esper's,
``Incorrect syntax near``, with position and hint; text that is EPL and can never mean anything (``a = b = c``) raises `EplValidationError`.
The grammar is made on the first call of a thread and kept for it.
"""

from __future__ import annotations

import threading

from epl.dialects.annotation import hinted, refuse_dialect
from epl.errors import EplSyntaxError
from epl.grammar.modules import Grammar
from epl.syntax import Expression, Module, Statement


class _Made(threading.local):
    grammar: Grammar | None = None


_made = _Made()


def _grammar() -> Grammar:
    if _made.grammar is None:
        _made.grammar = Grammar()
    return _made.grammar


def parse_module(text: str) -> Module:
    """Parse a module: statements separated by semicolons, after ``module``, ``uses`` and ``import`` lines.

    Args:
        text: EPL.

    Returns:
        The syntax tree, frozen; each node has its span in the text.

    Raises:
        EplSyntaxError: The text is not EPL.

    Examples:
        >>> module = parse_module("module a.b; create schema A(x int); select * from A")
        >>> module.name, len(module.statements)
        ('a.b', 2)
    """
    refuse_dialect(text)
    try:
        return _grammar().module(text)
    except EplSyntaxError as error:
        raise hinted(error, text)  # noqa: B904 - the same error


def parse_statement(text: str) -> Statement:
    """Parse one statement, with or without a semicolon after it.

    Args:
        text: EPL.

    Raises:
        EplSyntaxError: The text is not one statement.

    Examples:
        >>> from epl.unparse import unparse
        >>> unparse(parse_statement("SELECT  *  FROM A"))
        'select * from A'
    """
    return _grammar().statement(text)


def parse_query(text: str) -> Statement:
    """Parse a fire-and-forget query: select, insert into … values, update, delete.

    Args:
        text: EPL.

    Raises:
        EplSyntaxError: The text is not a query.

    Examples:
        >>> from epl.unparse import unparse
        >>> unparse(parse_query("delete from W where x=1"))
        'delete from W where x = 1'
    """
    return _grammar().query(text)


def parse_expression(text: str) -> Expression:
    """Parse an expression.

    Args:
        text: EPL.

    Raises:
        EplSyntaxError: The text is not an expression.

    Examples:
        >>> type(parse_expression("a + 1")).__name__
        'Binary'
    """
    return _grammar().expression(text)


def keywords() -> frozenset[str]:
    """Return all words that have a meaning of their own somewhere in EPL, in lower case; many may be names elsewhere."""
    return _grammar().keywords
