"""Rows of match_recognize that come out of order: how long they wait, and what happens to those that come later still."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from epl.errors import EplRuntimeError, EplValidationError
from runtime import Condition, EplWarning, RowCounts, Runtime, Settings

SCHEMA = "create schema T(g string, x int, ts long);"
CLAUSE = "match_recognize (partition by g order by ts measures {} as xs pattern (A B) define B as B.x > LAST(A.x))"
ALL = "select * from T match_recognize (order by ts{} measures A.x as x, A.ts as ts pattern (A) define A as true)"
Rows = list[tuple[Any, ...]]


def deployed(text: str, **options: Any) -> tuple[Runtime, Rows]:
    runtime = Runtime(**options)
    runtime.deploy(f"{SCHEMA} @name('s') {text}")
    return runtime, listened(runtime)


def listened(runtime: Runtime) -> Rows:
    emitted: Rows = []
    runtime.statement("s").add_listener(lambda new, *_: emitted.extend(tuple(row.values()) for row in new))
    return emitted


def send(runtime: Runtime, *rows: tuple[int, int | None]) -> None:
    for x, ts in rows:
        runtime.send("T", {"g": "a", "x": x, "ts": ts})


def xs(emitted: Rows) -> list[Any]:
    return [row[0] for row in emitted]


def test_rows_wait_for_earlier_ones() -> None:
    runtime, emitted = deployed("@RowOrder(late='10 milliseconds') " + ALL.format(""))
    send(runtime, (1, 5), (2, 12), (3, 8), (4, 15))
    assert xs(emitted) == []  # nothing is below 15 - 10
    assert runtime.ordered_rows == {"s": RowCounts(waiting=4)}
    send(runtime, (5, 20), (6, 9))
    assert xs(emitted) == [1, 3]  # below 20 - 10; the row of 9 is late
    runtime.end_of_input()
    assert xs(emitted) == [1, 3, 2, 4, 5]
    assert runtime.ordered_rows == {"s": RowCounts(late=1)}


def test_the_clock_releases_what_waits() -> None:
    runtime, emitted = deployed("@RowOrder(late=10) " + ALL.format(""))
    runtime.advance_time(100)
    send(runtime, (1, 105), (2, 103))
    runtime.advance_time(113)
    assert xs(emitted) == []
    runtime.advance_time(114)
    assert xs(emitted) == [2]
    runtime.advance_time(116)
    assert xs(emitted) == [2, 1]


def test_time_of_within_waits_for_late_rows_too() -> None:
    measured = "measures A.x as a, COUNT(*) as n"
    clause = f"match_recognize (order by ts {measured} pattern (A B*) within interval '0.010' second define B as x > 5)"
    runtime, emitted = deployed(f"@RowOrder(late=20) @Dialect('sql') select * from T {clause}")
    runtime.advance_time(100)
    send(runtime, (1, 100), (6, 104))
    runtime.advance_time(112)
    assert emitted == []
    send(runtime, (7, 102))
    runtime.advance_time(129)
    assert emitted == []
    runtime.advance_time(130)
    assert emitted == [(1, 3)]


def test_further_keys_sort_within_one_time() -> None:
    runtime, emitted = deployed("@RowOrder(late=5) " + ALL.format(", x desc"))
    send(runtime, (1, 10), (3, 10), (2, 8), (4, 12), (2, 10), (0, 20))
    assert xs(emitted) == [2, 3, 2, 1, 4]


def test_what_comes_too_late_is_dropped_refused_kept_or_given_to_the_handler() -> None:
    errors: list[str] = []
    seen: list[Condition] = []

    def failed(error: BaseException, *_: object) -> None:
        assert isinstance(error, EplRuntimeError)
        errors.append(error.message)

    for on_late in ("drop", "refuse", "side", "keep"):
        runtime, emitted = deployed(f"@RowOrder(on_late='{on_late}') " + ALL.format(""), on_error=failed)
        runtime.on_condition = seen.append
        send(runtime, (1, 10), (2, 5), (3, None), (4, 10))
        assert xs(emitted) == ([1, 2, 3, 4] if on_late == "keep" else [1, 4])
        assert runtime.ordered_rows["s"].late == 2
    assert errors == ["match_recognize: a row of time 5 after one of 10 is refused", "match_recognize: a row without a time is refused"]
    assert [(each.kind, each.statement, each.event.get("x")) for each in seen] == [("late row", "s", 2), ("late row", "s", 3)]


def test_rows_too_far_ahead_are_left_out() -> None:
    runtime, emitted = deployed("@RowOrder(ahead='1 second') " + ALL.format(""))
    runtime.advance_time(1_000)
    send(runtime, (1, 1_500), (2, 2_001), (3, 2_000))
    assert xs(emitted) == [1, 3]
    assert runtime.ordered_rows["s"].ahead == 1


def test_more_than_may_wait_are_processed() -> None:
    runtime, emitted = deployed("@RowOrder(late='1 hour', max_buffered=3) " + ALL.format(""))
    send(runtime, (1, 30), (2, 10), (3, 20))
    assert emitted == []
    send(runtime, (4, 40), (5, 9), (6, 11))
    assert xs(emitted) == [2, 6]
    assert runtime.ordered_rows["s"] == RowCounts(waiting=3, late=1, forced=2)


def test_settings_say_it_for_all_and_the_statement_for_itself() -> None:
    settings = Settings(order_late=datetime.timedelta(milliseconds=10), dialect="sql")
    assert settings.order_late == "10000 microseconds"
    runtime, emitted = deployed(ALL.format(""), settings=settings)
    assert "order: by time ts, rows wait 10 for earlier ones" in runtime.statement("s").explain()
    send(runtime, (1, 10), (2, 5), (3, 30))
    assert xs(emitted) == [2, 1]
    restored = Runtime.restore(runtime.snapshot())
    assert restored.settings == settings
    own, emitted = deployed("@RowOrder(late=0) " + ALL.format(""), settings=settings)
    send(own, (1, 10), (2, 5), (3, 30))
    assert xs(emitted) == [1]


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("@RowOrder(late='soon')", "late='soon'): expected a length of time such as '5 seconds', or None"),
        ("@RowOrder(late=5, wait=3)", "@RowOrder does not have an attribute 'wait'; it has late, on_late, ahead, max_buffered"),
        ("@RowOrder(on_late='discard')", "on_late='discard'): expected 'drop', 'refuse', 'side' or 'keep'"),
        ("@RowOrder(late=5, on_late='keep')", "on_late='keep' is for rows that do not wait: omit the bound, late="),
        ("@RowOrder(max_buffered=0)", "max_buffered=0): expected a whole number of at least 1"),
    ],
)  # fmt: skip
def test_a_wrong_order_is_refused_at_its_place(annotation: str, words: str) -> None:
    with pytest.raises(EplValidationError) as raised:
        Runtime().deploy(f"{SCHEMA}\n{annotation} {ALL.format('')}")
    assert words in raised.value.message
    assert raised.value.position == (2, 1)


def test_an_annotation_of_another_meaning_is_kept_as_it_was() -> None:
    with pytest.warns(EplWarning, match="is not one of Esper's"):
        runtime, _ = deployed("@RowOrder(way='x') select * from T")
    assert [each.name for each in runtime.statement("s").annotations] == ["name", "RowOrder"]


@pytest.mark.parametrize("dialect", ["sql", "flink", "ydb"])
@pytest.mark.parametrize("restarts", [0, 1, 7])
def test_within_the_bound_output_is_that_of_the_sorted_rows(dialect: str, restarts: int) -> None:
    drawn = random.Random(dialect)
    count = "AGGREGATE_LIST(B.x)" if dialect == "ydb" else "A.x * 100 + B.x"
    text = f"@RowOrder(late=20) @Dialect('{dialect}') select * from T {CLAUSE.format(count)}"
    rows = [(drawn.randrange(10), ts) for ts in range(0, 300, 3)]
    mixed = sorted(rows, key=lambda row: row[1] + drawn.randrange(20))
    results = []
    for order in (rows, mixed):
        runtime, emitted = deployed(text)
        parts = [emitted]
        for number, row in enumerate(order, 1):
            send(runtime, row)
            if restarts and number % restarts == 0:
                runtime = Runtime.restore(runtime.snapshot())
                parts.append(listened(runtime))
        runtime.end_of_input()
        results.append([row for part in parts for row in part])
        assert runtime.ordered_rows["s"].late == 0
    assert results[0] == results[1]
    assert results[0]


def test_what_waits_survives_a_restart() -> None:
    runtime, _ = deployed("@RowOrder(late=5) " + ALL.format(""))
    send(runtime, (1, 10))
    restored = Runtime.restore(runtime.snapshot())
    assert restored.ordered_rows == {"s": RowCounts(waiting=1)}
