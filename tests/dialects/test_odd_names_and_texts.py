"""Quoted names with dots, and columns whose texts are not UTF-8."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from epl.dialects.errors import DialectError, QueryFailed
from runtime import Runtime

TABLE = pa.table({
    "a.b": ["x", "y", "x"], "k": [1, 2, 3], "st": [{"c.d": n, "e": n} for n in (4, 5, 6)],
    "r.s": [{"c.d": n} for n in (7, 8, 9)], "ts": pa.array([1, 2, 3], pa.timestamp("ms")),
})
MATCH = "t match_recognize (order by k measures {measures} {rows} pattern (A B) define B as {define}) as m"


def rows_of(query: str, dialect: str = "sql") -> list[dict[str, Any]]:
    return Runtime.sql(query, {"t": TABLE}, dialect=dialect).to_pylist()


@pytest.mark.parametrize(("query", "expected"), [
    ('select t."a.b" from t where t.k = 2', [{"a.b": "y"}]),
    ('select "u.v".k as k from t as "u.v" where "u.v"."a.b" = \'y\'', [{"k": 2}]),
    ('select "u.v"."a.b" as z from t as "u.v" order by "u.v".k desc limit 1', [{"z": "x"}]),
    ('select k from t as "u.v" where exists (select 1 from (values 2) as w(n) where n = "u.v".k)', [{"k": 2}]),
    ('select t.st."c.d" as d from t where k = 1', [{"d": 4}]),
    ('select t."r.s"."c.d" as d from t where k = 1', [{"d": 7}]),
    ('select * from ' + MATCH.format(measures='A."a.b" as f, last(B."a.b") as "g.h"', rows="one row per match",
                                     define='B."a.b" <> A."a.b" and B."a.b" <> prev(B."a.b")'), [{"f": "x", "g.h": "y"}]),
    ('select m."g.h" from ' + MATCH.format(measures='count(B."a.b") as "g.h"', rows="all rows per match",
                                           define='"a.b" = \'y\''), [{"g.h": 0}, {"g.h": 1}]),
    ('select * from ' + MATCH.format(measures='A.st."c.d" as f, B."r.s"."c.d" as g', rows="one row per match",
                                     define='B."r.s"."c.d" > A.st."c.d"'), [{"f": 4, "g": 8}]),
    ('select * from ' + MATCH.format(measures='"A.1".k as f', rows="one row per match", define="B.k = 3").replace("(A B)", '("A.1" B)'),
     [{"f": 2}]),
])
def test_dots_in_quoted_names(query: str, expected: list[dict[str, Any]]) -> None:
    assert rows_of(query) == expected


@pytest.mark.parametrize("dialect", ["flink", "ydb"])
def test_dots_in_names_in_back_quotes(dialect: str) -> None:
    order = "ts" if dialect == "flink" else "k"
    query = f"""select * from t match_recognize (order by {order} measures last(A.`a.b`) as f, last(B.`a.b`) as `g.h` one row per match
        after match skip past last row pattern (A B) define A as A.k > 0, B as B.`a.b` = 'y')"""
    assert rows_of(query, dialect) == [{"f": "x", "g.h": "y"}]


@pytest.mark.parametrize(("query", "message"), [
    ('select t."a.c" from t', "Column 't.a.c' cannot be resolved"),
    ("select t.a.b from t", "Column 't.a.b' cannot be resolved"),
    ('select "t.a".b from t', "Column 't.a.b' cannot be resolved"),
    ("select * from " + MATCH.format(measures="A.a.b as f", rows="one row per match", define="B.k = 2"),
     "Column a.b prefixed with label A cannot be resolved"),
    ("select * from " + MATCH.format(measures='A."a.c" as f', rows="one row per match", define="B.k = 2"),
     "Column a.c prefixed with label A cannot be resolved"),
])
def test_names_apart_are_no_name_with_dots(query: str, message: str) -> None:
    with pytest.raises(DialectError, match=message):
        rows_of(query)


TEXTS = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")])
LARGE = pa.Array.from_buffers(
    pa.large_string(), 2, [None, pa.py_buffer(b"\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"), pa.py_buffer(b"a\xff")])
UNREADABLE: dict[str, Any] = {
    "string": TEXTS, "large string": LARGE, "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1]), TEXTS),
    "struct": pa.StructArray.from_arrays([TEXTS], ["f"]), "list": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), TEXTS),
}


@pytest.mark.parametrize("column", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("query", [
    "select s from t", "select s, count(*) from t group by s", "select k from t order by s", "select max(s) from t where k > 0",
    "select * from t match_recognize (order by k measures last(A.s) as z pattern (A+) define A as A.k > 0)",
    "select * from t match_recognize (partition by s order by k measures A.k as z pattern (A) define A as A.k > 0)",
])
def test_a_column_whose_texts_are_not_utf_8_is_named(query: str, column: Any) -> None:
    table = pa.table({"good": ["a", "b"], "k": [1, 2], "s": column})
    assert Runtime.sql("select k from t", {"t": table}).num_rows == 2
    nested = pa.types.is_struct(column.type) or pa.types.is_list(column.type)
    if nested and ("max" in query or "order by s" in query or "group by s" in query):
        return
    with pytest.raises(QueryFailed, match=r"column 's' of 't' cannot be read: .*UTF") as refused:
        Runtime.sql(query, {"t": table})
    assert refused.value.sql_code == "INVALID_TABLE"
