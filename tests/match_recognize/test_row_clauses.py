"""The clause as a whole: refusals in Esper's words, limits of states, intervals, rows that leave, patterns that explode."""
from __future__ import annotations

import pytest

from epl.errors import EplError
from tests.match_recognize.row_harness import Context, Matching, plan_of, row


@pytest.mark.parametrize(("clause", "message"), [
    ("measures A as a pattern (A+ B) define A as A.id = B.id", "Failed to validate condition expression for variable 'A'"),
    ("measures A.id, A.id as x pattern (A)", "The measures clause requires that each expression utilizes the AS keyword"),
    ("measures B.id as b pattern (A B*)", "Failed to validate match-recognize measure expression 'B.id'"),
    ("measures A.id as a pattern (A) define A as A.v > 1, A as A.v > 1", "Variable 'A' has already been defined"),
    ("measures A.id as a pattern (A) define X as X.v > 1", "Variable 'X' does not occur in pattern"),
    (
        "measures sum(A.v + B.v) as s pattern (A* B*)",
        "Aggregation functions in the measure-clause must only refer to properties of exactly one"
    ),
    ("measures sum(A.v) as s pattern (A B*)", "Aggregation functions in the measure-clause must refer to one or more properties"),
    (
        "measures A.id as a pattern (A) define A as sum(A.v) > 3",
        "Failed to validate condition expression for variable 'A': An aggregate function may not"
    ),
    ("measures A.id as a pattern (A) define A as prev(A.v, A.v) > 1", "PREV operator requires a constant index"),
    ("measures A.id as a pattern (A) define A as prior(1, A.v) > 1", "Failed to validate condition expression for variable 'A'"),
    ("measures prev(A.v) as a pattern (A)", "Failed to validate match-recognize measure expression 'prev("),
    ("measures A as a pattern (A{-1})", "Invalid pattern quantifier value -1, expecting a minimum of 1"),
    ("measures A as a pattern (A{5,3})", "Invalid pattern quantifier value 5, expecting a minimum of 1 and maximum of 3"),
    ("measures A as a pattern (A{null})", "Pattern quantifier 'null' must return an integer-type value"),
    ("partition by zz measures A as a pattern (A)", "Failed to validate match-recognize partition expression 'zz'"),
])
def test_refusals(clause: str, message: str) -> None:
    with pytest.raises(EplError) as refused:
        plan_of(clause)
    assert refused.value.message.startswith(message)


def test_matches_with_conditions_that_look_back() -> None:
    running = Matching(
        "partition by k measures A.id as a, count(B.v) as n, sum(B.v + A.v) as s, C.id as c pattern (A B+ C) "
        "define A as A.v = 1, B as B.v > A.v and B.v < 5, C as C.v > B[0].v and prev(C.v) > 1", has_window=False,
    )
    matches = [r for n, v in enumerate([1, 2, 4, 5]) for r in running.send(row(f"E{n}", v))]
    assert matches == [{"a": "E0", "n": 1, "s": 3, "c": "E2"}]


def test_a_partition_without_match_in_progress_costs_nothing() -> None:
    running = Matching("partition by k measures A.id as a pattern (A B) define A as A.v = 1, B as B.v = 2", has_window=False)
    for n in range(1000):
        running.send(row("x", 1 if n < 500 else 3, str(n)))
    assert len(running.operator._partitions) == 500
    for n in range(500):
        running.send(row("y", 3, str(n)))
    assert not running.operator._partitions
    assert running.context.match_states.count == 0


def test_an_exploding_pattern_stays_small() -> None:
    running = Matching("measures count(A.v) as n pattern ((A+)+ B) define A as A.v = 1, B as B.v = 2", has_window=False)
    for _ in range(10_000):
        running.send(row("a", 1))
    assert running.context.match_states.count <= 2
    assert running.send(row("b", 2)) == [{"n": 10_000}]


@pytest.mark.parametrize("pattern", ["(A+)+ B", "A* A* A* B"])
def test_an_exploding_pattern_behind_a_window_costs_in_proportion(pattern: str) -> None:
    """Layers looked at, not seconds: ten times the rows are at most twenty times the work."""
    looked: list[int] = []
    for rows in (1_000, 10_000):
        running = Matching(f"measures A[0].id as a, count(A.v) as n pattern ({pattern}) define A as A.v = 1, B as B.v = 2")
        for n in range(rows):
            running.send(row(f"a{n}", 1))
        assert running.send(row("b", 2)) == [{"a": "a0", "n": rows}]
        looked.append(running.operator.lattice.visited)
    assert looked[1] < 20 * looked[0]


@pytest.mark.parametrize(("prevent", "matches"), [(True, 2), (False, 4)])
def test_limit_of_states(prevent: bool, matches: int) -> None:
    context = Context(max_states=2, prevent_start=prevent)
    running = Matching("partition by k measures A.id as a pattern (A B) define A as A.v = 1, B as B.v = 2", context, has_window=False)
    for n in range(4):
        running.send(row(f"E{n}", 1, str(n)))
    assert sum(len(running.send(row("x", 2, str(n)))) for n in range(4)) == matches


def test_an_interval_holds_matches_back() -> None:
    running = Matching("measures A.id as a, count(B.v) as n pattern (A B*) interval 5 seconds define A as A.v = 1, B as B.v = 2")
    clock, schedule = running.context.clock, running.context.schedule
    clock.now = 1000
    assert running.send(row("E1", 1)) == []
    clock.now = 2000
    assert running.send(row("E2", 2)) == []
    clock.now = 6000
    for timer in schedule.take_due(6000):
        timer.callback()
    assert [[dict(zip(e.type.names, e.values())) for e in call] for call in running.calls] == [[{"a": "E1", "n": 1}]]


def test_rows_that_leave_take_matches_in_progress_with_them() -> None:
    running = Matching("measures A.id as a, B.id as b pattern (A B) define A as A.v = 1, B as B.v = 2")
    first = row("E1", 1)
    running.send(first)
    assert running.send(row("E2", 2), leaving=[first]) == []


def test_batches_are_ranked_as_a_whole() -> None:
    running = Matching("measures A as a pattern (A+)")
    assert running.send(row("E1"), row("E2"), row("E3")) == [{"a": ["E1", "E2", "E3"]}]


def test_iterate_only_tells_nothing() -> None:
    running = Matching("measures A.id as a pattern (A) define A as prev(A.v) = 1", iterate_only=True)
    assert running.send(row("E1", 1)) == running.send(row("E2", 3)) == []
    assert running.iterate() == [{"a": "E2"}]
