"""The public face: deploying, sending, time, listeners, iterating."""
import threading

import attrs
import pandas
import pytest

from runtime import EplDeploymentError, EplError, EplRuntimeError, EplUnsupportedError, EplValidationError, Runtime, Settings


class Calls(list):
    def __call__(self, new, old, statement, runtime):
        self.append(([dict(r) for r in new], [dict(r) for r in old]))


@pytest.fixture
def rt():
    with Runtime() as made:
        made.register("Trade", {"symbol": str, "price": float, "size": "int"})
        yield made


def test_a_module_is_deployed_whole_or_not_at_all(rt):
    with pytest.raises(EplValidationError) as refused:
        rt.deploy("create schema Extra(a int); @name('a') select * from Trade; @name('b') select prize from Trade")
    assert refused.value.message.startswith(
        "Failed to validate select-clause expression 'prize': Property named 'prize' is not valid in any stream"
    )
    assert refused.value.position == (1, 79)
    assert not rt.deployments
    with pytest.raises(EplRuntimeError, match="no bus event type named 'Extra'"):
        rt.send("Extra", {"a": 1})
    rt.send("Trade", {"symbol": "A"})


def test_listeners_at_deploy_and_later(rt):
    early, late = Calls(), Calls()
    statement = rt.deploy("@name('s0') select irstream symbol from Trade#length(1)", listeners={"s0": early})["s0"]
    rt.send("Trade", {"symbol": "A"})
    statement.add_listener(late)
    rt.send("Trade", {"symbol": "B"})
    statement.remove_listener(late)
    rt.send("Trade", {"symbol": "C"})
    assert early == [([{"symbol": "A"}], []), ([{"symbol": "B"}], [{"symbol": "A"}]), ([{"symbol": "C"}], [{"symbol": "B"}])]
    assert late == early[1:2]


def test_a_listener_for_a_statement_that_is_not_there_is_refused(rt):
    with pytest.raises(EplDeploymentError, match="no statement named 'x'"):
        rt.deploy("@name('s0') select * from Trade", listeners={"x": print})
    assert not rt.deployments


def test_pandas_frames_keep_whole_numbers_and_booleans_among_nulls():
    big = (1 << 62) + 1  # no double
    heard: list = []
    with Runtime() as rt:
        epl = "create schema T(n long, i int, b boolean, x double, h BigInteger, s string); @name('s') select * from T#keepall"
        statement = rt.deploy(epl, listeners={"s": lambda new, *_: heard.append(new.to_pandas())})["s"]
        for n, b, h in ((big, True, 1), (None, None, None), (1, False, 1 << 70)):
            rt.send("T", {"n": n, "i": 5, "b": b, "x": None if n is None else 0.5, "h": h, "s": "t"})
        frame = statement.to_pandas()
        assert frame["n"].tolist() == [big, pandas.NA, 1] and frame["b"].tolist() == [True, pandas.NA, False]
        kinds = {"n": "Int64", "i": "int64", "b": "boolean", "x": "float64", "h": "object"}
        assert {name: str(frame[name].dtype) for name in kinds} == kinds
        assert [len(each) for each in heard] == [1, 1, 1] and str(heard[0]["n"].dtype) == "int64"
        rt.undeploy_all()
        assert list(rt.deploy("create schema U(a int); @name('u') select * from U#keepall")["u"].to_pandas().columns) == ["a"]


def test_iterating_gives_rows_that_equal_dicts(rt):
    statement = rt.deploy("@name('s0') select symbol, price * 2 as p, count(*) from Trade#keepall")["s0"]
    rt.send("Trade", {"symbol": "A", "price": 1.5})
    (row,) = statement
    assert row == {"symbol": "A", "p": 3.0, "count(*)": 1}
    assert row.symbol == "A" and row["count(*)"] == 1 and list(row) == ["symbol", "p", "count(*)"]
    assert statement.to_pandas().to_dict("records") == [{"symbol": "A", "p": 3.0, "count(*)": 1}]
    assert statement.to_arrow().to_pylist() == [{"symbol": "A", "p": 3.0, "count(*)": 1}]
    assert "<td>A</td>" in statement._repr_html_()
    with pytest.raises(AttributeError, match="has no property 'nix'"):
        _ = row.nix
    with pytest.raises(AttributeError):
        row.symbol = "B"


def test_a_property_named_like_a_method_stays_reachable():
    with Runtime() as rt:
        rt.register("Basket", {"items": int})
        calls = Calls()
        statement = rt.deploy("@name('s0') select * from Basket#keepall", listeners={"s0": calls})["s0"]
        rt.send("Basket", {"items": 3})
        (row,) = statement
        assert row["items"] == 3 and dict(row.items()) == {"items": 3}


def test_attrs_classes_and_dataclasses_are_event_types():
    @attrs.define
    class Reading:
        sensor: str
        value: float | None = None

    with Runtime() as rt:
        rt.register("Reading", Reading)
        calls = Calls()
        rt.deploy("@name('s0') select sensor, value from Reading(value > 1)", listeners={"s0": calls})
        rt.send("Reading", Reading("x", 2.0))
        rt.send("Reading", Reading("y"))
        assert calls == [([{"sensor": "x", "value": 2.0}], [])]


def test_undeploy_stops_and_refuses_while_in_use(rt):
    base = rt.deploy("create schema Alert(id string); create variable int limit_ = 5")
    user = rt.deploy("@name('s0') select * from Alert; @name('s1') select * from Trade(size > limit_)")
    with pytest.raises(EplDeploymentError, match="cannot be un-deployed as it is referenced by deployment 'd1'"):
        base.undeploy()
    user.undeploy()
    base.undeploy()
    assert not rt.deployments
    with pytest.raises(EplDeploymentError, match="Deployment id 'd0' cannot be found"):
        base.undeploy()


def test_replace_does_not_double_a_statement(rt):
    calls = Calls()
    for _ in range(2):
        rt.deploy("@name('s0') select symbol from Trade", listeners={"s0": calls}, replace=True)
    rt.send("Trade", {"symbol": "A"})
    assert calls == [([{"symbol": "A"}], [])] and len(rt.deployments) == 1


def test_replace_also_takes_back_what_the_text_declares(rt):
    for _ in range(2):
        rt.deploy("create schema Extra(a int); insert into Big select * from Extra", replace=True)
    assert len(rt.deployments) == 1


def test_a_plan_is_deployed_as_often_as_you_like(rt):
    plan = rt.compile("@name('s0') select count(*) as c from Trade")
    one, two = rt.deploy(plan), rt.deploy(plan)
    calls = Calls()
    two["s0"].add_listener(calls)
    rt.send("Trade", {})
    assert calls == [([{"c": 1}], [])] and one.id != two.id


def test_time_jumps_and_walks(rt):
    text = "@name('s0') select irstream symbol from Trade#time_batch(10 sec)"
    for walk, expected in ((False, 1), (True, 2)):
        with Runtime() as rt:
            rt.register("Trade", {"symbol": str})
            calls = Calls()
            rt.deploy(text, listeners={"s0": calls})
            rt.send("Trade", {"symbol": "A"})
            (rt.advance_time_span if walk else rt.advance_time)(35_000)
            assert len(calls) == expected and rt.now == 35_000


def test_time_that_goes_back_only_sets_the_clock(rt):
    calls = Calls()
    rt.advance_time(5_000)
    rt.deploy("@name('s0') select irstream symbol from Trade#time(10 sec)", listeners={"s0": calls})
    rt.send("Trade", {"symbol": "A"})
    rt.advance_time(3_000)
    rt.advance_time(14_999)
    assert len(calls) == 1
    rt.advance_time(15_000)
    assert calls[1:] == [([], [{"symbol": "A"}])]


def test_send_in_a_listener_runs_at_once_and_route_waits(rt):
    seen = []
    rt.register("Echo", {"n": int})

    def first(new, old, statement, runtime):
        if new[0]["symbol"] == "send":
            runtime.send("Echo", {"n": 1})
        elif new[0]["symbol"] == "route":
            runtime.route("Echo", {"n": 2})
        seen.append(new[0]["symbol"])

    rt.deploy("@name('a') select * from Trade; @name('b') select * from Trade; @name('e') select * from Echo", listeners={
        "a": first, "b": lambda new, *_: seen.append("b"), "e": lambda new, *_: seen.append(new[0]["n"]),
    })
    rt.send("Trade", {"symbol": "send"})
    rt.send("Trade", {"symbol": "route"})
    assert seen == [1, "send", "b", "route", "b", 2]


def test_an_exception_harms_neither_the_other_listeners_nor_the_next_event(rt):
    heard, calls = [], Calls()
    with Runtime(on_error=lambda error, name, event: heard.append((str(error), name))) as rt:
        rt.register("Trade", {"symbol": str})
        rt.register_function("explode", lambda text: 1 // 0 if text == "X" else text)

        def bad(*_):
            raise ValueError("listener")

        rt.deploy("@name('s0') select symbol from Trade#length(2)", listeners={"s0": bad})["s0"].add_listener(calls)
        rt.deploy("@name('s1') select explode(symbol) as e from Trade")["s1"].add_listener(calls)
        for symbol in ("A", "X", "B"):
            rt.send("Trade", {"symbol": symbol})
    assert [c[0][0] for c in calls] == [{"symbol": "A"}, {"e": "A"}, {"symbol": "X"}, {"symbol": "B"}, {"e": "B"}]
    assert ("listener", "s0") in heard and any(name == "s1" for _, name in heard)


def test_a_filter_that_fails_harms_no_other_statement():
    heard, calls = [], Calls()
    with Runtime(on_error=lambda error, name, event: heard.append((str(error), name, event.get("v")))) as rt:
        rt.register("T", {"v": int})

        def inverse(x: int) -> int:
            return 1 // x

        rt.register_function("inverse", inverse)
        rt.deploy("@name('bad') select * from T(inverse(v) > 0); @name('good') select v from T", listeners={"bad": calls, "good": calls})
        for v in (0, 1):
            rt.send("T", {"v": v})
    assert heard == [("integer division or modulo by zero", "bad", 0)]
    assert calls == [([{"v": 0}], []), ([{"v": 1}], []), ([{"v": 1}], [])]


def test_variables_by_the_api(rt):
    rt.deploy("create variable int low = 5; create constant variable string K = 'k'")
    calls = Calls()
    rt.deploy("@name('s0') select size from Trade(size > low)", listeners={"s0": calls})
    rt.send("Trade", {"size": 6})
    rt.set_variable("low", 10)
    rt.send("Trade", {"size": 6})
    assert rt.get_variable("low") == 10 and len(calls) == 1
    with pytest.raises(EplRuntimeError, match="declared as constant"):
        rt.set_variable("K", "x")
    with pytest.raises(EplRuntimeError, match="of declared type Integer cannot be assigned"):
        rt.set_variables({"low": "x"})
    with pytest.raises(EplRuntimeError, match="has not been declared"):
        rt.get_variable("nix")


def test_parameters_are_bound_at_deploy(rt):
    plan = rt.compile("@name('s0') select * from Trade(symbol = ?:sym:string and size > ?:low:int)")
    calls = Calls()
    rt.deploy(plan, parameters={"sym": "A", "low": 3}, listeners={"s0": calls})
    for size in (3, 4):
        rt.send("Trade", {"symbol": "A", "size": size})
    assert len(calls) == 1
    with pytest.raises(EplDeploymentError, match="Missing value for substitution parameter 'sym'"):
        rt.deploy(plan, parameters={"low": 3})


def test_priority_and_drop_where_execution_is_prioritized():
    with Runtime(settings=Settings(prioritized=True)) as rt:
        rt.register("T", {"v": int})
        seen = []
        rt.deploy(
            "@name('low') select * from T; @priority(10) @drop @name('high') select * from T(v = 1); "
            "@priority(20) @name('top') select * from T",
            listeners={
                name: lambda new, old, statement, _: seen.append((statement.name, new[0]["v"])) for name in ("low", "high", "top")
            },
        )
        rt.send("T", {"v": 1})
        rt.send("T", {"v": 2})
    assert seen == [("top", 1), ("high", 1), ("top", 2), ("low", 2)]


def test_threads_exclude_one_another(rt):
    calls = Calls()
    rt.deploy("@name('s0') select count(*) as c from Trade", listeners={"s0": calls})

    def work():
        for _ in range(500):
            rt.send("Trade", {"symbol": "A"})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [c[0][0]["c"] for c in calls] == list(range(1, 2001))


def test_the_system_clock_moves_by_itself():
    arrived = threading.Event()
    with Runtime(clock="system") as rt:
        rt.register("T", {"v": int})
        rt.deploy("@name('s0') select rstream * from T#time(200 msec)", listeners={"s0": lambda *_: arrived.set()})
        rt.send("T", {"v": 1})
        assert arrived.wait(10)


def test_what_cannot_run_is_refused_by_name(rt):
    for text in ("create dataflow F BeaconSource -> out<Trade> {}", "expression js:f(x) [ x ] select f(price) from Trade"):
        with pytest.raises(EplUnsupportedError):
            rt.deploy(text)
    with pytest.raises(EplError):
        rt.deploy("select * from Trade#nosuchwindow(1)")
    with pytest.raises(ValueError, match="clock is"):
        Runtime(clock="sun")


def test_print_as_a_listener_reads_well(rt, capsys):
    rt.deploy("@name('s0') select symbol, price from Trade", listeners={"s0": print})
    rt.send("Trade", {"symbol": "A", "price": 2})
    shown = "Runtime(now=0 (1970-01-01T00:00:00Z), 1 statements)"
    assert capsys.readouterr().out == f"[{{'symbol': 'A', 'price': 2.0}}] [] Statement('s0') {shown}\n"
