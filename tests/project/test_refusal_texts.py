"""Every refusal has its code: what Esper refuses is a validation error in its words, what it accepts runs or is not supported yet."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from typing import Any

import pytest

from epl import errors
from tests.project import refusal_sites as sites

pytestmark = pytest.mark.xdist_group("refusals")  # what one process deploys once for all
HERE = pathlib.Path(__file__).parent
WORDS = 3
REFUSED_BY_THE_RUNTIME = "is not supported here"
"""How refusals end that come once the whole statement is built, without a place."""


def _listed(name: str) -> list[dict[str, Any]]:
    texts: list[dict[str, Any]] = json.loads((HERE / name).read_text(encoding="utf-8"))["texts"]
    return texts


def _refusal(name: str, text: str) -> errors.EplError | None:
    """What a text of a file beside this one is refused with, under the file's schema."""
    schema, refused = sites.outcomes().errors[name, text]
    assert schema is None
    return refused


def test_what_esper_accepts_runs_or_is_not_supported() -> None:
    """``refused_at``: where a text was refused when it was recorded; it may be refused later in the text by now, or run."""
    texts = _listed("accepted_texts.json")
    assert len(texts) >= 150 and len({text["group"] for text in texts}) >= 10
    wrong = []
    for text in texts:
        error = _refusal("accepted_texts.json", text["epl"])
        if error is None:
            continue
        at = error.span.start if error.span is not None else None
        if at is None and error.message.endswith(REFUSED_BY_THE_RUNTIME):
            at = len(text["epl"])
        if error.code != "unsupported" or at is None or at < text["epl"].find(text["refused_at"] or ""):
            wrong.append(f"{text['epl']}\n  {error.code}: {error.message} at {at}")
    assert not wrong, "\n".join(wrong)


def test_a_refusal_has_its_code_and_the_words_of_esper() -> None:
    """``esper``: its message, None where it accepts the text; ``reason``: why ours differs."""
    texts = _listed("refused_texts.json")
    wrong = []
    for text in texts:
        error = _refusal("refused_texts.json", text["epl"])
        if error is None and text["code"] == "unsupported":
            continue  # it runs by now
        if error is None or error.code != text["code"]:
            wrong.append(f"{text['epl']}\n  expected {text['code']}, got {error and error.code}: {error and error.message}")
        elif "reason" not in text:
            words = text["esper"] and text["esper"].split()[:WORDS]
            if words is None if error.code != "unsupported" else words is not None:
                wrong.append(f"{text['epl']}\n  {error.code}, but Esper says {text['esper']}")
            elif words is not None and error.message.split()[:WORDS] != words:
                wrong.append(f"{text['epl']}\n  ours  {error.message}\n  Esper {text['esper']}")
    assert not wrong, "\n".join(wrong)


def test_every_refusal_of_the_source_has_a_text_or_a_reason() -> None:
    unreached = {str(site) for site in sites.unreached()}
    known = json.loads(sites.UNREACHED.read_text(encoding="utf-8"))
    assert not unreached - known.keys(), "no text raises these: add one to refused_texts.json, or a reason to unreached_refusals.json"
    assert not known.keys() - unreached, "a text raises these by now, or they are gone: python tests/project/refusal_sites.py --write"


def test_refusals_are_public_errors_with_a_position() -> None:
    """Those of the recorded cases, but for values that only the runtime knows, such as a crontab's."""
    refused = [(name, error) for (kind, name), each in sites.outcomes().errors.items() if kind == sites.CASE for error in each if error]
    of_texts = [(name, error) for name, error in refused if not isinstance(error, errors.EplDeploymentError)]
    wrong = [
        f"{name}: {type(error).__qualname__}: {error}"
        for name, error in of_texts
        if type(error).__module__ != errors.__name__ or error.position is None or "^" not in str(error)
    ]
    assert len(of_texts) > 150
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code", ["unsupported", "validation"])
def test_every_place_that_refuses_is_listed_with_its_code(code: str) -> None:
    listed = [site for site in sites.sites() if site.code == code]
    assert len(listed) > 20 and all(site.function for site in listed)


def test_the_page_of_refused_statements_is_current() -> None:
    path = sites.ROOT / "docs" / "make_refusals.py"
    spec = importlib.util.spec_from_file_location("make_refusals", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(sites.outcomes().errors), f"run {path}"
