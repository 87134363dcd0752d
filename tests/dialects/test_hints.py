"""Hints of the SQL dialects: names of other systems, and the nearest known name, beside the first words of the dialect's system."""
from __future__ import annotations

import datetime

import pandas as pd
import pyarrow as pa
import pytest

from epl.dialects import hints
from epl.dialects.aggregates import AGGREGATES
from epl.dialects.functions.registry import SCALARS
from epl.dialects.functions.signatures import ELSEWHERE
from epl.dialects.hints import OF_OTHER_SYSTEMS
from epl.dialects.window_rules import FROM
from epl.errors import EplError
from runtime import Runtime

TABLE = pa.table({"symbol": ["a"], "price": [1.0], "ts": [datetime.datetime(2024, 1, 1)], "day": [datetime.date(2024, 1, 1)]})
CLAUSE = "select * from t match_recognize (order by ts measures {} as x pattern (A D+) define D as {})"
OFFSET = "the dialect 'sql' runs it: dialect='sql', @Dialect('sql')"
ALONE = "a query alone is read here: write its SELECT, without the statement around it"
FRAME = "between current row and 5 following"
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
    ("sql", "update t set price = 1"): ALONE,
    ("sql", "pivot t on symbol"): "write SELECT x, SUM(y) FILTER (WHERE z = 'a') AS a FROM t GROUP BY x",
    ("sql", "select price::double from t"): "write CAST(x AS type)",
    ("sql", "select * from t where symbol ilike 'a'"): "write LOWER(x) LIKE 'a%'",
    ("sql", "select * from t where symbol regexp 'a'"): "write REGEXP_LIKE(x, 'pattern')",
    ("sql", "select top 3 * from t"): "write LIMIT 3 at the end",
    ("sql", "select * exclude (ts) from t"): "name the columns instead of *",
    ("sql", "select * from 't.csv'"): hints.PLACES[9][2],
    ("sql", "select symbol where price > 1 from t"): "WHERE comes after FROM",
    ("sql", "select * from t match_recognize (order by ts pattern (A B within 5 minute) define B as true)"): hints.WITHIN,
    ("sql", "select * from t match_recognize (order by ts pattern A B define B as true)"): "a pattern is in brackets: PATTERN (A B+)",
    ("sql", "select * from t match_recognize (measures A.price pattern (A) define A as true)"): "a measure has a name: MEASURES A.x AS x",
    ("sql", "select * from t match_recognize (order by ts pattern (A) define A as true)"): hints.NO_OUTPUT,
    ("sql", "select lag(price) over (order by ts) from t"): hints.OF_WINDOWS,
    ("sql", f"select m over w from t window w as (order by ts measures A.price as m rows {FRAME} pattern (A) define A as true)"): FROM,
    ("sql", 'select symbol from t where symbol = "A"'): "known columns: symbol, price, ts, day; a text is in single quotes: 'A'",
}


@pytest.mark.parametrize(("dialect", "text"), CASES)
def test_hint(dialect: str, text: str) -> None:
    with pytest.raises(EplError) as error:
        Runtime.sql(text, {"t": TABLE}, dialect=dialect)
    assert error.value.hint == CASES[dialect, text]


def test_no_function_that_is_known_is_called_another_systems() -> None:
    assert not OF_OTHER_SYSTEMS.keys() & (SCALARS.keys() - set(ELSEWHERE) | AGGREGATES.keys())


@pytest.mark.parametrize(("table", "hint"), [
    ("t.csv", "read the file first: pandas.read_csv(path), pyarrow.parquet.read_table(path)"),
    ({"a": [1]}, "write pandas.DataFrame(columns)"), ([{"a": 1}], "write pandas.DataFrame(rows)"), (1, None),
])  # fmt: skip
def test_what_is_no_table(table: object, hint: str | None) -> None:
    with pytest.raises(EplError, match="a table is an Arrow table, or a pandas or Polars frame") as error:
        Runtime.sql("select * from t", {"t": table})
    assert error.value.hint == hint


def test_the_index_of_a_frame_is_no_column() -> None:
    frame = pd.DataFrame({"price": [1]}, index=pd.DatetimeIndex(["2024-01-01"], name="Stamp"))
    with pytest.raises(EplError, match="Column 'stamp' cannot be resolved") as error:
        Runtime.sql("select price from t order by stamp", {"t": frame})
    assert error.value.hint == "'Stamp' is the index of 't', which is no column: give frame.reset_index()"
    assert Runtime.sql("select price from t order by stamp", {"t": frame.reset_index()}).num_rows == 1
