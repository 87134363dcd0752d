"""Hints about missing packages name what pip can install today."""
from __future__ import annotations

import configparser
import pathlib
import re

import pytest

from runtime.extras import install

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = configparser.ConfigParser()
CONFIG.read(ROOT / "setup.cfg", encoding="utf-8")
EXTRAS = CONFIG["options.extras_require"]
SOURCES = [path for package in ("epl", "windows", "runtime") for path in sorted((ROOT / package).rglob("*.py"))]
NAMED = {extra for path in SOURCES for extra in re.findall(r"\binstall\([\"']([\w-]+)[\"']\)", path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("extra", sorted(NAMED))
def test_a_hint_names_the_packages_of_its_extra(extra: str) -> None:
    lines = [line for line in EXTRAS[extra].splitlines() if line and not line.startswith("#")]
    packages = [re.split(r"[<>=;\s]", line)[0] for line in lines]
    said = install(extra)
    assert said.startswith("pip install ") and re.findall(r"[ '](\w[\w.-]*)(?:[<>=,\d.]*)'?(?= |$)", said[len("pip install"):]) == packages


def test_an_unknown_extra_is_installed_from_a_copy() -> None:
    assert {"fast", "kafka", "live", "lsp", "plot", "rules", "serve", "shell", "spark", "top"} <= NAMED
    assert install("no-such") == "pip install '.[no-such]' in a copy of epl-spark's repository"


def test_no_text_installs_from_an_index_that_does_not_have_it() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(p for p in (ROOT / "examples").rglob("*") if p.is_file())]
    pattern = re.compile(r"pip install[^\n]*epl-spark\[")
    found = [path.name for path in (*SOURCES, *pages) if pattern.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert [name for name in found if name != "CHANGELOG.md"] == []
