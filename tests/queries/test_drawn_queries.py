"""Programs of queries that are drawn at random do what Esper 9.0.0 did with them."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.comparison import difference
from tests.queries.drawn import STORED

PROGRAMS: list[dict[str, Any]] = json.loads(gzip.decompress(STORED.read_bytes()))
DIFFERENT: dict[str, str] = {}
"""Program → why it differs."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_program(program: dict[str, Any]) -> None:
    why = difference(program)
    if program["name"] in DIFFERENT:
        assert why is not None, f"{program['name']} passes now"
        pytest.xfail(DIFFERENT[program["name"]])
    assert why is None, why


def test_programs_go_on_after_a_restart() -> None:
    for program in PROGRAMS[::12]:
        if program["name"] not in DIFFERENT:
            assert difference(program, restart=True) is None, program["name"]


def test_there_are_enough_programs() -> None:
    texts = [step["epl"] for program in PROGRAMS for step in program["steps"] if step["op"] == "faf"]
    rows = sum(1 for program in PROGRAMS for step in program["steps"] if step["op"] == "faf" and step.get("rows"))
    assert len(PROGRAMS) >= 190 and rows > 700 and len(DIFFERENT) <= len(PROGRAMS) // 50
    words = ("join", "rollup", "order by", "exists", "insert into W", "insert into V", "update W", "update T", "delete from", "from T")
    assert all(sum(word in text for text in texts) >= 20 for word in words)
