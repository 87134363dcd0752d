"""Aggregations that users write in Python: on the protocol of the built-ins, in every place where those stand."""

from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplDeploymentError, EplValidationError
from runtime import Runtime

SCHEMA = "@public @buseventtype create schema T(k string, x int, y double);\n"


class Spread:
    """Largest minus smallest value."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def enter(self, x: float) -> None:
        self.values.append(x)

    def leave(self, x: float) -> None:
        self.values.remove(x)

    def value(self) -> float | None:
        return max(self.values) - min(self.values) if self.values else None

    def clear(self) -> None:
        self.values.clear()

    def state(self) -> Any:
        return list(self.values)

    def restore(self, state: Any) -> None:
        self.values = list(state)


class Weighted(Spread):
    """The mean of values by weight."""

    def enter(self, x: float, weight: int) -> None:  # type: ignore[override]
        self.values += [x] * weight

    def leave(self, x: float, weight: int) -> None:  # type: ignore[override]
        for _ in range(weight):
            self.values.remove(x)

    def value(self) -> float | None:
        return sum(self.values) / len(self.values) if self.values else None


def rows_of(epl: str, events: list[tuple[str, int, float]], restart: bool = False) -> list[tuple[Any, ...]]:
    """The insert stream of the last statement."""
    runtime = Runtime()
    runtime.register_aggregation("spread", Spread)
    runtime.register_aggregation("weighted", Weighted)
    runtime.deploy(SCHEMA + f"@name('s0') {epl}")
    found: list[tuple[Any, ...]] = []
    for k, x, y in events:
        if restart:
            runtime = Runtime.restore(runtime.snapshot(), aggregations={"spread": Spread, "weighted": Weighted})
        runtime.statement("s0").add_listener(lambda new, old, *_: found.extend(tuple(row.values()) for row in new))
        runtime.send("T", {"k": k, "x": x, "y": y})
        runtime.statement("s0").remove_all_listeners()
    return found


EVENTS = [("a", 1, 1.0), ("b", 5, 2.0), ("a", 4, 7.0), ("a", 4, 9.0), ("b", 2, 3.0)]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize(
    ("epl", "expected"),
    [
        ("select spread(x) from T#length(2)", [(0.0,), (4.0,), (1.0,), (0.0,), (2.0,)]),
        ("select k, spread(y) as s from T#keepall group by k", [("a", 0.0), ("b", 0.0), ("a", 6.0), ("a", 8.0), ("b", 1.0)]),
        ("select spread(x, filter: k = 'a') from T#keepall", [(0.0,), (0.0,), (3.0,), (3.0,), (3.0,)]),
        ("select spread(distinct x) from T#keepall", [(0.0,), (4.0,), (4.0,), (4.0,), (4.0,)]),
        ("select k, spread(x, group_by: k) as s from T#keepall", [("a", 0.0), ("b", 0.0), ("a", 3.0), ("a", 3.0), ("b", 3.0)]),
        ("select weighted(y, x) from T#length(1)", [(1.0,), (2.0,), (7.0,), (9.0,), (3.0,)]),
        ("select k from T#keepall having spread(x) > 3", [("b",), ("a",), ("a",), ("b",)]),
        ("select spread(x) from T", [(0.0,), (4.0,), (4.0,), (4.0,), (4.0,)]),
    ],
)
def test_values(epl: str, expected: list[tuple[Any, ...]], restart: bool) -> None:
    assert rows_of(epl, EVENTS, restart) == expected


def test_hints_are_the_types() -> None:
    runtime = Runtime()
    runtime.register_aggregation("Spread", Spread)
    runtime.deploy(SCHEMA + "@name('s0') select spread(x) as s from T#keepall")
    assert str(runtime.statement("s0").event_type.property_type("s")) == "Double"
    with pytest.raises(EplValidationError, match="Failed to resolve aggregation function 'spread'"):
        runtime.deploy("select spread(k) from T#keepall")


def test_a_missing_method_is_named() -> None:
    class Half:
        def enter(self, x: int) -> None: ...

        def value(self) -> int: ...

    with pytest.raises(TypeError, match="lacks the methods leave, clear, state, restore"):
        Runtime().register_aggregation("half", Half)


def test_names_of_the_language_are_taken() -> None:
    with pytest.raises(ValueError, match="'sum' is an aggregation of EPL"):
        Runtime().register_aggregation("sum", Spread)


def test_restore_names_what_is_missing() -> None:
    runtime = Runtime()
    runtime.register_aggregation("spread", Spread)
    runtime.register_aggregation("weighted", Weighted)
    with pytest.raises(EplDeploymentError, match="aggregations that are not given: weighted"):
        Runtime.restore(runtime.snapshot(), aggregations={"spread": Spread})
