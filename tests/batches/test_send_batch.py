"""send_batch: one ordered sequence of rows, time by span, everything checked before anything is done, and no trace of the cut."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pandas
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import EplRuntimeError, Runtime, Settings

MODULE = """
create schema A(k string, v int);
create schema B(k string, v int);
insert into C select k as k, v as v from A;
insert into C select k as k, v as v from B;
@name('sliding') select irstream k as k, sum(v) as total from C#time(10) group by k;
@name('tumbling') select k as k, v as v from C#time_batch(7);
@name('quiet') select k as k, v as v from C#time_accum(4);
@name('pattern') select * from C match_recognize (
  partition by k measures a.v as av, last(b.v) as bv pattern (a b*) interval 5 seconds define a as a.v > 2, b as b.v <= a.v);
"""
SECONDS = 1000


def listen(runtime: Runtime, module: str = MODULE) -> list[tuple[Any, ...]]:
    """Deploys the module and gives the list into which all output goes."""
    heard: list[tuple[Any, ...]] = []
    for statement in runtime.deploy(module):
        if statement.properties:
            statement.add_listener(
                lambda new, old, s, r: heard.append((r.now, s.name, [n.to_dict() for n in new], [o.to_dict() for o in old]))
            )
    return heard


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    """(time, sequence, k, v) rows of one type."""
    times, sequences, keys, values = zip(*rows) if rows else ((), (), (), ())
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()),
            "n": pa.array(sequences, pa.int64()),
            "k": pa.array(keys, pa.string()),
            "v": pa.array(values, pa.int32()),
        }
    )


Row = tuple[int, int, str, int, str]
"""time, sequence, k, v, type."""


def batch(rows: list[Row]) -> dict[str, pa.Table]:
    return {name: table([r[:4] for r in rows if r[4] == name]) for name in ("A", "B")}


def one_by_one(rows: list[Row]) -> list[tuple[Any, ...]]:
    with Runtime() as runtime:
        heard = listen(runtime)
        for ts, _, k, v, name in rows:
            runtime.advance_time_span(ts)
            runtime.send(name, {"k": k, "v": v})
        runtime.advance_time_span(1000 * SECONDS)
        return heard


def test_the_statements_of_the_cut_test_do_put_something_out() -> None:
    rows: list[Row] = [(n * 1500, n, "xy"[n % 2], n % 6, "AB"[n % 2]) for n in range(20)]
    assert {name for _, name, *_ in one_by_one(rows)} >= {"sliding", "tumbling", "quiet", "pattern"}


ROWS = st.lists(st.tuples(st.integers(0, 60), st.sampled_from("xy"), st.integers(0, 5), st.sampled_from("AB")), max_size=25)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.data())
def test_the_cut_into_batches_and_heartbeats_never_show(drawn: list[tuple[int, str, int, str]], data: st.DataObject) -> None:
    ordered = sorted(drawn, key=lambda r: r[0])
    rows: list[Row] = [(r[0] * SECONDS // 2, n, r[1], r[2], r[3]) for n, r in enumerate(ordered)]
    expected = one_by_one(rows)
    with Runtime() as runtime:
        heard = listen(runtime)
        at = 0
        while at < len(rows):
            size = data.draw(st.integers(1, len(rows) - at))
            piece = data.draw(st.permutations(rows[at : at + size]))
            runtime.send_batch(batch(piece), time="ts", sequence="n")
            at += size
            if at < len(rows) and data.draw(st.booleans()):
                runtime.advance_time_span(data.draw(st.integers(runtime.now, rows[at][0])))
        runtime.advance_time_span(1000 * SECONDS)
    assert heard == expected


def test_rows_of_all_types_are_merged_by_time_sequence_type_and_row() -> None:
    with Runtime() as runtime:
        heard = listen(runtime, "create schema A(i int); create schema B(i int); @name('a') select i from A; @name('b') select i from B;")
        a = pa.table({"i": pa.array([1, 2, 3], pa.int32()), "ts": [20, 10, 20], "n": [1, 0, 0]})
        b = pa.table({"i": pa.array([4, 5], pa.int32()), "ts": [10, 20], "n": [0, 0]})
        runtime.send_batch({"B": b, "A": a}, time="ts", sequence="n")
        assert [(at, rows[0]["i"]) for at, _, rows, _ in heard] == [(10, 4), (10, 2), (20, 5), (20, 3), (20, 1)]
        heard.clear()
        runtime.send_batch({"B": b.select(["i"]), "A": a.select(["i"])})
        assert [(at, rows[0]["i"]) for at, _, rows, _ in heard] == [(20, 4), (20, 5), (20, 1), (20, 2), (20, 3)], (
            "no time, no order, no clock"
        )


def test_each_type_may_have_its_own_time_column() -> None:
    with Runtime() as runtime:
        heard = listen(runtime, "create schema A(i int); create schema B(i int); @name('a') select i from A; @name('b') select i from B;")
        a, b = pa.table({"i": pa.array([1], pa.int32()), "at": [20]}), pa.table({"i": pa.array([2], pa.int32()), "when": [10]})
        runtime.send_batch({"A": a, "B": b}, time={"A": "at", "B": "when"})
        assert [rows[0]["i"] for _, _, rows, _ in heard] == [2, 1]
        with pytest.raises(EplRuntimeError, match="Event type 'B' has no time column"):
            runtime.send_batch({"A": a, "B": b}, time={"A": "at"})


ONE = "create schema T(i int, s string); @name('s') select * from T;"
GOOD = pa.table({"i": pa.array([1, 2], pa.int32()), "s": ["a", "b"], "ts": [1000, 2000]})


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"i": ["1", "2"]}, {}, "Event type 'T': property 'i' is declared Integer and cannot hold '1' (str) of row 0"),
        ({"i": pa.array([1, 2**40])}, {}, "property 'i' is declared Integer and cannot hold 1099511627776 (int) of row 1"),
        ({"i": [1, 2.5]}, {}, "property 'i' is declared Integer and cannot hold 1.0 (float) of row 0"),
        ({"i": None}, {}, "Event type 'T': the table has no column 'i'"),
        ({"j": [1, 2]}, {}, "Event type 'T' has no property 'j'"),
        ({"ts": [3000, 500]}, {}, "the time of row 1, column 'ts', is 500, below the engine time 1000"),
        ({"ts": [3000, None]}, {}, "the time of row 1, column 'ts', is null"),
        ({"ts": [3000.0, 4000.0]}, {}, "the time of row 0, column 'ts', is 3000.0 (float)"),
        ({"ts": ["x", "y"]}, {}, "the time of row 0, column 'ts', is 'x' (str)"),
        ({"ts": None}, {}, "the table has no column 'ts'"),
        ({"n": pa.array([1, None])}, {"sequence": "n"}, "the sequence of row 1, column 'n', is null"),
        ({}, {"late": "drop"}, "late is 'refuse' or 'keep', not 'drop'"),
        ({}, {"time_mode": "slow"}, "time_mode is 'span' or 'jump', not 'slow'"),
    ],
)
def test_a_refused_batch_changes_nothing(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    columns = {**dict(zip(GOOD.column_names, GOOD.columns)), **change}
    with Runtime(start_time=1000) as runtime:
        heard = listen(runtime, ONE)
        with pytest.raises(EplRuntimeError) as caught:
            runtime.send_batch("T", pa.table({k: v for k, v in columns.items() if v is not None}), **{"time": "ts", **options})
        assert message in str(caught.value)
        assert heard == [] and runtime.now == 1000 and runtime.next_scheduled_time is None


def test_one_bad_type_refuses_the_other_types_too() -> None:
    with Runtime() as runtime:
        heard = listen(runtime)
        good = table([(5, 0, "x", 1)])
        with pytest.raises(EplRuntimeError, match="Event type 'B': the table has no column 'v'"):
            runtime.send_batch({"A": good, "B": good.drop_columns(["v"])}, time="ts", sequence="n")
        assert heard == [] and runtime.now == 0
        with pytest.raises(EplRuntimeError, match="sequence columns cannot be compared"):
            runtime.send_batch({"A": good, "B": good.set_column(1, "n", pa.array(["x"]))}, time="ts", sequence="n")
        assert heard == [] and runtime.now == 0


def test_late_rows_are_kept_at_the_current_time_before_the_others() -> None:
    with Runtime(start_time=1000) as runtime:
        heard = listen(runtime, ONE)
        rows = pa.table({"i": pa.array([1, 2, 3, 4], pa.int32()), "s": ["a"] * 4, "ts": pa.array([1500, 900, None, 800])})
        runtime.send_batch("T", rows, time="ts", late="keep")
        assert [(at, new[0]["i"]) for at, _, new, _ in heard] == [(1000, 4), (1000, 2), (1000, 3), (1500, 1)]


@pytest.mark.parametrize(("unit", "expected"), [("milliseconds", [-1, 1]), ("microseconds", [-1, 1500])])
def test_timestamps_are_engine_time_rounded_down_and_utc_where_they_have_no_zone(unit: str, expected: list[int]) -> None:
    micros = pa.array([-1, 1500], pa.timestamp("us"))
    for times in (micros, micros.cast(pa.timestamp("us", tz="Asia/Tokyo")), pa.array([-1000, 1_500_999], pa.timestamp("ns", tz="UTC"))):
        with Runtime(start_time=-1000, settings=Settings(time_unit=unit)) as runtime:
            runtime.deploy("create schema T(ts long, happened java.util.Date);")
            heard = listen(runtime, "@name('s') select ts, happened from T;")
            runtime.send_batch("T", pa.table({"ts": times, "happened": times}), time="ts")
            assert [at for at, *_ in heard] == expected == [new[0]["ts"] for _, _, new, _ in heard]
            assert heard[1][2][0]["happened"] == datetime.datetime(1970, 1, 1, 0, 0, 0, 1500, datetime.timezone.utc)


def test_time_moves_by_span_or_jumps() -> None:
    module = "create schema T(i int); @name('s') select count(*) as c from T#time_batch(1 sec);"
    rows = pa.table({"i": pa.array([1, 2], pa.int32()), "ts": [0, 3500]})
    for mode, expected in (("span", [1000, 2000]), ("jump", [3500])):
        with Runtime() as runtime:
            heard = listen(runtime, module)
            runtime.send_batch("T", rows, time="ts", time_mode=mode)
            assert [at for at, *_ in heard][: len(expected)] == expected


def test_a_gap_with_too_many_timers_is_refused_where_it_stands() -> None:
    with Runtime() as runtime:
        listen(runtime, "create schema T(i int); @name('s') select count(*) as c from T#time_batch(1 sec, \"FORCE_UPDATE\");")
        rows = pa.table({"i": pa.array([1, 2], pa.int32()), "ts": [0, 3_000_000_000]})
        with pytest.raises(EplRuntimeError, match="more than 20 timers are due on the way, the clock is at 20000"):
            runtime.send_batch("T", rows, time="ts", max_stops=20)
        assert runtime.now == 20_000


def test_pandas_frames() -> None:
    frame = pandas.DataFrame(
        {
            "i": [1.0, None],
            "d": [Decimal("1.5"), None],
            "f": [0.5, float("nan")],
            "s": pandas.Categorical(["a", None]),
            "m": [{"a": 1}, {"b": [1, 2]}],
            "at": pandas.to_datetime(["2020-01-01T00:00:00.5", None]).tz_localize("UTC"),
            "ts": pandas.to_datetime([10, 20], unit="ms"),
        }
    )
    with Runtime() as runtime:
        runtime.register("T", {"i": int, "d": Decimal, "f": float, "s": str, "m": dict, "at": datetime.datetime})
        heard = listen(runtime, "@name('s') select * from T;")
        runtime.send_batch("T", frame, time="ts")
        at = datetime.datetime(2020, 1, 1, 0, 0, 0, 500_000, datetime.timezone.utc)
        assert [(now, new[0]) for now, _, new, _ in heard] == [
            (10, {"i": 1, "d": Decimal("1.5"), "f": 0.5, "s": "a", "m": {"a": 1}, "at": at}),
            (20, {"i": None, "d": None, "f": None, "s": None, "m": {"b": [1, 2]}, "at": None}),
        ]
        with pytest.raises(EplRuntimeError, match=r"property 'i' is declared Long and cannot hold 1\.5 \(float\) of row 1"):
            runtime.send_batch("T", frame.assign(i=[None, 1.5]), time="ts", late="keep")


def test_whatever_is_no_table_is_refused() -> None:
    with Runtime() as runtime:
        listen(runtime, ONE)
        with pytest.raises(EplRuntimeError, match="Event type 'T' cannot be built from list"):
            runtime.send_batch("T", [{"i": 1}])
        with pytest.raises(EplRuntimeError, match="the table has more than one column 'i'"):
            runtime.send_batch("T", pa.table([pa.array([1]), pa.array([1])], names=["i", "i"]))
        with pytest.raises(EplRuntimeError, match="no bus event type named 'U'"):
            runtime.send_batch("U", GOOD)
        with pytest.raises(TypeError, match="unexpected keyword argument 'tome'"):
            runtime.send_batch("T", GOOD, tome="ts")


def test_nested_events_maps_and_dictionaries_arrive_as_with_send() -> None:
    module = "create schema I(x int); create schema T(e I, es I[], m Map, s string); @name('s') select e.x as x, es, m, s from T;"
    rows = [{"e": {"x": 1}, "es": [{"x": 2}, {"x": 3}], "m": {"k": 1}, "s": "a"}, {"e": None, "es": None, "m": None, "s": None}]
    struct = pa.struct([("x", pa.int32())])
    arrow = pa.table(
        {
            "e": pa.array([r["e"] for r in rows], struct),
            "es": pa.array([r["es"] for r in rows], pa.list_(struct)),
            "m": pa.array([r["m"] and list(r["m"].items()) for r in rows], pa.map_(pa.string(), pa.int64())),
            "s": pa.array([r["s"] for r in rows]).dictionary_encode(),
        }
    )
    outputs = []
    for batched in (True, False):
        with Runtime() as runtime:
            heard = listen(runtime, module)
            if batched:
                runtime.send_batch("T", arrow)
            else:
                for row in rows:
                    runtime.send("T", row)
            outputs.append([new for _, _, new, _ in heard])
    assert outputs[0] == outputs[1] and len(outputs[0]) == 2
    with Runtime() as runtime:
        listen(runtime, module)
        with pytest.raises(EplRuntimeError, match=r"Event type 'T', column 'e'.*property 'x' is declared Integer and cannot hold 'no'"):
            runtime.send_batch("T", arrow.set_column(0, "e", pa.array([{"x": "no"}, None])))


def test_batch_listeners_are_called_once_a_call_with_arrow() -> None:
    with Runtime() as runtime:
        runtime.deploy("create schema T(i int, s string); @name('s') select irstream i, s from T#time(2 sec);")
        calls: list[tuple[Any, Any]] = []
        runtime.statement("s").add_batch_listener(lambda new, old, s, r: calls.append((new and new.to_pylist(), old and old.to_pylist())))
        runtime.send_batch("T", GOOD, time="ts")
        assert calls == [([{"i": 1, "s": "a"}, {"i": 2, "s": "b"}], None)]
        runtime.advance_time_span(10_000)
        assert calls[1:] == [(None, [{"i": 1, "s": "a"}, {"i": 2, "s": "b"}])]
        runtime.send("T", {"i": 3, "s": "c"})
        assert calls[2:] == [([{"i": 3, "s": "c"}], None)]


def test_a_batch_listener_that_fails_harms_no_other_and_a_value_without_column_is_told() -> None:
    errors: list[tuple[str, str]] = []
    with Runtime(on_error=lambda error, statement, event: errors.append((statement, str(error)))) as runtime:
        runtime.deploy("create schema T(d BigDecimal); @name('s') select d from T;")
        calls: list[Any] = []

        def fails(*_: Any) -> None:
            raise ValueError("mine")

        runtime.statement("s").add_batch_listener(fails)
        runtime.statement("s").add_batch_listener(lambda new, old, s, r: calls.append(new.to_pylist()))
        runtime.send("T", {"d": Decimal("1.5")})
        assert errors == [("s", "mine")] and calls == [[{"d": Decimal("1.5")}]]
        runtime.send("T", {"d": Decimal("1e30")})
        assert "column 'd' of Arrow type decimal128(38, 18) cannot hold Decimal('1E+30') of row 0" in errors[1][1] and len(calls) == 1


def test_an_empty_batch_does_nothing() -> None:
    with Runtime(start_time=7) as runtime:
        heard = listen(runtime, ONE)
        runtime.send_batch("T", GOOD.slice(0, 0), time="ts")
        assert heard == [] and runtime.now == 7
