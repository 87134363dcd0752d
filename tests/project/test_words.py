"""Documents and source use the words of the glossary in CONTRIBUTING.md, not those of its table "Words we do not use"."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = ("epl", "windows", "runtime", "examples", "benchmarks", "tests")
"""Folders whose Python files, except this one, use the glossary throughout, names of variables included."""
WORDS = re.compile(
    r"\b(put(s|ting)? out|told|tells|anew|(is|are) (not )?at home|stands? (behind|beside|in front)|reckon(ed|s)?|mended|hangs on|"
    r"heed(ed|s)?|fed (to|by|with)|left out|whoever|otherwise than|anyhow|by and by|made of|match(es)? in progress|what it costs)\b",
    re.IGNORECASE,
)
"""Words that have no good use in this project."""

EMPTY_NAMES = {"found", "made", "given", "wanted", "told"}
"""Names that do not say what they hold."""


def unwanted(text: str) -> list[str]:
    """Return the unwanted words as ``line number: word``; the glossary's own table is not read."""
    text = re.sub(r"### Words we do not use.*?\n\n(?=[^|])", lambda table: "\n" * table.group().count("\n"), text, flags=re.DOTALL)
    return [f"{number}: {match.group()}" for number, line in enumerate(text.splitlines(), 1) for match in WORDS.finditer(line)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_the_glossary(path: pathlib.Path) -> None:
    assert unwanted(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", SOURCE)
def test_source_uses_the_glossary(folder: str) -> None:
    paths = set((ROOT / folder).rglob("*.py")) - {pathlib.Path(__file__).resolve()}
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(paths)}
    assert len(texts) > 5
    assert {str(path.relative_to(ROOT)): words for path, text in texts.items() if (words := unwanted(text))} == {}


def empty_names(text: str) -> list[str]:
    """Return the locals, parameters, attributes and functions with an empty name as ``line number: name``."""
    names = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.append((node.lineno, name))
            case ast.FunctionDef(name=name) | ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.append((node.lineno, name))
            case _:
                pass
    return [f"{number}: {name}" for number, name in names if name in EMPTY_NAMES]


@pytest.mark.parametrize("folder", ["epl", "windows", "runtime", "examples", "benchmarks"])
def test_names_say_what_they_hold(folder: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.py"))}
    assert len(texts) > 5
    assert {str(path.relative_to(ROOT)): names for path, text in texts.items() if (names := empty_names(text))} == {}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("found = 1", "found"), ("def f(given): pass", "given"), ("self.made = 1", "made"), ("if (told := f()): pass", "told"),
        ("[wanted for wanted in x]", "wanted"), ("lambda found: 1", "found"), ("class C:\n    made: int", "made"),
        ("def made(): pass", "made"), ("from x import y as given", "given"),
    ],
)
def test_empty_names_are_found(line: str, name: str) -> None:
    assert [each.partition(": ")[2] for each in empty_names(line)] == [name]


def test_glossary_bans_what_the_test_finds() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("### Words we do not use")[1]
    assert len(unwanted(table)) > 10


@pytest.mark.parametrize("line", ["Rows are put out once.", "It begins anew.", "what Stands behind it"])
def test_unwanted_words_are_found(line: str) -> None:
    assert unwanted(f"first\n{line}")[0].startswith("2: ")
