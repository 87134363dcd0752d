"""``epl lsp``, spoken to over its standard input and output, and what it knows of a text."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from runtime.tools.language_server.document import Document

ROOT = pathlib.Path(__file__).resolve().parents[2]
URI = "file:///rules/a.epl"
TEXT = "create schema Trade(symbol string, price double);\n@name('Big') select '😀' as face, prize from Trade#time(10 sec) as t;\n"


class Client:
    """A client of one server process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "runtime.cli", "lsp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
        self.number = 0
        self.notes: list[dict[str, Any]] = []

    def send(self, method: str, params: Any, **fields: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **fields}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        while (message := self.receive()).get("id") != self.number or "method" in message:
            self.notes.append(message)
        assert "error" not in message, message
        return message["result"]

    def diagnostics(self) -> list[dict[str, Any]]:
        """The next diagnostics that are published."""
        while True:
            message = self.notes.pop(0) if self.notes else self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                diagnostics: list[dict[str, Any]] = message["params"]["diagnostics"]
                return diagnostics

    def open(self, text: str) -> None:
        self.send("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "epl", "version": 1, "text": text}})

    def ask(self, what: str, line: int | None = None, character: int = 0, **fields: Any) -> Any:
        place = {} if line is None else {"position": {"line": line, "character": character}}
        return self.request(f"textDocument/{what}", {"textDocument": {"uri": URI}, **place, **fields})


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client("--import", "com.acme.Mine")
    capabilities = client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
    assert {"hoverProvider", "completionProvider", "documentFormattingProvider", "documentSymbolProvider"} <= capabilities.keys()
    client.send("initialized", {})
    yield client
    client.request("shutdown", None)
    client.send("exit", None)
    assert client.process.wait(timeout=30) == 0
    assert client.process.stderr is not None
    assert b"Traceback" not in client.process.stderr.read()


def test_an_editing_session(client: Client) -> None:
    client.open(f"@Mine @Other {TEXT}")
    error, warning = sorted(client.diagnostics(), key=lambda each: each["severity"])
    start = TEXT.splitlines()[1].index("prize") + 1  # the smiley counts as two
    assert error["range"] == {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": start + 5}}
    assert (error["code"], error["severity"], error["source"]) == ("validation", 1, "epl")
    assert error["message"].endswith("Property named 'prize' is not valid in any stream (did you mean 'price'?)")
    assert (warning["range"]["start"], warning["code"]) == ({"line": 0, "character": 6}, "annotation")

    change = {"range": {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": start + 5}}, "text": "pri"}
    client.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]})
    items = client.ask("completion", 1, start + 3)
    assert items[0]["label"] == "price"
    assert items[0]["detail"] == "Double"
    change = {"range": {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": start + 3}}, "text": "price"}
    client.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [change]})
    assert [each["code"] for each in client.diagnostics()] == ["annotation"]

    window = client.ask("hover", 1, TEXT.splitlines()[1].index("time") + 2)
    assert "time(period)" in window["contents"]["value"]
    assert "symbol String\nprice Double" in client.ask("hover", 0, 31)["contents"]["value"]
    assert client.ask("hover", 0, 0) is None or "@" not in client.ask("hover", 0, 0)["contents"]["value"]
    assert [(each["name"], each["detail"]) for each in client.ask("documentSymbol")] == [("Trade", "schema"), ("Big", "statement")]
    edits = client.ask("formatting", options={"tabSize": 4, "insertSpaces": True})
    formatted = "@Mine\n@Other\ncreate schema Trade(symbol string, price double);\n\n@name('Big')\nselect '😀' as face"
    assert edits[0]["newText"].startswith(formatted)
    assert edits[0]["range"]["start"] == {"line": 0, "character": 0}
    client.send("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.diagnostics() == []


def test_text_that_is_not_epl(client: Client) -> None:
    client.open("select 'open")
    assert [each["code"] for each in client.diagnostics()] == ["syntax"]
    assert client.ask("formatting", options={"tabSize": 4, "insertSpaces": True}) == []
    assert client.ask("hover", 0, 9) is None
    assert client.ask("completion", 0, 3)[0]["label"] == "select"
    assert len(client.ask("documentSymbol")) == 1


def test_modules_that_come_first_and_missing_semicolons() -> None:
    document = Document("select id from A\nselect ix from A", ["@public create schema A(id string)"])
    assert [(p.code, p.message.splitlines()[-1][:50]) for p in document.problems] == [
        ("syntax", "hint: 'select' begins another statement: write a s"),
        ("validation", "Failed to validate select-clause expression 'ix': "),
    ]
    assert [(symbol.name, symbol.kind) for symbol in document.symbols] == [
        ("select id from A", "statement"), ("select ix from A", "statement"),
    ]  # fmt: skip
    assert "deployed first is refused" in Document("select 1", ["nonsense"]).problems[0].message


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("time", "time(period)"), ("avg", "avg([distinct] value"), ("Trade", "price Double"), ("every", "every item"),
        ("name", "annotation `@Name(value)`"), ("limit1", "variable `limit1`: `Integer`"), ("anyOf", "collection.anyOf"),
        ("select", "keyword `select`"), ("price", "property `price`: `Double`"),
    ],
)  # fmt: skip
def test_hover(word: str, words: str) -> None:
    text = (
        "create schema Trade(price double, items int[]); create variable int limit1 = 1;\n"
        "@name('x') select avg(price), items.anyOf(v => v > 1) from Trade#time(1 sec);\n select * from pattern [every a=Trade]"
    )
    at = text.index(word, 0 if word in ("Trade", "limit1") else text.index("@") + 1)
    hover = Document(text).hover(at + 1)
    assert hover is not None
    assert words in hover.markdown
