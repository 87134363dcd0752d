"""One module text as an editor has it: what is wrong, what names mean, which statements there are. Knows no protocol."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Literal

import attrs

from epl import syntax as S
from epl.analysis.statements.annotations import ATTRIBUTES, BY_NAME, annotation_warning
from epl.catalog import Catalog
from epl.errors import AlreadyDeclaredError, EplError, EplWarning
from epl.event_types import EventType
from epl.parse import parse_statement
from epl.settings import Settings
from epl.spans import Span
from runtime.api.preconditions import locate
from runtime.api.runtime import Runtime, internal_engine
from runtime.tools.checking import check_piece
from runtime.tools.completion import CompletionItem, complete
from runtime.tools.language_server.names import DocumentNames
from runtime.tools.modules import ModulePiece, pieces
from runtime.tools.reference import entries

WORD = re.compile(r"[A-Za-z_$][\w$]*(?:-[a-z]+)*|`[^`]*`")


@attrs.frozen
class Problem:
    """``severity``: error or warning."""

    span: Span
    severity: Literal["error", "warning"]
    code: str
    message: str


@attrs.frozen
class Symbol:
    """A statement or header. ``kind``: schema, window, table, variable, context, expression, index, class, statement or module."""

    name: str
    kind: str
    span: Span


@attrs.frozen
class Hover:
    markdown: str
    span: Span


class Document:
    """A text, deployed statement by statement to a runtime of its own. ``first``: texts that are deployed before it."""

    def __init__(self, text: str, first: Sequence[str] = (), imports: Sequence[str] = ()) -> None:
        self.text = text
        self.first, self.imports = tuple(first), tuple(imports)
        self.problems: list[Problem] = []
        self.symbols: list[Symbol] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EplWarning)
            runtime = Runtime(settings=Settings(imports=tuple(imports)))
            for each in first:
                try:
                    runtime.deploy(each)
                except EplError as error:
                    self._add(Span(0, 0), "error", error.code, f"a module that is deployed first is refused: {error.message}")
            self._check(runtime)
            self.catalog: Catalog = internal_engine(runtime).catalog()
            runtime.close()
        self.names = DocumentNames(text, self.catalog, self.first)

    def _check(self, runtime: Runtime) -> None:
        headers: list[ModulePiece] = []
        waiting = list(reversed(list(pieces(self.text))))
        while waiting:
            piece = waiting.pop()
            self.symbols.append(_symbol(piece))
            if piece.is_header:
                headers.append(piece)
                continue
            checked = check_piece(runtime, self.text, headers, piece, f"at {piece.start}")
            if checked.halves:
                self.symbols.pop()
            waiting += reversed(checked.halves)
            for error in checked.errors:
                if isinstance(error, AlreadyDeclaredError):
                    locate(error, runtime.deployments.values())
                hint = f"\nhint: {error.hint}" if error.hint else ""
                self._add(error.span or checked.whole, "error", error.code, error.message + hint)
            if checked.internal is not None:
                self._add(checked.whole, "error", "internal", f"internal error: {type(checked.internal).__name__}: {checked.internal}")
            for annotation in checked.unknown_annotations:
                self._add(annotation.span or checked.whole, "warning", "annotation", annotation_warning(annotation))
            for each in checked.doubts:
                self._add(each.span or checked.whole, "warning", each.code, f"{each.message}\nhint: {each.hint}")

    def _add(self, span: Span, severity: Literal["error", "warning"], code: str, message: str) -> None:
        self.problems.append(Problem(span, severity, code, message))

    # ------------------------------------------------------------------ what editors ask

    def complete(self, text: str, offset: int) -> list[CompletionItem]:
        """Return what may be written at the offset of the text, which may be newer than the document."""
        return complete(text, offset, self.catalog)

    def hover(self, offset: int) -> Hover | None:
        """Return what the word at the offset means, or None."""
        word = next((match for match in WORD.finditer(self.text) if match.start() <= offset <= match.end()), None)
        if word is None:
            return None
        span = Span(word.start(), word.end())
        if self.text[: word.start()].rstrip().endswith("@"):
            name = BY_NAME.get(word.group().lower())
            attributes = ", ".join(ATTRIBUTES[name]) if name else ""
            return Hover(f"annotation `@{name}({attributes})`", span) if name else None
        candidates = [each for each in self.complete(self.text, word.end()) if each.text.lower() == word.group().lower()]
        exact = [each for each in candidates if each.text == word.group()] or [each for each in candidates if each.kind != "property"]
        return Hover(self._markdown(exact[0]), span) if exact else None

    def rename(self, offset: int, name: str) -> list[Span]:
        """Return what is to be replaced so that the name at the offset becomes another one. Raise ValueError where that cannot be: the name
        is declared elsewhere, or the new text would have errors that this one does not have."""
        spans = self.names.rename_spans(offset, name)
        text = self.text
        for span in reversed(spans):
            text = text[: span.start] + name + text[span.end :]
        new = Document(text, self.first, self.imports)
        before, after = ([each.message for each in document.problems if each.severity == "error"] for document in (self, new))
        if len(after) > len(before):
            added = next((each for each in after if each not in before), after[-1])
            raise ValueError(f"'{name}' does not fit: {added.splitlines()[0]}")
        return spans

    def _markdown(self, candidate: CompletionItem) -> str:
        if candidate.entry is not None:
            return candidate.entry.markdown()
        event_type = self._type(candidate.text) if candidate.kind == "type" else None
        if event_type is not None:
            columns = "\n".join(f"{name} {each.type}" for name, each in event_type.properties.items())
            return f"{event_type.kind} `{event_type.name}`\n\n```\n{columns}\n```"
        if candidate.kind == "keyword":
            element = entries()["patterns"].get(candidate.text)
            return element.markdown() if element is not None else f"keyword `{candidate.text}`"
        return f"{candidate.kind} `{candidate.text}`" + (f": `{candidate.detail}`" if candidate.detail else "")

    def _type(self, name: str) -> EventType | None:
        table = self.catalog.tables.get(name)
        return self.catalog.event_types.get(name) if table is None else table.event_type


_KINDS: dict[type[S.Body], str] = {
    S.CreateSchema: "schema", S.CreateWindow: "window", S.CreateTable: "table", S.CreateVariable: "variable", S.CreateIndex: "index",
    S.CreateContext: "context", S.CreateExpression: "expression", S.CreateClass: "class",
}  # fmt: skip


def _symbol(piece: ModulePiece) -> Symbol:
    """Return how an outline calls a statement: by its name, what it declares or inserts into, or its first words."""
    span = Span(piece.start, piece.start + len(piece.text))
    first = " ".join(piece.text.split())
    first = first if len(first) <= 40 else f"{first[:39]}…"
    if piece.is_header:
        return Symbol(first, "module", span)
    try:
        statement = parse_statement(piece.text)
    except EplError:
        return Symbol(first, "statement", span)
    body = statement.body
    kind = _KINDS.get(type(body), "statement")
    declared = body.declaration.name if isinstance(body, S.CreateExpression) else getattr(body, "name", None)
    target = body.insert_into.target if isinstance(body, S.Select) and body.insert_into is not None else None
    return Symbol(statement.name or declared or (f"insert into {target}" if target else first), kind, span)


__all__ = ["Document", "Hover", "Problem", "Symbol"]
