"""A query reads the columns that it names: others are neither converted nor asked for their type, and change nothing."""
from __future__ import annotations

import datetime
import json
import pathlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pandas
import pyarrow as pa
import pytest

from epl.dialects.columns_read import columns_read
from epl.dialects.errors import QueryFailed
from epl.dialects.queries import compile_query
from epl.dialects.scopes import SqlColumn
from epl.errors import EplError
from runtime import Runtime
from runtime.dialects.sql import find_dialect, run_rows
from tests.dialects.test_queries import shown

RECORDED = json.loads((pathlib.Path(__file__).parent / "queries.json").read_text(encoding="utf-8"))
CLAUSE = "t match_recognize (order by id measures A.v as v {all} pattern (A) define A as A.w > 0)"
ODD = pa.table({
    "id": [1, 2],
    "of_map": pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    "of_bytes": pa.array([b"a"] * 2, pa.large_binary()),
    "of_fixed": pa.array([b"ab"] * 2, pa.binary(2)),
    "of_time": pa.array([datetime.time(1)] * 2),
    "of_pairs": pa.array([[1, 2]] * 2, pa.list_(pa.int32(), 2)),
    "of_large": pa.array([1, 2**63], pa.uint64()),
    "of_decimal": pa.array([Decimal(1)] * 2, pa.decimal256(60, 2)),
})


@pytest.mark.parametrize("query, expected", [
    ("select id from t", "id"),
    ("select count(*) from t", ""),
    ("select * from t", "id v w g"),
    ("select id from (select * from t)", "id"),
    ("select id from (select distinct * from t)", "id v w g"),
    ("select v from t where id > 1 order by w", "id v w"),
    ("select g, sum(v) from t group by g having count(w) > 1", "g v w"),
    ("select v from t union all select w from t", "v w"),
    ("select a.v from t a join t b on a.id = b.id", "id v"),
    ("select id from t where v = (select max(w) from t)", "id v w"),
    ("select id from t where exists (select 1 from t as s where s.v = t.w)", "id v w"),
    (f"select * from {CLAUSE.format(all='')}", "id v w"),
    (f"select id from {CLAUSE.format(all='all rows per match')}", "id v w"),
    (f"select * from {CLAUSE.format(all='all rows per match')}", "id v w g"),
    ("select a from t as s(a, b, c, d)", "id"),
    ("select t.v from t cross join unnest(array[w]) as u(x)", "id v w g"),
])
def test_columns_that_are_read(query: str, expected: str) -> None:
    names = ("id", "v", "w", "g")
    kind = find_dialect("sql")
    columns = run_rows("select 1, 1, 1, 1", {})[0]
    plan = compile_query(query, kind, {"t": tuple(SqlColumn(name, column.type) for name, column in zip(names, columns))})
    read = columns_read(plan)
    assert ({*names} if read is None else {names[place] for place in read["t"]}) == {*expected.split()}


def _without(query: str, columns: Sequence[SqlColumn], rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows, with null in each column that the query does not read."""
    read = columns_read(compile_query(query, find_dialect("sql"), {"tt": tuple(columns)}))
    if read is None:
        return list(rows)
    return [tuple(value if place in read.get("tt", ()) else None for place, value in enumerate(row)) for row in rows]


def test_columns_that_are_not_read_change_nothing() -> None:
    """Over the recorded queries, their table being one of the catalog."""
    columns, rows = run_rows(f"select * from {RECORDED['T']}", {})
    names = ", ".join(column.name or "" for column in columns)
    fewer = 0
    for recorded in RECORDED["queries"][::2]:
        if "{T}" not in recorded["query"]:
            continue
        query = recorded["query"].replace("{T}", f"tt as t({names})")
        try:
            expected = run_rows(query, {"tt": (columns, rows)})[1]
        except EplError:
            continue
        less = _without(query, columns, rows)
        assert shown(run_rows(query, {"tt": (columns, less)})[1]) == shown(expected), query
        fewer += less != list(rows)
    assert fewer > 100


@pytest.mark.parametrize("name", [name for name in ODD.schema.names if name != "id"])
def test_what_sql_does_not_have_is_refused_where_it_is_read(name: str) -> None:
    assert Runtime.sql("select id from t where id > 1", {"t": ODD}).to_pydict() == {"id": [2]}
    with pytest.raises(QueryFailed, match=f"column '{name}' of 't'") as refusal:
        Runtime.sql(f"select {name} from t", {"t": ODD})
    assert refusal.value.hint == "cast it before the query, or leave it out of it"
    with pytest.raises(QueryFailed, match="are not supported: column 'of_map' of 't'"):
        Runtime.sql("select * from t", {"t": ODD})


def test_a_type_that_sql_does_not_have_is_named_before_what_it_leads_to() -> None:
    with pytest.raises(QueryFailed, match="columns of type map<string, int64> are not supported: column 'of_map'"):
        Runtime.sql("select element_at(of_map, 'a') from t", {"t": ODD})


def test_a_column_that_arrow_cannot_hold_is_refused_where_it_is_read() -> None:
    frame = pandas.DataFrame({"id": [1, 2], "mixed": [1, "x"]})
    assert Runtime.sql("select id from t", {"t": frame}).to_pydict() == {"id": [1, 2]}
    with pytest.raises(QueryFailed, match="column 'mixed' of 't' cannot be read: Could not convert 'x'"):
        Runtime.sql("select mixed from t", {"t": frame})
