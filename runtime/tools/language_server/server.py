"""The language server protocol over `Document`: diagnostics, completion, hover, formatting, outline, declarations and uses of names."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument
from pygls.workspace.position_codec import ServerTextPosition, ServerTextRange

from epl.errors import EplError
from epl.formatting import format_module
from epl.spans import Span
from runtime.api.version import version
from runtime.tools.language_server.document import Document

QUIET = 0.2
"""Seconds without a change after which a text is checked."""
COMPLETION_KINDS = {
    "keyword": types.CompletionItemKind.Keyword, "type": types.CompletionItemKind.Class, "property": types.CompletionItemKind.Field,
    "window": types.CompletionItemKind.Function, "function": types.CompletionItemKind.Function, "method": types.CompletionItemKind.Method,
    "annotation": types.CompletionItemKind.Property, "variable": types.CompletionItemKind.Variable,
    "alias": types.CompletionItemKind.Variable, "context": types.CompletionItemKind.Module,
}  # fmt: skip
SYMBOL_KINDS = {
    "schema": types.SymbolKind.Struct, "window": types.SymbolKind.Array, "table": types.SymbolKind.Array,
    "variable": types.SymbolKind.Variable, "context": types.SymbolKind.Namespace, "expression": types.SymbolKind.Function,
    "index": types.SymbolKind.Key, "class": types.SymbolKind.Class, "statement": types.SymbolKind.Event, "module": types.SymbolKind.Module,
}  # fmt: skip
SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


Positioned = types.DefinitionParams | types.ReferenceParams | types.DocumentHighlightParams | types.RenameParams


class EplServer(LanguageServer):
    """Documents by URI, each as of its last check. ``first``: texts that are deployed before each document, by their URIs."""

    def __init__(self, first: Mapping[str, str] | None = None, imports: Sequence[str] = ()) -> None:
        super().__init__("epl", version())
        first = first or {}
        self.first, self.imports = tuple(first.values()), imports
        self.first_uris = tuple(first)
        self.documents: dict[str, Document] = {}

    def source(self, uri: str) -> TextDocument:
        """Return the text, from its file if the client has not opened it. Raises JsonRpcInvalidParams where it cannot be read."""
        try:
            source = self.workspace.get_text_document(uri)
            source.source  # noqa: B018 - read now: it is read from its file when it is first asked for
        except (OSError, ValueError) as error:
            raise JsonRpcInvalidParams(f"{uri} cannot be read: {error}") from None
        return source

    def check(self, uri: str) -> Document:
        """Check the text as it is now, and publish what is wrong."""
        source = self.source(uri)
        document = self.documents[uri] = Document(source.source, self.first, self.imports)
        diagnostics = [
            types.Diagnostic(span_range(source, problem.span), problem.message, SEVERITIES[problem.severity], problem.code, source="epl")
            for problem in document.problems
        ]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, source.version))
        return document

    def document(self, uri: str) -> Document:
        """Return the document, checked again if its text has changed."""
        known = self.documents.get(uri)
        return known if known is not None and known.text == self.source(uri).source else self.check(uri)


def span_range(source: TextDocument, span: Span) -> types.Range:
    """Return the span as the client counts."""
    line, column = span.line_column(source.source)
    end_line, end_column = Span(span.end, span.end).line_column(source.source)
    start, end = ServerTextPosition(line - 1, column - 1), ServerTextPosition(end_line - 1, end_column - 1)
    return source.range_to_client_units(ServerTextRange(start, end))


def build_server(first: Mapping[str, str] | None = None, imports: Sequence[str] = ()) -> EplServer:
    """Return a server with its features."""
    server = EplServer(first, imports)
    _follow(server)
    _help_writing(server)
    _show(server)
    _follow_names(server)
    return server


def _follow(server: EplServer) -> None:
    """Check texts that are opened and changed."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def on_open(params: types.DidOpenTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def on_change(params: types.DidChangeTextDocumentParams) -> None:
        await asyncio.sleep(QUIET)
        if server.workspace.get_text_document(params.text_document.uri).version == params.text_document.version:
            server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def on_close(params: types.DidCloseTextDocumentParams) -> None:
        server.documents.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))


def _help_writing(server: EplServer) -> None:
    """Complete and format."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["#", "@", ".", ":"]))
    def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        uri = params.text_document.uri
        source = server.source(uri)
        known = server.documents.get(uri) or server.check(uri)  # of the last check: the text is not EPL while it is being written
        candidates = known.complete(source.source, source.offset_at_position(params.position))
        return [
            types.CompletionItem(
                each.text, kind=COMPLETION_KINDS.get(each.kind), detail=each.detail or each.kind, sort_text=f"{number:05}",
                documentation=types.MarkupContent(types.MarkupKind.Markdown, each.entry.markdown()) if each.entry else None,
            )
            for number, each in enumerate(candidates)
        ]  # fmt: skip

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        source = server.source(params.text_document.uri)
        try:
            text = format_module(source.source)
        except EplError:
            return []  # the diagnostics say what is wrong
        whole = span_range(source, Span(0, len(source.source)))
        return [types.TextEdit(whole, text)] if text != source.source else []


def _show(server: EplServer) -> None:
    """Show what words mean, and the outline."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        source = server.source(params.text_document.uri)
        shown = server.document(params.text_document.uri).hover(source.offset_at_position(params.position))
        if shown is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown.markdown), span_range(source, shown.span))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        source = server.source(params.text_document.uri)
        result = []
        for symbol in server.document(params.text_document.uri).symbols:
            where = span_range(source, symbol.span)
            result.append(types.DocumentSymbol(symbol.name, SYMBOL_KINDS[symbol.kind], where, where, symbol.kind))
        return result


def _follow_names(server: EplServer) -> None:
    """Go to declarations, list uses, rename."""

    def at(params: Positioned) -> tuple[TextDocument, Document, int]:
        source = server.source(params.text_document.uri)
        return source, server.document(params.text_document.uri), source.offset_at_position(params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        source, document, offset = at(params)
        locations = []
        for place in document.names.definition(offset):
            uri = server.first_uris[place.module - 1] if place.module else source.uri
            text = TextDocument(uri, server.first[place.module - 1], position_codec=source.position_codec) if place.module else source
            locations.append(types.Location(uri, span_range(text, place.span)))
        return locations

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        source, document, offset = at(params)
        declared = [] if params.context.include_declaration else [place.span for place in document.names.definition(offset)]
        return [types.Location(source.uri, span_range(source, span)) for span in document.names.references(offset) if span not in declared]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        source, document, offset = at(params)
        return [types.DocumentHighlight(span_range(source, span)) for span in document.names.references(offset)]

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        source, document, offset = at(params)
        try:
            spans = document.rename(offset, params.new_name)
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return types.WorkspaceEdit({source.uri: [types.TextEdit(span_range(source, span), params.new_name) for span in spans]})


def serve(first: Mapping[str, str], imports: Sequence[str]) -> None:
    """Serve on standard input and output until the client ends it."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    # Copies, since pygls closes them; what anything prints goes to standard error, and not between the messages.
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    build_server(first, imports).start_io(reading, writing)


__all__ = ["EplServer", "build_server", "serve"]
