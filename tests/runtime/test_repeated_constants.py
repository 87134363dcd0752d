"""A filter that lists the same constant several times delivers an event once for each: both ways in, restores, parameters, errors.

What Esper does of each form stands in tests/cases/filters/repeated_constants.json.
"""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.plan.streams import FilterPlan
from epl.plan.walk import walk_plan
from epl.settings import Settings
from runtime import Runtime
from runtime.api.statement import internal_output
from runtime.batch.refusals import NotInBatchTier
from tests.runtime.listening import listen

SCHEMA = "@public @buseventtype create schema T(k string, x int);\n"
COLUMNS = pa.schema([("k", pa.string()), ("x", pa.int32())])
STATEMENTS = [
    "select k, x, count(*) as c from T(x in (1, 1, 2))",
    "select irstream k, x from T(x in (1, 1) and k in ('a', 'a', 'b'))#length(3)",
    "select k, x, prior(1, x) as p from T(x = 1 or x = 1 or x = 2)#length(2)",
    "select k, sum(x) as s from T(k in ('a', 'b', 'b'))#time(2 sec) group by k",
    "select * from T(x in (1, 1, 2)) match_recognize (measures A.k as a, B.x as b pattern (A B))",
    "select * from T(x in (1, 1, 2))#time(3 sec) match_recognize (partition by k measures A.k as a, B.x as b pattern (A B))",
    "select irstream x from T(x in (2, 2))#length_batch(3)",
    "select x from T#length(2) where x in (1, 1)",
]
EVENTS = st.lists(st.fixed_dictionaries({"k": st.sampled_from(["a", "b", None]), "x": st.sampled_from([1, 2, 3, None])}), max_size=12)


def started(epl: str, log: list[Any], tier: str = "auto") -> Runtime:
    runtime = Runtime(tier=tier)
    runtime.deploy(SCHEMA + "@name('s0') " + epl)
    return listen(runtime, log)


def rows(log: list[Any]) -> tuple[list[Any], list[Any]]:
    """(insert stream, remove stream) of all calls."""
    return [row for _, new, _ in log for row in new], [row for _, _, old in log for row in old]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(STATEMENTS), EVENTS, st.integers(0, 12))
def test_batches_and_restores_are_what_single_sends_are(epl: str, events: list[dict[str, Any]], cut: int) -> None:
    single: list[Any] = []
    runtime = started(epl, single)
    for event in events:
        runtime.send("T", event)

    batched: list[Any] = []
    runtime = started(epl, batched)
    runtime.send_batch("T", pa.Table.from_pylist(events, COLUMNS))
    assert rows(batched) == rows(single)

    restored: list[Any] = []
    runtime = started(epl, restored)
    for event in events[:cut]:
        runtime.send("T", event)
    runtime = Runtime.restore(runtime.snapshot())
    listen(runtime, restored)
    for event in events[cut:]:
        runtime.send("T", event)
    assert restored == single


def test_a_parameter_that_equals_another_counts() -> None:
    for values, times in (([1, 1], 2), ([1, 2], 1), ([2, 1], 1), ([None, 1], 1)):
        log: list[Any] = []
        runtime = Runtime()
        runtime.deploy(SCHEMA + "@name('s0') select x from T(x in (?::int, ?::int))", parameters=dict(enumerate(values, 1)))
        listen(runtime, log).send("T", {"k": "a", "x": 1})
        assert rows(log) == ([{"x": 1}] * times, []), values


@pytest.mark.parametrize("condition", [
    "x = 1", "x in (1, 2)", "x in (1, 2) and k in ('a', 'b')", "x = 1 or x = 2", "x in (1, 1) or k = 'a'",
])
def test_filters_that_deliver_once_are_not_changed(condition: str) -> None:
    """They keep the receiver that the fused statement has, and its text."""
    runtime = started(f"select x from T({condition})", [])
    running = internal_output(runtime.statement("s0")).running
    assert not any(each.repeats for each in walk_plan(running.plan) if isinstance(each, FilterPlan))
    assert running.entry.receiver.write is not None


def test_the_batch_tier_says_why_it_does_not_run_them() -> None:
    pytest.importorskip("numba")
    with pytest.raises(NotInBatchTier, match="lists the same constant several times"):
        started("select x from T(x in (1, 1))", [], tier="batch")


def test_a_list_with_a_variable_delivers_once() -> None:
    """It is evaluated, not looked up."""
    log: list[Any] = []
    runtime = Runtime()
    runtime.deploy(SCHEMA + "create variable int v = 1; @name('s0') select x from T(x in (v, v, 1))")
    listen(runtime, log).send("T", {"k": "a", "x": 1})
    assert rows(log) == ([{"x": 1}], [])


def test_an_error_at_one_delivery_is_one_error_and_harms_no_other_statement() -> None:
    log: list[Any] = []
    faults: list[Any] = []
    runtime = Runtime(on_error=lambda error, statement, event: faults.append(statement))
    runtime.deploy(SCHEMA + "@name('bad') select cast(k, int) from T(x in (1, 1)); @name('good') select k from T(x in (1, 1))")
    listen(runtime, log).send("T", {"k": "a", "x": 1})
    assert set(faults) == {"bad"}
    assert log == [("good", [{"k": "a"}, {"k": "a"}], [])]


@pytest.mark.parametrize("planning, condition, times", [
    ("advanced", "x in (1, 1)", 2), ("basic", "x in (1, 1)", 2), ("none", "x in (1, 1)", 1),
    ("advanced", "x + 0 in (1, 1)", 2), ("basic", "x + 0 in (1, 1)", 1), ("none", "x = 1 or x = 1", 1),
    ("advanced", "x not in (2, null)", 1), ("none", "x not in (2, null)", 0), ("basic", "x + 0 not in (2, null)", 0),
])
def test_only_what_the_index_looks_up_counts(planning: str, condition: str, times: int) -> None:
    for clause in (f"from T({condition})", f"from T where {condition}"):
        log: list[Any] = []
        runtime = Runtime(settings=Settings(filter_index_planning=planning))
        runtime.deploy(f"{SCHEMA} @name('s0') select x {clause}")
        listen(runtime, log).send("T", {"k": "a", "x": 1})
        assert rows(log) == ([{"x": 1}] * times, []), clause
