"""The repository's own cases (tests/cases/<room>/<clause>.json), replayed and held against what Esper 9.0.0 did.

A case that cannot pass yet stands in tests/cases/ledger.json with the reason; one that passes must leave it.
``python -m tests.test_cases`` prints the cases that differ; with ``--ledger`` it writes a new ledger.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any

import pytest

from tests.comparison import difference

FOLDER = pathlib.Path(__file__).resolve().parent / "cases"
LEDGER = FOLDER / "ledger.json"


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
