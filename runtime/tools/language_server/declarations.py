"""Where names are declared: by a module's statements, and within one statement."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

import attrs

from epl.spans import Span
from runtime.tools.language_server.words import SourceWord, Words, closing, lower
from runtime.tools.vocabulary import vocabulary

CREATED = {"schema": "type", "window": "window", "table": "table", "context": "context"}
TYPES = frozenset(["type", "window", "table"])
"""Kinds of declarations that streams are read from and written to."""


@attrs.frozen
class DeclaredName:
    """``kind``: type, window, table, context, variable, expression, index, statement; of one statement alone: stream, tag, row variable,
    column. ``statement``: the number of the statement; ``written``: whether it is declared in so many words, not by an ``insert into``."""

    name: str
    kind: str
    span: Span
    statement: int
    written: bool = True

    @property
    def is_of_module(self) -> bool:
        return self.kind not in ("stream", "tag", "row variable", "column")


def of_module(words: Words, statement: int) -> Iterator[DeclaredName]:
    """Yield what a statement declares for others, and its name."""
    begin = 0
    while lower(words, begin) == "@":
        begin += 2
        while lower(words, begin) == ".":
            begin += 2
        if lower(words, begin) == "(":
            end = closing(words, begin)
            if lower(words, begin - 1) == "name":
                yield from _read_name(words[begin + 1 : end], statement)
            begin = end + 1
    if lower(words, begin) == "context":
        begin += 2
    if lower(words, begin) == "create":
        yield from _read_create(words, begin + 1, statement)
    for index in range(begin, len(words)):
        if lower(words, index) == "into" and lower(words, index - 1) in ("insert", "istream", "rstream", "irstream"):
            target = _name_word(words, index + 1)
            if target is not None:
                yield DeclaredName(target.name, "type", target.span, statement, written=False)


def _read_name(words: Words, statement: int) -> Iterator[DeclaredName]:
    for word in words:
        if word.kind == "string" and len(word.text) > 1:
            yield DeclaredName(word.text[1:-1], "statement", Span(word.start + 1, word.span.end - 1), statement)


def _name_word(words: Words, index: int) -> SourceWord | None:
    return words[index] if 0 <= index < len(words) and words[index].kind == "name" else None


def _read_create(words: Words, index: int, statement: int) -> Iterator[DeclaredName]:
    for at in range(index, min(index + 3, len(words))):
        what = lower(words, at)
        name = None
        if what in CREATED:
            what, name = CREATED[what], _name_word(words, at + 1)
        elif what == "index":
            name = _name_word(words, at + 1)
        elif what == "variable":
            name = _name_word(words, _past_type(words, at + 1))
        elif what == "expression":
            name = next((words[each] for each in range(at + 1, len(words)) if lower(words, each + 1) in ("{", "[", "(", "alias")), None)
        if what in (*CREATED.values(), "index", "variable", "expression"):
            if name is not None and name.kind == "name":
                yield DeclaredName(name.name, what, name.span, statement)
            return


def _past_type(words: Words, index: int) -> int:
    """Return the index after a type: ``int``, ``java.util.Map``, ``int[primitive][]``, ``List<String>``."""
    index += 1
    while lower(words, index) == ".":
        index += 2
    if lower(words, index) == "<":
        depth = 1
        while depth and index < len(words):
            index += 1
            depth += (lower(words, index) == "<") - (lower(words, index) == ">")
        index += 1
    while lower(words, index) == "[":
        index = closing(words, index) + 1
    return index


def of_statement(words: Words, statement: int, types: Collection[str]) -> Iterator[DeclaredName]:
    """Yield what a statement declares for itself: aliases of streams, tags, variables of row patterns, names of columns and of expressions.
    ``types``: the names that streams are known by."""
    for index, word in enumerate(words):
        text = word.text.lower()
        if word.kind == "name" and word.name in types and lower(words, index - 1) not in (".", "into"):
            if lower(words, index - 1) == "=" and lower(words, index - 3) != "." and _name_word(words, index - 2) is not None:
                yield DeclaredName(words[index - 2].name, "tag", words[index - 2].span, statement)
            alias = _alias(words, _past_views(words, index + 1))
            if alias is not None:
                yield DeclaredName(alias.name, "stream", alias.span, statement)
        elif text == "]" and lower(words, index + 1) not in ("", "from"):  # a pattern, a database or method join
            alias = _alias(words, _past_views(words, index + 1)) if lower(words, _past_views(words, index + 1)) == "as" else None
            if alias is not None:
                yield DeclaredName(alias.name, "stream", alias.span, statement)
        elif text == "as" and (alias := _name_word(words, index + 1)) is not None and lower(words, index + 2) not in (".", "("):
            yield DeclaredName(alias.name, "column", alias.span, statement)
        elif text == "pattern" and lower(words, index + 1) == "(":
            yield from _row_variables(words, index + 1, statement)
        elif text == "expression" and lower(words, index - 1) != "create":
            name = next((words[each] for each in range(index + 1, len(words)) if lower(words, each + 1) in ("{", "[", "(", "alias")), None)
            if name is not None and name.kind == "name":
                yield DeclaredName(name.name, "tag", name.span, statement)


def _row_variables(words: Words, opening: int, statement: int) -> Iterator[DeclaredName]:
    end = closing(words, opening)
    names = dict.fromkeys(word.name for word in words[opening:end] if word.kind == "name" and word.text.lower() != "permute")
    for name in names:
        defined = next((word for index, word in enumerate(words) if index > end and word.kind == "name" and word.name == name
                        and lower(words, index + 1) == "as" and lower(words, index - 1) in ("define", ",")), None)
        first = next(word for word in words[opening:end] if word.kind == "name" and word.name == name)
        yield DeclaredName(name, "row variable", (defined or first).span, statement)


def _alias(words: Words, index: int) -> SourceWord | None:
    has_as = lower(words, index) == "as"
    name = _name_word(words, index + has_as)
    return name if name is not None and (has_as or name.text.lower() not in _keywords()) else None


@cache
def _keywords() -> frozenset[str]:
    known = vocabulary()
    return frozenset((*known.keywords, *known.operators, *known.constants))


def _past_views(words: Words, index: int) -> int:
    """Return the index after filters and views: ``(…)``, ``#name(…)``, ``.win:name(…)``."""
    while index < len(words):
        if lower(words, index) in ("(", "["):
            index = closing(words, index) + 1
        elif lower(words, index) == "#":
            index += 2
        elif lower(words, index) == "." and lower(words, index + 2) == ":":
            index += 4
        else:
            return index
    return index


def column(words: Words, name: str) -> Span | None:
    """Return where a statement that declares a type declares a property of it: a typed column, or the name of a selected one."""
    for index, word in enumerate(words):
        if word.kind != "name" or word.name != name:
            continue
        if lower(words, index - 1) in ("(", ",") and _name_word(words, index + 1) is not None and lower(words, index + 1) != "from":
            return word.span
        if lower(words, index - 1) == "as":
            return word.span
    return None


__all__ = ["TYPES", "DeclaredName", "column", "of_module", "of_statement"]
