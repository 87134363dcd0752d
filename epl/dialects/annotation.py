"""``@Dialect('sql')`` on a statement: known, and not supported there yet; never taken as EPL."""
from __future__ import annotations

import re

from epl.dialects.syntax.lexis import DIALECTS
from epl.errors import EplSyntaxError, EplUnsupportedError
from epl.spans import Span

SCAN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|(@Dialect\s*\(\s*(?:value\s*=\s*)?(['"])(\w+)\2\s*\))|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments and strings, so that nothing in them counts; and the annotation."""


def refuse_dialect(text: str) -> None:
    """Refuse a module with a statement in a SQL dialect.

    >>> refuse_dialect("@Dialect('sql') select * from S match_recognize (pattern (A) define A as true)")
    Traceback (most recent call last):
    epl.errors.EplUnsupportedError: statements in dialect 'sql' are not supported
      at line 1 column 1
        @Dialect('sql') select * from S match_recognize (pattern (A) define A as true)
        ^^^^^^^^^^^^^^^
      hint: Runtime.sql runs queries in this dialect over tables (docs/sql.md)
    """
    if "ialect" not in text and "IALECT" not in text:
        return
    for annotation in SCAN.finditer(text):
        if annotation[1] is not None and annotation[3].lower() in DIALECTS:
            span = Span(annotation.start(), annotation.end())
            raise EplUnsupportedError(
                f"statements in dialect '{annotation[3].lower()}' are not supported", span=span, text=text,
                hint="Runtime.sql runs queries in this dialect over tables (docs/sql.md)",
            )  # fmt: skip


SQL_ONLY = re.compile(
    r"match_recognize\s*\(.*?(\border\s+by\b|\b(one|all)\s+rows?\s+per\s+match\b|\bsubset\b|\bwithin\s+interval\b|\bskip\s+to\s+(first|last)\b|\{-)",
    re.DOTALL | re.IGNORECASE,
)
"""Clauses that EPL's match_recognize does not have."""


def hinted(error: EplSyntaxError, text: str) -> EplSyntaxError:
    """Return the error of a text that is not EPL; where its statement has the clause of SQL:2016, with a hint that says so."""
    at = len(text) if error.span is None else error.span.start
    end = text.find(";", at)
    statement = text[text.rfind(";", 0, at) + 1 : end if end >= 0 else len(text)]
    if "atch_recognize" in statement.lower() and SQL_ONLY.search(statement) is not None:
        error.hint = "this is MATCH_RECOGNIZE of SQL:2016, which EPL does not have; Runtime.sql runs it over tables (docs/sql.md)"
    return error


__all__ = ["hinted", "refuse_dialect"]
