"""Links in documents: the file is there, and so is the heading. ``make docs`` checks the same in the pages of the site."""

from __future__ import annotations

import importlib.util
import pathlib
import posixpath
import re
from types import ModuleType

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / ".github").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s#:]*)(?:#([^)\s]+))?\)")


def prose(path: pathlib.Path) -> str:
    """Return a document without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path: pathlib.Path) -> set[str]:
    """Return what links to a heading of the document say after ``#``."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(path: pathlib.Path) -> list[str]:
    """Return the links of a document that lead nowhere."""
    bad = []
    for target, anchor in LINK.findall(prose(path)):
        file = (path.parent / target).resolve() if target else path
        if not file.is_relative_to(ROOT) or not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            bad.append(f"{target}#{anchor}" if anchor else target)
    return bad


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: pathlib.Path) -> None:
    links = broken(path)
    if path.is_relative_to(ROOT / "docs"):  # pages of the site alone
        links = [link for link in links if (path.parent / link).resolve().relative_to(ROOT / "docs").as_posix() not in site().generated()]
    assert links == []


def test_pages_are_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"[\w/.-]+\.md", text))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert named - pages - set(site().generated()) == set()
    assert pages - named == set(), "add the page to `nav` in mkdocs.yml"


@pytest.mark.parametrize(
    ("markdown", "links"),
    [
        ("[a](CONTRIBUTING.md) [b](nothing.md)", ["nothing.md"]),
        ("[a](CONTRIBUTING.md#glossary) [b](CONTRIBUTING.md#glossaries)", ["CONTRIBUTING.md#glossaries"]),
        ("# A `b`, c\n[here](#a-b-c) [there](#a-b)\n```\n[c](d)\n```", ["#a-b"]),
        ("[web](https://example.org/x) [above](../x)", ["../x"]),
    ],
)
def test_broken_links_are_found(markdown: str, links: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.project.test_links.ROOT", tmp_path)
    (tmp_path / "CONTRIBUTING.md").write_text("## Glossary\n")
    page = tmp_path / "page.md"
    page.write_text(markdown)
    assert broken(page) == links


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_pages_stay_in_the_site(path: pathlib.Path) -> None:
    page = path.relative_to(ROOT / "docs")
    text = site().rewritten(prose(path), f"docs/{page.as_posix()}", page.as_posix())
    targets = [posixpath.normpath(posixpath.join(page.parent.as_posix(), target)) for target, _ in LINK.findall(text) if target]
    assert [target for target in targets if target.startswith("..")] == []


def test_site_rewrites_links_that_leave_docs() -> None:
    text = "[a](../CONTRIBUTING.md#glossary) [b](../examples/joins.py) [c](spark.md#limits) [d](https://example.org) [e](#here) ![f](x.svg)"
    expected = "[a](glossary.md) [b](examples/joins_py.md) [c](spark.md#limits) [d](https://example.org) [e](#here) ![f](x.svg)"
    assert site().rewritten(text, "docs/kafka.md", "kafka.md") == expected
    assert site().rewritten("[a](docs/spark.md) [b](#limits)", "SECURITY.md", "security.md") == "[a](spark.md) [b](#limits)"
    assert site().rewritten("[a](../queries.md)", "docs/design/joins.md", "design/joins.md") == "[a](../queries.md)"


def site() -> ModuleType:
    """The hook of mkdocs.yml, which needs no mkdocs for this."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
