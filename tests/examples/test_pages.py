"""The tutorial, the guides and the page of Runtime print what their pages say (docs/run_pages.py --write writes it)."""

from __future__ import annotations

import importlib.util
import pathlib
import re
from types import ModuleType

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*(ROOT / "docs" / name for name in ("tutorial.md", "api/runtime.md")), *sorted((ROOT / "docs" / "guides").glob("*.md"))]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """docs/run_pages.py."""
    spec = importlib.util.spec_from_file_location("run_pages", ROOT / "docs" / "run_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_prints_what_it_says(pages: ModuleType, path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert pages.executed(text, str(path)) == text


def test_page_with_other_output_is_noticed(pages: ModuleType) -> None:
    page = "```python\nprint(1 + x)\n```\n\n```text\n3\n```\n\n```python\ny = 1\n```\n"
    assert pages.executed(page, "page", {"x": 2}) == page
    assert "```text\n2\n" in pages.executed(page, "page", {"x": 1})


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_step_of_the_tutorial_on_spark() -> None:
    (block,) = re.findall(r"^```py\n(.*?)^```\n", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    seconds = pd.to_datetime([40, 41, 52], unit="s")
    names = {"payments": pd.DataFrame({"card": ["c1", "c2", "c1"], "shop": ["books"] * 3, "amount": [1.0, 2.0, 3.0], "ts": seconds})}
    exec(compile(block, "tutorial", "exec"), names)  # noqa: S102 - the page is the project's own
    assert [row.asDict() for row in names["totals"].collect()][-1]["total"] == 3.0  # type: ignore[operator]
