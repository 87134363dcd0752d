"""The calls of row listeners over several statements: how many, at what times, in which order, with what rows; in both tiers."""
from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from runtime import Runtime
from runtime.batch.available import is_available
from runtime.batch.refusals import NotInBatchTier

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SCHEMA = "@public @buseventtype create schema T(k string, n int);"
LIMITED = ["limit 1 offset 1", "limit 1 offset 9", "order by n limit 2 offset 2", ""]
RATES = [
    "", "output when count_insert > 2", "output last when count_insert > 1",
    "output all when count_insert > 1", "output snapshot when count_insert > 1", "output every 2 sec", "output last every 2 sec",
    "output snapshot every 2 sec", "output first every 2 sec", "output every 2 events", "output after 2 sec every 1 sec",
    "output after 3 events every 2 events",
]
SELECTS = [
    "n from T{having}", "irstream n from T#length(2){having}", "k, n, count(*) as c from T group by k{having}",
    "count(*) as n from T{having}",
]
TIMED = [
    "n from T#time_batch(2 sec)", "n from T#time(2 sec)", "n from T output every 2 sec", "n from T#time_batch(2 sec) output every 2 sec",
    "n from T#time(3 sec) output last every 2 sec", "n from T#time_batch(3 sec) output snapshot every 2 sec", "n from T#time_accum(2 sec)",
    "k, count(*) as n from T#time_batch(2 sec) group by k output all every 3 sec", "n from T#time(2 sec) output first every 3 sec",
    "n from T match_recognize (measures A.n as n pattern (A B*) interval 2 sec)",
]


def calls(tier: Any, text: str, jumps: tuple[int, ...]) -> list[Any]:
    runtime = Runtime(tier=tier)
    found: list[Any] = []
    for statement in runtime.deploy(SCHEMA + text):
        if statement.name[0] == "s":
            statement.add_listener(
                lambda new, old, s, r: found.append((r.cause.time, s.name, [dict(row) for row in new], [dict(row) for row in old]))
            )
    for number, time in enumerate(jumps):
        runtime.advance_time(time)
        runtime.send("T", {"k": "ab"[number % 2], "n": number})
    runtime.advance_time(jumps[-1] + 9_000)
    return found


@pytest.mark.parametrize("rate", RATES)
def test_calls_without_a_row(rate: str) -> None:
    """Whether listeners are called where limit or having leave no row is up to the rate, as in Esper."""
    compared = 0
    for select, limit, having in product(SELECTS, LIMITED, ("", " having count(*) > 100")):
        if "count" not in select and having:
            having = " having n > 100"
        text = f"@name('s') select {select.format(having=having)} {rate} {limit}"
        try:
            found = calls("batch", text, tuple(range(0, 7_000, 1_000)))
        except NotInBatchTier:  # order by of aggregations alone, say: the row tier runs it
            continue
        assert found == calls("row", text, tuple(range(0, 7_000, 1_000))), text
        compared += 1
    assert compared >= (14 if "first" in rate else 16)  # a limit that leaves no row is not the first output: the row tier runs those


@pytest.mark.parametrize(("one", "two"), list(product(TIMED, TIMED)))
def test_order_of_calls_at_a_jump(one: str, two: str) -> None:
    """Timers of several statements run in the row tier's order, however many of them one jump passes."""
    text = f"@name('s0') select irstream {one}; @name('s1') select irstream {two}".replace("irstream n from T match", "* from T match")
    text = text.replace("irstream * from", "* from")
    for jumps in ((0, 6_700, 13_700), (0, 500, 2_100, 8_000, 8_100), (0, 1_900, 4_000, 4_300, 13_700)):
        assert calls("batch", text, jumps) == calls("row", text, jumps), (text, jumps)
