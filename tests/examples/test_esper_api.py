"""docs/esper-api.md: its blocks are one program, which runs."""
from __future__ import annotations

import pathlib
import re
from typing import Any

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "esper-api.md"


def test_the_program_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page is ours
    assert names["late"] == ["i2", "i3", "i4", "i5"]
