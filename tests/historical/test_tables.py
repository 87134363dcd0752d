"""Static tables: frames as sources of rows, indexed once, refreshed by a call."""
from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import EplDeploymentError, EplRuntimeError, EplUnsupportedError, EplValidationError, Runtime
from runtime.api.runtime import internal_engine
from runtime.stores.counting import counting

DIMS = pa.table({"k": ["A", "B", "B", None], "w": [1, 2, 3, 4]})


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime() as made:
        made.register("Trade", {"k": str, "n": int})
        yield made


def emitted(runtime: Runtime, epl: str, *trades: tuple[Any, Any]) -> list[Any]:
    received: list[Any] = []
    statement = runtime.deploy(f"@name('s') {epl}")["s"]
    statement.add_listener(lambda new, old, s, r: received.append(([n.to_dict() for n in new], [o.to_dict() for o in old])))
    for k, n in trades:
        runtime.send("Trade", {"k": k, "n": n})
    return received


class WithStream:
    """What has nothing but an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return DIMS.__arrow_c_stream__(requested_schema)


FRAMES = {
    "a table": DIMS, "a batch": DIMS.combine_chunks().to_batches()[0], "a pandas frame": DIMS.to_pandas(), "an Arrow stream": WithStream(),
    "a dictionary column": pa.table({"k": DIMS["k"].dictionary_encode(), "w": DIMS["w"]}),
    "several chunks": pa.concat_tables([DIMS.slice(0, 1), DIMS.slice(1)]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(runtime: Runtime, kind: str) -> None:
    row_type = runtime.register_table("Dims", FRAMES[kind])
    assert {name: str(p.type) for name, p in row_type.properties.items()} == {"k": "String", "w": "Long"}
    assert emitted(runtime, "select d.w as w from Trade as t, Dims as d where t.k = d.k", ("A", 1), ("C", 1), (None, 1), ("B", 1)) == [
        ([{"w": 1}], []), ([{"w": 2}, {"w": 3}], [])]


def test_types_of_columns(runtime: Runtime) -> None:
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    row = {"b": True, "i": 1, "f": 0.5, "d": Decimal("1.50"), "s": "x", "day": day, "at": moment, "list": [1, 2], "map": {"x": 1}}
    runtime.register_table("Dims", pa.Table.from_pylist([row, dict.fromkeys(row)], schema=pa.schema([
        ("b", pa.bool_()), ("i", pa.int32()), ("f", pa.float64()), ("d", pa.decimal128(9, 2)), ("s", pa.string()), ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")), ("list", pa.list_(pa.int64())), ("map", pa.struct([("x", pa.int64())]))])))
    statement = runtime.deploy("select *, i + 1 as next, map.x as x, list[1] as other from Dims")[0]
    first, second = [r.to_dict() for r in statement]
    assert first == {**row, "next": 2, "x": 1, "other": 2} and set(second.values()) == {None}


def test_joins_of_every_kind(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    select = "select irstream t.k as k, d.w as w from "
    for join, expected in {
        "Trade#length(1) as t, Dims as d where d.k = t.k": [([("A", 1)], []), ([], [("A", 1)]), ([("B", 2), ("B", 3)], [])],
        "Trade#length(1) as t inner join Dims as d on d.k = t.k": [([("A", 1)], []), ([], [("A", 1)]), ([("B", 2), ("B", 3)], [])],
        "Trade#length(1) as t left outer join Dims as d on d.k = t.k": [
            ([("A", 1)], []), ([("C", None)], [("A", 1)]), ([("B", 2), ("B", 3)], [("C", None)])],
        "Dims as d right outer join Trade#length(1) as t on d.k = t.k": [
            ([("A", 1)], []), ([("C", None)], [("A", 1)]), ([("B", 2), ("B", 3)], [("C", None)])],
        "Dims as d left outer join Trade#length(1) as t on d.k = t.k": [([("A", 1)], []), ([], [("A", 1)]), ([("B", 2), ("B", 3)], [])],
        "Trade as t, Dims as d where d.w > t.n": [
            ([("A", 2), ("A", 3), ("A", 4)], []), ([("C", 3), ("C", 4)], []), ([("B", 4)], [])],
        "Trade as t, Dims as d where d.w between t.n and 2": [
            ([("A", 1), ("A", 2)], []), ([("C", 2)], []), ([("B", 2), ("B", 3)], [])],
    }.items():
        deltas = emitted(runtime, select + join, ("A", 1), ("C", 2), ("B", 3))
        assert [tuple([tuple(row.values()) for row in rows] for rows in delta) for delta in deltas] == expected, join
        runtime.undeploy_all()


def test_several_tables_and_other_sources(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    runtime.register_table("Names", pd.DataFrame({"w": [1, 2, 3], "name": ["one", "two", "three"]}), keys=["w"])
    runtime.register_method("spell", lambda name: list(name)[:1] and [{"letter": name[0]}], row={"letter": str})
    epl = """select n.name as name, s.letter as l from Trade as t, Dims as d, Names as n, method:spell(n.name) as s
      where t.k = d.k and d.w = n.w"""
    assert emitted(runtime, epl, ("B", 1)) == [([{"name": "two", "l": "t"}, {"name": "three", "l": "t"}], [])]


def test_a_table_alone_is_iterated(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    assert [row.to_dict() for row in runtime.deploy("select k, sum(w) as s from Dims where w < 4 group by k")[0]] == [
        {"k": "A", "s": 1}, {"k": "B", "s": 5}]
    assert runtime.deploy("select w from Dims order by w desc limit 1")[0].to_pandas()["w"].tolist() == [4]
    assert runtime.deploy("select k, w from Dims")[0].to_arrow().num_rows == 4


# ------------------------------------------------------------------ refreshing


def test_refresh_replaces_the_rows_for_all_statements(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    received: list[Any] = []
    for name in "ab":
        runtime.deploy(f"@name('{name}') select irstream d.w as w from Trade#length(1) as t, Dims as d where t.k = d.k", listeners={
            name: lambda new, old, s, r: received.append(([n["w"] for n in new], [o["w"] for o in old]))})
    alone = runtime.deploy("select count(*) as c from Dims")[0]
    runtime.send("Trade", {"k": "A", "n": 1})
    runtime.refresh_table("Dims", pa.table({"more": [0, 0], "w": pa.array([10, 20], pa.int32()), "k": ["A", "B"]}))
    assert received == [([1], [])] * 2 and [row["c"] for row in alone] == [2]
    runtime.send("Trade", {"k": "B", "n": 1})
    assert received[2:] == [([20], [10])] * 2, "what leaves is looked up in the rows of now"
    runtime.refresh_table("Dims", pd.DataFrame({"k": [], "w": []}))
    runtime.send("Trade", {"k": "A", "n": 1})
    assert len(received) == 4


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pa.table({"k": ["A"]}), "Static table 'Dims': the frame has no column 'w'"),
        (pa.table({"k": ["A"], "w": ["x"]}), "Event type 'Dims': property 'w' is declared Long and cannot hold 'x'"),
        (pa.table({"k": ["A", "A"], "w": [1, 2]}), "Static table 'Dims' has several rows of the key k='A'"),
        ([{"k": "A", "w": 1}], "Static table 'Dims' cannot be built from list"),
    ],
)
def test_a_refresh_that_is_refused_changes_nothing(runtime: Runtime, frame: Any, message: str) -> None:
    runtime.register_table("Dims", pa.table({"k": ["A", "B"], "w": [1, 2]}), keys="k")
    statement = runtime.deploy("select w from Dims")[0]
    with pytest.raises(EplRuntimeError, match=message):
        runtime.refresh_table("Dims", frame)
    assert [row["w"] for row in statement] == [1, 2]


def test_only_registered_tables_are_refreshed(runtime: Runtime) -> None:
    with pytest.raises(EplRuntimeError, match="Static table 'Dims' has not been registered"):
        runtime.refresh_table("Dims", DIMS)


# ------------------------------------------------------------------ names and keys


@pytest.mark.parametrize(
    ("frame", "keys", "message"),
    [
        (DIMS, "k", "Static table 'Dims' has several rows of the key k='B'"),
        (DIMS, ["w", "nosuch"], "Static table 'Dims' has no column 'nosuch'"),
        ({"k": ["A"]}, (), "Static table 'Dims' cannot be built from dict"),
        (pa.table([pa.array([1]), pa.array([2])], names=["k", "k"]), (), "more than one column 'k'"),
        (pd.DataFrame({"k": [1, "x"]}), (), "Static table 'Dims' cannot be read"),
        (pa.table({"k": pa.array([b"x"])}), (), "columns of type binary are not supported"),
    ],
)
def test_frames_that_are_refused(runtime: Runtime, frame: Any, keys: Any, message: str) -> None:
    with pytest.raises(EplDeploymentError, match=message):
        runtime.register_table("Dims", frame, keys=keys)


def test_keys_of_several_columns_and_nulls(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS, keys=["k", "w"])
    runtime.register_table("Nulls", pa.table({"k": ["A", None, None]}), keys="k")


def test_names_do_not_collide(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    runtime.deploy("create schema Declared(k string)")
    for name, message in {
        "Dims": "Static table 'Dims' has already been registered", "Trade": "Event type named 'Trade' has already been declared",
        "Declared": "Event type named 'Declared' has already been declared",
    }.items():
        with pytest.raises(EplDeploymentError, match=message):
            runtime.register_table(name, DIMS)
    with pytest.raises(EplDeploymentError, match="Event type named 'Dims' has already been declared"):
        runtime.register("Dims", {"k": str})
    for epl in ("create schema Dims(k string)", "insert into Dims select * from Trade"):
        with pytest.raises(EplValidationError, match="Event type named 'Dims' has already been declared"):
            runtime.deploy(epl)


@pytest.mark.parametrize(
    ("epl", "error", "message"),
    [
        ("select * from Dims#keepall", EplValidationError, "Historical data joins do not allow views onto the data, view 'keepall' is not"),
        ("select * from Dims(w > 1)", EplUnsupportedError, "A filter of the static table 'Dims' is not supported"),
        ("select (select w from Dims) as w from Trade", EplUnsupportedError, "A sub-query over the static table 'Dims' is not supported"),
        ("select * from Dimz", EplValidationError, "Failed to resolve event type, named window or table by name 'Dimz'"),
        ("select prior(1, w) as p from Dims", EplValidationError, "Prior function cannot be used on a historical stream"),
    ],
)
def test_what_a_table_does_not_take(runtime: Runtime, epl: str, error: type[Exception], message: str) -> None:
    runtime.register_table("Dims", DIMS)
    with pytest.raises(error, match=message):
        runtime.deploy(epl)


# ------------------------------------------------------------------ cost, state


def test_an_event_reads_only_the_rows_that_match(runtime: Runtime) -> None:
    reads = {}
    for size in (100, 10_000):
        with counting() as counts:
            runtime.register_table(f"Dims{size}", pa.table({"k": [f"k{n}" for n in range(size)], "w": range(size)}), keys="k")
            epl = f"select d.w as w from Trade as t, Dims{size} as d where d.k = t.k"
            deltas = emitted(runtime, epl, ("k7", 1), ("k9", 1), ("nosuch", 1))
        assert deltas == [([{"w": 7}], []), ([{"w": 9}], [])]
        reads[size] = (counts.rows, counts.conditions)
    assert reads[100] == reads[10_000] == (2, 0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 3)), max_size=6),
       st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 3)), max_size=6), st.sampled_from(["=", "<", ">="]))
def test_a_table_equals_a_keepall_window(rows: list[Any], trades: list[Any], operator: str) -> None:
    columns = {"k": pa.array([k for k, _ in rows], pa.string()), "w": pa.array([w for _, w in rows], pa.int64())}
    where = f"where d.k = t.k and d.w {operator} t.n"
    outputs = []
    for has_table in (True, False):
        with Runtime() as runtime:
            runtime.register("Trade", {"k": str, "n": int})
            if has_table:
                runtime.register_table("Dims", pa.table(columns))
            else:
                runtime.register("Dims", {"k": str, "w": int})
            source = "Dims" if has_table else "Dims#keepall"
            select = "select irstream t.n as n, d.w as w"
            statement = runtime.deploy(f"@name('s') {select} from Trade#length(2) as t, {source} as d {where}")["s"]
            for k, w in () if has_table else rows:
                runtime.send("Dims", {"k": k, "w": w})
            deltas: list[Any] = []
            statement.add_listener(lambda new, old, s, r, to=deltas: to.append([sorted(map(repr, map(dict, part))) for part in (new, old)]))
            for k, n in trades:
                runtime.send("Trade", {"k": k, "n": n})
            outputs.append((deltas, sorted(repr(dict(row)) for row in statement)))
    assert outputs[0] == outputs[1]


def test_a_snapshot_goes_on_with_the_table_that_is_registered_then(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    runtime.deploy("@name('s') select irstream d.w as w from Trade#length(1) as t, Dims as d where t.k = d.k")
    runtime.send("Trade", {"k": "A", "n": 1})
    blob = runtime.snapshot()
    assert b"Dims" in blob and blob == runtime.snapshot()
    other = pa.table({"k": ["A", "B"], "w": [7, 8]})
    with Runtime.restore(blob, register=lambda r: r.register_table("Dims", other)) as restored:
        received: list[Any] = []
        restored.statement("s").add_listener(lambda new, old, s, r: received.append(([n["w"] for n in new], [o["w"] for o in old])))
        restored.send("Trade", {"k": "B", "n": 1})
        assert received == [([8], [7])]
    with pytest.raises(EplRuntimeError, match="statement 's' of deployment 'd0' is not the one in the snapshot"):
        Runtime.restore(blob, register=lambda r: r.register_table("Dims", pa.table({"k": ["A"], "w": ["text"]})))


def test_sources_are_shared_with_a_restored_runtime(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    runtime.register_method("m", lambda: [{"v": 1}], row={"v": int})
    runtime.deploy("@name('s') select m.v as v, d.w as w from Dims as d, method:m() as m where d.w = m.v")
    with Runtime.restore(runtime.snapshot(), register=runtime.share_sources) as restored:
        assert [row.to_dict() for row in restored.statement("s")] == [{"v": 1, "w": 1}]


def test_an_index_goes_with_the_last_statement_that_needs_it(runtime: Runtime) -> None:
    runtime.register_table("Dims", DIMS)
    rows = internal_engine(runtime).definitions.historical.tables["Dims"].rows
    kept = runtime.deploy("select * from Trade as t, Dims as d where t.k = d.k")
    for n in range(9):
        ranged, equal = f"select * from Trade as t, Dims as d where t.n < d.w + {n}", "select * from Trade as t, Dims as d where t.k = d.k"
        deployment = runtime.deploy(f"{ranged}; {equal}")
        runtime.send("Trade", {"k": "A", "n": n})
        assert len(rows.indexes) == 2
        runtime.undeploy(deployment.id)
    assert len(rows.indexes) == 1
    runtime.refresh_table("Dims", DIMS)
    runtime.undeploy(kept.id)
    assert not rows.indexes
