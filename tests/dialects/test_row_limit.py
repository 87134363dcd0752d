"""Queries whose rows are a product of their tables' are refused; those that grow with their tables are not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from epl.dialects.errors import QueryFailed
from runtime import Runtime

ROWS = 60
TABLE = pa.table({"k": [n % 2 for n in range(ROWS)], "n": range(ROWS), "a": [[n] for n in range(ROWS)]})
CLAUSE = "after match skip to next row pattern (A B*) define B as {} > -1) as m"


def clause(shown: str, value: str = "n") -> str:
    return f"select * from t match_recognize (order by n measures {shown} {CLAUSE.format(value)}"


PRODUCTS = {
    "cross": "select * from t a, t b", "condition": "select * from t a join t b on a.n < b.n",
    "equal keys": "select * from t a left join t b on a.k = b.k", "full": "select * from t a full join t b on a.k = b.k",
    "lateral": "select * from t a cross join unnest(sequence(1, 50)) as u(x)",
    "within a query": "select (select count(*) from t b, t c) from t a",
    "unions": "with a as (select n from t), b as (select * from a union all select * from a), c as (select * from b union all select * "
    "from b), d as (select * from c union select * from c), e as (select * from c union all select * from c) "
    "select * from e union all select * from e union all select * from e",
    "rows of matches": clause("count(*) as c all rows per match"),
    "arrays": clause("array_agg(n) as c"), "arrays of rows": clause("array_agg(n) as c all rows per match"),
}
LARGE = {
    "join": "select * from t a join t b on a.n = b.n", "union": "select * from t union all select * from t union all select * from t",
    "clause": clause("count(*) as c"), "groups": "select k, count(*) from t group by rollup(k, n)",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    with pytest.raises(QueryFailed, match=r"of more than 1[0-9]{3} (rows is|elements are) not made") as failed:
        Runtime.sql(PRODUCTS[name], {"t": TABLE}, max_rows=1000)
    assert failed.value.sql_code == "EXCEEDED_LOCAL_MEMORY_LIMIT"
    assert failed.value.hint == "max_rows=… of the call allows more"
    for enough in (100_000_000, None):
        Runtime.sql(PRODUCTS[name], {"t": TABLE}, max_rows=enough)


@pytest.mark.parametrize("shown", ["AGGREGATE_LIST(B.n) AS c ONE ROW PER MATCH", "COUNT(B.n) AS c ALL ROWS PER MATCH"])
def test_products_of_ydb(shown: str) -> None:
    with pytest.raises(QueryFailed, match=r"of more than 1[0-9]{3} (rows is|elements are) not made"):
        Runtime.sql(clause(shown, "B.n"), {"t": TABLE}, dialect="ydb", max_rows=1000)


@pytest.mark.parametrize("name", LARGE)
def test_large_tables(name: str) -> None:
    assert Runtime.sql(LARGE[name], {"t": TABLE}, max_rows=62).num_rows
