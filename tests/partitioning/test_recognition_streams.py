"""How statements with match_recognize of a SQL dialect are split: by PARTITION BY, in the order of time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from epl.analysis.partitioning import SplitBy, Whole, analyse_partitioning
from epl.analysis.partitioning.recognition_streams import refuse_other_orders
from epl.settings import Settings
from runtime import Runtime
from runtime.api.runtime import internal_engine

SCHEMA = "create schema T(g string, h string, x int, ts long);"


def verdict(clause: str, dialect: str = "sql", select: str = "*", settings: Settings | None = None) -> Any:
    with Runtime() as runtime:
        runtime.deploy(f"{SCHEMA} @name('s') @Dialect('{dialect}') select {select} from T match_recognize ({clause}) as m")
        return analyse_partitioning(internal_engine(runtime).plans(), "s", settings=settings)


@pytest.mark.parametrize(
    ("dialect", "clause", "keys"),
    [
        ("sql", "partition by g order by ts measures LAST(A.x) as x pattern (A+) define A as x > 0", ("g",)),
        ("sql", "partition by g, h order by ts measures LAST(A.x) as last all rows per match pattern (A+) define A as x > 0", ("g",)),
        ("flink", "partition by h order by ts measures A.x as x pattern (A B) define B as B.x > 0", ("h",)),
        ("ydb", "partition by x % 2 as odd, h measures LAST(A.x) as x pattern (A+) define A as A.x > 0", ("h",)),
    ],
)
def test_rows_are_split_by_the_partition(dialect: str, clause: str, keys: tuple[str, ...]) -> None:
    found = verdict(clause, dialect)
    assert isinstance(found, SplitBy)
    assert found.keys["T"][0] == keys


def test_what_follows_goes_with_the_partition() -> None:
    clause = "partition by g order by ts measures LAST(A.x) as x pattern (A+) define A as x > 0"
    with Runtime() as runtime:
        runtime.deploy(f"{SCHEMA} @Dialect('sql') insert into O select m.g as k, x from T match_recognize ({clause}) as m;"
                       "@name('s') select k, sum(x) as total from O#keepall group by k")
        found = analyse_partitioning(internal_engine(runtime).plans(), "s")
    assert isinstance(found, SplitBy) and found.keys["T"] == (("g",),)


@pytest.mark.parametrize(
    ("dialect", "clause", "words"),
    [
        ("sql", "order by ts measures A.x as x pattern (A) define A as true", "without PARTITION BY, rows of all keys make one match"),
        ("ydb", "partition by x % 2 as odd measures LAST(A.x) as x pattern (A+) define A as A.x > 0", "none of its keys is a property"),
    ],
)
def test_others_stay_together_and_say_why(dialect: str, clause: str, words: str) -> None:
    found = verdict(clause, dialect)
    assert isinstance(found, Whole) and words in found.describe()


def test_the_limit_on_partial_matches_is_one_for_all() -> None:
    clause = "partition by g order by ts measures A.x as x pattern (A) define A as true"
    found = verdict(clause, settings=Settings(max_states=10))
    assert isinstance(found, Whole) and "max_states" in found.describe()


def test_rows_that_wait_for_those_of_all_keys_are_not_split() -> None:
    clause = "partition by g order by ts measures A.x as x pattern (A) define A as true"
    with Runtime(settings=Settings(order_late="5 seconds")) as runtime:
        runtime.deploy(f"{SCHEMA} @name('s') select * from T match_recognize ({clause})")
        found = analyse_partitioning(internal_engine(runtime).plans(), "s")
    assert isinstance(found, Whole) and "how long its rows wait" in found.describe()


def test_rows_in_another_order_than_the_jobs_are_not_split() -> None:
    with Runtime() as runtime:
        clause = "partition by g order by ts measures A.x as x pattern (A) define A as true"
        runtime.deploy(f"{SCHEMA} @name('s') select * from T match_recognize ({clause})")
        plans = internal_engine(runtime).plans()
        found = analyse_partitioning(plans, "s")
    assert isinstance(found, SplitBy)
    assert refuse_other_orders(found, plans, lambda name: "ts") is found
    assert isinstance(refuse_other_orders(found, plans, lambda name: "x"), Whole)
    assert isinstance(refuse_other_orders(found, plans, lambda name: None), Whole)


CLAUSES = (
    ("sql", "partition by g order by ts measures FIRST(x) as a, COUNT(*) as n pattern (A B* C?) within interval '5' second "
            "define A as x > 1, B as x > PREV(x), C as NEXT(x) < x"),
    ("sql", "partition by g order by ts, x measures CLASSIFIER() as c, MATCH_NUMBER() as n all rows per match with unmatched rows "
            "pattern (A B+) define B as x > PREV(x)"),
    ("flink", "partition by g order by ts measures A.x as a, LAST(B.x) as b pattern (A B+? C) within interval '4' second "
              "define B as B.x > 1"),
    ("ydb", "partition by g order by ts measures COUNT(A.x) as n pattern (A+) define A as A.x > 1"),
)  # fmt: skip


@pytest.mark.parametrize(("dialect", "clause"), CLAUSES)
@pytest.mark.parametrize("seed", range(6))
def test_engines_of_a_key_give_what_one_engine_gives(dialect: str, clause: str, seed: int) -> None:
    """Rows in the order of time, the clock with them."""
    drawn = random.Random(seed)
    at, rows = 0, []
    for _ in range(80):
        at += drawn.choice((0, 0, 500, 1000, 3000))
        rows.append({"g": drawn.choice("abc"), "h": "", "x": drawn.randint(0, 4), "ts": at})
    whole = emitted(dialect, clause, rows, at)
    parts = [row for key in "abc" for row in emitted(dialect, clause, [row for row in rows if row["g"] == key], at)]
    assert sorted(map(repr, parts)) == sorted(map(repr, whole))
    assert whole


def emitted(dialect: str, clause: str, rows: list[dict[str, Any]], until: int) -> list[tuple[int, dict[str, Any]]]:
    """Return with the time what comes while the clock follows the rows."""
    output: list[tuple[int, dict[str, Any]]] = []
    with Runtime() as runtime:
        runtime.deploy(f"{SCHEMA} @name('s') @Dialect('{dialect}') select * from T match_recognize ({clause}) as m", listeners={
            "s": lambda new, old, *_: output.extend((runtime.now, dict(row)) for row in new)})
        for row in rows:
            runtime.advance_time_span(row["ts"])
            runtime.send("T", row)
        runtime.advance_time_span(until + 10_000)
        runtime.end_of_input()
    return output
