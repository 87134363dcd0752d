"""Scalar expressions and aggregates over one table: values and types as Trino 483 gives them."""

from __future__ import annotations

import json
import pathlib
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from epl.dialects import types as k
from epl.dialects.scopes import Column
from epl.errors import EplError
from runtime.dialects.sql import run_rows
from runtime.replay.corpus import plain

RECORDED = json.loads(pathlib.Path(__file__).with_name("values.json").read_text(encoding="utf-8"))
KINDS = {"i": k.INTEGER, "b": k.BIGINT, "d": k.DOUBLE, "s": k.VARCHAR, "x": k.decimal(7, 2), "t": k.TIMESTAMP}
ROWS = [
    (1, 10, 1.5, "abc", Decimal("12.34"), datetime(2024, 1, 31, 10, 0, 0, 123000)),
    (2, -3, -2.5, "Abd", Decimal("-0.50"), datetime(2024, 2, 29, 23, 59, 59, 999000)),
    (None,) * 6,
    (7, 7, 0.1, "", Decimal("100.00"), datetime(2023, 12, 31)),
]


def near(value: Any) -> Any:
    """Decimals are recorded as text."""
    try:
        return round(float(value), 9) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else value
    except ValueError:
        return value


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["expression"])
def test_expressions_give_what_trino_gives(recorded: dict[str, Any]) -> None:
    table = (tuple(Column(name, kind) for name, kind in KINDS.items()), ROWS)
    text = f"SELECT {recorded['expression']} FROM t"
    if "error" in recorded:
        with pytest.raises(EplError) as caught:
            run_rows(text, {"t": table})
        assert caught.value.message == recorded["error"]
        return
    columns, rows = run_rows(text, {"t": table})
    assert str(columns[0].type) == recorded["type"]
    assert repr([near(plain(row[0])) for row in rows]) == repr([near(value) for value in recorded["values"]])
