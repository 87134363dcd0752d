"""Declared expressions that use their parameters often: large arguments are evaluated once, so nesting costs what the text has."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from epl.analysis.expressions import declared
from epl.errors import EplUnsupportedError
from epl.plan.expressions import Applied
from epl.plan.walk import plan_expressions
from runtime import Runtime
from tests.calls import calls

SCHEMA = "create schema A(k string, n int, v double);"
BODIES = {
    "sum": ("x + x", lambda x: 2 * x), "coalesce": ("coalesce(x, x, x)", lambda x: x),
    "case": ("case when x > 5 then x + 1 else x - 1 end", lambda x: x + 1 if x > 5 else x - 1),
    "between": ("case when x between x and x + 1 then x else -x end", lambda x: x),
    "sub-query beside it": ("x + x - (select max(n) from A#lastevent)", lambda x: 2 * x - 3),
    "maths": ("Math.max(x, x) + Math.min(x, x)", lambda x: 2 * x),
    "lambda": ("{1, 2}.sumOf(i => i * x) - x - x", lambda x: x),
}


def nested(levels: int, argument: str = "n") -> str:
    return "d(" * levels + argument + ")" * levels


def running(epl: str, tier: str = "row") -> tuple[Runtime, list[Any]]:
    runtime, values = Runtime(tier=tier), []
    runtime.deploy(SCHEMA + epl)
    runtime.statement("s").add_listener(lambda new, *_: values.extend(row["c"] for row in new))
    return runtime, values


@pytest.mark.parametrize("levels", [1, 2, 5, 9, 20])
@pytest.mark.parametrize("case", BODIES.values(), ids=BODIES)
def test_nested_calls_have_the_value_of_their_text(case: tuple[str, Any], levels: int) -> None:
    body, value = case
    with calls(most=1_000_000):
        runtime, values = running(f"create expression d {{ x => {body} }}; @name('s') select {nested(levels)} as c from A")
        runtime.send("A", {"k": "a", "n": 3, "v": 1.0})
    expected = 3
    for _ in range(levels):
        expected = value(expected)
    assert values == [expected]


@pytest.mark.parametrize("statement", [
    f"select n as c from A({nested(9)} > 1000)", f"select n as c from A where {nested(9)} > 1000",
    f"select n as c from A group by n having {nested(9)} > 1000", f"select max(n) as c from A having sum({nested(9)}) > 1000",
    f"select n as c from A order by {nested(9)}", f"select n as c from A#keepall where n = 3 and exists (select * from A#keepall as b "
    f"where {nested(9, 'b.n')} > 1000)", f"select {nested(9, 'sum(n)')} / 512 as c from A",
    f"select (select max({nested(9)}) / 512 from A#keepall) as c from A",
    f"select {nested(9, 'prev(0, n)')} / 512 as c from A#keepall", f"select a.n as c from pattern [every a=A({nested(9)} > 1000)]",
    f"select c from A match_recognize (measures {nested(9, 'X.n')} / 512 as c pattern (X) define X as {nested(9, 'X.n')} > 1000)",
])
def test_they_are_where_expressions_are(statement: str) -> None:
    runtime, values = running(f"create expression d {{ x => x + x }}; @name('s') {statement}")
    runtime.send("A", {"k": "a", "n": 3, "v": 1.0})
    assert [round(value) for value in values] == [3]
    restored = Runtime.restore(runtime.snapshot(), tier="row")
    restored.statement("s").add_listener(lambda new, *_: values.extend(row["c"] for row in new))
    restored.send("A", {"k": "a", "n": 3, "v": 1.0})
    assert len(values) == 2


def test_batches_give_the_same() -> None:
    runtime, values = running(f"create expression d {{ x => coalesce(x, x) + x }}; @name('s') select {nested(10)} as c from A", tier="auto")
    runtime.send_batch("A", pa.table({"k": ["a", "b"], "n": pa.array([1, 2], pa.int32()), "v": [1.0, 2.0]}))
    assert values == [1024, 2048]


def test_small_arguments_stay_in_place() -> None:
    runtime, _ = running("create expression d { x => x + x }; @name('s') select d(d(n + 1)) as c from A")
    assert not any(isinstance(node, Applied) for each in plan_expressions(runtime.statement("s").plan) for node in each.walk())


def test_two_arguments_and_lambdas_keep_their_names() -> None:
    large = " + ".join(["n"] * 40)
    runtime, values = running(
        "create expression f { (x, y) => x - y }; create expression g { (x, y) => f(y, x) + {1, 2}.sumOf(i => i * (x - y)) };"
        f"@name('s') select g({large}, {large.replace('+', '-')} + {{1}}.sumOf(i => i + n)) as c from A")
    runtime.send("A", {"k": "a", "n": 2, "v": 1.0})
    x, y = 80, 2 - 2 * 39 + 1 + 2
    assert values == [(y - x) + 3 * (x - y)]


def test_what_is_copied_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "LARGEST_EXPRESSION", 3_000)
    refusal = r"expression 'd' of more than 3000 operations|more than 10000 calls"
    with calls(most=10_000_000), pytest.raises(EplUnsupportedError, match=refusal):
        running(f"create expression d {{ x => sum(x) + sum(x + 1) }}; @name('s') select {nested(20)} as c from A")
