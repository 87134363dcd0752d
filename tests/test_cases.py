"""The repository's own cases (tests/cases/<room>/<clause>.json), replayed and held against what Esper 9.0.0 did.

A case that cannot pass yet stands in tests/cases/ledger.json with the reason; one that passes must leave it.
``python tests/test_cases.py`` prints the cases that differ; with ``--ledger`` it writes a new ledger.
"""

from __future__ import annotations

import collections
import json
import math
import pathlib
import re
import sys
from typing import Any

import pytest

from runtime.replay.player import replay_trace

FOLDER = pathlib.Path(__file__).resolve().parent / "cases"
LEDGER = FOLDER / "ledger.json"
WORDS = 3
"""So many first words of a refusal must be Esper's."""


def all_cases() -> dict[str, dict[str, Any]]:
    """Key ``room/clause/name`` → case."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.rglob("*.json")):
        if path == LEDGER:
            continue
        for case in json.loads(path.read_text(encoding="utf-8")):
            key = f"{path.parent.name}/{path.stem}/{case['name']}"
            assert key not in found, f"two cases are called {key}"
            found[key] = {"listen": "all", **case}
    return found


CASES = all_cases()
KNOWN_GAPS: dict[str, str] = json.loads(LEDGER.read_text(encoding="utf-8"))


# ------------------------------------------------------------------ comparison


def same(expected: Any, actual: Any) -> bool:
    """Equal values: numbers within 1e-9, true is not 1, 0.0 is not -0.0, a key that is missing is null."""
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        if expected == 0 == actual:
            return math.copysign(1, expected) == math.copysign(1, actual)
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(same(expected.get(k), actual.get(k)) for k in expected.keys() | actual.keys())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return type(expected) is type(actual) and bool(expected == actual)


def calls(step: dict[str, Any]) -> dict[str, list[list[Any]]]:
    """Statement → its listener calls in order, each [new, old]."""
    found: dict[str, list[list[Any]]] = collections.defaultdict(list)
    for call in step.get("out", ()):
        found[call["statement"]].append([call.get("new") or [], call.get("old") or []])
    return found


def step_difference(expected: dict[str, Any], actual: dict[str, Any]) -> str | None:
    """Why the steps differ, or None."""
    if expected["op"] == "compile_error":
        return refusal_difference(expected, actual)
    if bool(expected.get("exception")) != bool(actual.get("exception")):
        return f"exception: expected {expected.get('exception')}, got {actual.get('exception')}"
    want, got = calls(expected), calls(actual)
    for statement in sorted(want.keys() | got.keys()):
        if not same(want[statement], got[statement]):
            return f"{statement}: expected {json.dumps(want[statement])}, got {json.dumps(got[statement])}"
    if "rows" in expected and not same(expected["rows"], actual.get("rows")):
        return f"rows: expected {json.dumps(expected['rows'])}, got {json.dumps(actual.get('rows'))}"
    return None


def refusal_difference(expected: dict[str, Any], actual: dict[str, Any]) -> str | None:
    if not actual.get("refused"):
        return f"accepted or failed ({actual.get('message')}), Esper says: {expected['message']}"
    if actual["code"] == "unsupported":
        return f"not supported ({actual['message']}), Esper says: {expected['message']}"
    if expected["message"].split()[:WORDS] != actual["message"].split()[:WORDS]:
        return f"other words: expected {expected['message']}, got {actual['message']}"
    return None


def difference(case: dict[str, Any]) -> str | None:
    """The first difference of a replay, or None."""
    actual = replay_trace(case)["steps"]
    for number, (want, got) in enumerate(zip(case["steps"], actual, strict=True)):
        why = step_difference(want, got)
        if why is not None:
            return f"step {number} ({want['op']}): {why}"
    return None


# ------------------------------------------------------------------ tests


@pytest.mark.parametrize("key", CASES)
def test_case(key: str) -> None:
    why = difference(CASES[key])
    if key in KNOWN_GAPS:
        assert why is not None, f"{key} passes now: take it out of tests/cases/ledger.json"
        pytest.xfail(KNOWN_GAPS[key])
    assert why is None, why


def test_ledger_names_cases() -> None:
    assert KNOWN_GAPS.keys() <= CASES.keys()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 300
    assert len({key.split("/")[0] for key in CASES}) >= 15


def test_no_case_is_refused_by_accident() -> None:
    """A reserved word in a schema makes a case say nothing: Esper refuses its text, and so do we."""
    accidents = [
        key for key, case in CASES.items()
        if not key.startswith("refusals/") and any(step["op"] == "event" for step in case["steps"])
        and case["steps"][0].get("message", "").startswith("Incorrect syntax near")
    ]
    assert not accidents


def reason(why: str) -> str:
    """What a new entry of the ledger says: which part of the language is missing, else the difference."""
    missing = re.search(r"(?:got |\()([^():]*(?:is|are) (?:not supported|supported in)[^()]*)", why)
    return missing[1].split(", Esper says")[0].rstrip(")") if missing else why[:160]


def main(arguments: list[str]) -> int:
    failing = {key: why for key, case in CASES.items() if (why := difference(case)) is not None}
    for key, why in failing.items():
        print(f"{key}: {why[:300]}")
    print(f"{len(CASES) - len(failing)} of {len(CASES)} cases pass")
    if "--ledger" in arguments:
        reasons = {key: KNOWN_GAPS.get(key) or reason(why) for key, why in failing.items()}
        LEDGER.write_text(json.dumps(reasons, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
