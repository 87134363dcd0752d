"""Recorded cases of SQL dialects: ``epl replay`` reads every form of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replay.corpus import as_java, replay_case
from tests.replay.corpus_letters import read


def letters(events: str, pattern: str, skip: str = "SKIP TO NEXT ROW", **more: Any) -> Any:
    return replay_case({"dialect": "alibaba", "events": events, "pattern": pattern, "skip": skip, **more})["actual"]


def shown(actual: Any) -> str:
    """``A=a1+a2 B=b1``, one match after the other; ended ones with their time."""
    def one(match: Any) -> str:
        return " ".join(f"{name}={'+'.join(events)}" for name, events in match["rows"].items())

    return ", ".join([*map(one, actual["rows"]), *(f"{one(each)} @{each['at_ms']}" for each in actual["timeouts"])])


@pytest.mark.parametrize(
    ("events", "pattern", "skip", "expected"),
    [
        ("a1 x1 b1 b2", "A.followedByAny(B)", "NO SKIP", "A=a1 B=b1, A=a1 B=b2"),
        ("a1 x1 a2 b1", "A.next(B)", "SKIP TO NEXT ROW", "A=a2 B=b1"),
        ("a1@0 x1@5 a2@20 b1@25 a3@40", "A.followedBy(B) within 10s", "SKIP TO NEXT ROW", "A=a2 B=b1, A=a1 @10000, A=a3 @50000"),
        ("a1 b1 b2 b3 b4 c1", "A {- X* -} B {- Y*? -} C", "NO SKIP", "A=a1 B=b1 C=c1, A=a1 B=b4 C=c1, A=a1 B=b3 C=c1, A=a1 B=b2 C=c1"),
        ("a1 b1 b2 c1", "A+ greedy next B (A takes b too)", "SKIP TO NEXT ROW", ""),
        ("a1 b1 b2 c1", "A+ reluctant next B (A takes b too)", "SKIP TO NEXT ROW", "A=a1 B=b1, A=b1 B=b2"),
        ("b1 b2 b3", "B+ at the end, greedy", "NO SKIP", "B=b2 S=b1, B=b2+b3 S=b1, B=b3 S=b2"),
        ("a1 a2 b1", "A+ B (of our own)", "SKIP PAST LAST ROW", "A=a1+a2 B=b1"),
        ("a1 b1 c1", "A (B C)", "SKIP TO NEXT ROW", "A=a1 B=b1 C=c1"),
    ],
)
def test_cases_of_letters(events: str, pattern: str, skip: str, expected: str) -> None:
    assert shown(letters(events, pattern, skip)) == expected


def test_conditions_that_a_table_of_the_manual_states_hold_for_its_events() -> None:
    assert shown(letters("a1 b1 a2 a3 c1", "A+? C")) == "A=a2 C=a3, A=a3 C=c1"
    assert shown(letters("a1 b1 a2 a3 c2", "A+? C")) == "A=a2+a3 C=c2, A=a3 C=c2"
    assert shown(letters("a1 b1 a2 a3 c1", "A+? C", defines={"C": "c"})) == "A=a2+a3 C=c1, A=a3 C=c1"
    assert read({"events": "a1 d1 a2 b1 a3 c1", "pattern": "A+{B} C"}).letters == {"A": "ab"}


def test_a_pattern_that_is_refused_is_an_error() -> None:
    assert "Encountered" in letters("a1", "A+ and so on")["error"]["message"]


def test_rows_of_text_are_written_as_java_prints_them() -> None:
    case = {
        "dialect": "flink", "mode": "stream", "expect": {"rows_text": []},
        "tables": {"T": {"columns": ["k", "ts.rowtime"], "rows": [[1, 0], [None, 60500]]}},
        "sql": "SELECT * FROM T MATCH_RECOGNIZE (ORDER BY ts MEASURES A.k AS a, B.k AS b, A.ts AS s, B.ts AS t, "
               "A.k > 0 AS y, A.k / 2e0 AS d PATTERN (A B) DEFINE A AS TRUE)",
    }  # fmt: skip
    actual = replay_case(case)["actual"]
    assert actual["rows_text"] == ["1,null,1970-01-01T00:00,1970-01-01T00:01:00.500,true,0.5"]
    assert actual["rows"] == [[1, None, "1970-01-01 00:00:00.000", "1970-01-01 00:01:00.500", True, 0.5]]
    assert as_java([1, None]) == "[1, null]"
