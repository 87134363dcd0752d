"""Scalar expressions and aggregates over one table: values and types as Trino 483 gives them."""

from __future__ import annotations

import json
import pathlib
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from epl.dialects import types as k
from epl.dialects.scopes import SqlColumn
from epl.errors import EplError
from runtime.dialects.sql import run_rows
from tests.replay.corpus import plain

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
    table = (tuple(SqlColumn(name, kind) for name, kind in KINDS.items()), ROWS)
    text = f"SELECT {recorded['expression']} FROM t"
    if "error" in recorded:
        with pytest.raises(EplError) as caught:
            run_rows(text, {"t": table})
        assert caught.value.message == recorded["error"]
        return
    columns, rows = run_rows(text, {"t": table})
    assert str(columns[0].type) == recorded["type"]
    assert repr([near(plain(row[0])) for row in rows]) == repr([near(value) for value in recorded["values"]])


WIDE = [
    ("decimal(38,2)", "+", "decimal(4,3)", "decimal(38,2)", "18.02"), ("decimal(38,2)", "-", "decimal(4,3)", "decimal(38,2)", "6.66"),
    ("decimal(38,10)", "+", "decimal(38,3)", "decimal(38,3)", "18.018"), ("decimal(38,0)", "+", "decimal(38,36)", "decimal(38,0)", "18"),
    ("decimal(37,2)", "+", "decimal(4,3)", "decimal(38,3)", "18.018"), ("decimal(20,10)", "*", "decimal(20,10)", "decimal(38,18)", None),
    ("decimal(38,10)", "*", "decimal(38,10)", "decimal(38,6)", "70.066520"), ("decimal(38,2)", "*", "decimal(4,2)", "decimal(38,4)", None),
    ("decimal(30,3)", "*", "decimal(30,4)", "decimal(38,6)", "70.066520"), ("decimal(38,10)", "/", "decimal(38,10)", "decimal(38,6)", None),
]


@pytest.mark.parametrize(("one", "sign", "other", "kind", "value"), WIDE)
def test_decimals_beyond_38_digits_give_up_digits_behind_the_point(one: str, sign: str, other: str, kind: str, value: str | None) -> None:
    """Types, and values where a digit is given up, as Trino 483 has them."""
    columns, rows = run_rows(f"SELECT CAST(12.34 AS {one}) {sign} CAST(5.678 AS {other})", {})
    assert str(columns[0].type) == kind
    assert value is None or rows == [(Decimal(value),)]


@pytest.mark.parametrize(("text", "value"), [
    ("INTERVAL '-90' SECOND", "-0 00:01:30.000"), ("INTERVAL '1 02:03:04.567' DAY TO SECOND", "1 02:03:04.567"),
    ("INTERVAL '100' DAY", "100 00:00:00.000"), ("INTERVAL '14' MONTH", "1-2"), ("INTERVAL '-2' MONTH", "-0-2"),
    ("INTERVAL '3' YEAR", "3-0"),
])  # fmt: skip
def test_intervals_as_text(text: str, value: str) -> None:
    assert run_rows(f"SELECT CAST({text} AS varchar)", {})[1] == [(value,)]
    with pytest.raises(EplError, match=r"Cannot cast '.*' to varchar\(2\)"):
        run_rows(f"SELECT CAST({text} AS varchar(2))", {})


def test_intervals_as_text_in_flink() -> None:
    """As Flink 2.2.0 has them: always with a sign."""
    pairs = [
        ("INTERVAL '-90' SECOND", "-0 00:01:30.000"), ("INTERVAL '90' SECOND", "+0 00:01:30.000"), ("INTERVAL '14' MONTH", "+1-02"),
        ("INTERVAL '-14' MONTH", "-1-02"), ("INTERVAL '3' YEAR", "+3-00"),
    ]
    text = ", ".join(f"CAST({interval} AS STRING)" for interval, _ in pairs)
    assert run_rows(f"SELECT {text}", {}, "flink")[1] == [tuple(value for _, value in pairs)]


@pytest.mark.parametrize(("call", "rows", "value"), [
    ("map_agg(k, v)", "('a', NULL), ('b', 1)", {"a": None, "b": 1}), ("map_agg(k, v)", "('a', 1), (NULL, 2)", {"a": 1}),
    ("map_agg(k, v)", "('a', NULL), ('a', 2)", {"a": None}), ("map_agg(DISTINCT k, v)", "('a', NULL), ('b', 1)", {"a": None, "b": 1}),
    ("multimap_agg(k, v)", "('a', NULL), ('b', 1), ('a', 2), (NULL, 3)", {"a": [None, 2], "b": [1]}),
    ("map_agg(k, v)", "(CAST(NULL AS varchar), 1)", None),
    ("histogram(k)", "(ARRAY[1], 1), (ARRAY[1], 2), (ARRAY[2], 3)", {(1,): 2, (2,): 1}),
    ("count(DISTINCT k)", "(ARRAY[1], 1), (ARRAY[1], 2), (ARRAY[2], 3)", 2),
])  # fmt: skip
def test_aggregates_keep_null_values_and_take_arrays(call: str, rows: str, value: Any) -> None:
    assert run_rows(f"SELECT {call} FROM (VALUES {rows}) t(k, v)", {})[1] == [(value,)]


def test_decimals_of_38_digits_stay_exact() -> None:
    table = (SqlColumn("d", k.decimal(38, 2)),)
    rows = [(Decimal("123456789012345678901234567890123456.12"),), (Decimal("-0.01"),)]
    _, answer = run_rows("SELECT sum(d), avg(d), abs(min(d)), -max(d), round(max(d), 1), max(d) % 7 FROM t", {"t": (table, rows)})
    assert answer == [tuple(Decimal(text) for text in (
        "123456789012345678901234567890123456.11", "61728394506172839450617283945061728.06", "0.01",
        "-123456789012345678901234567890123456.12", "123456789012345678901234567890123456.10", "4.12"))]
