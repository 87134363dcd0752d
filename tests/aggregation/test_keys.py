"""Keys of groups, windows and distinct values: one meaning of equal, that of Java's ``equals``, as Esper 9.0.0 has it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from runtime import Runtime
from windows.keys import freeze, thaw

ONE, ALSO_ONE = Decimal("1.0"), Decimal("1.00")
TEXTS = {
    "group by": "select count(*) as c from T group by x",
    "group by a window": "select count(*) as c from T#length(9) group by x",
    "grouping sets": "select count(*) as c from T group by grouping sets((x), (x, k))",
    "groupwin": "select count(*) as c from T#groupwin(x)#length(5) group by x",
}


def counts(runtime: Runtime, value: Any) -> int:
    """How many rows of the value's group there are now: the largest count that the event makes."""
    got: list[int] = []
    runtime.statement("s").add_listener(lambda new, old, s, r: got.extend(row["c"] for row in new))
    runtime.send("T", {"x": value, "k": f"k{len(got)}"})
    return max(got)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    ("type_", "one", "other", "equal"),
    [("BigDecimal", ONE, ALSO_ONE, False), ("double", 0.0, -0.0, False), ("double", float("nan"), -float("nan"), True),
     ("int[]", [1, 2], [1, 2], True), ("int[]", [1, 2], [2, 1], False)],
)
def test_groups_are_of_equal_values(text: str, type_: str, one: Any, other: Any, equal: bool) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(f"create schema T(x {type_}, k string); @name('s') {text}")
    runtime.send("T", {"x": one, "k": "a"})
    restored = Runtime.restore(runtime.snapshot(), tier="row")
    for each in (runtime, restored):
        assert counts(each, other) == (2 if equal else 1)
    assert restored.snapshot() == runtime.snapshot()


@pytest.mark.parametrize("text", ["count(distinct x) as c from T", "count(distinct x) as c from T#length(9)"])
def test_distinct_values_differ_by_scale(text: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(f"create schema T(x BigDecimal, k string); @name('s') select {text}")
    runtime.send("T", {"x": ONE, "k": "a"})
    assert counts(runtime, ALSO_ONE) == 2
    assert counts(Runtime.restore(runtime.snapshot(), tier="row"), ONE) == 2


@pytest.mark.parametrize("value", [None, 1, "x", 0.0, ONE, ALSO_ONE, [1, [2.5]], {"a": [1], "b": None}, {1, 2}, True])
def test_what_is_frozen_thaws(value: Any) -> None:
    assert repr(thaw(freeze(value))) == repr(value)
    hash(freeze(value))
    assert str(thaw(freeze(-0.0))) == "-0.0"
