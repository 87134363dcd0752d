"""Runtime.query and Runtime.prepare_query."""

from __future__ import annotations

import pickle
import sqlite3
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplDeploymentError, EplRuntimeError, EplSyntaxError, EplUnsupportedError, EplValidationError
from runtime import Runtime

WINDOW = """
    create schema Trade(symbol string, size long);
    create window Trades#keepall as Trade;
    insert into Trades select * from Trade;
    @name('total') select sum(size) as total from Trades;
"""


@pytest.fixture
def runtime() -> Runtime:
    runtime = Runtime()
    runtime.deploy(WINDOW)
    for symbol, size in (("a", 1), ("b", 2), ("a", 3), (None, 4)):
        runtime.send("Trade", {"symbol": symbol, "size": size})
    return runtime


def dicts(rows: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


# ------------------------------------------------------------------ results


def test_result_is_rows(runtime: Runtime) -> None:
    rows = runtime.query("select symbol, size from Trades where size < 3")
    assert rows == [{"symbol": "a", "size": 1}, {"symbol": "b", "size": 2}]
    assert rows[0].symbol == "a" and "<table>" in rows._repr_html_()
    assert rows.to_pandas()["size"].tolist() == [1, 2]
    assert rows.to_arrow().to_pylist() == dicts(rows)
    assert pickle.loads(pickle.dumps(rows)) == rows


def test_columns_are_known_without_rows(runtime: Runtime) -> None:
    rows = runtime.query("select symbol, size * 2 as twice from Trades where size > 100")
    assert rows == [] and list(rows.to_pandas().columns) == ["symbol", "twice"]
    assert rows.to_arrow().schema.names == ["symbol", "twice"]


def test_result_of_a_change_is_what_has_changed(runtime: Runtime) -> None:
    assert runtime.query("insert into Trades values ('c', 5L)") == [{"symbol": "c", "size": 5}]
    assert runtime.query("update Trades set size = size * 10 where symbol = 'a'") == [
        {"symbol": "a", "size": 10}, {"symbol": "a", "size": 30}]
    assert runtime.query("delete from Trades where symbol is null") == [{"symbol": None, "size": 4}]
    assert runtime.statement("total").rows() == [{"total": 47}]


# ------------------------------------------------------------------ parameters


def test_a_query_for_a_module_sees_what_is_protected_there(runtime: Runtime) -> None:
    runtime.deploy("module one; @protected create window Own#keepall as (x int)")
    runtime.deploy("module two; @protected create window Own#keepall as (y string)")
    runtime.query(runtime.compile_query("insert into Own values (1)", module="one"))
    runtime.query(runtime.compile_query("insert into Own values ('a')", module="two"))
    for module, row in (("one", {"x": 1}), ("two", {"y": "a"})):
        plan = runtime.compile_query("select * from Own", module=module)
        assert dicts(runtime.prepare_query(plan).execute()) == [row]
    with pytest.raises(EplValidationError, match="'Own'"):
        runtime.query("select * from Own")


def test_parameters_by_position_name_and_order(runtime: Runtime) -> None:
    assert runtime.query("select size from Trades where symbol = ?::string", ["b"]) == [{"size": 2}]
    assert runtime.query("select size from Trades where symbol = ?::string", {1: "b"}) == [{"size": 2}]
    query = runtime.prepare_query("select size from Trades where symbol = ?:s:string and size > ?:least:int")
    assert query.parameters.keys() == {"s", "least"} and query.properties == {"size": "Long"}
    assert [query.execute({"s": "a", "least": least}) for least in (0, 1, 5)] == [[{"size": 1}, {"size": 3}], [{"size": 3}], []]


def test_a_null_parameter_equals_nothing(runtime: Runtime) -> None:
    query = runtime.prepare_query("select size from Trades where symbol = ?::string")
    assert query.execute([None]) == [] and query.execute(["b"]) == [{"size": 2}]
    assert runtime.query("select size, ?::string is null as n from Trades limit 1", [None]) == [{"size": 1, "n": True}]


def test_parameters_in_changes(runtime: Runtime) -> None:
    insert = runtime.prepare_query("insert into Trades(symbol, size) values (?:symbol:string, ?:size:long)")
    for size in (7, 8):
        insert.execute({"symbol": "p", "size": size})
    runtime.query("update Trades set size = ?:more:long + size where symbol = ?:symbol:string", {"more": 10, "symbol": "p"})
    assert runtime.query("select size from Trades where symbol = 'p'") == [{"size": 17}, {"size": 18}]


@pytest.mark.parametrize("parameters, words", [
    ((), "Missing values for substitution parameters, use prepare-parameterized instead"),
    ({"t": 1}, "Missing value for substitution parameter 's'"),
    ({"s": "a", "t": 1}, "There is no substitution parameter 't'"),
    ({"s": 5}, "Substitution parameter 's' is declared String and cannot hold 5"),
])
def test_refused_parameters(runtime: Runtime, parameters: Any, words: str) -> None:
    with pytest.raises(EplRuntimeError, match=words):
        runtime.query("select * from Trades where symbol = ?:s:string", parameters)


# ------------------------------------------------------------------ refusals


def test_refusals_have_a_position(runtime: Runtime) -> None:
    with pytest.raises(EplValidationError) as refused:
        runtime.query("select nothing from Trades")
    assert refused.value.position == (1, 8)
    with pytest.raises(EplSyntaxError):
        runtime.query("select from")
    with pytest.raises(EplUnsupportedError, match="Match_recognize"):
        runtime.query("select * from Trades match_recognize (measures A.size as s pattern (A) define A as true)")


def test_a_method_is_no_source_of_a_query(runtime: Runtime) -> None:
    def ones() -> list[dict[str, int]]:
        return [{"one": 1}]

    runtime.register_method("ones", ones, row={"one": int})
    with pytest.raises(EplValidationError, match="On-demand queries require tables or named windows"):
        runtime.query("select * from method:ones()")


def test_prepared_query_of_an_undeployed_window() -> None:
    runtime = Runtime()
    deployment = runtime.deploy("create window W#keepall as (a int)")
    queries = [runtime.prepare_query(text) for text in ("select * from W", "insert into W values (1)", "delete from W")]
    deployment.undeploy()
    for query in queries:
        with pytest.raises(EplDeploymentError, match="Named window 'W' cannot be found"):
            query.execute()


def test_a_closed_runtime_runs_no_query(runtime: Runtime) -> None:
    query = runtime.prepare_query("select * from Trades")
    runtime.close()
    for run in (query.execute, lambda: runtime.query("select 1")):
        with pytest.raises(EplRuntimeError, match="closed"):
            run()


# ------------------------------------------------------------------ historical sources


def test_select_from_databases_and_static_tables(runtime: Runtime) -> None:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table city (symbol text, name text)")
    database.executemany("insert into city values (?, ?)", [("a", "Ulm"), ("b", "Bonn")])
    runtime.register_database("ref", lambda: database)
    runtime.register("City", {"symbol": str, "name": str})
    assert runtime.query("select name from sql:ref ['select * from city'] @type(City) as c where symbol = 'b'") == [{"name": "Bonn"}]
    assert runtime.query(
        "select t.size as size, c.name as name from Trades as t, "
        "sql:ref ['select * from city where symbol = ${t.symbol}'] @type(City) as c where t.size > 1"
    ) == [{"size": 2, "name": "Bonn"}, {"size": 3, "name": "Ulm"}]
    import pyarrow

    runtime.register_table("Country", pyarrow.table({"symbol": ["a", "b"], "country": ["DE", "AT"]}))
    assert runtime.query("select country from Country where symbol = 'b'") == [{"country": "AT"}]
    assert runtime.query("select size, country from Trades as t, Country as c where t.symbol = c.symbol and t.size < 3") == [
        {"size": 1, "country": "DE"}, {"size": 2, "country": "AT"}]


# ------------------------------------------------------------------ all or nothing


def raising(value: int) -> int:
    if value > 2:
        raise ValueError("too large")
    return value


@pytest.mark.parametrize("text", [
    "update Trades set size = raising(size)", "delete from Trades where raising(size) > 0",
    "insert into Trades(size) values (raising(1)), (raising(3))", "select raising(size) from Trades",
    "update Trades set symbol = 'x', size = raising(size) where size > 0",
])
def test_a_failing_query_changes_nothing(runtime: Runtime, text: str) -> None:
    runtime.register_function("raising", raising)
    before = dicts(runtime.query("select * from Trades")), dicts(runtime.statement("total").rows()), runtime.snapshot()
    with pytest.raises(ValueError, match="too large"):
        runtime.query(text)
    assert (dicts(runtime.query("select * from Trades")), dicts(runtime.statement("total").rows()), runtime.snapshot()) == before


def test_what_a_query_changes_is_in_snapshots_and_pages(runtime: Runtime) -> None:
    pages = runtime.pages()
    store = pages.apply_to({})
    runtime.query("update Trades set size = 9 where symbol = 'b'")
    for saved in (runtime.pages(since=pages.mark).apply_to(store), runtime.snapshot()):
        assert Runtime.restore(saved).query("select size from Trades where symbol = 'b'") == [{"size": 9}]


# ------------------------------------------------------------------ listeners and threads


def test_consumers_have_a_change_when_the_query_returns(runtime: Runtime) -> None:
    seen: list[Any] = []
    runtime.statement("total").add_listener(lambda new, old, statement, runtime: seen.append(new[0].total))
    runtime.query("insert into Trades values ('c', 5L), ('d', 6L)")
    assert seen == [21]


def test_a_listener_queries_and_writes(runtime: Runtime) -> None:
    seen: list[Any] = []

    def listen(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        seen.append(runtime.query("select count(*) as n from Trades")[0].n)
        if len(seen) < 3:
            runtime.query("insert into Trades values ('from a listener', 1L)")

    runtime.statement("total").add_listener(listen)
    runtime.send("Trade", {"symbol": "z", "size": 1})
    assert seen == [5, 6, 7]


def test_batch_listeners_get_what_a_query_changes(runtime: Runtime) -> None:
    seen: list[Any] = []
    runtime.statement("total").add_batch_listener(lambda new, old, statement, runtime: seen.append(new.to_pylist()))
    runtime.query("insert into Trades values ('c', 5L)")
    assert seen == [[{"total": 15}]]


def test_queries_from_other_threads_see_whole_events(runtime: Runtime) -> None:
    """Two windows get each event: no query sees one of them without the other."""
    runtime.deploy("create window Copies#keepall as Trade; insert into Copies select * from Trade")
    runtime.query("delete from Trades")
    stop, wrong = threading.Event(), []

    def ask() -> None:
        query = runtime.prepare_query("select (select count(*) from Trades) as a, (select count(*) from Copies) as b")
        while not stop.is_set():
            row = query.execute()[0]
            if row.a != row.b:
                wrong.append(dict(row))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for size in range(2_000):
        runtime.send("Trade", {"symbol": "t", "size": size})
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and runtime.query("select count(*) as n from Copies")[0].n == 2_000


# ------------------------------------------------------------------ against a model

KINDS = st.sampled_from(("insert", "update", "delete", "select", "ask"))
ACTIONS = st.lists(st.tuples(KINDS, st.integers(0, 3), st.integers(0, 5)), max_size=30)


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.booleans())
def test_queries_equal_a_model(actions: list[tuple[str, int, int]], prepared: bool) -> None:
    runtime = Runtime()
    runtime.deploy("create window W#keepall as (k int, v int); @name('sum') select sum(v) as s from W")
    texts = {
        "insert": "insert into W values (?:k:int, ?:v:int)", "update": "update W set v = v + ?:v:int where k = ?:k:int",
        "delete": "delete from W where k = ?:k:int and v < ?:v:int", "select": "select k, v from W where k = ?:k:int and v >= ?:v:int",
        "ask": "select k, sum(v) as s from W where v != ?:v:int and k >= ?:k:int group by k order by k",
    }
    queries = {name: runtime.prepare_query(text).execute if prepared else lambda values, text=text: runtime.query(text, values)
               for name, text in texts.items()}
    model: list[list[int]] = []
    for action, k, v in actions:
        rows = [list(row.values()) for row in queries[action]({"k": k, "v": v})]
        if action == "insert":
            model.append([k, v])
            expected = [[k, v]]
        elif action == "update":
            expected = [row for row in model if row[0] == k]
            for row in expected:
                row[1] += v
            model = [row for row in model if row[0] != k] + expected
        elif action == "delete":
            expected = [row for row in model if row[0] == k and row[1] < v]
            model = [row for row in model if row not in expected]
        elif action == "select":
            expected = [row for row in model if row[0] == k and row[1] >= v]
        else:
            kept = [row for row in model if row[1] != v and row[0] >= k]
            expected = [[key, sum(row[1] for row in kept if row[0] == key)] for key in sorted({row[0] for row in kept})]
        assert rows == expected
        assert [list(row.values()) for row in runtime.query("select * from W")] == model
        assert runtime.statement("sum").rows() in ([], [{"s": sum(row[1] for row in model) if model else None}])


def test_rows_of_values_have_a_bound(runtime: Runtime) -> None:
    def insert(count: int) -> None:
        rows = ", ".join(["('a', 1L)"] * count)
        runtime.query(f"insert into Trades(symbol, size) values {rows}")

    insert(1000)
    with pytest.raises(EplValidationError, match=r"^Insert-into number-of-rows exceeds the maximum of 1000 rows"):
        insert(1001)
