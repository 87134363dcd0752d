"""Drawn queries of Flink's subset give what Flink 2.2 gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from epl.dialects import types as k
from epl.dialects.scopes import SqlColumn
from epl.dialects.values import parse_instant
from epl.errors import EplError
from runtime.dialects.sql import run_rows
from tests.dialects import draw_flink
from tests.dialects.over_streams import run_stream

KINDS = (k.INTEGER, k.INTEGER, k.TIMESTAMP)
TABLE = tuple(SqlColumn(name, kind, None, kind == k.TIMESTAMP) for name, kind in zip(draw_flink.COLUMNS, KINDS))


def ours(text: str, rows: list[list[Any]]) -> list[list[Any]] | str:
    try:
        _, result = run_rows(text, {"t": (TABLE, [(a, b, parse_instant(c)) for a, b, c in rows])}, "flink", streaming=True)
        return [list(row) for row in result]
    except EplError as error:
        return error.message


def test_drawn_queries_give_what_flink_gives() -> None:
    answers = draw_flink.answers()
    assert len(answers) >= 300
    assert sum("rows" in answer and len(answer["rows"]) > 0 for answer in answers) > 30
    for answer in answers:
        text, rows = draw_flink.draw(answer["seed"])
        result = ours(text, rows)
        if "error" in answer:
            assert isinstance(result, str) and answer["error"].split(" {")[0] in result, (text, rows, result)
        else:
            assert result == answer["rows"], (text, rows)


def test_events_give_what_tables_give() -> None:
    """Restarted after each event."""
    for seed in range(40):
        text, rows = draw_flink.draw(seed)
        expected = ours(text, rows)
        if isinstance(expected, str):
            continue
        clause = text.partition("MATCH_RECOGNIZE (")[2].rpartition(")")[0]
        table = pa.table({
            "id": pa.array([row[0] for row in rows], pa.int32()), "k": pa.array([row[1] for row in rows], pa.int32()),
            "ts": pa.array([parse_instant(row[2]) for row in rows], pa.timestamp("ms")),
        })  # fmt: skip
        assert run_stream(clause, table, "flink", restarts=1) == [tuple(row) for row in expected], (seed, text, rows)
