"""The snippets of the user's pages print what the pages say."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
from typing import Any

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("sql.md", 2), ("guides/from-sql.md", 1)])
def test_snippets_print_what_follows_them(page: str, least: int) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    pairs = re.findall(r"```python\n(.*?)```\n\n```(?:text)?\n(.*?)```", text, re.DOTALL)
    assert len(pairs) >= least
    names: dict[str, Any] = {}
    for code, expected in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)  # noqa: S102 - the project's own page
        assert printed.getvalue() == expected
