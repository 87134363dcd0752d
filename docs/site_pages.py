"""Pages of the site that lie outside docs/, and links to them: a hook of mkdocs.yml.

CONTRIBUTING.md, SECURITY.md, CHANGELOG.md and examples/ are pages of the site (notebooks with their saved output); the glossary of
CONTRIBUTING.md is a page of its own; a line ``<!-- README: Quick start -->`` is replaced by that section of README.md.
Links are written as they work in the repository (``../CONTRIBUTING.md#glossary``) and rewritten here.
"""
from __future__ import annotations

import ast
import json
import pathlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
"""Files of the repository's top level and their pages."""
GLOSSARY = "CONTRIBUTING.md#glossary"
LINK = re.compile(r"(?<!!)(\[[^\]]*\]\()([^)\s#:]*)(#[^)\s]*)?(\))")
SECTION = re.compile(r"<!-- README: (.+?) -->")


def examples() -> dict[str, str]:
    """Return the repository's path of each example with the path of its page."""
    paths = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".epl", ".txt", ".ipynb"))
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    return {name: name.replace(".", "_") + ".md" for name in names}


def pages() -> dict[str, str]:
    """Return the page of each path of the repository that links may name, docs/ excepted."""
    folders = {"examples": "examples/index.md", "examples/ported": "examples/index.md", "docs/reference": "reference/index.md"}
    return {**DOCUMENTS, **examples(), **folders, "README.md": "index.md"}


def section(text: str, title: str) -> str:
    """Return the body of a document's section of level 2, without the heading; raise KeyError."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise KeyError(f"no section '## {title}'")
    return match.group(1).strip() + "\n"


def rewritten(text: str, source: str, page: str) -> str:
    """Return markdown of ``source``, a path of the repository, with links as they are in the site's ``page``."""
    known = pages()

    def link(match: re.Match[str]) -> str:
        before, path, anchor, after = match.group(1), match.group(2), match.group(3) or "", match.group(4)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
        if target + anchor == GLOSSARY:
            target, anchor = "glossary.md", ""
        elif target in known:
            target = known[target]
        elif target.startswith("examples/"):  # a folder, or a file without a page
            target, anchor = "examples/index.md", ""
        elif target.startswith("docs/") and path:
            target = target.removeprefix("docs/")
        else:
            return match.group()
        same = not path and target == page
        return f"{before}{'' if same else posixpath.relpath(target, posixpath.dirname(page) or '.')}{anchor}{after}"

    return LINK.sub(link, text)


def _glossary(contributing: str) -> str:
    return f"# Glossary\n\n{section(contributing, 'Glossary')}"


def _contributing(text: str) -> str:
    return text.replace(section(text, "Glossary"), "The words of this project are in the [glossary](glossary.md).\n")


def _summary(path: pathlib.Path) -> str:
    """Return the first sentence of a Python file's docstring, or a notebook's title."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "".join(json.loads(text)["cells"][0]["source"]).partition("\n")[0].lstrip("# ")
    docstring = (ast.get_docstring(ast.parse(text)) or "") if path.suffix == ".py" else ""
    return " ".join(docstring.split("\n\n")[0].split())


def _example(name: str) -> str:
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _cell(cell)) + "\n"
    language = {".py": "python", ".epl": "sql"}.get(path.suffix, "text")
    return f"# {path.name}\n\n````{language}\n{text.rstrip()}\n````\n"


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield a notebook's cell as markdown: its text; or its code, then its saved output."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"````{'sql' if source.startswith('%%epl') else 'text' if source.startswith('%') else 'python'}\n{source}\n````"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text/html" in data:  # blank lines would end the HTML
            html = "\n".join(line for line in "".join(data["text/html"]).splitlines() if line.strip())
            yield f'<div class="notebook-output">{html}</div>'
        else:
            yield f"````text\n{''.join(data.get('text/plain', output.get('text', ''))).rstrip()}\n````"


def _example_index() -> str:
    rows = []
    for name, page in examples().items():
        if pathlib.Path(name).name != "__init__.py":
            rows.append(f"| [{name.removeprefix('examples/')}]({page.removeprefix('examples/')}) | {_summary(ROOT / name)} |")
    return "\n".join(["# Examples", "", "Programs that run as they are.", "", "| file | shows |", "|---|---|", *rows, ""])


def generated() -> dict[str, str]:
    """Return the pages that are not files of docs/, by path in the site."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    contributing = texts["CONTRIBUTING.md"]
    additional = {"glossary.md": _glossary(contributing), "examples/index.md": _example_index()}
    for name, page in DOCUMENTS.items():
        additional[page] = rewritten(_contributing(contributing) if name == "CONTRIBUTING.md" else texts[name], name, page)
    for name, page in examples().items():
        additional[page] = _example(name)
    return additional


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File, InclusionLevel

    for path, text in generated().items():
        page = File.generated(config, path, content=text)
        if path.startswith("examples/") and not path.endswith("index.md"):
            page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert sections of README.md and rewrite links that leave docs/."""
    path = page.file.src_uri
    if page.file.generated_by is None:
        markdown = rewritten(markdown, f"docs/{path}", path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return SECTION.sub(lambda match: rewritten(section(readme, match.group(1)), "README.md", path), markdown)
