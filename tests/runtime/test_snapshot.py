"""A restored runtime goes on as if it had never stopped."""
import datetime
from decimal import Decimal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from runtime import EplDeploymentError, EplRuntimeError, Runtime
from tests.runtime.listening import listen

MODULE = """
create schema Trade(symbol string, price double, size int);
create variable int low = 0;
@name('length') select irstream symbol, price from Trade#length(3);
@name('time') select irstream symbol, sum(size) as total, max(price) as top from Trade#time(10 sec) group by symbol;
@name('batch') select irstream * from Trade#time_batch(7 sec);
@name('unique') select symbol, count(*) as c from Trade#unique(symbol);
insert into Big select symbol, price from Trade(size > low);
@name('big') select irstream symbol, avg(price) as a from Big#length_batch(2);
@name('prior') select symbol, prior(2, price) as p, prev(1, price) as q from Trade#length(4);
@name('match') select * from Trade#time(20 sec) match_recognize (
  partition by symbol measures A.price as a, last(B.price) as b, C.price as c
  pattern (A B* C) define B as B.price > A.price, C as C.price < A.price);
@name('interval') select * from Trade match_recognize (
  measures A.symbol as a, count(B.size) as n pattern (A B*) interval 5 sec define A as A.size > 5);
"""

steps = st.lists(
    st.one_of(
        st.tuples(st.just("event"), st.sampled_from("ABC"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("time"), st.integers(0, 9_000), st.just(0), st.just(0)),
        st.tuples(st.just("low"), st.integers(0, 9), st.just(0), st.just(0)),
    ),
    max_size=25,
)


def fresh(log):
    rt = Runtime()
    rt.deploy(MODULE)
    return listen(rt, log)


def run(rt, step):
    kind, one, two, three = step
    if kind == "event":
        rt.send("Trade", {"symbol": one, "price": float(two), "size": three})
    elif kind == "time":
        rt.advance_time(rt.now + one)
    else:
        rt.set_variable("low", one)


def contents(rt):
    return [[r.to_dict() for r in s] for d in rt.deployments.values() for s in d]


@settings(max_examples=40, deadline=None, phases=[p for p in Phase if p is not Phase.shrink])
@given(steps, st.integers(0, 25))
def test_restore_anywhere_changes_nothing(given_steps, at):
    log, restarted_log = [], []
    one, two = fresh(log), fresh(restarted_log)
    for number, step in enumerate(given_steps):
        if number == at:
            blob = two.snapshot()
            two = listen(Runtime.restore(blob), restarted_log)
            assert two.snapshot() == blob
        run(one, step)
        run(two, step)
    assert restarted_log == log
    assert contents(one) == contents(two)


def test_registered_types_functions_and_parameters_come_back():
    rt = Runtime(start_time=1000)
    rt.register("Reading", {"at": datetime.datetime, "value": Decimal, "tags": list[str], "place": {"x": int}, "more": dict})
    rt.register_function("double_it", lambda x: x * 2)
    rt.declare_variable("limit_", int, 3)
    rt.deploy(
        "@name('s0') select at, double_it(value) as v, tags, place.x as x, more from Reading(value > ?)#keepall", parameters={1: Decimal(1)}
    )
    moment = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.timezone.utc)
    rt.send("Reading", {"at": moment, "value": Decimal("1.50"), "tags": ["a"], "place": {"x": 2}, "more": {"k": 2**70}})
    blob = rt.snapshot()
    with pytest.raises(EplDeploymentError, match="functions that are not given: double_it"):
        Runtime.restore(blob)
    back = Runtime.restore(blob, functions={"double_it": lambda x: x * 2})
    assert list(back.statement("s0")) == list(rt.statement("s0")) != []
    assert back.now == 1000 and back.get_variable("limit_") == 3
    back.send("Reading", {"value": Decimal(1)})
    assert len(list(back.statement("s0"))) == 1


def test_what_is_no_snapshot_is_refused_by_name():
    with pytest.raises(EplRuntimeError, match="is not an epl-spark snapshot"):
        Runtime.restore(b"pickle")
    blob = bytearray(Runtime().snapshot())
    blob[8] = 99
    with pytest.raises(EplRuntimeError, match="snapshot version 99 is not known"):
        Runtime.restore(bytes(blob))


def test_an_event_that_many_hold_is_stored_once():
    rt = Runtime()
    rt.register("T", {"text": str})
    rt.deploy("".join(f"@name('s{i}') select * from T#keepall;" for i in range(20)))
    rt.send("T", {"text": "x" * 10_000})
    assert len(rt.snapshot()) < 20_000
