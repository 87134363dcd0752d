"""Sub-queries with what is beside them: settings, errors, undeploying, explain(), partitioning and tiers."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplUnsupportedError
from epl.settings import Settings
from runtime import Runtime

SCHEMAS = "create schema O(k string, x integer);\ncreate schema I(k string, x integer);\n"


def answers(runtime: Runtime, select: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    runtime.deploy(f"{SCHEMAS}@name('s') {select}", listeners={"s": lambda new, *_: rows.extend(map(dict, new))})
    return rows


@pytest.mark.parametrize(("before", "expected"), [(True, [1, 2]), (False, [0, 1])])
def test_windows_take_an_event_before_or_after_the_statement(before: bool, expected: list[int]) -> None:
    with Runtime(settings=Settings(self_subselect_preeval=before)) as runtime:
        rows = answers(runtime, "select (select count(*) from O#keepall) as n from O")
        for _ in expected:
            runtime.send("O", {"k": "a", "x": 1})
        assert [row["n"] for row in rows] == expected


def number(digits: str) -> int:
    return int(digits)


def test_a_condition_that_fails_is_that_events_error() -> None:
    errors: list[str] = []
    with Runtime(on_error=lambda error, *_: errors.append(str(error))) as runtime:
        runtime.register_function("number", number)
        rows = answers(runtime, "select (select count(*) from I#keepall as i where number(i.k) = o.x) as n from O as o")
        runtime.send("O", {"k": "a", "x": 1})
        runtime.send("I", {"k": "7", "x": 1})
        runtime.send("O", {"k": "a", "x": 7})
        runtime.send("I", {"k": "seven", "x": 1})
        runtime.send("O", {"k": "a", "x": 7})
        assert [row["n"] for row in rows] == [0, 1]
        assert len(errors) == 1 and "seven" in errors[0]


def test_undeploying_takes_windows_and_timers_away() -> None:
    with Runtime() as runtime:
        deployment = runtime.deploy(f"{SCHEMAS}@name('s') select (select count(*) from I#time(1 sec)) as n from O")
        runtime.send("I", {"k": "a", "x": 1})
        deployment.undeploy()
        runtime.advance_time_span(5_000)
        runtime.deploy("create schema O(z int);\n@name('s') select z from O")
        runtime.send("O", {"z": 1})


def test_explain_shows_sub_queries_and_what_they_keep_from() -> None:
    with Runtime() as runtime:
        deployment = runtime.deploy(
            f"{SCHEMAS}@name('s') select exists (select * from I#keepall as i where i.k = o.k and i.x > o.x) as e from O as o;"
            "@name('t') select (select max(x) from I#keepall) as m from O")
        text = deployment["s"].explain()
        assert "subquery 0:" in text and "lookup: hash (k) sorted (x) by k = o.k and x > o.x" in text
        assert "partitioning: not at all" in deployment["t"].explain()


def test_columns_fall_back_to_rows() -> None:
    table = pa.table({"k": ["a"] * 3000, "x": list(range(3000))})
    with Runtime() as runtime:
        rows = answers(runtime, "select x, (select max(x) from I#keepall) as m from O(x > 2997)")
        runtime.send("I", {"k": "a", "x": 4})
        runtime.send_batch("O", table)
        assert rows == [{"x": 2998, "m": 4}, {"x": 2999, "m": 4}]
    with Runtime(tier="batch") as runtime, pytest.raises(EplUnsupportedError, match="a sub-query is not computed in columns"):
        answers(runtime, "select x, (select max(x) from I#keepall) as m from O")
        runtime.send_batch("O", table)


def test_a_condition_that_fails_leaves_other_aggregations_of_the_window_right() -> None:
    """The row counts where its condition does not matter, and so do rows that come with it."""
    errors: list[str] = []
    with Runtime(on_error=lambda error, *_: errors.append(str(error))) as runtime:
        runtime.register_function("number", number)
        rows = answers(
            runtime, "select (select sum(x) from I#length_batch(3) where number(k) > 0) as part, "
            "(select count(*) from I#length_batch(3)) as n, (select sum(x) from I#length_batch(3)) as total from O"
        )
        for k, x in (("1", 1), ("a", 2), ("2", 4)):
            runtime.send("I", {"k": k, "x": x})
        runtime.send("O", {"k": "a", "x": 1})
        for k, x in (("1", 10), ("2", 20), ("3", 40)):
            runtime.send("I", {"k": k, "x": x})
        runtime.send("O", {"k": "a", "x": 1})
    assert rows == [{"part": 5, "n": 3, "total": 7}, {"part": 70, "n": 3, "total": 70}]
    assert len(errors) == 2  # as it comes, and as it leaves
