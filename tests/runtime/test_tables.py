"""Tables against a model of Python dicts; their state, visibility and faults."""
from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import EplDeploymentError, EplRuntimeError, Runtime

SCHEMAS = "create schema Trade(k string, v int); create schema Tick(k string, v int);"
MODULE = SCHEMAS + """
@name('table') create table T(k string primary key, total sum(int), n count(*), w window(*) @type(Trade), top max(int));
@name('recent') into table T select sum(v) as total, window(*) as w, max(v) as top from Trade#length(3) group by k;
@name('ticks') into table T select count(*) as n from Tick group by k;
"""

steps = st.lists(st.tuples(st.sampled_from(["Trade", "Tick"]), st.sampled_from("abc"), st.integers(0, 9)), max_size=25)


def rows(runtime: Runtime) -> dict[str, tuple[object, ...]]:
    statement = next(s for d in runtime.deployments.values() for s in d if s.name == "table")
    return {row["k"]: (row["total"], row["n"], [each["v"] for each in row["w"] or []], row["top"]) for row in statement.rows()}


@settings(max_examples=40, deadline=None)
@given(steps, st.integers(0, 25))
def test_rows_are_those_of_a_model_and_survive_a_restore_anywhere(events: list[tuple[str, str, int]], cut: int) -> None:
    runtime = Runtime()
    runtime.deploy(MODULE)
    recent: deque[tuple[str, int]] = deque(maxlen=3)
    ticks: dict[str, int] = {}
    seen: set[str] = set()
    for place, (name, key, value) in enumerate(events):
        if place == cut:
            runtime = Runtime.restore(runtime.snapshot())
        runtime.send(name, {"k": key, "v": value})
        seen.add(key)
        if name == "Trade":
            recent.append((key, value))
        else:
            ticks[key] = ticks.get(key, 0) + 1
        held = {k: [v for other, v in recent if other == k] for k in seen}
        expected = {k: (sum(v) if v else None, ticks.get(k, 0), v, max(v, default=None)) for k, v in held.items()}
        assert rows(runtime) == expected


def test_what_is_used_is_not_undeployed() -> None:
    with Runtime() as runtime:
        runtime.deploy(SCHEMAS)
        table = runtime.deploy("create table T(n count(*))")
        writer = runtime.deploy("into table T select count(*) as n from Trade")
        reader = runtime.deploy("select T.n as n from Tick")
        for user in (writer, reader):
            with pytest.raises(EplDeploymentError, match="Table 'T' cannot be un-deployed as it is referenced by deployment"):
                table.undeploy()
            user.undeploy()
        table.undeploy()


def test_a_column_whose_argument_raises_does_not_count_the_row() -> None:
    def check(value: int) -> int:
        if value == 2:
            raise ValueError("two")
        return value

    with Runtime() as runtime:
        runtime.register_function("check", check)
        deployment = runtime.deploy(
            SCHEMAS + "@name('table') create table T(total sum(long), n count(*));"
            "into table T select sum(check(v)) as total, count(*) as n from Trade#length(2)"
        )
        for value in (1, 2):
            try:
                runtime.send("Trade", {"k": "a", "v": value})
            except EplRuntimeError as error:
                assert value == 2, error
        table = next(s for s in deployment if s.name == "table")
        assert [(row["total"], row["n"]) for row in table.rows()] == [(1, 2)]
        runtime.send("Trade", {"k": "a", "v": 3})
        runtime.send("Trade", {"k": "a", "v": 4})
        assert [(row["total"], row["n"]) for row in table.rows()] == [(7, 2)]
