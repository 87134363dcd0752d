"""What must hold when expressions raise, values do not fit, deploying fails half-way: nothing half-done, windows and aggregations agree."""
from __future__ import annotations

import gc
import threading
from typing import Any

import numpy
import pytest

from epl.errors import EplError, EplRuntimeError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.clock.schedule import ScheduledTimer
from runtime.state.codec import Decoder, Encoder

Errors = list[tuple[str, str, Any]]


def made() -> tuple[Runtime, Errors]:
    errors: Errors = []
    rt = Runtime(on_error=lambda error, statement, event: errors.append((str(error), statement, event)))
    rt.register("T", {"a": int, "s": str, "d": float})

    def boom(x: int) -> int:
        if x == 3:
            raise ValueError("boom")
        return x

    def holds(x: int) -> bool:
        return boom(x) > 0

    rt.register_function("boom", boom)
    rt.register_function("holds", holds)
    return rt, errors


def send(rt: Runtime, *values: int) -> None:
    for a in values:
        rt.send("T", {"a": a, "s": "x"})


SUMS = [
    "select a, sum(a) as total, count(*) as c from T#length(3) group by boom(a)",
    "select boom(a) as a, sum(a) as total, count(*) as c from T#length(3) group by boom(a)",
]


@pytest.mark.parametrize("epl", SUMS)
def test_a_failing_group_key_that_leaves_takes_no_other_event_along(epl: str) -> None:
    rt, errors = made()
    statement = rt.deploy(f"@name('s0') {epl}")["s0"]
    send(rt, 1, 2, 3, 4, 5, 6)
    assert [(r["a"], r["total"], r["c"]) for r in statement] == [(4, 4, 1), (5, 5, 1), (6, 6, 1)]
    assert errors[0][:2] == ("boom", "s0") and errors[0][2].get("a") == 3


def test_where_that_fails_for_a_leaving_event_lets_the_new_one_pass() -> None:
    rt, errors = made()
    rows: list[int] = []
    statement = rt.deploy(
        "@name('s0') select a, sum(a) as total from T#length(3) where holds(a)",
        listeners={"s0": lambda new, *_: rows.append(new[0]["total"])},
    )["s0"]
    send(rt, 1, 2, 3, 4, 5, 6, 7)
    assert rows == [1, 3, 6, 9, 15, 18]
    assert [r["total"] for r in statement] == [18, 18, 18]
    assert {t[0] for t in errors} == {"boom"}


def test_an_aggregation_that_fails_does_not_keep_the_others_from_counting() -> None:
    rt, _ = made()
    statement = rt.deploy("select sum(a) as before, sum(boom(a)) as failing, avg(a) as behind from T#length(3)")[0]
    send(rt, 1, 2, 3)
    assert list(statement) == [{"before": 6, "failing": 3, "behind": 2.0}]
    send(rt, 4, 5, 6)
    assert list(statement) == [{"before": 15, "failing": 15, "behind": 5.0}]


def test_levels_of_rollup_agree_after_a_failure() -> None:
    rt, _ = made()
    statement = rt.deploy("select s, sum(boom(a)) as total, count(*) as c from T#length(3) group by rollup(s)")[0]
    send(rt, 1, 2, 3, 4, 5, 6, 7)
    assert [(r["s"], r["total"], r["c"]) for r in statement] == [("x", 18, 3), (None, 18, 3)]


@pytest.mark.parametrize("condition", ["holds(a) and current_count < 4", "sum(a) < 9 and holds(a)"])
def test_expr_window_and_aggregations_agree_after_a_failure(condition: str) -> None:
    rt, errors = made()
    statement = rt.deploy(f"select a, sum(a) as total from T#expr({condition})")[0]
    for a in range(1, 8):
        send(rt, a)
        rows = list(statement)
        assert all(r["total"] == sum(x["a"] for x in rows) for r in rows)
    assert errors


def test_fully_aggregated_remove_stream_that_fails_still_counts() -> None:
    rt, _ = made()
    statement = rt.deploy("select irstream boom(sum(a)) as total, count(*) as c from T#keepall")[0]
    send(rt, 1, 2, 3, 4)
    assert list(statement) == [{"total": 10, "c": 4}]


def test_grouped_delivery_that_fails_harms_no_other_statement() -> None:
    rt, errors = made()
    rows: list[int] = []
    rt.deploy(
        "@name('g') select a from T for grouped_delivery(a); @name('s0') select a from T",
        listeners={"g": lambda *_: None, "s0": lambda new, *_: rows.append(new[0]["a"])},
    )
    grouped = internal_output(rt.statement("g"))

    def fails(new: Any, old: Any) -> Any:
        raise ValueError("boom")

    grouped.divide = fails
    send(rt, 3)
    assert rows == [3] and errors == [("boom", "g", None)]


@pytest.mark.parametrize(
    "event",
    [{"a": numpy.array([1, 2])}, {"d": numpy.array([1.0, 2.0])}, {"d": 10**400}, {"d": numpy.True_}, {"a": numpy.True_}, object(), {1, 2}],
)
def test_values_that_do_not_fit_are_refused_by_name(event: Any) -> None:
    rt, _ = made()
    statement = rt.deploy("select * from T#keepall")[0]
    with pytest.raises(EplRuntimeError, match="Event type 'T'"):
        rt.send("T", event)
    assert list(statement) == []


def test_variables_are_set_all_or_none() -> None:
    rt, _ = made()
    rt.declare_variable("v", int, 1)
    rt.declare_variable("c", int, 1, constant=True)
    with pytest.raises(EplError, match="constant"):
        rt.set_variables({"v": 5, "c": 6})
    assert rt.get_variable("v") == 1


def test_a_statement_that_fails_to_build_leaves_no_watcher_and_no_timer() -> None:
    rt, _ = made()
    rt.declare_variable("n", int, 3)
    rt.declare_variable("zero", int, 0)
    for epl in ("select * from T#expr(n > current_count)#length(zero)", "select * from T#time_batch(5)#length(zero)"):
        with pytest.raises(EplError):
            rt.deploy(f"create variable int w = 1; select * from T#expr(n > 1); {epl}")
        assert internal_engine(rt).definitions.variables["n"].watchers == [] and "w" not in internal_engine(rt).definitions.variables
        assert rt.next_scheduled_time is None and not rt.deployments and not internal_engine(rt).core.filters._by_type


def test_numbers_of_derived_classes_survive_a_snapshot() -> None:
    encoder = Encoder()
    value = [numpy.float64(1.5), True, 10**30]
    assert Decoder(lambda _: None).decode(encoder.encode(value)) == [1.5, True, 10**30]  # type: ignore[arg-type,return-value]


def test_threads_exclude_one_another() -> None:
    rt, errors = made()
    statement = rt.deploy("select count(*) as c from T")[0]
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded(step: Any) -> threading.Thread:
        def work() -> None:
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - asserted below
                failures.append(error)

        return threading.Thread(target=work)

    def churn() -> None:
        while not done.is_set():
            rt.deploy("select sum(a) as total from T#length(3)").undeploy()

    def look() -> None:
        while not done.is_set():
            list(statement)
            rt.snapshot()

    senders = [guarded(lambda: send(rt, *range(4, 204))) for _ in range(4)]
    others = [guarded(churn), guarded(look)]
    for thread in senders + others:
        thread.start()
    for thread in senders:
        thread.join(20)
    done.set()
    for thread in others:
        thread.join(20)
    assert not failures and not errors
    assert list(statement) == [{"c": 800}]


def test_replacing_by_a_module_that_is_refused_keeps_the_old_one() -> None:
    rt, _ = made()
    rt.deploy("create schema S(x int); @name('s0') select a from T#keepall")
    send(rt, 1)
    with pytest.raises(EplError):
        rt.deploy("@name('s0') select nothing from T", replace=True)
    assert list(rt.statement("s0")) == [{"a": 1}]
    rt.deploy("create schema S(y int); @name('s0') select a + 1 as b from T#keepall", replace=True)
    assert len(rt.deployments) == 1 and rt.statement("s0").properties == {"b": "Long"}


def test_a_snapshot_does_not_lose_routed_events() -> None:
    rt, errors = made()
    rt.deploy(
        "@name('s0') select * from T; insert into S select a from T; @name('n') select count(*) as c from S",
        listeners={"s0": lambda new, old, statement, runtime: runtime.snapshot()},
    )
    send(rt, 1)
    assert len(errors) == 1 and "routed events" in errors[0][0]
    assert list(rt.statement("n")) == [{"c": 1}]
    assert Runtime.restore(rt.snapshot(), functions=internal_engine(rt).definitions.user_functions).statement("n").rows() == [{"c": 1}]


@pytest.mark.parametrize("cut", [8, 9, 50, -3])
def test_a_damaged_snapshot_is_refused(cut: int) -> None:
    rt, _ = made()
    rt.deploy("select sum(a) as total from T#length(3)")
    with pytest.raises(EplRuntimeError, match="snapshot"):
        Runtime.restore(rt.snapshot()[:cut], functions=internal_engine(rt).definitions.user_functions)


def test_mean_deviation_of_nan_goes_on_after_restore() -> None:
    rt, _ = made()
    rt.deploy("@name('s0') select avedev(d) as v, count(*) as c from T#length(2)")
    rt.send("T", {"a": 1, "d": float("nan")})
    restored = Runtime.restore(rt.snapshot(), functions=internal_engine(rt).definitions.user_functions)
    for each in (rt, restored):
        send(each, 1, 2)
        assert list(each.statement("s0")) == [{"v": None, "c": 2}]


def test_timers_of_reclaimed_groups_are_forgotten() -> None:
    gc.collect()
    before = sum(type(each) is ScheduledTimer for each in gc.get_objects())
    rt, _ = made()
    statement = rt.deploy("@Hint('reclaim_group_aged=5,reclaim_group_freq=1') select a from T#groupwin(a)#time(1)")[0]
    for second in range(60):
        rt.advance_time(second * 1000)
        send(rt, second)
    gc.collect()
    assert list(statement)
    assert sum(type(each) is ScheduledTimer for each in gc.get_objects()) - before < 20


def test_batch_listeners_hear_of_variables_that_are_set() -> None:
    rt, _ = made()
    rows: list[int] = []
    rt.deploy("@name('v') create variable int v = 1")["v"].add_batch_listener(lambda new, *_: rows.append(new.num_rows))
    rt.set_variable("v", 2)
    rt.set_variables({"v": 3})
    assert rows == [1, 1]


def test_parameters_of_windows_are_bound_and_survive_a_snapshot() -> None:
    rt, _ = made()
    rt.deploy("@name('s0') select a from T#length(?::int) where a > ?::int", parameters={1: 2, 2: 0})
    send(rt, 1, 2)
    restored = Runtime.restore(rt.snapshot(), functions=internal_engine(rt).definitions.user_functions)
    send(restored, 4)
    assert [r["a"] for r in restored.statement("s0")] == [2, 4]
