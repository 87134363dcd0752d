"""docs/pictures: each window's picture is that of its example, the tutorial's are of its steps."""
from __future__ import annotations

import importlib.util
import pathlib
import re
import sys
from typing import Any

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def _loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def maker() -> Any:
    _loaded("make_reference")
    return _loaded("make_pictures")


def test_the_pictures_are_current(maker: Any) -> None:
    drawn = maker.recordings(maker.make_reference.read_examples())
    assert {path.stem for path in maker.PICTURES.glob("*.svg")} == drawn.keys()
    old = [name for name, recording in drawn.items()
           if f"<dc:identifier>{maker.identifier(recording)}</dc:identifier>" not in (maker.PICTURES / f"{name}.svg").read_text("utf-8")]
    assert not old, "python docs/make_pictures.py"


def test_the_page_shows_them(maker: Any) -> None:
    page = (DOCS / "reference" / "windows.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(\.\./pictures/(\w+)\.svg\)", page)) == {path.stem for path in maker.PICTURES.glob("*.svg")}


def test_the_tutorial_shows_what_its_steps_do(maker: Any) -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    drawn = maker.tutorial(page)
    assert len(drawn) >= 6
    assert set(re.findall(r"\]\(pictures/tutorial/(\S+)\.svg\)", page)) == drawn.keys()
    assert {path.stem for path in maker.TUTORIAL.glob("*.svg")} == drawn.keys()
    old = [name for name, picture in drawn.items()
           if maker.identifier(picture) not in (maker.TUTORIAL / f"{name}.svg").read_text(encoding="utf-8")]  # fmt: skip
    assert not old, "python docs/make_pictures.py"


def test_they_are_light(maker: Any) -> None:
    assert max(path.stat().st_size for path in maker.PICTURES.rglob("*.svg")) < 20_000
