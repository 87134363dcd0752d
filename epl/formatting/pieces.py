"""A module's text cut into pieces: its tokens with the comments before them, and what the syntax tree knows of them.

Regions that the tree keeps as text (scripts, dataflows, names of modules) are one piece each, as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import attrs

from epl import syntax as S
from epl.dialects.front_door import DialectText
from epl.grammar.lexis import Token, Tokens
from epl.spans import Span
from epl.syntax import patterns as P

COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


@attrs.frozen
class Comment:
    """``own_line``: it begins its line; ``ends_line``: nothing but a comment follows in its line; ``after_blank``: an empty line is before
    it."""

    text: str
    own_line: bool
    ends_line: bool
    after_blank: bool

    @property
    def is_inline(self) -> bool:
        """Whether it can stay between two words of a line."""
        return not self.own_line and not self.text.startswith("//")


@attrs.define
class Piece:
    """One token, or text that stays as written. ``comments`` are before it.

    ``tight``: no space around symbols (annotations, schedules, names of types); ``rows``: in the pattern of match_recognize; ``role``:
    ``tag`` for the ``=`` after a tag, ``label`` for the ``:`` after the name of an argument, ``block`` for the braces of a declaration.
    """

    text: str
    key: str
    kind: str
    start: int
    end: int
    comments: tuple[Comment, ...] = ()
    after_blank: bool = False
    tight: bool = False
    rows: bool = False
    role: str = ""


def read(text: str, module: S.Module) -> list[Piece]:
    """Return the pieces of the module; the last one, ``end``, holds the comments at the end."""
    clauses = [node for node in nodes(module) if isinstance(node, S.RecognitionSource)]
    tokens = Tokens(text, {node.start: DialectText(node.start, node.start + len(node.text), node.dialect, "") for node in clauses})
    marks = _Marks(tokens, module)
    result: list[Piece] = []
    after = 0
    for token in tokens.all:
        if token.start < after:
            continue
        piece = Piece(token.text, token.key, token.kind, token.start, token.end)
        verbatim = marks.verbatim.get(token.start)
        if verbatim is not None:
            piece.text, piece.key, piece.kind, piece.end = text[token.start : verbatim].rstrip(), "", "verbatim", verbatim
        piece.tight, piece.rows, piece.role = token.start in marks.tight, token.start in marks.rows, marks.roles.get(token.start, "")
        gap = text[after : piece.start]
        piece.comments = _comments(gap, not result)
        piece.after_blank = _has_blank_end(gap)
        result.append(piece)
        after = piece.end
    for before, piece in pairwise(result):
        if before.key in (",", ";") and not all(comment.is_inline for comment in before.comments):
            piece.comments, before.comments = join_pieces(before.comments, piece.comments), ()
    return result


def join_pieces(first: tuple[Comment, ...], second: tuple[Comment, ...]) -> tuple[Comment, ...]:
    """Return both; what comes after a ``//`` is in the next line."""
    if first and second and first[-1].text.startswith("//"):
        second = (attrs.evolve(second[0], own_line=True), *second[1:])
    return (*first, *second)


def _comments(gap: str, is_first: bool) -> tuple[Comment, ...]:
    matches = list(COMMENT.finditer(gap))
    ends = [match.start() for match in matches[1:]] + [len(gap)]
    result: list[Comment] = []
    after = 0
    for match, end in zip(matches, ends, strict=False):
        before = gap[after : match.start()]
        ends_line = match.group().startswith("//") or "\n" in gap[match.end() : end]
        result.append(Comment(match.group().rstrip(), "\n" in before or (is_first and not result), ends_line, before.count("\n") > 1))
        after = match.end()
    return tuple(result)


def _has_blank_end(gap: str) -> bool:
    last = gap
    for match in COMMENT.finditer(gap):
        last = gap[match.end() :]
    return last.count("\n") > 1


class _Marks:
    """What the tree says of offsets."""

    def __init__(self, tokens: Tokens, module: S.Module) -> None:
        self.tokens = tokens
        self.verbatim: dict[int, int] = {}
        self.tight: set[int] = set()
        self.rows: set[int] = set()
        self.roles: dict[int, str] = {}
        for node in nodes(module):
            if node.span is not None:
                self._mark(node, node.span)
        self._headers(module)

    def _headers(self, module: S.Module) -> None:
        """``module a.b``, ``uses c``, ``import d.*``: their names are kept as they are written."""
        first = min((s.span.start for s in module.statements if s.span is not None), default=len(self.tokens.text))
        begins = True
        for token in self.tokens.all:
            if token.start >= first or token.kind == "end":
                break
            if begins and token.key != ";":
                name = self.tokens.following(token)
                end = name
                while self.tokens.following(end).key != ";" and self.tokens.following(end).kind != "end":
                    end = self.tokens.following(end)
                self.verbatim[name.start] = end.end
            begins = token.key == ";"

    def _within(self, span: Span) -> Iterator[Token]:
        token = self.tokens.at.get(span.start)
        while token is not None and token.kind != "end" and token.start < span.end:
            yield token
            token = self.tokens.following(token)

    def _mark(self, node: S.Node, span: Span) -> None:
        if isinstance(node, S.CreateDataflow):
            self._keep(node.source, span)
        elif isinstance(node, S.Declaration):
            if node.script is None:
                self._block(span)
            else:
                self._keep(f"[{node.script}", span)
        elif isinstance(node, (S.Annotation, S.CronPart, S.TypeName)):
            self.tight.update(token.start for token in self._within(span))
        elif isinstance(node, S.MatchRecognize):
            if node.pattern.span is not None:
                self.rows.update(token.start for token in self._within(node.pattern.span))
        elif isinstance(node, S.RecognitionSource):
            self.verbatim[node.start] = node.start + len(node.text)
        elif isinstance(node, P.FilterAtom) and node.tag is not None:
            self.roles[self.tokens.following(self.tokens.at[span.start]).start] = "tag"
        elif isinstance(node, S.NamedArgument):
            self.roles[self.tokens.following(self.tokens.at[span.start]).start] = "label"
        elif isinstance(node, S.JsonObject):
            self.roles.update((token.start, "label") for token in self._within(span) if token.key == ":")

    def _keep(self, source: str, span: Span) -> None:
        """Text that the tree keeps stays as it is, to the end of the node."""
        start = self.tokens.text.rfind(source, span.start, span.end)
        if start >= 0:
            self.verbatim[start] = span.end

    def _block(self, span: Span) -> None:
        braces = [token for token in self._within(span) if token.key in ("{", "}") and token.start not in self.tight]
        depth = 0
        for token in braces:
            if depth == (token.key == "}"):
                self.roles[token.start] = "block"
            depth += 1 if token.key == "{" else -1


def nodes(value: Any) -> Iterator[S.Node]:
    """Yield all syntax nodes of a tree, each after those around it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, S.Node):
            yield each
            waiting += [getattr(each, field.name) for field in attrs.fields(type(each))]
        elif isinstance(each, tuple):
            waiting += each
