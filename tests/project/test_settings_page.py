"""docs/settings.md says what each setting is, with its default."""
from __future__ import annotations

import ast
import pathlib
import re
from typing import Any

import attrs

from epl.settings import Settings

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def documented() -> dict[str, Any]:
    """Setting → default, as the tables of settings say."""
    found: dict[str, Any] = {}
    of_settings = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        of_settings = line.startswith(("| setting |", "|---", "| `")) and (of_settings or line.startswith("| setting |"))
        cells = [c.strip() for c in line.strip("|").split("|")]
        names = re.findall(r"`(\w+)`", cells[0]) if of_settings else []
        found.update(zip(names, map(ast.literal_eval, re.findall(r"`([^`]+)`", cells[1])) if names else ()))
    return found


def test_every_setting_is_on_the_page_with_its_default() -> None:
    assert documented() == {f.name: f.default for f in attrs.fields(Settings)}
