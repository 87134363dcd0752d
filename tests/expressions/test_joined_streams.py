"""Statements over several streams: refused in Esper 9.0.0's words where it refuses them, else as not supported yet (recorded)."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from epl.errors import EplUnsupportedError, EplValidationError
from runtime import Runtime

RECORDED = json.loads(Path(__file__).with_name("recorded_joins.json").read_text())
CASES = [(group["types"], case) for group in RECORDED for case in group["statements"]]


@pytest.fixture(scope="module", params=range(len(RECORDED)))
def group(request: pytest.FixtureRequest) -> tuple[Runtime, list[dict[str, Any]]]:
    """One runtime that knows the group's types, and the group's statements."""
    runtime = Runtime()
    runtime.deploy(RECORDED[request.param]["types"])
    return runtime, RECORDED[request.param]["statements"]


def _outcome(runtime: Runtime, epl: str) -> str | None:
    """The words of refusal; None where the statement runs or is not supported yet."""
    try:
        runtime.deploy(epl).undeploy()
    except EplUnsupportedError:
        return None
    except EplValidationError as error:
        return error.message
    return None


def test_refusals_are_esper_s(group: tuple[Runtime, list[dict[str, Any]]]) -> None:
    runtime, statements = group
    wrong = [(c["epl"], c["message"], got) for c in statements if (got := _outcome(runtime, c["epl"])) != c["message"]]
    assert wrong == []


def test_the_recording_has_both_kinds() -> None:
    assert sum(c["message"] is None for _, c in CASES) > 50
    assert sum(c["message"] is not None for _, c in CASES) > 100


