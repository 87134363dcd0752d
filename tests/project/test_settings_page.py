"""docs/settings.md says what each setting is, with its default."""
from __future__ import annotations

import pathlib
import re

import attrs

from epl.catalog import Settings

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def documented() -> dict[str, str]:
    """Setting → default, as the tables say."""
    found: dict[str, str] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        names = re.findall(r"`(\w+)`", cells[0]) if line.startswith("| `") else []
        found.update(zip(names, re.findall(r"`([^`]+)`", cells[1]) if names else ()))
    return found


def test_every_setting_is_on_the_page_with_its_default() -> None:
    assert documented() == {
        f.name: repr(f.default).replace("'", '"') for f in attrs.fields(Settings)
    }
