"""docs/reference: every entry of the registries is explained and shown, every example gives what is written, the pages are up to date."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from types import ModuleType
from typing import Any

import pytest

from epl.plan.patterns.pattern import PatternNode
from epl.plan.patterns.pattern_reference import ELEMENTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("windows", "patterns", "aggregations", "functions", "methods", "enumeration", "date_time")


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = _load()
EXAMPLES: dict[str, Any] = REFERENCE.read_examples()


def test_pages_are_all_there_are() -> None:
    assert set(PAGES) == set(REFERENCE.TITLES) == set(REFERENCE.entries()) == set(EXAMPLES["pages"])


@pytest.mark.parametrize("page", PAGES)
def test_every_entry_has_signature_meaning_and_example(page: str) -> None:
    known = REFERENCE.entries()[page]
    assert [k for k, (signature, _, _) in known.items() if not signature] == []
    assert [k for k, (_, meaning, _) in known.items() if not meaning] == []
    assert sorted(set(known) - set(EXAMPLES["pages"][page])) == [], "without an example in docs/reference/examples.json"
    assert sorted(set(EXAMPLES["pages"][page]) - set(known)) == [], "examples of what no registry holds"


@pytest.mark.parametrize("page", PAGES)
def test_examples_show_what_they_are_about(page: str) -> None:
    for key, example in EXAMPLES["pages"][page].items():
        name = key.split("#")[-1].split(":")[0]
        assert name.lower() in REFERENCE.statement(example).lower(), key


@pytest.mark.parametrize("page", PAGES)
def test_examples_give_what_is_written(page: str) -> None:
    wrong = {}
    for key, example in EXAMPLES["pages"][page].items():
        done = REFERENCE.run(example, EXAMPLES)
        if json.dumps(done) != json.dumps(example):
            wrong[key] = done
    assert wrong == {}


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_up_to_date(page: str) -> None:
    written = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    assert written == REFERENCE.pages(EXAMPLES)[page], "run python docs/make_reference.py"


def test_every_operator_of_patterns_is_explained() -> None:
    assert set(PatternNode.__subclasses__()) == {each.node for each in ELEMENTS if each.node is not None}


def test_examples_file_is_in_its_form(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``make_reference.py --results`` writes it: a difference is a change of results, not of blanks."""
    monkeypatch.setattr(REFERENCE, "EXAMPLES", tmp_path / "examples.json")
    REFERENCE.write_examples(EXAMPLES)
    written = (ROOT / "docs" / "reference" / "examples.json").read_text(encoding="utf-8")
    assert (tmp_path / "examples.json").read_text(encoding="utf-8") == written
