"""Module files: statements between semicolons, after ``module``, ``uses`` and ``import``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypeVar

from pyparsing import ParseBaseException, ParserElement

from epl import syntax as S
from epl.dialects.front_door import DialectText
from epl.errors import EplSyntaxError, EplValidationError
from epl.grammar.elements import Kit, SourceText
from epl.grammar.lexis import KEYWORDS, READ_AS_NAMES, RESERVED_FOR_NAMES, UNITS, Token, Tokens
from epl.grammar.mistakes import incorrect_syntax, punctuation
from epl.grammar.statements import Statements
from epl.spans import Span

Read = TypeVar("Read")
HEADERS = frozenset({"module", "uses", "import"})
_ON_DEMAND = (S.InsertValues, S.FafUpdate, S.FafDelete)


class Grammar:
    """EPL's grammar, made once; one text at a time is read with it."""

    def __init__(self) -> None:
        self._source = SourceText()
        kit = Kit(self._source)
        self._statements = Statements(kit)
        self._lock = Lock()
        read = frozenset(word for word in kit.words if word[0].isalpha())
        self.keywords = KEYWORDS | RESERVED_FOR_NAMES | read | READ_AS_NAMES | HEADERS | UNITS.keys()
        """All words that have a meaning of their own somewhere."""

    def module(self, text: str, clauses: Mapping[int, DialectText] | None = None) -> S.Module:
        """Read a module. ``clauses``: those of SQL dialects in it, by their opening brackets."""
        return self._read(text, self._module, clauses)

    def statement(self, text: str, clauses: Mapping[int, DialectText] | None = None) -> S.Statement:
        """Read a statement. ``clauses``: those of SQL dialects in it, by their opening brackets."""
        return self._read(text, self._statement, clauses)

    def query(self, text: str) -> S.Statement:
        return self._read(text, self._query)

    def expression(self, text: str) -> S.Expression:
        return self._read(text, self._expression)

    def _read(self, text: str, reading: Callable[[], Read], clauses: Mapping[int, DialectText] | None = None) -> Read:
        with self._lock:
            source = self._source
            source.reset(Tokens(text, clauses))
            ParserElement.reset_cache()  # another package (matplotlib, say) may have turned on pyparsing's cache: it keeps failures unseen
            try:
                parsed = reading()
            except EplValidationError as error:
                raise error.within(text) from None
            except ParseBaseException:
                raise incorrect_syntax(source) from None
            except RecursionError:
                token = source.at.get(source.furthest, source.tokens.end)
                raise EplSyntaxError(f"Incorrect syntax near '{token.text}', nested too deeply", span=token.span, text=text) from None
            finally:
                refused = source.refused
                source.reset(Tokens(""))
            if refused is not None:
                raise refused
            return parsed

    def _one(self, element: ParserElement, loc: int) -> tuple[int, Any]:
        loc, tokens = element._parse(self._source.tokens.text, loc, True)
        return loc, tokens[0]

    def _alone(self, element: ParserElement) -> Any:
        """Return the element and nothing after it but a semicolon."""
        loc, parsed = self._one(element, 0)
        end = self._source.at[loc]
        if end.key == ";":
            end = self._source.at[end.end]
        self._end(end)
        return parsed

    def _statement(self) -> S.Statement:
        statement: S.Statement = self._alone(self._statements.statement)
        return statement

    def _expression(self) -> S.Expression:
        expression: S.Expression = self._alone(self._statements.expression)
        return expression

    def _query(self) -> S.Statement:
        statement = self._statement()
        if not isinstance(statement.body, (S.Select, *_ON_DEMAND)):
            assert statement.body.span is not None
            self._source.refuse("Provided EPL expression is a continuous query expression (not an on-demand query)", statement.body.span)
        return statement

    def _continuous(self, statement: S.Statement) -> S.Statement:
        if isinstance(statement.body, _ON_DEMAND):
            assert statement.body.span is not None
            hint = "update istream … is the continuous one" if isinstance(statement.body, S.FafUpdate) else "run it as a query"
            self._source.refuse(
                "Provided EPL expression is an on-demand query expression (not a continuous query)", statement.body.span, hint
            )
        return statement

    def _end(self, token: Token) -> None:
        if token.kind != "end":
            self._source.fail(token.start, token, "end of input", self._statements.expression)

    def _module(self) -> S.Module:
        source = self._source
        at, text = source.at, source.tokens.text
        fields: dict[str, Any] = {"uses": (), "imports": ()}
        statements: list[S.Statement] = []
        loc = 0
        while at[loc].kind != "end":
            token = at[loc]
            if token.key == ";":
                loc = token.end
                continue
            if token.key in HEADERS:
                self._check_place(token, fields, bool(statements))
                loc = self._header(token, fields)
            else:
                loc, statement = self._one(self._statements.statement, loc)
                statements.append(self._continuous(statement))
            token = at[loc]
            if token.key != ";":
                self._end(token)
        return S.Module(tuple(statements), **fields, text=text, span=Span(0, len(text)))

    def _check_place(self, keyword: Token, fields: Mapping[str, Any], after_statements: bool) -> None:
        """Headers come before the statements, and the module's name before the other headers."""
        if keyword.key == "module":
            if "name" in fields:
                raise self._no_module("Duplicate use of the 'module' keyword for resource 'null'", keyword)
            if after_statements or any(fields.values()):
                raise self._no_module("The 'module' keyword must be the first declaration in the module file for resource 'null'", keyword)
        elif after_statements:
            raise self._no_module(
                "The 'uses' and 'import' keywords must be the first declaration in the module file or follow the 'module' declaration",
                keyword)

    def _header(self, keyword: Token, fields: dict[str, Any]) -> int:
        """``module a.b;``, ``uses a.b;``, ``import a.b.*;``: words and dots."""
        at = self._source.at
        loc, after_word = keyword.end, False
        start = at[loc].start
        while at[loc].kind != "end" and at[loc].key != ";":
            token = at[loc]
            is_word = token.kind == "word" or token.key == "*"
            if not (is_word or token.key in (".", "$")) or (is_word and after_word) or (token.start == start and not is_word):
                raise self._no_name(keyword, token)
            after_word = is_word
            loc = token.end
        if at[loc].start == start:
            raise self._no_name(keyword, None)
        name = self._source.tokens.text[start:loc]
        if keyword.key == "module":
            fields["name"] = name
        else:
            field = "uses" if keyword.key == "uses" else "imports"
            fields[field] = (*fields[field], name)
        return loc

    def _no_name(self, keyword: Token, wrong: Token | None) -> EplSyntaxError:
        """Return the error for a header whose name is missing or has a token that no name has."""
        shown = punctuation(wrong) if wrong is not None else None
        more = "" if shown is None else f", unexpected reserved keyword {shown} was encountered as part of the name"
        problem = f"Keyword '{keyword.key}' must be followed by a name or package name (set of names separated by dots) for resource 'null'"
        return self._no_module(problem + more, wrong or keyword)

    def _no_module(self, problem: str, at: Token) -> EplSyntaxError:
        return EplSyntaxError(f"Failed to parse: {problem}", span=at.span, text=self._source.tokens.text)
