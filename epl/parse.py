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
    """Parse a module file: statements between semicolons, after ``module``, ``uses`` and ``import`` lines."""
    refuse_dialect(text)
    try:
        return _grammar().module(text)
    except EplSyntaxError as error:
        raise hinted(error, text)  # noqa: B904 - the same error


def parse_statement(text: str) -> Statement:
    """Parse one statement, perhaps with a semicolon after it."""
    return _grammar().statement(text)


def parse_query(text: str) -> Statement:
    """Parse a fire-and-forget query: select, insert into … values, update, delete."""
    return _grammar().query(text)


def parse_expression(text: str) -> Expression:
    """Parse an expression alone."""
    return _grammar().expression(text)


def keywords() -> frozenset[str]:
    """Return all words that have a meaning of their own somewhere in EPL, in lower case; many may be names elsewhere."""
    return _grammar().keywords
