"""``epl check PATH…``: what would be refused, as compilers say it; for folders a porting report.

Each statement is checked on its own, so that one refusal does not hide the next; what an accepted statement declares is seen by
all later ones.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs

from epl.errors import EplError
from runtime.cli import UsageError
from runtime.cli.texts import deploy_first, print_error, read_text, shown_name
from runtime.engine import Runtime

PIECE = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\"{3}.*?\"{3}|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\[[^\[\]]*;[^\[\]]*\])|(?P<end>;)""",
    re.DOTALL,
)
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
HEADER = re.compile(r"(module|uses|import)\s", re.IGNORECASE)
MODULE_NAME = re.compile(r"^\s*module\s+([\w.]+)", re.IGNORECASE)
USED_NAME = re.compile(r"^\s*uses\s+([\w.]+)", re.IGNORECASE)
DECLARES = re.compile(
    r"\b(?:schema|window|table|context|variable\s+[\w.\[\]]+|expression|insert\s+into|rstream\s+into|istream\s+into)\s+(\w+)", re.IGNORECASE
)
QUOTED = re.compile(r"'[^']*'")


@attrs.frozen
class Piece:
    """One item of a module. ``start``: its offset in the text."""

    text: str
    start: int

    @property
    def is_header(self) -> bool:
        return HEADER.match(self.text) is not None


@attrs.define
class Report:
    """What a run of checks has seen."""

    files: int = 0
    accepted: int = 0
    causes: Counter[str] = attrs.field(factory=Counter)
    missing: set[str] = attrs.field(factory=set)
    """Names that refused statements would have declared."""

    @property
    def refused(self) -> int:
        return self.causes.total()


def pieces(text: str) -> Iterator[Piece]:
    """The module's items: what stands between semicolons outside of quotes, comments and scripts.

    >>> [p.text for p in pieces("module a; select ';' from B; // end")]
    ['module a', "select ';' from B"]
    """
    start = 0
    for found in PIECE.finditer(text):
        if found.lastgroup == "end":
            yield from _piece(text, start, found.start())
            start = found.end()
    yield from _piece(text, start, len(text))


def _piece(text: str, start: int, end: int) -> Iterator[Piece]:
    space = SPACE.match(text, start, end)
    begin = space.end() if space else start
    if begin < end:
        yield Piece(text[begin:end].rstrip(), begin)


def check_text(runtime: Runtime, path: Path, text: str, report: Report) -> None:
    """Deploy the module's statements one by one; print and count what is refused."""
    report.files += 1
    headers: list[Piece] = []
    for piece in pieces(text):
        if piece.is_header:
            headers.append(piece)
            continue
        padded = _at_its_place(text, headers, piece)
        try:
            runtime.deploy(padded)
            report.accepted += 1
        except EplError as error:
            report.causes[_cause(error, report.missing)] += 1
            report.missing.update(DECLARES.findall(piece.text))
            print_error(path, padded, error)


def _at_its_place(text: str, headers: list[Piece], piece: Piece) -> str:
    """The headers and one statement, at the lines and columns that they have in the module; everything else is blank."""
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


def _cause(error: EplError, missing: set[str]) -> str:
    if any(f"'{name}'" in error.message for name in missing):
        return "needs what a refused statement declares"
    return f"{error.code}: {QUOTED.sub('…', error.message)}"


def module_files(folder: Path) -> list[Path]:
    """The .epl files below a folder, each after those that it ``uses``."""
    paths = sorted(folder.rglob("*.epl"))
    heads = {path: [p.text for p in pieces(read_text(path)) if p.is_header] for path in paths}
    by_name = {found.group(1): path for path, head in heads.items() for line in head if (found := MODULE_NAME.match(line))}
    ordered: dict[Path, None] = {}

    def visit(path: Path, above: frozenset[Path]) -> None:
        for line in heads[path]:
            used = USED_NAME.match(line)
            other = by_name.get(used.group(1)) if used else None
            if other is not None and other not in above:
                visit(other, above | {other})
        ordered.setdefault(path)

    for path in paths:
        visit(path, frozenset({path}))
    return list(ordered)


def run(options: argparse.Namespace) -> int:
    """0 where everything is accepted, else 1."""
    report = Report()
    for path in options.paths:
        if str(path) != "-" and not path.exists():
            raise UsageError(f"cannot read {path}: no such file or folder")
        files = module_files(path) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"no .epl files in {path}")
        runtime = Runtime()
        if not deploy_first(runtime, options.with_files):
            return 1
        for file in files:
            if not path.is_dir():
                runtime = Runtime()
                deploy_first(runtime, options.with_files)
            check_text(runtime, file, read_text(file), report)
    print_report(report, ", ".join(shown_name(p) for p in options.paths))
    return 1 if report.refused else 0


def print_report(report: Report, title: str) -> None:
    """How many statements, and why the refused ones were refused, most frequent first."""
    total = report.accepted + report.refused
    share = f" ({report.accepted / total:.0%})" if total else ""
    files = f"{report.files} file{'s' if report.files != 1 else ''}"
    print(f"{title}: {files}, {total} statement{'s' if total != 1 else ''}, {report.accepted} accepted{share}, {report.refused} refused")
    for cause, count in report.causes.most_common():
        print(f"{count:6}  {cause}")
    sys.stdout.flush()
