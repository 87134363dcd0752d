"""A changed module goes on with what did not change: statements by name and fingerprint, those without a name by fingerprint alone."""
from __future__ import annotations

import pytest

from epl.errors import EplDeploymentError
from runtime import Runtime
from runtime.api.adoption import adopt

SCHEMA = "@public @buseventtype create schema T(k string, v int);\n"
SUM, MOST, LAST = "select sum(v) as s from T#length(2)", "select max(v) as m from T#keepall", "select v from T#lastevent"


def ran(*statements: str) -> Runtime:
    runtime = Runtime()
    runtime.deploy(SCHEMA + ";\n".join(statements))
    for v in (5, 1, 3):
        runtime.send("T", {"k": "a", "v": v})
    return runtime


def adopted(before: Runtime, *statements: str, forget: tuple[str, ...] = ()) -> list[list[dict[str, object]]]:
    """The rows of the statements behind the schema."""
    runtime = Runtime()
    deployment = runtime.deploy(SCHEMA + ";\n".join(statements))
    adopt(runtime, before, forget)
    return [[dict(row) for row in statement] for statement in list(deployment)[1:]]


def test_statements_without_a_name_are_found_wherever_they_stand() -> None:
    before = ran(SUM, MOST)
    assert adopted(before, LAST, MOST, SUM) == [[], [{"m": 5}], [{"s": 4}]]


def test_equal_statements_without_a_name_are_taken_in_their_order() -> None:
    before = ran(SUM)
    before.deploy(f"{SUM};\n{MOST}", name="later")
    before.send("T", {"k": "a", "v": 7})
    assert adopted(before, MOST, SUM, SUM) == [[{"m": 7}], [{"s": 10}], [{"s": 7}]]


def test_a_statement_without_a_name_that_may_have_changed_is_refused() -> None:
    before = ran(SUM, MOST)
    with pytest.raises(EplDeploymentError, match="a statement without a name, 'stmt-1' by default, has state and is not there") as refusal:
        adopted(before, SUM.replace("2", "3"), MOST)
    assert "forget=['stmt-1']" in str(refusal.value.hint)
    assert adopted(before, SUM.replace("2", "3"), MOST, forget=("stmt-1",)) == [[{"s": None}], [{"m": 5}]]


def test_a_statement_that_gets_a_name_does_not_lose_its_state_unsaid() -> None:
    with pytest.raises(EplDeploymentError, match="it may be one of them, with a name now") as refusal:
        adopted(ran(SUM, MOST), f"@name('sum') {SUM}", MOST)
    assert "forget=['stmt-1']" in str(refusal.value.hint)
    assert adopted(ran(SUM, MOST), f"@name('sum') {SUM}", MOST, forget=("stmt-1",)) == [[{"s": None}], [{"m": 5}]]


def test_a_statement_without_a_name_may_go() -> None:
    assert adopted(ran(SUM, MOST), MOST) == [[{"m": 5}]]
    assert adopted(ran(SUM, MOST), MOST, "create schema U(x int)") == [[{"m": 5}], []]


def test_a_name_is_kept_to() -> None:
    before = ran(f"@name('a') {SUM}", f"@name('b') {MOST}")
    assert adopted(before, f"@name('b') {MOST}", f"@name('c') {SUM}") == [[{"m": 5}], [{"s": None}]]
    with pytest.raises(EplDeploymentError, match="statement 'a' is not the one whose state was kept"):
        adopted(before, f"@name('a') {MOST}")
    assert adopted(before, f"@name('a') {MOST}", forget=("a",)) == [[{"m": None}]]


def test_rows_that_wait_keep_their_type_where_default_names_move() -> None:
    counted, doubled = "select v, k from T output every 4 events", "select 2 * v as w from T output every 5 events"
    before = ran(counted, doubled)
    runtime = Runtime()
    deployment = runtime.deploy(SCHEMA + ";\n".join((doubled, LAST, counted)))
    adopt(runtime, before)
    found: dict[int, list[dict[str, object]]] = {}
    for number, statement in enumerate(deployment):
        statement.add_listener(lambda new, old, s, r, number=number: found.setdefault(number, []).extend(map(dict, new)))
    for v in (8, 9):
        runtime.send("T", {"k": "b", "v": v})
    assert found[3] == [{"v": v, "k": k} for v, k in ((5, "a"), (1, "a"), (3, "a"), (8, "b"))]
    assert found[1] == [{"w": 10}, {"w": 2}, {"w": 6}, {"w": 16}, {"w": 18}]


def test_patterns_keep_their_own_rows() -> None:
    """Rows of measures have one name in all statements."""
    one = "select * from T match_recognize (measures A.v as a pattern (A B) define B as B.v > 90) output every 2 events"
    two = "select * from T match_recognize (measures A.k as k, B.v as b pattern (A B) define B as B.v > A.v) output every 2 events"
    before = ran(one, two)
    runtime = Runtime()
    deployment = runtime.deploy(SCHEMA + ";\n".join((two, one)))
    adopt(runtime, before)
    found: list[tuple[str, dict[str, object]]] = []
    for statement in deployment:
        statement.add_listener(lambda new, old, s, r: found.extend((s.name, dict(row)) for row in new))
    for v in (95, 2, 99):
        runtime.send("T", {"k": "b", "v": v})
    assert found == [("stmt-1", {"k": "a", "b": 3}), ("stmt-1", {"k": "b", "b": 99}), ("stmt-2", {"a": 3}), ("stmt-2", {"a": 2})]
