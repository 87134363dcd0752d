"""Queries that go through products of their rows end in an error by name; those that grow with their tables do not."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from epl.dialects.errors import QueryFailed
from runtime import Runtime
from runtime.batch.dialects import matching, queries
from runtime.batch.dialects.queries import ColumnQueries
from runtime.dialects import step_limit
from runtime.dialects.limits import MOST_ROWS, QueryLimits
from runtime.dialects.sql import run_query
from tests.calls import calls

ROWS = 200
START = datetime.datetime(2024, 1, 1)
TABLE = pa.table({
    "k": [n % 100 for n in range(ROWS)], "n": range(ROWS), "v": [float(n % 7) for n in range(ROWS)],
    "ts": [START + datetime.timedelta(seconds=n) for n in range(ROWS)],
})  # fmt: skip


def clause(row_pattern: str, define: str, skip: str = "", measure: str = "COUNT(*) AS c") -> str:
    return f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {measure} {skip} PATTERN ({row_pattern}) DEFINE {define}) AS m"


PRODUCTS = {
    "theta join": "select count(*) from t a join t b on a.v + b.v > 100",
    "left join": "select count(*) from t a left join t b on a.n < b.n - 1000",
    "few equal keys": "with o as (select 1 as one, n from t) select count(*) from o a join o b on a.one = b.one and a.n > b.n + 900",
    "lateral": "select count(*) from t a cross join lateral (select b.n from t b where b.n > a.n + 1000) as c",
    "correlated": "select n, (select max(b.n) from t b where b.v > a.v) from t a",
    "exists": "select n from t a where exists (select 1 from t b where b.n > a.n + 1000)",
    "in, correlated": "select n from t a where n in (select b.n + a.n + 1 from t b)",
    "all": "select n from t where n > all (select -n from t)",
    "looks back": clause("A B* Z", "B AS B.v >= FIRST(A.v) - 100, Z AS Z.v > 100 + FIRST(A.v)"),
    "aggregates": clause("((A+)+)+ Z", "A AS v > -1, Z AS AVG(A.v) > 100"),
    "each row's match": clause("A B*", "B AS v > -1", "AFTER MATCH SKIP TO NEXT ROW"),
    "ydb: looks back": clause("A B* Z", "B AS B.v > FIRST(A.v) - 100, Z AS Z.v > 100 + FIRST(A.v)", measure="COUNT(B.v) AS c"),
    "flink: runs": clause("A B+ Z", "B AS B.v > -1, Z AS Z.v > 100", "AFTER MATCH SKIP TO NEXT ROW", "LAST(Z.v) AS c"),
}
LINEAR = {
    "equal keys": "select count(*) from t a join t b on a.n = b.n", "in": "select n from t where n in (select n + 1000 from t)",
    "not in": "select n from t where n not in (select n + 1000 from t)",
    "any": "select n from t where n < any (select n from t order by n desc)",
    "once": "select n from t where n > (select max(n) - 10 from t)",
    "rows alone": clause("A B* Z", "B AS v > -1, Z AS v > 100"), "runs": clause("A B+ C", "B AS B.v > PREV(B.v), C AS C.v < LAST(B.v)"),
}


def dialect_of(name: str) -> str:
    return name.partition(":")[0] if ":" in name else "sql"


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_limit, "STEPS_EACH", 10)
    monkeypatch.setattr(queries, "LEAST_ROWS_ONCE_LOADED", queries.LEAST_ROWS)
    with pytest.raises(QueryFailed, match=r"the query needs more than [79]000 steps") as failed:
        Runtime.sql(PRODUCTS[name], {"t": TABLE}, dialect=dialect_of(name), max_steps=5_000)
    assert failed.value.sql_code == "EXCEEDED_CPU_LIMIT"
    assert "max_steps=… of the call allows more" in str(failed.value.hint)
    for enough in (1_000_000, None):
        Runtime.sql(PRODUCTS[name], {"t": TABLE}, dialect=dialect_of(name), max_steps=enough)


@pytest.mark.parametrize("name", LINEAR)
def test_what_grows_with_the_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_limit, "STEPS_EACH", 60)
    Runtime.sql(LINEAR[name], {"t": TABLE}, max_steps=1)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_columns(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr(matching, "COMPILED_STATES_EACH", 1)
    else:
        monkeypatch.setattr(matching, "_loop", lambda: None)
    most = 100 if is_compiled else 5_000
    text = clause("A B* Z", "B AS B.v >= FIRST(A.v) - 100, Z AS Z.v > 100 + FIRST(A.v)")
    with pytest.raises(QueryFailed, match=r"the query needs more than 5[0-9]{3} steps"):
        run_query(text, {"t": TABLE}, by_columns=lambda frames: ColumnQueries(frames, 1), limits=QueryLimits(max_steps=most))
    for enough in (1_000_000, None):
        run_query(text, {"t": TABLE}, by_columns=lambda frames: ColumnQueries(frames, 1), limits=QueryLimits(max_steps=enough))


@pytest.mark.parametrize("limit", ["max_rows", "max_steps"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_what_is_no_limit_is_refused(limit: str, value: object) -> None:
    of_value, of_kind = (ValueError, ": expected a whole number of at least 1, or None"), (TypeError, r"\): expected int or None")
    error, expected = of_value if type(value) is int else of_kind
    with pytest.raises(error, match=f"{limit}={value!r}{expected}"):
        Runtime.sql("select n from t", {"t": TABLE}, **{limit: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("shown", ["n", "n + 0 as n", "n, k"])
def test_rows_are_counted_before_they_are_made(shown: str) -> None:
    selects = [f"select {shown} from a{level}" for level in range(30)]
    doubled = ", ".join(f"a{level} as ({select} union all {select})" for level, select in enumerate(selects, 1))
    with calls(most=1_000_000), pytest.raises(QueryFailed, match=f"UNION of more than {MOST_ROWS + ROWS} rows is not made"):
        Runtime.sql(f"with a0 as (select n, k from t), {doubled} select count(*) from a30", {"t": TABLE})


@pytest.mark.parametrize("text", [
    "select * from t where n < 0 union all select * from t", "select a.n from t a full join t b on a.n = b.n limit 3",
    "select * from t a, (select * from t limit 1) b", "select * from t a, (select distinct k from t where k < 2) b",
    "select * from t a left join (select n as x from t offset 150) b on a.n = b.x",
    "select a.n from t a, (values 1) b(x) order by n offset 190",
])  # fmt: skip
def test_rows_that_are_foreseen_are_no_more_than_those_made(text: str) -> None:
    assert Runtime.sql(text, {"t": TABLE}, max_rows=1).num_rows


@pytest.mark.parametrize(("text", "expected"), [
    ("n in (select n from t where n < 2)", [0, 1]), ("n not in (select n from t where n > 1)", [0, 1]),
    ("n in (select case when n < 2 then n end from t)", [0, 1]), ("n not in (select case when n < 2 then n end from t)", []),
    ("n not in (select n from t where false) and n < 2", [0, 1]), ("nullif(n, 1) not in (select n from t where n > 2)", [0, 2]),
    ("(n, k) in (select n, 1 from t)", [1, 101]), ("n < 3 and nan() in (select nan() from t)", []),
    ("n < 2 and array[n] in (select array[n] from t)", [0, 1]),
])  # fmt: skip
def test_membership(text: str, expected: list[int]) -> None:
    assert Runtime.sql(f"select n from t where {text}", {"t": TABLE})["n"].to_pylist() == expected
