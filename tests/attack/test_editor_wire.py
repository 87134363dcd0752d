"""Messages that no editor sends to ``epl lsp``: the process goes on, and what is wrong with a request is an error of the protocol.

Verdict: after each message the outline of an open text is the one of before; no answer is an internal error; nothing ends the process but
the end of its input, or a length that cannot be read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.test_language_server import URI, Client

INTERNAL_ERROR = -32603
PATIENCE = 60
"""Seconds after which a process that does not answer is ended, so that reading from it fails."""
METHODS = ["hover", "completion", "definition", "references", "documentHighlight", "rename", "formatting", "documentSymbol"]


class Wire(Client):
    """A client that can send bytes, with one text open. ``answers``: all messages that are no answers to `outline`."""

    def __init__(self) -> None:
        super().__init__()
        self.watch = threading.Timer(PATIENCE, self.process.kill)
        self.watch.start()
        assert self.process.stderr is not None
        self.drain = threading.Thread(target=self.process.stderr.read)  # an unread pipe would stop it
        self.drain.start()
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.send("initialized", {})
        self.open("create schema T(k string); @name('s') select k from T;")

    def raw(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def body(self, content: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))

    def outline(self) -> list[str]:
        return [symbol["name"] for symbol in self.ask("documentSymbol")]

    def held(self) -> None:
        """Check that it goes on, and that nothing since the last call was answered by an internal error."""
        self.number = max(self.number, 1_000_000)  # not a number that a hostile message may have used
        assert self.outline() == ["T", "s"]
        errors = [note["error"] for note in self.notes if "error" in note]
        assert [error for error in errors if error["code"] == INTERNAL_ERROR] == []
        self.notes.clear()

    def end(self) -> None:
        self.watch.cancel()
        self.process.kill()
        self.process.wait()
        self.drain.join()


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.end()


BODIES = {
    "empty": b"", "not json": b"{", "not utf-8": b"\xff\xfe", "an array": b"[]", "a number": b"5", "null": b"null",
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', "no version": b'{"id":1,"method":"textDocument/hover"}',
    "no params": b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover"}',
    "deep": b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "an id that is none": b'{"jsonrpc":"2.0","id":{},"method":"textDocument/hover","params":{}}',
    "an id of many digits": b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"x"}',
    "an answer to nothing": b'{"jsonrpc":"2.0","id":77,"result":{}}',
    "an error of nothing": b'{"jsonrpc":"2.0","id":77,"error":{"code":1}}',
    "a method that is none": b'{"jsonrpc":"2.0","id":1,"method":5}', "NaN": b'{"jsonrpc":"2.0","id":NaN,"method":"x"}',
    "cancel": b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}',
    "close what is not open": b'{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"nothing"}}}',
    "change what is not open": b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":'
    b'{"textDocument":{"uri":"nothing","version":1},"contentChanges":[{"text":"x"}]}}',
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_bodies_that_are_no_messages(wire: Wire, body: bytes) -> None:
    wire.body(body)
    wire.held()


OTHERS = ["file:///nothing.epl", "file:///", "", "x" * 3000, "http://[", "file:///\ud800", "file:///%00", "untitled:a\x00", "\r\n\r\n"]


@pytest.mark.parametrize("method", METHODS)
def test_documents_that_cannot_be_read_are_named(wire: Wire, method: str) -> None:
    for uri in OTHERS:
        wire.send(f"textDocument/{method}", {
            "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}, "newName": "x",
            "context": {"includeDeclaration": True}, "options": {"tabSize": 4, "insertSpaces": True},
        }, id=5)  # fmt: skip
    wire.held()


LEAVES = st.sampled_from([None, True, -1, 0, 5, 2**31, 10**30, 1.5, "", "x", "\x00", "\ud800", "\"x", "T", URI, [], {}])
POSITIONS = st.fixed_dictionaries({"line": LEAVES, "character": LEAVES}) | LEAVES
TEXTS = st.sampled_from(["", "\x00", "select \ud800 from T", "(" * 3000, "create schema T(", "@name('", "/*", "\r\r\n\u2028", "😀" * 500])
PARAMS = st.fixed_dictionaries(
    {"textDocument": st.fixed_dictionaries({"uri": st.sampled_from([URI, *OTHERS])}) | LEAVES},
    optional={"position": POSITIONS, "newName": LEAVES, "context": LEAVES, "options": LEAVES},
)
MESSAGES = st.tuples(st.sampled_from(METHODS), PARAMS | LEAVES)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(drawn=st.lists(MESSAGES, min_size=1, max_size=8))
def test_requests_of_any_values(wire: Wire, drawn: list[tuple[str, Any]]) -> None:
    for method, params in drawn:
        wire.send(f"textDocument/{method}", params, id=7)
    wire.held()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=TEXTS, line=st.sampled_from([0, 1, 10**6]), character=st.sampled_from([0, 1, 7, 10**6]), method=st.sampled_from(METHODS))
def test_texts_of_any_characters(wire: Wire, text: str, line: int, character: int, method: str) -> None:
    other = "file:///rules/other.epl"
    wire.send("textDocument/didOpen", {"textDocument": {"uri": other, "languageId": "epl", "version": 1, "text": text}})
    wire.send(f"textDocument/{method}", {
        "textDocument": {"uri": other}, "position": {"line": line, "character": character}, "newName": "x\n;",
        "context": {"includeDeclaration": True}, "options": {"tabSize": 4, "insertSpaces": True},
    }, id=9)  # fmt: skip
    wire.send("textDocument/didClose", {"textDocument": {"uri": other}})
    wire.held()


HEADERS = [b"garbage\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: abc\r\n\r\n", b"x" * 200_000 + b"\r\n\r\n"]


@pytest.mark.slow
def test_headers_that_are_none_are_passed_over_and_a_length_that_cannot_be_read_ends_it() -> None:
    """Where the next message begins is not known then: it does not wait for what never comes."""
    wire = Wire()
    try:
        for header in HEADERS:
            wire.raw(header)
            wire.held()
        wire.raw(b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n")
        assert wire.process.wait(PATIENCE) == 1
    finally:
        wire.end()
