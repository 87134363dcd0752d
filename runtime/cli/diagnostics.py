"""What ``epl check`` finds: printed as compilers do, as JSON, SARIF 2.1.0 or commands of GitHub Actions (docs/cli.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs

from epl.errors import EplError
from epl.spans import Span
from runtime.api.version import version
from runtime.cli.texts import display_name

QUOTED = re.compile(r"'[^']*'")
RULES = {
    "syntax": "The text is not EPL",
    "validation": "The text is EPL but cannot mean anything: unknown names, wrong types or parameters",
    "unsupported": "Esper runs this, epl-spark does not",
    "deployment": "The module cannot be deployed",
    "runtime": "The module cannot be deployed",
    "encoding": "The file is not UTF-8 text",
    "unreadable": "The file cannot be read",
    "internal": "A fault of epl-spark itself",
    "dependent": "A statement that this one needs is refused",
    "annotation": "An annotation that is not one of Esper's",
    "null": "A comparison with null, which is never true",
    "quotes": "A text in double quotes where a property is meant",
    "constant": "An order by a number, which is no column's place",
    "esper": "Esper 9.0.0 itself fails at this",
}
"""Codes, and what they mean."""


@attrs.frozen
class Diagnostic:
    """One finding. Lines and columns count characters from 1; ``end`` is after the last one. ``excerpt``: the line, and a caret below."""

    path: Path
    severity: str
    code: str
    message: str
    hint: str | None = None
    start: tuple[int, int] = (1, 1)
    end: tuple[int, int] = (1, 1)
    excerpt: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, text: str, error: EplError, default: Span) -> Diagnostic:
        """Return an error of a module's text; ``default`` is where it is where it does not say so."""
        return cls.at(path, text, error.span or default, "error", error.code, error.message, error.hint)

    @classmethod
    def at(cls, path: Path, text: str, span: Span, severity: str, code: str, message: str, hint: str | None = None) -> Diagnostic:
        end = Span(span.end, span.end).line_column(text)
        return cls(path, severity, code, message, hint, span.line_column(text), end, tuple(span.caret(text).splitlines()))

    def lines(self) -> list[str]:
        """Return ``path:line:column: error: message [code]``, the line with a caret, the hint."""
        line, column = self.start
        # A file's name may hold a line break; the message must stay on its line.
        name = display_name(self.path).replace("\n", "\\n")
        lines = [f"{name}:{line}:{column}: {self.severity}: {self.message} [{self.code}]", *(f"    {row}" for row in self.excerpt)]
        return lines + ([f"    hint: {self.hint}"] if self.hint else [])

    def cause(self) -> str:
        """Return what it has in common with others: the message without names."""
        return f"{self.code}: {QUOTED.sub('…', self.message)}"


@attrs.define
class CheckReport:
    """What a run of checks has found."""

    files: int = 0
    accepted: int = 0
    refused: int = 0
    unreadable: int = 0
    diagnostics: list[Diagnostic] = attrs.field(factory=list)
    causes: Counter[str] = attrs.field(factory=Counter)
    undeclared: dict[str, set[str]] = attrs.field(factory=dict)
    """Event types that are declared nowhere: the properties that statements read of them."""
    _annotations: Counter[str] = attrs.field(factory=Counter)
    _shown: set[str] = attrs.field(factory=set)

    def undeclare(self, type_name: str, properties: Iterable[str]) -> None:
        """Note that statements read an event type that is not declared."""
        self.undeclared.setdefault(type_name, set()).update(properties)

    def is_news(self, diagnostic: Diagnostic) -> bool:
        """Return whether people want to read it: an undeclared type and an annotation are printed once; the summary counts them."""
        if diagnostic.code == "annotation":
            self._annotations[diagnostic.message] += 1
        if diagnostic.code != "annotation" and not diagnostic.message.startswith("Failed to resolve event type"):
            return True
        is_first = diagnostic.message not in self._shown
        self._shown.add(diagnostic.message)
        return is_first

    @property
    def warnings(self) -> int:
        return sum(d.severity == "warning" for d in self.diagnostics)

    @property
    def is_clean(self) -> bool:
        return not self.refused and not self.unreadable

    def summary(self, title: str) -> Iterable[str]:
        """Yield how many statements, and why the refused ones were refused, most frequent first."""
        total = self.accepted + self.refused
        share = f" ({self.accepted / total:.0%})" if total else ""
        line = f"{title}: {_count(self.files, 'file')}, {_count(total, 'statement')}, {self.accepted} accepted{share}"
        line += f", {self.refused} refused"
        line += f", {_count(self.unreadable, 'file')} unreadable" if self.unreadable else ""
        yield line + (f", {_count(self.warnings, 'warning')}" if self.warnings else "")
        yield from (f"{count:6}  {cause}" for cause, count in self.causes.most_common())
        yield from (f"{count:6}  warning: {message}" for message, count in self._annotations.most_common() if count > 1)
        if self.undeclared:
            yield "event types that are declared nowhere, with the properties that statements read:"
            for name, properties in sorted(self.undeclared.items()):
                yield f"        create schema {name}({', '.join(f'{each} …' for each in sorted(properties))})"

    def json(self) -> dict[str, Any]:
        return {
            "version": 1, "tool": "epl-spark", "tool_version": version(),
            "files": self.files, "unreadable": self.unreadable, "statements": self.accepted + self.refused, "accepted": self.accepted,
            "refused": self.refused, "warnings": self.warnings,
            "diagnostics": [
                {
                    "file": display_name(d.path), "line": d.start[0], "column": d.start[1], "end_line": d.end[0], "end_column": d.end[1],
                    "severity": d.severity, "code": d.code, "message": d.message, "hint": d.hint,
                }
                for d in self.diagnostics
            ],
            "causes": [{"cause": cause, "count": count} for cause, count in self.causes.most_common()],
            "undeclared": [{"type": name, "properties": sorted(read)} for name, read in sorted(self.undeclared.items())],
        }  # fmt: skip

    def github(self) -> Iterable[str]:
        """Yield the workflow commands with which a step of GitHub Actions annotates the lines of a change, then the summary's line."""
        for d in self.diagnostics:
            message = d.message + (f"\nhint: {d.hint}" if d.hint else "")
            place = {"file": display_name(d.path), "line": d.start[0], "endLine": d.end[0], "col": d.start[1], "endColumn": d.end[1],
                "title":
                     f"epl {d.code}"}  # fmt: skip
            if d.start[0] != d.end[0]:
                del place["col"], place["endColumn"]  # GitHub takes columns within one line only
            properties = ",".join(f"{name}={_escape(str(value), GITHUB_PROPERTY)}" for name, value in place.items())
            yield f"::{d.severity} {properties}::{_escape(message, GITHUB_MESSAGE)}"
        yield next(iter(self.summary("epl check")))

    def sarif(self) -> dict[str, Any]:
        rules = [{"id": code, "shortDescription": {"text": text}} for code, text in RULES.items()]
        driver = {"name": "epl check", "version": version(), "rules": rules}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [_sarif(d) for d in self.diagnostics]}
        return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


GITHUB_MESSAGE: dict[str, str | int | None] = {"%": "%25", "\r": "%0D", "\n": "%0A"}
GITHUB_PROPERTY: dict[str, str | int | None] = {**GITHUB_MESSAGE, ":": "%3A", ",": "%2C"}


def _escape(text: str, signs: dict[str, str | int | None]) -> str:
    return text.translate(str.maketrans(signs))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _sarif(diagnostic: Diagnostic) -> dict[str, Any]:
    (line, column), (end_line, end_column) = diagnostic.start, diagnostic.end
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    path = diagnostic.path
    uri = path.absolute().as_uri() if path.is_absolute() else quote("stdin" if str(path) == "-" else path.as_posix())
    return {
        "ruleId": diagnostic.code, "ruleIndex": list(RULES).index(diagnostic.code), "level": diagnostic.severity,
        "message": {"text": diagnostic.message + (f"\nHint: {diagnostic.hint}" if diagnostic.hint else "")},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
    }  # fmt: skip


__all__ = ["CheckReport", "Diagnostic"]
