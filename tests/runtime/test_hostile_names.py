"""Names and texts of EPL that mean something to Python: they are data, in every place."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime


def computed(select: str, event: dict[str, Any], schema: str = "b int[]") -> list[dict[str, Any]]:
    """The rows that ``select … from X`` gives for one event."""
    found: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.deploy(f"create schema X({schema}); @name('s') select {select} from X as row_")
        runtime.statement("s").add_listener(lambda new, old, statement, runtime: found.extend(map(dict, new)))
        runtime.send("X", event)
    return found


# ------------------------------------------------------------------ lambda parameters


@pytest.mark.parametrize("name", [
    "a b", "class#", "class", "lambda", "None", "self", "e0", "t1", "k0", "p_0", "it", "insert_stream", "__class__", "ſ", "ﬁ", "1", "", " ",
    "x=__import__('os').abort()", "x: 0)(1) or (lambda x", "x\n", "'", '"""', "\\",
])
def test_a_lambda_parameter_may_have_any_name(name: str) -> None:
    quoted = f"`{name}`"
    assert computed(f"b.selectFrom({quoted} => {quoted} + 1) as c", {"b": [1, 2]}) == [{"c": [2, 3]}]


def test_parameters_that_python_folds_together_stay_apart() -> None:
    assert computed("b.selectFrom(`ſ` => b.countOf(s => `ſ` = s)) as c", {"b": [1, 2, 3]}) == [{"c": [1, 1, 1]}]


def test_of_equal_parameters_the_first_one_counts() -> None:
    """As in Esper."""
    assert computed("b.aggregate(0, (x, x) => x) as c", {"b": [1, 2, 3]}) == [{"c": 0}]


def test_a_parameter_is_not_caught_by_one_of_a_declared_expression() -> None:
    declared = "expression over { y => {1, 2, 3}.countOf(x => x > y) }"
    found = []
    with Runtime() as runtime:
        runtime.deploy(f"create schema X(b int[]); @name('s') {declared} select b.selectFrom(x => over(x)) as c from X")
        runtime.statement("s").add_listener(lambda new, old, statement, runtime: found.extend(map(dict, new)))
        runtime.send("X", {"b": [1, 2, 3]})
    assert found == [{"c": [2, 1, 0]}]
