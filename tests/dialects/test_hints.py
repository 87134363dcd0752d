"""Hints of the SQL dialects: names of other systems, and the nearest known name, beside the first words of the dialect's system."""
from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from epl.dialects.aggregates import AGGREGATES
from epl.dialects.functions.registry import SCALARS
from epl.dialects.functions.signatures import ELSEWHERE
from epl.dialects.hints import OF_OTHER_SYSTEMS
from epl.errors import EplError
from runtime import Runtime

TABLE = pa.table({"symbol": ["a"], "price": [1.0], "ts": [datetime.datetime(2024, 1, 1)], "day": [datetime.date(2024, 1, 1)]})
CLAUSE = "select * from t match_recognize (order by ts measures {} as x pattern (A D+) define D as {})"
OFFSET = "the dialect 'sql' runs it: dialect='sql', @Dialect('sql')"
ALONE = "a query alone is read here: write its SELECT, without the statement around it"
CASES = {
    ("sql", "select symbl from t"): "did you mean 'symbol'?",
    ("flink", "select symbl from t"): "did you mean 'symbol'?",
    ("flink", "select t.pric from t"): "did you mean 'price'?",
    ("sql", "select nothing from t"): "known columns: symbol, price, ts, day",
    ("sql", "select avgg(price) from t"): "did you mean 'avg'?",
    ("sql", "select nvl(price, 1) from t"): "write COALESCE(x, y)",
    ("sql", CLAUSE.format("A.price", "D.price > lag(price)")): "within match_recognize: PREV(x), PREV(x, 2)",
    ("sql", CLAUSE.format("E.price", "D.price > 1")): "variables of the pattern: A, D",
    ("sql", CLAUSE.format("A.pric", "D.price > 1")): "did you mean 'price'?",
    ("sql", "select * from t where ts > '2024-01-01'"):
        "write TIMESTAMP '2024-01-31 00:00:00' for a literal, CAST(x AS timestamp) for a column",
    ("sql", "select * from t where '2024-01-01' = day"): "write DATE '2024-01-31' for a literal, CAST(x AS date) for a column",
    ("sql", "select * from t limit 1 offset 1"): "OFFSET comes before LIMIT",
    ("sql", "create view v as select * from t"): ALONE,
    ("flink", "insert into s select * from t"): ALONE,
    ("flink", CLAUSE.format("A.price", "D.price > prev(D.price)")): OFFSET,
}


@pytest.mark.parametrize(("dialect", "text"), CASES)
def test_hint(dialect: str, text: str) -> None:
    with pytest.raises(EplError) as error:
        Runtime.sql(text, {"t": TABLE}, dialect=dialect)
    assert error.value.hint == CASES[dialect, text]


def test_no_function_that_is_known_is_called_another_systems() -> None:
    assert not OF_OTHER_SYSTEMS.keys() & (SCALARS.keys() - set(ELSEWHERE) | AGGREGATES.keys())
