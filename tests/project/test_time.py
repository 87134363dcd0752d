"""No test asserts that something takes less than a time: machines differ, calls and steps do not (tests/calls.py)."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CLOCKS = r"(time\.\w+\(\) - \w+|\b(seconds|elapsed|took)\b)"
ASSERTED = re.compile(rf"assert [^\n]*({CLOCKS} *<|> *{CLOCKS})")


def test_no_test_asserts_a_time() -> None:
    asserted = [
        f"{path.relative_to(TESTS)}:{number}"
        for path in sorted(TESTS.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ASSERTED.search(line)
    ]
    assert not asserted
