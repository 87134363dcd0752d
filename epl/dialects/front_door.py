"""Which ``match_recognize (…)`` of a module is of a SQL dialect: by ``@Dialect``, or because EPL does not read it and SQL:2016 does.

EPL's grammar reads the module; where a clause is of a dialect it sees the brackets alone. What is between them is read by the dialect.
"""
from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from epl.dialects.dialect_names import DIALECT_NAMES
from epl.errors import EplError, EplValidationError
from epl.spans import Span

NAMES = ("epl", *DIALECT_NAMES)
"""What ``@Dialect`` and ``dialect=`` may be; ``epl``: Esper's own, as without any."""
SCAN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
      | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)|"{3}.*?"{3}|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|`[^`]*(?:`|\Z))
      | (?P<dialect>@Dialect\s*\(\s*(?:value\s*=\s*)?(?:'(?P<single>\w*)'|"(?P<double>\w*)")\s*\))
      | (?P<clause>\bmatch_recognize\s*\()
      | (?P<end>;)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
FOLLOWING = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*(\w+)?", re.DOTALL)
AFTER_THE_CLAUSE = frozenset(("where", "group", "having", "output", "order", "limit", "for"))
"""Words that may follow EPL's clause."""


@attrs.frozen
class DialectText:
    """A clause of a dialect in a module: ``opening`` and ``end``: where its bracket is, and what follows its closing bracket. ``reason``:
    why it is of that dialect."""

    opening: int
    end: int
    dialect: str
    reason: str


@attrs.define
class _Statement:
    """``start``, ``end``: in the module's text. ``clauses``: where the brackets of its clauses are, and where they end."""

    start: int
    end: int = 0
    dialect: str | None = None
    named_at: Span | None = None
    clauses: list[tuple[int, int, str]] = attrs.field(factory=list)


def dialect_name(name: str, *, span: Span | None = None, text: str | None = None) -> str:
    """Return a dialect's name in lower case. Raise EplValidationError where there is none."""
    lowered = name.lower()
    if lowered not in NAMES:
        raise EplValidationError(f"there is no dialect '{name}'; there are {', '.join(NAMES)}", span=span, text=text)
    return lowered


def dialect_texts(text: str) -> dict[int, DialectText]:
    """Return the clauses that ``@Dialect`` says are of a SQL dialect, by their opening brackets."""
    if "ialect" not in text and "IALECT" not in text:
        return {}
    texts: dict[int, DialectText] = {}
    for statement in _statements(text, detects=False):
        if statement.clauses:
            texts.update(_of(statement, statement.dialect or "", lambda reason: "the statement says so"))
    return texts


def detect_clauses(
    text: str, error: EplError, known: dict[int, DialectText], reads: Callable[[str], bool]
) -> dict[int, DialectText]:
    """Return the clauses of the statement that EPL does not read, where SQL:2016 reads them and has in them what EPL does not have, and
    those of the statements after it of which that is so too; none where it is not so of the first. ``reads``: whether EPL reads the text
    of a statement."""
    if error.span is None or "match_recognize" not in text.lower():
        return {}
    texts: dict[int, DialectText] = {}
    for statement in _statements(text, detects=True):
        if statement.dialect is not None or error.span.start > statement.end:
            continue
        is_of_sql = not any(opening in known or not reason for opening, _, reason in statement.clauses)
        if not texts and not is_of_sql:
            return {}
        if is_of_sql and statement.clauses and (not texts or not reads(text[statement.start : statement.end])):
            texts.update(_of(statement, "sql", lambda reason: f"EPL does not have {reason} in match_recognize"))
        if not texts:
            return {}
    return texts


@attrs.frozen
class Annotated:
    """A module's text with annotations that were put into it. ``places``: where they are, and how long they are."""

    text: str
    original: str
    places: tuple[tuple[int, int], ...] = ()

    def locate_error(self, error: EplError) -> None:
        """Let an error in the text point into the original one."""
        if error.text == self.text and self.places:
            error.text = self.original
            if error.span is not None:
                error.span = Span(self._before(error.span.start), self._before(error.span.end))

    def _before(self, offset: int) -> int:
        return offset - sum(min(length, offset - place) for place, length in self.places if place < offset)


def annotate_module(text: str, dialect: str | None) -> Annotated:
    """Return a module's text with ``@Dialect`` in front of each statement that has a clause and does not say of which dialect it is; the
    text itself where no dialect, or ``epl``, is given."""
    if dialect is None or dialect_name(dialect) == "epl" or "match_recognize" not in text.lower():
        return Annotated(text, text)
    mark = f"@Dialect('{dialect.lower()}') "
    written: list[str] = []
    places: list[tuple[int, int]] = []
    place = 0
    for statement in _statements(text, detects=False, default=dialect.lower()):
        if statement.clauses and statement.dialect is None:
            begin = FOLLOWING.match(text, statement.start)
            assert begin is not None
            at = begin.start(1) if begin[1] is not None else begin.end()
            places.append((at + len(mark) * len(places), len(mark)))
            written += [text[place:at], mark]
            place = at
    return Annotated("".join([*written, text[place:]]), text, tuple(places))


def _of(statement: _Statement, dialect: str, reason: object) -> dict[int, DialectText]:
    assert callable(reason)
    return {opening: DialectText(opening, end, dialect, reason(feature)) for opening, end, feature in statement.clauses}


def _statements(text: str, *, detects: bool, default: str | None = None) -> list[_Statement]:
    """Return the statements of a module. ``detects``: clauses of statements without a dialect are read as SQL:2016 where that goes."""
    statements = [_Statement(0)]
    at = 0
    while (token := SCAN.search(text, at)) is not None:
        at = token.end()
        here = statements[-1]
        if token["end"]:
            here.end = token.start()
            statements.append(_Statement(at))
        elif token["dialect"]:
            here.dialect = (token["single"] or token["double"] or "").lower()
            here.named_at = Span(token.start(), token.end())
        elif token["clause"]:
            at = _clause(text, at - 1, here, detects, default)
    statements[-1].end = len(text)
    return statements


def _clause(text: str, opening: int, statement: _Statement, detects: bool, default: str | None) -> int:
    """Note a clause; return where the scan goes on."""
    dialect = statement.dialect if statement.dialect is not None else default
    if dialect is not None:
        dialect_name(dialect, span=statement.named_at, text=text)
    if dialect == "epl" or (dialect is None and not detects):
        return opening + 1
    from epl.dialects.syntax.read_clause import clause_end, sql_clause  # the dialects are loaded where a text needs them

    if dialect is not None:
        end = clause_end(text, opening, dialect)
        statement.clauses.append((opening, end, ""))
        return end
    is_of_epl = bool(statement.clauses) and not statement.clauses[-1][2]  # one that is not of SQL is enough
    read = None if is_of_epl else sql_clause(text, opening)
    if read is None:
        statement.clauses.append((opening, opening, ""))
        return opening + 1
    end, feature = read
    statement.clauses.append((opening, end, feature or _alias(text, end)))
    return end


def _alias(text: str, end: int) -> str:
    following = FOLLOWING.match(text, end)
    word = None if following is None else following[1]
    return "an alias behind the bracket" if word is not None and word.lower() not in AFTER_THE_CLAUSE else ""


__all__ = ["NAMES", "Annotated", "DialectText", "annotate_module", "detect_clauses", "dialect_name", "dialect_texts"]
