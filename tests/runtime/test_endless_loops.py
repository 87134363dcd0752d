"""Whatever one event or one instant leads to is counted: statements that feed themselves end in an error by name, and the next event is
processed as if nothing had been."""
from __future__ import annotations

import re
from typing import Any

import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime, Settings
from runtime.api.runtime import internal_engine

LIMIT = 500
SCHEMA = """create schema A(k string, n int); create window W#keepall as (k string, n int); create window V#unique(k) as (k string, n int);
    insert into W select k, n from A(n < 100); create schema Other(n int); @name('other') select n from Other;"""
BY_WINDOWS = {
    "update": "on W as e update W as w set n = w.n + 1",
    "merge, update": "on W as e merge W as w where w.k = e.k when matched then update set n = w.n + 1",
    "merge, insert": "on W as e merge W as w where w.k = e.k when matched then insert into W select e.k as k, e.n as n",
    "merge, delete and insert":
        "on W as e merge W as w where w.k = e.k when matched then delete then insert into W select e.k as k, e.n as n",
    "two windows": """on W as e merge V as v where v.k = e.k when not matched then insert select e.k as k, e.n as n
            when matched then update set n = e.n;
        on V as v update W as w set n = w.n + 1 where w.k = v.k""",
    "remove stream": "on W as e delete from W as w where w.n = e.n; insert rstream into W select rstream k, n from W",
    "select and delete": "on W as e insert into W select and delete w.k as k, w.n as n from W as w",
    "split": "on W as e insert into W select k, n insert into W select k, n where n > 0 output all",
    "insert into itself": "insert into W select k, n from W",
    "sub-query": "on W as e update W as w set n = w.n + (select max(n) from W)",
    "table": "create table T(c count(*)); into table T select count(*) as c from W; on W as e update W as w set n = w.n + 1 where T.c > 0",
    "variable": "create variable int v = 0; on W set v = v + 1; on W as e update W as w set n = v",
}
ALL_FOR_EACH = {
    "select": "on W as e insert into W select w.k as k, w.n as n from W as w",
    "another window": """on W as e insert into V select w.k as k, w.n as n from W as w;
        on V as e insert into W select w.k as k, w.n as n from W as w""",
    "a stream between": "insert into S select k, n from W; on S as e insert into W select w.k as k, w.n as n from W as w",
    "a window between": """create window X#keepall as (k string, n int); insert into X select k, n from W;
        on X as e insert into W select w.k as k, w.n as n from X as w""",
    "unidirectional join": "insert into W select a.k as k, b.n as n from W as a unidirectional, W as b",
    "join": "insert into W select a.k as k, b.n as n from W as a, W as b",
    "streams": """create schema P(k string, n int); insert into P select k, n from W;
        insert into P select a.k as k, b.n as n from P#keepall as a, P#keepall as b""",
}
"""Each row leads to as many others as there are."""
READS_ALL = {
    "select": "on W insert into W select 'x' as k, max(w.n) as n from W as w",
    "having": "on W insert into W select 'x' as k, max(w.n) as n from W as w where w.k regexp '.*' having count(*) > 0",
    "join": "insert into W select 'k' as k, max(a.n) as n from W as a, W as b where a.k = b.k",
    "unidirectional join": "insert into W select 'k' as k, max(b.n) as n from W as a unidirectional, W as b where a.k = b.k",
}
"""Each event leads to one other, and reads all rows."""
AT_ONE_INSTANT = {
    "now": "create context C start @now end after 0 sec",
    "a variable": "create variable int zero = 0; create context C start @now end after zero sec",
    "both": "create context C start after 0 sec end after 0 sec",
    "overlapping": "create context C initiated after 0 sec terminated after 0 sec",
    "inner": "create context C context X start @now end after 1 hour, context Y start @now end after 0 sec",
}


def running(epl: str, **settings: Any) -> tuple[Runtime, list[tuple[str, str]], list[int]]:
    """Return a runtime with the module, its errors (statement, message) and the values of the statement that has nothing to do with it."""
    errors: list[tuple[str, str]] = []
    others: list[int] = []

    def note(error: BaseException, statement: str, _event: object) -> None:
        assert isinstance(error, EplRuntimeError) and "Settings(max_routed=…)" in str(error.hint)
        errors.append((statement, error.message))

    runtime = Runtime(tier="row", on_error=note, settings=Settings(max_routed=LIMIT, **settings))
    runtime.deploy(SCHEMA + epl)
    runtime.statement("other").add_listener(lambda new, *_: others.extend(row["n"] for row in new))
    return runtime, errors, others


@pytest.mark.parametrize("loop", BY_WINDOWS.values(), ids=BY_WINDOWS)
@pytest.mark.parametrize("way", ["event", "query"])
def test_a_loop_through_windows_ends(loop: str, way: str) -> None:
    runtime, errors, others = running(loop)
    for n in range(2):
        before = len(errors)
        if way == "event":
            runtime.send("A", {"k": f"k{n}", "n": 1})
        else:
            runtime.query(f"insert into W select 'k{n}' as k, 1 as n")
        runtime.send("Other", {"n": n})
        assert 1 <= len(errors) - before <= 2
    assert others == [0, 1]
    assert all(f"one event led to more than {LIMIT} others" in message for _, message in errors)
    held = runtime.stored_rows["W"]
    assert held == len(list(runtime.query("select * from W"))) <= 3 * LIMIT
    assert not internal_engine(runtime).core.queue and not internal_engine(runtime).core.routed.unchanged


@pytest.mark.parametrize("loop", ALL_FOR_EACH.values(), ids=ALL_FOR_EACH)
def test_what_waits_at_the_limit_is_dropped_where_it_would_lead_to_as_many_again(loop: str) -> None:
    runtime, errors, others = running("@name('all') select count(*) as c from W; " + loop)
    for n in range(3):
        before = len(errors)
        runtime.send("A", {"k": f"k{n}", "n": 1})
        runtime.send("Other", {"n": n})
        assert 1 <= len(errors) - before <= 2
    assert others == [0, 1, 2] and not internal_engine(runtime).core.queue and not internal_engine(runtime).core.routed.dropped
    counts = re.search(r"(\d+) events are not processed, .* and with them (\d+) that waited", errors[-1][1])
    assert counts is not None
    number, dropped = map(int, counts.groups())
    assert number <= 3 * LIMIT and dropped <= 2 * LIMIT
    assert next(iter(runtime.statement("all")))["c"] == runtime.stored_rows["W"]  # windows and their consumers agree


@pytest.mark.parametrize("loop", READS_ALL.values(), ids=READS_ALL)
def test_rows_that_a_loop_reads_are_counted(loop: str) -> None:
    """Else its time would be the square of the limit: 100,000 events hours."""
    runtime, errors, others = running(loop)
    runtime.send("A", {"k": "k", "n": 1})
    runtime.send("Other", {"n": 1})
    assert others == [1] and [message.split(",")[0] for _, message in errors] == ["Insert into 'W': 1 event is not processed"]
    assert 200 < runtime.stored_rows["W"] < 350  # n + n²/200 is about what the limit and the first event allow, 600


def test_reading_for_each_of_many_events_is_no_loop() -> None:
    runtime, errors, _ = running("""insert into S select k, n from A#length_batch(200);
        on S as s insert into R select 'k' as k, sum(w.n) as n from W as w;
        insert into R select 'k' as k, max(w.n) as n from S as s unidirectional, W as w where w.n >= s.n;
        @name('r') select count(*) as c from R""")
    for n in range(400):
        runtime.send("A", {"k": "k", "n": n % 100})
    assert not errors and next(iter(runtime.statement("r")))["c"] == 800


def test_partitions_that_begin_others_end_at_the_limit_of_partitions() -> None:
    """Each event doubles them, in Esper too: only the number of partitions is bounded."""
    messages: list[str] = []
    runtime = Runtime(settings=Settings(max_partitions=100), on_error=lambda error, *_: messages.append(str(error)))
    runtime.deploy("""create schema A(n int); create schema B(n int); create context C initiated by B terminated after 1 hour;
        context C insert into B select * from A#lastevent; @name('other') select count(*) as c from A""")
    runtime.send("B", {"n": 1})
    for n in range(12):
        runtime.send("A", {"n": n})
    assert next(iter(runtime.statement("other")))["c"] == 12 and len(messages) > 100
    assert all(message.startswith("Context 'C' has reached its limit of 100 partitions") for message in messages)


def test_an_error_says_how_many_changes_of_which_window() -> None:
    runtime, errors, _ = running("@name('loop') " + BY_WINDOWS["update"])
    runtime.send("A", {"k": "a", "n": 1})
    assert errors == [("loop", f"Named window 'W': 1 change of it is not made, since one event led to more than {LIMIT} others")]


def test_one_delta_of_many_rows_is_no_loop() -> None:
    """Rows that an event from outside changes at once may each change another window."""
    runtime, errors, _ = running("""on Other update W set n = n + 1;
        on W as e merge V as v where v.k = e.k when not matched then insert select e.k as k, e.n as n when matched then update set n = e.n;
        create window U#unique(k) as (k string, n int);
        on V as v merge U as l where l.k = v.k when not matched then insert select v.k as k, v.n as n when matched then update set n = v.n;
        @name('last') select irstream * from U""")
    for n in range(3 * LIMIT):
        runtime.send("A", {"k": f"k{n}", "n": 1})
    runtime.send("Other", {"n": 1})
    assert not errors and {row["n"] for row in runtime.query("select n from U")} == {2}
    assert runtime.stored_rows == {"W": 3 * LIMIT, "V": 3 * LIMIT, "U": 3 * LIMIT}


@pytest.mark.parametrize("context", AT_ONE_INSTANT.values(), ids=AT_ONE_INSTANT)
def test_timers_that_are_due_at_once_end(context: str) -> None:
    runtime, errors, others = running(context + "; context C select count(*) from Other output when terminated")
    for now in (1000, 2000, 3000):
        runtime.advance_time_span(now)
        runtime.send("Other", {"n": now})
    assert runtime.now == 3000 and others == [1000, 2000, 3000]
    assert 1 <= len(errors) <= 2
    assert "run any more, since timers were due again at the same time" in errors[0][1]


def test_what_ends_a_partition_at_once_may_begin_with_each_event() -> None:
    runtime, errors, _ = running("create context C initiated by Other terminated after 0 sec; context C select count(*) from Other")
    for n in range(3 * LIMIT):
        runtime.send("Other", {"n": n})
        runtime.advance_time_span(n + 1)
    assert not errors and runtime.context_partitions["C"] <= 2


def test_timers_due_at_one_instant_are_no_loop() -> None:
    runtime, errors, _ = running("".join(
        f"@name('t{n}') select * from pattern [every timer:interval(1 sec)];" for n in range(5)), time_unit="milliseconds")
    runtime.advance_time_span(1000 * LIMIT)
    assert not errors and runtime.now == 1000 * LIMIT


def test_without_a_limit_nothing_is_counted() -> None:
    runtime = Runtime(tier="row", settings=Settings(max_routed=None))
    runtime.deploy(SCHEMA + "on W as e update W as w set n = w.n + 1 where w.n < 3000")
    runtime.send("A", {"k": "a", "n": 1})
    assert [row["n"] for row in runtime.query("select n from W")] == [3000]


def test_a_handler_that_raises_leaves_the_count_as_it_was() -> None:
    def stop(error: BaseException, _statement: str, _event: object) -> None:
        raise error

    runtime = Runtime(tier="row", on_error=stop, settings=Settings(max_routed=50))
    runtime.register_function("fails", _fails)
    runtime.deploy(SCHEMA + "on Other update W as w set n = w.n + 1; on W as e merge V as v when not matched and "
                   "fails(e.n) > 1 then insert select 'a' as k, 1 as n")
    for n in range(200):
        with pytest.raises(ArithmeticError):
            runtime.send("A", {"k": f"x{n}", "n": 1})
    with pytest.raises(ArithmeticError):
        runtime.send("Other", {"n": 1})
    assert {row["n"] for row in runtime.query("select n from W")} == {2}


def _fails(_value: int) -> int:
    raise ArithmeticError
