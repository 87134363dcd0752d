"""EPL text → syntax tree.

Every node carries its span: offsets into the text given. Text that is not EPL raises `EplSyntaxError` whose message begins as Esper's,
``Incorrect syntax near``, with position and hint; text that is EPL and can never mean anything (``a = b = c``) raises `EplValidationError`.
The grammar is made on the first call of a thread and kept for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TypeVar

from epl.dialects.front_door import DialectText, detect_clauses, dialect_texts
from epl.errors import EplSyntaxError, EplUnsupportedError, EplValidationError
from epl.grammar.lexis import Tokens
from epl.grammar.modules import Grammar
from epl.spans import Span
from epl.syntax import Expression, Module, Statement
from epl.texts import hinting_at_files, load_text

Read = TypeVar("Read")


class _Made(threading.local):
    grammar: Grammar | None = None


_made = _Made()


def _grammar() -> Grammar:
    if _made.grammar is None:
        _made.grammar = Grammar()
    return _made.grammar


def parse_module(text: str | PathLike[str]) -> Module:
    """Parse a module: statements separated by semicolons, after ``module``, ``uses`` and ``import`` lines.

    A ``match_recognize`` that ``@Dialect`` says is of a SQL dialect is read by it, and by ``sql`` where EPL does not read it and SQL:2016
    has what EPL does not have.

    Args:
        text: EPL, or the path of its file.

    Returns:
        The syntax tree, frozen; each node has its span in the text.

    Raises:
        EplSyntaxError: The text is not EPL.

    Examples:
        >>> module = parse_module("module a.b; create schema A(x int); select * from A")
        >>> module.name, len(module.statements)
        ('a.b', 2)
    """
    return _with_dialects(load_text(text), _grammar().module)


def preceding_statements(text: str, place: int) -> Module | None:
    """Parse the statements of a module that end before the place, where the rest is not EPL; None where there are none, and where the text
    is not one of words, numbers and strings.

    Examples:
        >>> before = preceding_statements("create schema A(x int); select * frm A", 33)
        >>> len(before.statements)
        1
    """
    try:
        tokens = Tokens(text, dialect_texts(text)).all
    except EplSyntaxError:
        return None
    end = next((token.end for token in reversed(tokens) if token.key == ";" and token.start < place), 0)
    try:
        return parse_module(text[:end]) if end else None
    except (EplSyntaxError, EplValidationError):
        return None


def parse_statement(text: str | PathLike[str]) -> Statement:
    """Parse one statement, with or without a semicolon after it; its ``match_recognize`` as ``parse_module`` does.

    Args:
        text: EPL, or the path of its file.

    Raises:
        EplSyntaxError: The text is not one statement.

    Examples:
        >>> from epl.unparse import unparse
        >>> unparse(parse_statement("SELECT  *  FROM A"))
        'select * from A'
    """
    return _with_dialects(load_text(text), _grammar().statement)


def _with_dialects(text: str, read: Callable[[str, Mapping[int, DialectText]], Read]) -> Read:
    known = dialect_texts(text)
    while True:
        try:
            with hinting_at_files(text):
                return read(text, known)
        except (EplSyntaxError, EplValidationError) as error:
            more = detect_clauses(text, error, known, _is_epl)
            if not more:
                raise
            known = {**known, **more}


def _is_epl(statement: str) -> bool:
    try:
        _grammar().statement(statement)
    except (EplSyntaxError, EplValidationError):
        return False
    return True


def parse_query(text: str | PathLike[str]) -> Statement:
    """Parse a fire-and-forget query: select, insert into … values, update, delete.

    Args:
        text: EPL, or the path of its file.

    Raises:
        EplSyntaxError: The text is not a query.

    Examples:
        >>> from epl.unparse import unparse
        >>> unparse(parse_query("delete from W where x=1"))
        'delete from W where x = 1'
    """
    text = load_text(text)
    try:
        with hinting_at_files(text):
            return _grammar().query(text)
    except EplSyntaxError as error:
        clauses = dialect_texts(text) or detect_clauses(text, error, {}, _is_epl)
        if not clauses:
            raise
        clause = min(clauses.values(), key=lambda each: each.opening)
        words = "Match_recognize is not supported in fire-and-forget queries"
        hint = "Runtime.sql(text, {name: table}) runs it over a table, such as that of the rows that a query returns"
        raise EplUnsupportedError(words, span=Span(clause.opening, clause.end), text=text, hint=hint) from None


def parse_expression(text: str | PathLike[str]) -> Expression:
    """Parse an expression.

    Args:
        text: EPL, or the path of its file.

    Raises:
        EplSyntaxError: The text is not an expression.

    Examples:
        >>> type(parse_expression("a + 1")).__name__
        'Binary'
    """
    return _grammar().expression(load_text(text))


def keywords() -> frozenset[str]:
    """Return all words that have a meaning of their own somewhere in EPL, in lower case; many may be names elsewhere."""
    return _grammar().keywords
