"""docs/contexts.md: its blocks are one program, which runs."""
from __future__ import annotations

import pathlib
import re
from typing import Any

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "contexts.md"


def test_the_program_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page is ours
    assert names["changes"] == [("partition_started", 2)]
