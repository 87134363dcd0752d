"""Module files cut into their statements, and put in the order in which they use one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from epl.errors import EplError
from epl.grammar.mistakes import STATEMENT_STARTS
from epl.parse import parse_statement

PIECE = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|\"{3}.*?\"{3}|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|`[^`]*`|\[[^\[\];]*;[^\[\]]*\])|(?P<end>;)""",
    re.DOTALL,
)
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
HEADER = re.compile(r"(module|uses|import)\s", re.IGNORECASE)
MODULE_NAME = re.compile(r"^\s*module\s+([\w.]+)", re.IGNORECASE)
USED_NAME = re.compile(r"^\s*uses\s+([\w.]+)", re.IGNORECASE)
DECLARES = re.compile(
    r"\b(?:schema|window|table|context|variable\s+[\w.\[\]]+|expression|insert\s+into|rstream\s+into|istream\s+into)\s+(\w+)", re.IGNORECASE
)
BEGINNING = re.compile("|".join(sorted(rf"{word}\b" if word.isalpha() else word for word in STATEMENT_STARTS)), re.IGNORECASE)


@attrs.frozen
class ModulePiece:
    """An item of a module. ``start``: its offset in the text; ``is_counted``: whether it has been counted as refused already, since the
    semicolon after it is missing."""

    text: str
    start: int
    is_counted: bool = False

    @property
    def is_header(self) -> bool:
        return HEADER.match(self.text) is not None

    @property
    def declares(self) -> list[str]:
        """The names that it seems to declare, whether or not it is EPL."""
        return DECLARES.findall(self.text)

    def halves(self, at: int) -> tuple[ModulePiece, ModulePiece] | None:
        """Return two statements between which the semicolon is missing: a whole one before the offset ``at`` of the module's text, and what
        may be the beginning of another; None where it is not so."""
        head, tail = self.text[: at - self.start], self.text[at - self.start :]
        if not BEGINNING.match(tail):
            return None
        try:
            parse_statement(head)
        except EplError:
            return None
        return ModulePiece(head.rstrip(), self.start, is_counted=True), ModulePiece(tail, at)


def pieces(text: str) -> Iterator[ModulePiece]:
    """Yield the module's items: the text between semicolons outside of quotes, comments and scripts.

    >>> [p.text for p in pieces("module a; select ';' from B; // end")]
    ['module a', "select ';' from B"]
    """
    start = 0
    for match in PIECE.finditer(text):
        if match.lastgroup == "end":
            yield from _piece(text, start, match.start())
            start = match.end()
    yield from _piece(text, start, len(text))


def _piece(text: str, start: int, end: int) -> Iterator[ModulePiece]:
    space = SPACE.match(text, start, end)
    begin = space.end() if space else start
    if begin < end:
        yield ModulePiece(text[begin:end].rstrip(), begin)


def at_its_place(text: str, headers: list[ModulePiece], piece: ModulePiece) -> str:
    """Return the headers and one statement, at the lines and columns that they have in the module; everything else is blank."""
    parts: list[str] = []
    at = 0
    for item in (*headers, piece):
        parts.append(re.sub(r"[^\n]", " ", text[at : item.start]))
        parts.append(item.text)
        at = item.start + len(item.text)
        if item is not piece:
            parts.append(";")
            at += 1
    return "".join(parts)


def used_files(texts: Mapping[Path, str]) -> dict[Path, tuple[Path, ...]]:
    """Return by file: the files of the modules that it ``uses``, and that those use, each after those that it uses itself. Files are in the
    order in which they can be deployed one after the other."""
    heads = {path: [p.text for p in pieces(text) if p.is_header] for path, text in texts.items()}
    by_name = {match.group(1): path for path, head in heads.items() for line in head if (match := MODULE_NAME.match(line))}
    done: dict[Path, tuple[Path, ...]] = {}

    def visit(path: Path, above: frozenset[Path]) -> tuple[Path, ...]:
        if path not in done:
            files: dict[Path, None] = {}
            for line in heads[path]:
                used = USED_NAME.match(line)
                other = by_name.get(used.group(1)) if used else None
                if other is not None and other not in above:
                    files.update(dict.fromkeys((*visit(other, above | {other}), other)))
            done[path] = tuple(files)
        return done[path]

    for path in texts:
        visit(path, frozenset({path}))
    return done
