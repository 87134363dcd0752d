"""``make quick`` runs one file of every room of the tests."""
from __future__ import annotations

import pathlib

TESTS = pathlib.Path(__file__).resolve().parents[1]


def test_every_room_has_a_file_that_runs_quickly() -> None:
    listed = (TESTS / "quick.txt").read_text(encoding="utf-8").splitlines()
    assert all((TESTS.parent / line).is_file() for line in listed)
    rooms = {path.parent.name for path in TESTS.rglob("test_*.py") if path.parent != TESTS}
    assert {pathlib.Path(line).parent.name for line in listed} - {"tests"} == rooms
    assert "tests/test_cases.py" in listed and len(listed) == len(set(listed))
