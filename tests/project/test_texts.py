"""What the texts promise: the quick start runs and prints what it says, names in the tables exist."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from runtime import Runtime, Settings
from runtime.api.deployment import Deployment
from runtime.api.statement import Statement
from runtime.conversion.rows import Row

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def quick_start() -> str:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return str(code)


def test_quick_start_prints_what_it_says() -> None:
    code = quick_start()
    promised = re.findall(r"^# (.*)$", code, re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == promised


def test_quick_start_has_about_twenty_lines() -> None:
    assert len([line for line in quick_start().splitlines() if not line.startswith("#")]) <= 20


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(path: pathlib.Path) -> set[str]:
    """Return the names by which links reach the headings of a document, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_point_to_files_and_headings(path: pathlib.Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text(encoding="utf-8")):
        linked = path.parent / target if target else path
        assert linked.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{path.name} links to {target}#{anchor}"


def test_documents_named_in_the_source_exist() -> None:
    named = {
        name
        for folder in ("epl", "windows", "runtime", "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bdocs/[\w/.-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


PREFIXES = ("", "epl", "runtime", "runtime/batch", "runtime/spark")
NOT_OF_HERE = re.compile(r"\.venv/|build/|\.\./|(state|events)/[A-Z]")
"""Folders that make makes, one outside, and keys of pages."""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_named_in_documents_exist(path: pathlib.Path) -> None:
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", path.read_text(encoding="utf-8")))
    missing = {
        name for name in named
        if not NOT_OF_HERE.match(name) and not any((ROOT / prefix / f"{name}{end}").exists() for prefix in PREFIXES for end in ("", ".py"))
    }
    assert missing == set()


def test_python_blocks_compile() -> None:
    blocks = [(path, b) for path in DOCUMENTS for b in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)]
    assert len(blocks) > 5
    for path, block in blocks:
        compile(block, str(path), "exec")


def test_contributing_is_short() -> None:
    recipes, _ = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Glossary")
    assert len(recipes.splitlines()) <= 100


def test_names_in_the_api_table_exist() -> None:
    text = (ROOT / "docs" / "esper-api.md").read_text(encoding="utf-8")
    owners = {"runtime": Runtime, "statement": Statement, "deployment": Deployment, "row": Row}
    named = re.findall(r"\b(runtime|statement|deployment|row)\.(\w+)\(", text.replace("runtime.getD", ""))
    ours = [(owner, name) for owner, name in named if not re.match(r"(get|set)[A-Z]", name) and name != "iterator"]
    assert len(ours) > 15
    for owner, name in ours:
        assert hasattr(owners[owner], name), f"{owner}.{name}"
    for name in re.findall(r"Settings\(([^)]*)\)", text):
        for field in re.findall(r"(\w+)=", name):
            assert hasattr(Settings(), field), field
