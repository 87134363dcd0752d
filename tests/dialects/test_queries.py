"""Expressions, queries around the clause and refusals, as Trino 483 gives them: ``queries.json`` holds its answers."""

from __future__ import annotations

import base64
import datetime
import json
import pathlib
from decimal import Decimal
from typing import Any

import pytest

from epl.dialects.errors import DialectError, DialectUnsupported, locate_message
from epl.dialects.values import Months
from epl.errors import EplError
from runtime.dialects.sql import run_rows

RECORDED = json.loads(pathlib.Path(__file__).with_name("queries.json").read_text(encoding="utf-8"))
SHARE = 100


def shown(value: Any) -> Any:
    """Return a value as text; numbers by their value, times without the zeros at their end."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, datetime.datetime):
        return (value.strftime("%Y-%m-%d %H:%M:%S") + f".{value.microsecond:06d}").rstrip("0").rstrip(".")
    if isinstance(value, datetime.timedelta):
        seconds, rest = divmod(round(abs(value).total_seconds() * 1000), 1000)
        sign = "-" if value < datetime.timedelta(0) else ""
        return f"{sign}{seconds // 86400} {seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:03d}"
    if isinstance(value, Months):
        return f"{'-' if value < 0 else ''}{abs(value) // 12}-{abs(value) % 12}"
    if isinstance(value, (int, float, Decimal)):
        return f"{float(value):.12g}"
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return {str(shown(key)): shown(each) for key, each in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def answer(query: str) -> dict[str, Any]:
    """Return what is given here."""
    try:
        columns, rows = run_rows(query, {})
    except (DialectError, DialectUnsupported) as error:
        return {"error": locate_message(error, query)}
    except EplError as error:
        return {"error": error.message}
    names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(columns)]
    shown_rows = sorted(json.dumps(shown(row)) for row in rows)
    return {"columns": names, "types": [str(column.type) for column in columns], "rows": shown_rows}


@pytest.mark.parametrize("share", range(0, len(RECORDED["queries"]), SHARE))
def test_queries_give_what_trino_gives(share: int) -> None:
    for recorded in RECORDED["queries"][share : share + SHARE]:
        query = recorded["query"].replace("{T}", RECORDED["T"])
        expected = {key: value for key, value in recorded.items() if key != "query"}
        given = answer(query)
        assert {key: given.get(key) for key in expected} == expected, query
