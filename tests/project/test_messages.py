"""docs/messages.md: each message that the source can raise has an entry, no entry is dead, and its programs get what they show."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator
from functools import cache

import attrs
import pandas as pd
import pytest

import runtime
from epl.errors import EplError
from runtime import Runtime
from tests.project.test_quoted_errors import source

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "messages.md"
KINDS = (
    "EplRuntimeError", "EplDeploymentError", "EplSyntaxError", "AlreadyDeclaredError", "MissingPackage", "UnsupportedWithout",
    "MicroBatchError",
)  # fmt: skip
"""Classes of errors of which every message has an entry. Those of texts that Esper refuses are on the page of refused statements."""
UNSUPPORTED = ("EplUnsupportedError",)
"""Of these, the messages of runtime/ have entries; the others end in "is not supported"."""
USAGE = "UsageError"
"""Of the command line, which the entry ``epl: …`` has."""
LETTERS = 10
"""Messages with fewer letters of their own consist of names and reasons."""
OF_FEW_LETTERS = {"line …: …"}
"""Entries for what has few words and is of other systems."""


@attrs.frozen
class Entry:
    """``messages``: with … for names; ``program``: one that gets the first of them, or None."""

    title: str
    messages: tuple[str, ...]
    text: str
    program: str | None
    lines: int


def entries() -> Iterator[Entry]:
    """Yield the entries of the page."""
    for part in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        body = re.split(r"^## ", rest, flags=re.MULTILINE)[0]
        also = re.search(r"^Also (.*?)\n\n", body, re.MULTILINE | re.DOTALL)
        messages = re.findall(r"`([^`]+)`", title) + (re.findall(r"`([^`]+)`", also[1]) if also else [])
        block = re.search(r"^```(py|text)\n(.*?)^```", body, re.MULTILINE | re.DOTALL)
        assert block is not None, f"{title}: an entry has an example"
        prose = re.sub(r"^```.*?^```|^Also .*?\n\n", "", body, flags=re.MULTILINE | re.DOTALL).strip()
        yield Entry(title, tuple(messages), prose, block[2] if block[1] == "py" else None, block[2].count("\n"))


ENTRIES = list(entries())


@cache
def raised() -> dict[str, list[str]]:
    """Return the messages of the source, with … for what they name, and where they are raised."""
    listed: dict[str, list[str]] = {}
    for path in (path for folder in ("epl", "windows", "runtime") for path in sorted((ROOT / folder).rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("runtime/replay/"):
            continue  # a tool of the tests
        wanted = (*KINDS, *UNSUPPORTED, USAGE) if name.startswith("runtime/") else KINDS
        text = path.read_text(encoding="utf-8")
        if not any(f"{kind}(" in text for kind in wanted):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in wanted and node.args:
                prefix = "epl: " if node.func.id == USAGE else ""
                listed.setdefault(prefix + _words(node.args[0]), []).append(f"{name}:{node.lineno}")
    return listed


def _words(message: ast.expr) -> str:
    match message:
        case ast.Constant():
            return str(message.value)
        case ast.JoinedStr():
            return "".join(_words(value) if isinstance(value, ast.Constant) else "…" for value in message.values)
        case ast.BinOp():
            return _words(message.left) + _words(message.right)
        case _:
            return "…"


def pattern(message: str) -> re.Pattern[str]:
    """Return what a message of the page matches: the beginning of one of the source."""
    return re.compile(".*?".join(re.escape(part) for part in message.split("…")), re.DOTALL)


def covered(message: str) -> list[str]:
    return [entry.title for entry in ENTRIES for each in entry.messages if pattern(each).match(message)]


def test_every_message_has_an_entry() -> None:
    own = {message: places for message, places in raised().items() if sum(map(str.isalpha, message)) >= LETTERS}
    missing = [f"{message}  ({places[0]})" for message, places in own.items() if not covered(message)]
    assert not missing, "\n".join(missing)


def test_no_entry_is_dead() -> None:
    text = source()
    literals = {each: max(each.split("…"), key=len).strip(" :'") for entry in ENTRIES for each in entry.messages}
    own = {each: part for each, part in literals.items() if sum(map(str.isalpha, part)) >= LETTERS}
    assert not [each for each, part in own.items() if part.removeprefix("epl: ") not in text]
    few = {each for each in literals if each not in own}
    listed = raised()
    assert not [each for each in few if each not in OF_FEW_LETTERS and not any(pattern(each).match(message) for message in listed)]
    assert few >= OF_FEW_LETTERS, "these have words of their own by now"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_an_entry_says_why_and_shows_it_in_three_lines(entry: Entry) -> None:
    assert entry.messages and len(entry.text.split()) >= 8
    assert 1 <= entry.lines <= 3


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.program], ids=lambda entry: entry.title)
def test_a_program_gets_the_message(entry: Entry) -> None:
    failures: list[BaseException] = []
    with Runtime(on_error=lambda error, name, event: failures.append(error)) as rt:
        rt.deploy(re.search(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])  # type: ignore[index]
        names = {name: getattr(runtime, name) for name in runtime.__all__}
        try:
            exec(compile(entry.program or "", entry.title, "exec"), {**names, "rt": rt, "pd": pd})  # noqa: S102 - the page's own programs
        except (EplError, KeyError) as error:
            failures.append(error)
    assert failures, "nothing is wrong with it"
    shown = str(failures[0])
    assert any(pattern(each).match(shown) for each in entry.messages), shown


def test_codes_of_sql_are_those_of_the_source() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| `sql_code` |")[2]
    listed = [code for line in table.splitlines() for code in re.findall(r"`([A-Z][A-Z_]{5,})`", line.split(" | ")[0])]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(re.findall(r'(?:\b(?:DialectError|QueryFailed)\(\s*|sql_code = |EXCEEDED = )"([A-Z_]+)"', source()))
