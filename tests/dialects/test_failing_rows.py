"""An expression that fails on a row: the error has its line and column, in queries over tables and in statements."""
from __future__ import annotations

import pyarrow as pa
import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.api.faults import build_fault

TABLE = pa.table({"a": [1, 2], "b": [1, 0], "s": ["1", "x"]})
CLAUSE = "match_recognize (order by a measures A.a as a\n pattern (A) define A as 1 / b > 0) as m"


@pytest.mark.parametrize(("query", "words", "position"), [
    ("select a, 10 / b from t", "Division by zero", (1, 14)),
    ("select a,\n  cast(s as integer) from t", "Cannot cast 'x' to INT", (2, 3)),
    ("select a from t\nwhere 10 % b > 0", "Division by zero", (2, 10)),
    ("select sum(10 / b) from t", "Division by zero", (1, 15)),
    ("select a, max(10 / b) from t group by a", "Division by zero", (1, 18)),
    ("select abs(10 / b + 1) from t", "Division by zero", (1, 15)),
    ("select transform(array[0, 1], x -> 1 / x) from t", "Division by zero", (1, 38)),
    ("select array[1][3] from t", "Array subscript must be less than", (1, 8)),
    ("select t.a from t join t as u\non 1 / u.b = 1", "Division by zero", (2, 6)),
    ("select a,\n (select a from t) from t", "Scalar sub-query has returned multiple rows", (2, 2)),
    (f"select * from t {CLAUSE}", "Division by zero", (2, 28)),
])  # fmt: skip
def test_a_query_names_the_place(query: str, words: str, position: tuple[int, int]) -> None:
    with pytest.raises(EplRuntimeError, match=words) as caught:
        Runtime.sql(query, {"t": TABLE})
    assert caught.value.position == position
    assert f"at line {position[0]} column {position[1]}" in str(caught.value)


def test_try_still_gives_null() -> None:
    rows = Runtime.sql("select try(10 / b) as q, try(cast(s as integer)) as n from t", {"t": TABLE}).to_pylist()
    assert rows == [{"q": 10, "n": 1}, {"q": None, "n": None}]


@pytest.mark.parametrize("dialect", ["sql", "flink", "alibaba"])
@pytest.mark.parametrize("named", ["annotation", "argument"])
def test_a_statement_names_the_place(dialect: str, named: str) -> None:
    faults = []
    with Runtime(on_error=lambda error, name, event: faults.append(build_fault(runtime, error, name, event))) as runtime:
        runtime.deploy("create schema S(a long, b long)")
        if named == "annotation":
            runtime.deploy(f"@name('m') @Dialect('{dialect}')\nselect * from S {CLAUSE}")
        else:
            runtime.deploy(f"@name('m')\nselect * from S {CLAUSE}", dialect=dialect)
        for a in (1, 2):
            runtime.send("S", {"a": a, "b": 0})
        runtime.end_of_input()
    assert len(faults) == 2
    for fault in faults:
        assert fault.position == (3, 28)
        assert "'m' (line 3 column 28" in fault.message and "Division by zero" in fault.message
