"""Queries on tables."""

from __future__ import annotations

from typing import Any

import pandas
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplDeploymentError, EplRuntimeError
from runtime import Runtime
from runtime.stores.counting import counting

MODULE = """
    create schema Trade(symbol string, size int);
    create table Totals(symbol string primary key, note string, total sum(int));
    @name('totals') into table Totals select sum(size) as total from Trade group by symbol;
"""


@pytest.fixture
def runtime() -> Runtime:
    runtime = Runtime()
    runtime.deploy(MODULE)
    for symbol, size in (("a", 1), ("b", 2), ("a", 3)):
        runtime.send("Trade", {"symbol": symbol, "size": size})
    return runtime


def test_rows_are_those_of_the_moment(runtime: Runtime) -> None:
    rows = runtime.query("select * from Totals where symbol = 'a'")
    runtime.send("Trade", {"symbol": "a", "size": 10})
    assert rows == [{"symbol": "a", "note": None, "total": 4}]
    assert runtime.query("select total from Totals where symbol = 'a'") == [{"total": 14}]
    assert rows.to_pandas().to_dict("records")[0]["total"] == 4 and rows.to_arrow().num_rows == 1


def test_changes_return_no_rows_and_keep_aggregations(runtime: Runtime) -> None:
    assert runtime.query("update Totals set note = 'x' where total > 3") == []
    runtime.send("Trade", {"symbol": "a", "size": 1})
    assert runtime.query("select * from Totals where note = 'x'") == [{"symbol": "a", "note": "x", "total": 5}]
    assert runtime.query("delete from Totals where symbol = 'a'") == []
    assert runtime.query("select symbol from Totals") == [{"symbol": "b"}]


@pytest.mark.parametrize("text", [
    "insert into Totals(symbol) values ('n'), ('a')", "insert into Totals(symbol) values ('n'), ('n')", "update Totals set symbol = 'a'",
    "update Totals set symbol = 'b' where symbol = 'a'",
])
def test_a_violation_of_the_key_changes_nothing(runtime: Runtime, text: str) -> None:
    before = runtime.query("select * from Totals"), runtime.snapshot()
    with pytest.raises(EplRuntimeError, match="Unique index violation, index 'Totals' is a unique index"):
        runtime.query(text)
    assert (runtime.query("select * from Totals"), runtime.snapshot()) == before


def test_the_primary_key_is_looked_up_at_once() -> None:
    with counting() as counts:
        runtime = Runtime()
        runtime.deploy("create table T(k int primary key, j int primary key, v int)")
        runtime.fill("T", pa.table({name: pa.array(range(500), pa.int32()) for name in ("k", "j", "v")}))
        before = counts.rows
        assert runtime.query("select v from T where j = 7 and k = 7 and v > 3") == [{"v": 7}]
        assert runtime.query("select v from T where j = 7 and k = 8") == []
        assert runtime.query("update T set v = 1 where j = ?::int and k = ?::int", [9, 9]) == []
        query = runtime.prepare_query("select k from T where v = ?::int")
        assert query.execute([1]) == [{"k": 1}, {"k": 9}]
        assert counts.rows - before <= 2


def test_pages_and_snapshots_have_what_queries_change(runtime: Runtime) -> None:
    pages = runtime.pages()
    store = pages.apply_to({})
    runtime.query("update Totals set note = 'n' where symbol = 'b'")
    runtime.query("delete from Totals where symbol = 'a'")
    for saved in (runtime.pages(since=pages.mark).apply_to(store), runtime.snapshot()):
        assert Runtime.restore(saved).query("select * from Totals") == [{"symbol": "b", "note": "n", "total": 2}]


def test_a_table_is_filled_from_a_frame_and_read_as_one(runtime: Runtime) -> None:
    assert runtime.fill("Totals", pandas.DataFrame({"symbol": ["x", "y"], "note": ["1", None]})) == 2
    frame = runtime.query("select symbol, note from Totals where total is null order by symbol").to_arrow()
    assert frame.to_pylist() == [{"symbol": "x", "note": "1"}, {"symbol": "y", "note": None}]
    with pytest.raises(EplRuntimeError, match="Unique index violation"):
        runtime.fill("Totals", pa.table({"symbol": ["z", "x"], "note": ["1", "2"]}))
    with pytest.raises(EplRuntimeError, match="has no column 'note'"):
        runtime.fill("Totals", pa.table({"symbol": ["z"]}))
    with pytest.raises(EplRuntimeError, match="A named window or table 'Nothing' has not been declared"):
        runtime.fill("Nothing", pa.table({"symbol": ["z"]}))
    assert runtime.query("select count(*) as n from Totals") == [{"n": 4}]


def test_prepared_query_of_an_undeployed_table() -> None:
    runtime = Runtime()
    deployment = runtime.deploy("create table T(k int primary key)")
    query = runtime.prepare_query("select * from T where k = 1")
    deployment.undeploy()
    with pytest.raises(EplDeploymentError, match="Table 'T' cannot be found"):
        query.execute()


KINDS = st.sampled_from(("insert", "update", "move", "delete", "select"))
ACTIONS = st.lists(st.tuples(KINDS, st.integers(0, 4), st.integers(0, 4)), max_size=30)


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.booleans())
def test_queries_equal_a_model(actions: list[tuple[str, int, int]], prepared: bool) -> None:
    runtime = Runtime()
    runtime.deploy("create table T(k int primary key, v int)")
    texts = {
        "insert": "insert into T values (?:k:int, ?:v:int)", "update": "update T set v = v + ?:v:int where k = ?:k:int",
        "move": "update T set k = ?:v:int where k = ?:k:int", "delete": "delete from T where v = ?:v:int and k >= ?:k:int",
        "select": "select v from T where k = ?:k:int and v <= ?:v:int",
    }

    def run(name: str, values: dict[str, int]) -> list[Any]:
        rows = queries[name].execute(values) if prepared else runtime.query(texts[name], values)
        return [list(row.values()) for row in rows]

    queries = {name: runtime.prepare_query(text) for name, text in texts.items()}
    model: dict[int, int] = {}
    for action, k, v in actions:
        taken = (action == "insert" and k in model) or (action == "move" and k in model and v in model and v != k)
        if taken:
            with pytest.raises(EplRuntimeError, match="Unique index violation"):
                run(action, {"k": k, "v": v})
            continue
        rows = run(action, {"k": k, "v": v})
        if action == "insert":
            model[k] = v
        elif action == "update" and k in model:
            model[k] += v
        elif action == "move" and k in model:
            model[v] = model.pop(k)
        elif action == "delete":
            model = {key: value for key, value in model.items() if value != v or key < k}
        assert rows == ([[model[k]]] if action == "select" and k in model and model[k] <= v else [])
        assert sorted(tuple(row.values()) for row in runtime.query("select * from T")) == sorted(model.items())
