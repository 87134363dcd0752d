"""The user page's snippets print what the page says."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
from typing import Any

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "sql.md"


def test_snippets_print_what_follows_them() -> None:
    text = PAGE.read_text(encoding="utf-8")
    pairs = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(pairs) >= 2
    names: dict[str, Any] = {}
    for code, expected in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 - the project's own page
        assert printed.getvalue() == expected
