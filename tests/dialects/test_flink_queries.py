"""Queries and refusals over a stream as Flink 2.2 gives them: ``queries_flink.json`` holds its answers."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from tests.replay.corpus import replay_case

RECORDED = json.loads(pathlib.Path(__file__).with_name("queries_flink.json").read_text(encoding="utf-8"))
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")


def shown(value: Any) -> Any:
    """Numbers by their value, times without the zeros at their end."""
    if isinstance(value, str) and TIME.fullmatch(value):
        return value.removesuffix(".000").removesuffix(":00")
    if isinstance(value, str) and re.fullmatch(r"[\d.]+", value):
        value = float(value)
    return round(float(value), 6) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@pytest.mark.parametrize("share", range(0, len(RECORDED["queries"]), 50))
def test_queries_give_what_flink_gives(share: int) -> None:
    for recorded in RECORDED["queries"][share : share + 50]:
        case = {"dialect": "flink", "mode": "stream", "sql": recorded["sql"], "tables": {"Ticker": RECORDED["Ticker"]}}
        actual = replay_case(case)["actual"]
        if "error" in recorded:
            assert recorded["error"] in actual["error"]["message"], recorded["sql"]
        else:
            assert actual["columns"] == recorded["columns"], recorded["sql"]
            assert [[shown(value) for value in row] for row in actual["rows"]] == recorded["rows"], recorded["sql"]


@pytest.mark.parametrize(
    ("source", "node"),
    [
        ("(SELECT symbol, MAX(price) AS price FROM Ticker GROUP BY symbol)",
         "GroupAggregate(groupBy=[symbol], select=[symbol, MAX(price) AS price])"),
        ("(SELECT DISTINCT symbol, price FROM Ticker)", "GroupAggregate(groupBy=[symbol, price], select=[symbol, price])"),
        ("(SELECT price FROM (SELECT COUNT(*) AS price FROM Ticker GROUP BY symbol))",
         "GroupAggregate(groupBy=[symbol], select=[COUNT(*) AS price])"),
        ("(SELECT * FROM (SELECT symbol, MIN(tax) AS price FROM Ticker GROUP BY symbol) AS x)",
         "GroupAggregate(groupBy=[symbol], select=[symbol, MIN(tax) AS price])"),
    ],
)  # fmt: skip
def test_rows_that_are_updated_are_refused(source: str, node: str) -> None:
    text = f"SELECT * FROM {source} MATCH_RECOGNIZE (ORDER BY price MEASURES A.price AS a PATTERN (A B) DEFINE B AS TRUE) AS T"
    case = {"dialect": "flink", "mode": "stream", "sql": text, "tables": {"Ticker": RECORDED["Ticker"]}}
    message = replay_case(case)["actual"]["error"]["message"]
    assert message == f"TableException: Match Recognize doesn't support consuming update changes which is produced by node {node}"
    assert "rows" in replay_case({**case, "mode": "batch", "sql": text.replace("ORDER BY price", "ORDER BY t").replace(
        source, "(SELECT MAX(rowtime) AS t, MAX(price) AS price FROM Ticker GROUP BY symbol)")})["actual"]
