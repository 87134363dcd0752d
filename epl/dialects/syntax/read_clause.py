"""A clause alone, within a text of another language: where it ends, and its tree."""
from __future__ import annotations

from epl.dialects.errors import DialectError
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import DIALECTS, SQL, Dialect, next_token
from epl.dialects.syntax.read_queries import QueryReader
from epl.dialects.syntax.reader import Reader

WORD = "match_recognize"


def clause_end(text: str, opening: int, dialect: str) -> int:
    """Return what follows the bracket that closes the one at ``opening``, quotes and comments being those of the dialect. Raise
    DialectError where none does."""
    depth, at = 0, opening
    while at < len(text):
        token = next_token(text, at, DIALECTS[dialect])
        if token is None:
            break
        if token.kind == "sign":
            depth += (token.word == "(") - (token.word == ")")
            if depth == 0:
                return token.end
        at = token.end
    raise DialectError("SYNTAX_ERROR", "mismatched input '<EOF>'. Expecting: ')'", opening, hint="the bracket is not closed").within(text)


def read_clause(text: str, start: int, end: int, dialect: Dialect, source: str) -> t.RecognitionClause:
    """Return the tree of the clause that is text[start:end], from its bracket on; ``source``: the name of what it reads. Offsets are those
    of the whole text."""
    before = "\n".join([" " * len(line) for line in text[: start - len(WORD)].split("\n")])
    reader = QueryReader(Reader(f"{before}{WORD}{text[start:end]}", dialect))
    name = t.Name(start, source, True, source)
    clause = reader.clause(t.TableName(start, (name,)))
    if reader.reader.token.kind != "end":
        raise reader.reader.wrong("')'")
    return clause


def sql_clause(text: str, opening: int) -> tuple[int, str] | None:
    """Return where a clause of SQL:2016 ends, and what is in it that EPL's clause does not have (nothing: ''); None where it is no such
    clause."""
    try:
        end = clause_end(text, opening, "sql")
        clause = read_clause(text, opening, end, SQL, "t")
    except (DialectError, RecursionError):
        return None
    return end, feature(clause)


def feature(clause: t.RecognitionClause) -> str:
    """Return the first thing of a clause that EPL's does not have; '' where there is none."""
    if clause.order_by:
        return "ORDER BY"
    if clause.rows is not None:
        return "ONE ROW PER MATCH" if clause.rows == "one" else "ALL ROWS PER MATCH"
    if clause.skip is not None and clause.skip.target is not None:
        return "AFTER MATCH SKIP TO a variable"
    if clause.subsets:
        return "SUBSET"
    if clause.within is not None:
        return "WITHIN"
    for node in t.descendants(clause.pattern):
        words = PATTERNS.get(type(node))
        if words is not None:
            return words
        if isinstance(node, t.Sequence) and not node.parts:
            return "an empty pattern"
        if isinstance(node, t.QuantifiedPattern) and node.marks and (node.braces or not isinstance(node.pattern, t.PatternVariable)):
            return "a reluctant quantifier of a group"
    for each in (*clause.measures, *clause.defines):
        for node in t.descendants(each):
            if isinstance(node, t.Call) and node.mode is not None:
                return node.mode
    return ""


PATTERNS = {t.Permutation: "PERMUTE", t.Exclusion: "{- -}", t.Anchor: "anchors"}

__all__ = ["clause_end", "feature", "read_clause", "sql_clause"]
