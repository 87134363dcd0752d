"""The cost of an event of a join, in rows read and conditions evaluated: in proportion to its matches, whatever the windows hold."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime
from runtime.stores.counting import counting

EQUAL = {
    "two": (2, "a.k = b.k"),
    "five by one key": (5, "a.k = b.k and b.k = c.k and c.k = d.k and d.k = e.k"),
    "star": (5, "a.k = b.k and a.l = c.l and a.m = d.m and a.k = e.k"),
    "chain": (5, "a.k = b.k and b.l = c.l and c.m = d.m and d.k = e.k"),
    "two keys": (3, "a.k = b.k and a.l = b.l and b.l = c.l and b.m = c.m"),
    "coerced": (3, "a.k = b.wide and b.wide = c.real"),
    "list": (2, "a.k in (b.k, b.l)"),
    "range": (2, "b.k >= a.k and b.k <= a.k"),
    "key and range": (3, "a.k = b.k and b.l >= a.l and c.m = b.m and c.k <= a.k and c.k >= a.k"),
}
RANGES = {
    "between": "b.k between a.k and a.l + 1",
    "in": "b.k in (a.k : a.l + 3)",
    "two ends": "b.k >= a.k and b.k < a.l + 1",
    "expression": "b.k + 1 in [a.k : a.l]",
    "within a key": "b.k % 10 = a.k % 10 and b.l between a.k - 10 and a.k",
}
"""Looked up from a alone: b's look-up of a is by one end."""

OUTER = {
    "left": "a left outer join B#length({n}) as b on a.k = b.k left outer join C#length({n}) as c on b.k = c.k",
    "full": "a full outer join B#length({n}) as b on a.k = b.k full outer join C#length({n}) as c on a.k = c.k",
    "inner": "a inner join B#length({n}) as b on a.k = b.k inner join C#length({n}) as c on b.l = c.l",
}
SCHEMAS = "".join(f"create schema {name}(k int, l int, m int, wide long, real double);" for name in "ABCDE")


def operations(joined: str, count: int, size: int, key: int) -> tuple[int, list[int]]:
    """(rows read and conditions evaluated, rows joined) for one more event of each stream, of a key that is there."""
    with counting() as counts, Runtime(tier="row") as runtime:
        runtime.deploy(SCHEMAS)
        rows: list[Any] = []
        runtime.deploy(f"@name('s') select a.k as k from {joined}", listeners={"s": lambda new, old, *_: rows.append(len(new))})
        for name in "ABCDE"[:count]:
            for number in range(size):
                runtime.send(name, event(number))
        counts.reset()
        rows.clear()
        for name in "ABCDE"[:count]:
            runtime.send(name, event(key))
        return counts.operations, rows


def event(number: int) -> dict[str, Any]:
    return {"k": number, "l": number, "m": number, "wide": number, "real": float(number)}


def streams(count: int, size: int) -> str:
    return ", ".join(f"{name}#length({size + 1}) as {name.lower()}" for name in "ABCDE"[:count])


@pytest.mark.parametrize("name", EQUAL)
def test_operations_do_not_grow_with_the_windows(name: str) -> None:
    count, where = EQUAL[name]
    small, large = (operations(f"{streams(count, size)} where {where}", count, size, size // 2) for size in (100, 2_000))
    assert small == large
    assert small[1] and small[0] <= 4 * count * sum(small[1])


@pytest.mark.parametrize("name", RANGES)
def test_operations_of_ranges(name: str) -> None:
    joined = "A as a unidirectional, B#length({n}) as b where {where}"
    small, large = (operations(joined.format(n=n + 1, where=RANGES[name]), 2, n, n // 2) for n in (100, 2_000))
    assert small == large
    assert small[1] and small[0] <= 2 * sum(small[1])


@pytest.mark.parametrize("name", OUTER)
def test_operations_of_outer_joins(name: str) -> None:
    small, large = (operations(f"A#length({n}) as {OUTER[name].format(n=n + 1)}", 3, n, n // 2) for n in (100, 2_000))
    assert small == large
    assert small[1] and small[0] <= 12 * sum(small[1])


def test_a_scan_reads_the_window() -> None:
    read, _ = operations(f"{streams(2, 500)} where a.k != b.k", 2, 500, 3)
    assert read > 1_000
