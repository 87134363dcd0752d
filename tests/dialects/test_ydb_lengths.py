"""Matches of YDB whose conditions are of the row alone: all at once, as each row's on its own, and without the square of the rows."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplError
from runtime import Runtime
from runtime.dialects.ydb_recognition import YdbRecognition
from tests.calls import calls

CONDITIONS = {"A": "A.v < 3", "B": "B.v > 1", "C": "C.v = 2", "D": None}


def pattern(draw: random.Random, depth: int = 3) -> str:
    if depth == 0 or draw.random() < 0.3:
        text = draw.choice("ABCD")
    elif draw.random() < 0.5:
        text = " ".join(pattern(draw, depth - 1) for _ in range(draw.randrange(2, 4)))
    else:
        text = " | ".join(pattern(draw, depth - 1) for _ in range(2))
    sign = draw.choice(["", "", "", "*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}"])
    return f"({text}){sign}" if sign or " " in text else text


def run(row_pattern: str, values: list[int], rest: str = "") -> list[dict[str, Any]]:
    table = pa.table({"n": range(len(values)), "v": pa.array(values, pa.int64())})
    named = [name for name in CONDITIONS if name in row_pattern]
    measures = ", ".join(f"AGGREGATE_LIST({name}.n) AS {name.lower()}" for name in named)
    defines = ", ".join(f"{name} AS {CONDITIONS[name]}" for name in named if CONDITIONS[name])
    text = f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES {measures} {rest} PATTERN ({row_pattern})
        DEFINE {defines or f'{named[0]} AS true'}) AS m"""
    rows: list[dict[str, Any]] = Runtime.sql(text, {"t": table}, dialect="ydb").to_pylist()
    return rows


@pytest.mark.parametrize("seed", range(150))
def test_all_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    row_pattern, values = pattern(draw), [draw.randrange(5) for _ in range(draw.randrange(12))]
    rest = draw.choice(["", "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW", "ALL ROWS PER MATCH"])
    try:
        expected = run(row_pattern, values, rest)
    except EplError:
        pytest.skip("refused")
    each = YdbRecognition.__init__

    def one_by_one(self: YdbRecognition, *arguments: Any) -> None:
        each(self, *arguments)
        assert not self.compiler.looks_back
        self.compiler.looks_back = True

    monkeypatch.setattr(YdbRecognition, "__init__", one_by_one)
    assert run(row_pattern, values, rest) == expected


def test_a_condition_that_fails_where_no_match_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = YdbRecognition.__init__
    asked: list[int] = []

    def failing(self: YdbRecognition, *arguments: Any) -> None:
        made(self, *arguments)
        second = self.conditions[self.labels.index("C")]
        assert second is not None

        def condition(frame: Any) -> Any:
            asked.append(frame.row)
            return second(frame) if frame.row else 1 // 0

        self.conditions[self.labels.index("C")] = condition

    monkeypatch.setattr(YdbRecognition, "__init__", failing)
    assert run("B C", [4, 2, 4, 2]) == [{"b": [0], "c": [1]}, {"b": [2], "c": [3]}] and 0 in asked


@pytest.mark.parametrize("row_pattern", ["D B* C", "(B | D | B D)* C", "(D+)+ C", "B* C B* C B* C"])
@pytest.mark.parametrize("last", [2, 4])
def test_time_in_proportion_to_the_rows(row_pattern: str, last: int) -> None:
    """Each row's match on its own took minutes."""
    with calls(most=6_000 * 300):
        run(row_pattern, [*[4] * 6_000, last])
