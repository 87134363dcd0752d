"""``epl lsp``, spoken to over its standard input and output, and what it knows of a text."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from epl.spans import Span
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


NAMES = """create schema Trade(symbol string, price double);
create context Ctx partition by symbol from Trade;
create variable int[] limit1;
create window W#keepall as (symbol string, price double);
@name('s0') insert into Big select t.symbol as sym, price as p from Trade(price > 5)#length(3) as t where t.price > limit1[0];
insert into Big select symbol as sym, 1.0 as p from W;
select sym, 'sym' as word from Big; // sym
select a.price, b from pattern [every a=Trade -> b=Trade(price > a.price)];
select * from Trade match_recognize (measures A.symbol as s, last(B.price) as q pattern (A B+) define B as B.price > A.price);
on Trade as t merge W as w where w.symbol = t.symbol when matched then update set price = t.price;
context Ctx select Size.area(price), symbol from Trade group by symbol;
create expression Size.area { x => x * x };
select `symbol`, Shared.x from Shared, Trade#lastevent;
"""


SHARED = "@public create schema Shared(x int)"


@cache
def names_document() -> Document:
    return Document(NAMES, [SHARED])


def place(text: str, line: int, word: str, number: int = 0) -> int:
    """The offset of a word of a line, counted from 1."""
    begin = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    for _ in range(number + 1):
        begin = text.index(word, begin) + 1
    return begin - 1


@pytest.mark.parametrize(
    ("line", "word", "number", "declared"),
    [
        (5, "Trade", 0, [(0, 1, "Trade")]), (8, "Trade", 1, [(0, 1, "Trade")]), (10, "W", 0, [(0, 4, "W")]),
        (11, "Ctx", 0, [(0, 2, "Ctx")]),
        (5, "limit1", 0, [(0, 3, "limit1")]), (7, "Big", 0, [(0, 5, "Big"), (0, 6, "Big")]), (5, "s0", 0, [(0, 5, "s0")]),
        (5, "t.price", 0, [(0, 5, "t where")]), (8, "a.price", 1, [(0, 8, "a=Trade")]), (10, "w.", 0, [(0, 10, "w where")]),
        (9, "A.price", 0, [(0, 9, "A B+")]), (9, "B.price", 0, [(0, 9, "B as")]), (9, "B+", 0, [(0, 9, "B as")]),
        (8, "price >", 0, [(0, 1, "price double")]), (10, "symbol", 0, [(0, 4, "symbol")]), (10, "symbol", 1, [(0, 1, "symbol")]),
        (7, "sym", 0, [(0, 5, "sym,")]), (7, "'sym'", 0, []), (7, "select", 0, []), (13, "`symbol`", 0, [(0, 1, "symbol")]),
        (13, "Shared", 0, [(1, 1, "Shared")]), (13, "x from", 0, [(1, 1, "x int")]), (12, "=>", 0, []),
    ],
)  # fmt: skip
def test_definitions(line: int, word: str, number: int, declared: list[tuple[int, int, str]]) -> None:
    document, texts = names_document(), [NAMES, SHARED]
    places = document.names.definition(place(NAMES, line, word, number))
    assert [(each.module, each.span) for each in places] == [
        (module, Span(begin := place(texts[module], at, what), begin + len(document_word(what)))) for module, at, what in declared
    ]  # fmt: skip


def document_word(what: str) -> str:
    match = re.match(r"\w+", what)
    assert match
    return match.group()


def test_references_and_rename() -> None:
    document = names_document()
    trades = document.names.references(place(NAMES, 1, "Trade"))
    assert [NAMES.count("\n", 0, span.start) + 1 for span in trades] == [1, 2, 5, 8, 8, 9, 10, 11, 13]
    assert {NAMES[span.start : span.end] for span in trades} == {"Trade"}
    assert len(document.rename(place(NAMES, 1, "Trade"), "Deal")) == 9
    symbols = document.rename(place(NAMES, 8, "a=Trade"), "begun")
    assert [NAMES[span.start : span.end + 2] for span in symbols] == ["a.p", "a=T", "a.p"]
    for name, offset, why in [
        ("not a name", place(NAMES, 1, "Trade"), "is not a name"), ("W", place(NAMES, 1, "Trade"), "does not fit: "),
        ("select", place(NAMES, 1, "Trade"), "does not fit: "), ("x", place(NAMES, 7, "select"), "no declaration"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=why):
            document.rename(offset, name)
    with pytest.raises(ValueError, match="declared in another module"):
        Document("select x from S", ["@public create schema S(x int)"]).rename(14, "T")


def test_names_in_an_editor(tmp_path: pathlib.Path) -> None:
    (tmp_path / "types.epl").write_text("@public create schema Fehler(größe int);\n@public create schema S(x int)", encoding="utf-8")
    client = Client("--with", str(tmp_path / "types.epl"))
    client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    client.send("initialized", {})
    client.open("select '😀' as face, t.x from S as t;")
    definition = client.ask("definition", 0, 30)
    where = {"start": {"line": 1, "character": 22}, "end": {"line": 1, "character": 23}}
    assert definition == [{"uri": (tmp_path / "types.epl").as_uri(), "range": where}]
    assert len(client.ask("references", 0, 21, context={"includeDeclaration": True})) == 2
    assert len(client.ask("references", 0, 21, context={"includeDeclaration": False})) == 1
    assert len(client.ask("documentHighlight", 0, 21)) == 2
    edits = client.ask("rename", 0, 21, newName="u")["changes"][URI]
    assert [edit["range"]["start"]["character"] for edit in edits] == [21, 35] and {edit["newText"] for edit in edits} == {"u"}
    client.request("shutdown", None)
    client.send("exit", None)
    assert client.process.wait(timeout=30) == 0
