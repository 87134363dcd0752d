"""Limits on the sub-expressions of patterns: what they keep from starting, and who hears of it."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Condition, Runtime, Settings

SCHEMA = "create schema A(id string); create schema B(id string);"
ONE = "@name('one') select * from pattern [every a=A -> b=B(id=a.id)];"
TWO = "@name('two') select * from pattern [every a=A(id > 'm') -> b=B(id=a.id)];"


def started(text: str, **settings: Any) -> tuple[Runtime, list[Condition], list[tuple[str, str]]]:
    """Return the runtime, the conditions it reports, and the matches by statement."""
    runtime = Runtime(settings=Settings(**settings))
    conditions: list[Condition] = []
    runtime.on_condition = conditions.append
    matches: list[tuple[str, str]] = []
    deployment = runtime.deploy(SCHEMA + text)
    for statement in deployment:
        if statement.name in ("one", "two"):
            statement.add_listener(lambda new, old, by, _: matches.extend((by.name, row["a"]["id"]) for row in new))
    return runtime, conditions, matches


def test_the_limit_of_the_runtime_is_over_all_statements() -> None:
    runtime, conditions, matches = started(ONE + TWO, max_subexpressions=3)
    for each in "abxy":
        runtime.send("A", {"id": each})
    assert runtime.subexpressions_in_progress == 3 and sum(runtime.subexpressions_by_statement.values()) == 3
    assert [(each.kind, each.limit, sum(each.counts.values())) for each in conditions] == [("subexpressions", 3, 3)] * len(conditions)
    assert len(conditions) == 3 and {each.statement for each in conditions} == {"one", "two"}
    for each in "abxy":
        runtime.send("B", {"id": each})
    assert len(matches) == 3 and runtime.subexpressions_in_progress == 0 and runtime.subexpressions_by_statement == {}


def test_the_limit_of_a_statement_leaves_others_alone() -> None:
    runtime, conditions, matches = started(ONE + TWO, max_statement_subexpressions=2)
    for each in "abxy":
        runtime.send("A", {"id": each})
    assert runtime.subexpressions_by_statement == {"one": 2, "two": 2}
    assert conditions == [Condition("statement subexpressions", 2, "one", {"one": 2})] * 2
    for each in "abxy":
        runtime.send("B", {"id": each})
    assert sorted(matches) == [("one", "a"), ("one", "b"), ("two", "x"), ("two", "y")]


@pytest.mark.parametrize("limit", ["max_subexpressions", "max_statement_subexpressions"])
def test_without_prevention_it_is_only_reported(limit: str) -> None:
    runtime, conditions, matches = started(ONE, max_subexpressions_prevent_start=False, **{limit: 1})
    for each in "abc":
        runtime.send("A", {"id": each})
    assert runtime.subexpressions_in_progress == 3 and len(conditions) == 2
    for each in "abc":
        runtime.send("B", {"id": each})
    assert len(matches) == 3


def test_an_arrow_with_a_limit_is_reported_by_its_statement() -> None:
    runtime, conditions, _ = started(ONE.replace("->", "-[1]>"))
    runtime.send("A", {"id": "a"})
    runtime.send("A", {"id": "b"})
    assert conditions == [Condition("followed by", 1, "one", {"one": 1})]


def test_the_limit_of_match_recognize_is_reported() -> None:
    runtime, conditions, _ = started(
        "select * from A match_recognize (partition by id measures A.id as a, B.id as b pattern (A B) define B as B.id = 'none')",
        max_states=1)
    runtime.send("A", {"id": "a"})
    runtime.send("A", {"id": "b"})
    assert [(each.kind, each.limit) for each in conditions] == [("match_recognize states", 1)]


def test_limits_hold_after_a_restart_and_after_statements_have_gone() -> None:
    runtime, _, _ = started(ONE + TWO, max_subexpressions=3)
    for each in "xyz":
        runtime.send("A", {"id": each})
    restored = Runtime.restore(runtime.snapshot())
    conditions: list[Condition] = []
    restored.on_condition = conditions.append
    assert restored.subexpressions_by_statement == runtime.subexpressions_by_statement
    restored.send("A", {"id": "q"})
    assert [each.limit for each in conditions] == [3, 3]
    restored.undeploy_all()
    assert restored.subexpressions_in_progress == 0 and restored.subexpressions_by_statement == {}


def test_what_a_handler_raises_goes_to_the_error_handler() -> None:
    errors: list[tuple[str, str]] = []
    runtime = Runtime(
        settings=Settings(max_subexpressions=1), on_error=lambda error, statement, event: errors.append((str(error), statement)))

    def handler(condition: Condition) -> None:
        raise ValueError("of the application")

    runtime.on_condition = handler
    runtime.deploy(SCHEMA + ONE)
    runtime.send("A", {"id": "a"})
    runtime.send("A", {"id": "b"})
    assert errors == [("of the application", "one")] and runtime.subexpressions_in_progress == 1


def test_the_default_logs(caplog: pytest.LogCaptureFixture) -> None:
    runtime = Runtime(settings=Settings(max_subexpressions=1))
    runtime.deploy(SCHEMA + ONE + ONE.replace("->", "-[0]>").replace("one", "two"))
    runtime.send("A", {"id": "a"})
    runtime.send("A", {"id": "b"})
    assert [record.message for record in caplog.records] == ["subexpressions have reached the limit of 1"]
