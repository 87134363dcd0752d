"""What queries cost: rows read, and indexes that stay."""

from __future__ import annotations

import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.stores import queried_rows
from runtime.stores.counting import counting

ROWS = 1_000


def filled(windows: str = "#keepall") -> Runtime:
    runtime = Runtime()
    runtime.deploy(f"create schema E(k int, v int); create window W{windows} as E; insert into W select * from E; "
                   "create window V#keepall as (id int)")
    for n in range(ROWS):
        runtime.send("E", {"k": n, "v": n % 10})
    runtime.query("insert into V values (5), (6)")
    return runtime


def indexes(runtime: Runtime) -> list[str]:
    (store,) = (store for event_type, store in internal_engine(runtime).core.stores.items() if event_type.name == "W")
    return [index.title for index in store.rows.indexes]


@pytest.mark.parametrize("text, rows", [
    ("select * from W where k = ?:k:int", 1), ("select * from W where ?:k:int = k and v > 3", 1),
    ("update W set v = 3 where k = ?:k:int", 1), ("delete from W where k = ?:k:int", 1),
    ("select * from W as w, V where w.k = V.id and w.k = ?:k:int", 3), ("select (select v from W where k = ?:k:int) as x from V", 4),
    ("select * from W, V where W.k = V.id and V.id = ?:k:int", 2),
])
def test_an_equality_reads_no_other_rows(text: str, rows: int) -> None:
    with counting() as counts:
        runtime = filled()
        query = runtime.prepare_query(text)
        query.execute({"k": 5})
        before = counts.rows
        query.execute({"k": 6})
        assert counts.rows - before <= rows


@pytest.mark.parametrize("windows", ["#unique(k)", "#sort(10000, k desc)", "#time(1 hour)"])
def test_rows_come_in_the_order_of_the_window(windows: str) -> None:
    runtime = filled(windows)
    query = runtime.prepare_query("select k from W where v = ?::int")
    assert query.execute([7]) == [{"k": row.k} for row in runtime.query("select * from W") if row.v == 7]


def test_a_single_query_is_indexed_when_it_comes_again() -> None:
    runtime = filled()
    runtime.query("select * from W where k = 1")
    assert indexes(runtime) == []
    assert runtime.query("select v from W where k = 12") == [{"v": 2}]
    assert indexes(runtime) == ["hash (k)"]


def test_indexes_that_are_not_used_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queried_rows, "MOST_KEPT", 2)
    runtime = filled()
    queries = [runtime.prepare_query(f"select k from W where {key} = 13") for key in ("k", "v", "k + 1")]
    for _ in range(2):
        assert [query.execute() for query in queries] == [[{"k": 13}], [], [{"k": 12}]]
        assert len(indexes(runtime)) == 2
    runtime.query("insert into W values (13, 1)")
    assert [len(query.execute()) for query in queries] == [2, 0, 1]


def test_explain_names_the_index() -> None:
    runtime = filled()
    assert runtime.prepare_query("select k from W where k = ?::int").explain().splitlines()[0] == "select query → k Integer"
    assert "hash (k)" in runtime.prepare_query("select k from W where k = ?::int").explain()
    assert "delete query" in runtime.prepare_query("delete from W where v > 3").explain()
    assert "hash (id)" in runtime.prepare_query("select * from W, V where W.k = V.id").explain()
