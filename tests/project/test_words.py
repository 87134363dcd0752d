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

PHRASES = re.compile(
    r"(?<!there )(?<!where )\b(is|are) no (?!longer|larger|worse|better|such|more|limit|insert|good)\w+|"
    r"\bhears? of\b|\bcomes? again\b|\bgoes on\b|"
    r"\bof no use\b|\bstands? for\b|\bstood\b|\bhalf-way\b|\bin good order\b|\ba text of\b|\btruths\b|\bwants\b|\bon the wall\b",
    re.IGNORECASE,
)
"""What documents and messages say otherwise: is not a, is called with, is repeated, continues, represents, string."""

REVISED_PAGES = {
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "cli.md", "compatibility.md", "contexts.md", "esper-api.md", "historical.md", "index.md",
    "indexes.md", "kafka.md", "operations.md", "partitioning.md", "queries.md", "scale.md", "settings.md", "spark.md", "tiers.md",
    "tutorial.md", "from-esper.md", "from-flink.md", "late-data.md", "architecture.md", "windows.md", "functions.md", "methods.md",
}
NOT_REVISED = {"cli", "connectors", "dialects", "notebook", "tools"}
"""Folders of runtime whose messages were not read for these phrases yet."""

EMPTY_NAMES = {"found", "made", "given", "wanted", "told"}
"""Names that do not say what they hold."""


def unwanted(text: str, words: re.Pattern[str] = WORDS) -> list[str]:
    """Return the unwanted words as ``line number: word``; the glossary's own table is not read."""
    text = re.sub(r"### Words we do not use.*?\n\n(?=[^|])", lambda table: "\n" * table.group().count("\n"), text, flags=re.DOTALL)
    return [f"{number}: {match.group()}" for number, line in enumerate(text.splitlines(), 1) for match in words.finditer(line)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_the_glossary(path: pathlib.Path) -> None:
    assert unwanted(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path.name in REVISED_PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_plain_phrases(path: pathlib.Path) -> None:
    assert unwanted(path.read_text(encoding="utf-8"), PHRASES) == []


def messages(text: str) -> str:
    """Return the strings of a Python file that are sentences and no docstrings, each on its line."""
    tree, lines = ast.parse(text), [""] * (text.count("\n") + 1)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value and id(node) not in alone:
            lines[node.lineno - 1] += f" {' '.join(node.value.split())} "
    return "\n".join(lines)


@pytest.mark.parametrize("folder", ["epl", "windows", "runtime"])
def test_messages_use_plain_phrases(folder: str) -> None:
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if path.relative_to(ROOT / folder).parts[0] not in NOT_REVISED]
    texts = {path: messages(path.read_text(encoding="utf-8")) for path in paths}
    assert {str(path.relative_to(ROOT)): words for path, text in texts.items() if (words := unwanted(text, PHRASES))} == {}


def test_messages_are_found_without_docstrings() -> None:
    assert unwanted(messages('"""It is no use."""\nprint(f"{x} is no number")\n'), PHRASES) == ["2: is no number"]


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
