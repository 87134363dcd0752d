"""Where rows have to stay together: split by ``k`` in spite of it, several engines emit something else than one.

Eleven refusals are of what is not known to be local, not of what is known not to be: batch windows together with others, aggregations of
derived values, ``istream()`` and sub-queries in where, windows that begin with the rows of others, partitions by engine time downstream of
windows, what of patterns looks at events of all keys, timers in front of a pattern's first tag, and batches with flags, whose rows are the
same but whose listeners are notified of periods without rows by every engine.
"""
from __future__ import annotations

import re
from typing import Any

import pytest

from epl.analysis.partitioning import Whole
from runtime import Runtime
from tests.partitioning.catalogue import SCHEMA, WHOLE
from tests.partitioning.shards import by_first_property, compiled, events, random_rows, run, verdict_of

UNPROVED = (
    "#size group by", "current_timestamp % 2 measures", "istream()", "FORCE_UPDATE",
    "0L)#unique", "where exists", "reclaim_group_freq", "order by", "create variable int v", "V2", "@consume", "@Suppress", "@Discard",
    "-> every a=T",
)
SHOWN = [text for text, _ in WHOLE if not any(part in text for part in UNPROVED)]


def types_of(text: str) -> tuple[str, ...]:
    if "Basket" in text:
        return ("Basket",)
    return tuple(name for name in "TUV" if re.search(rf"(\b(from|on|join|not|every)|,|=|->) ?{name}\b", text))


@pytest.mark.parametrize("text", SHOWN)
def test_shards_differ(text: str) -> None:
    last = compiled(text).statements[-1].name
    sequences = (list(events(random_rows(seed), types_of(text))) for seed in range(150))
    assert any(len({frozenset(heard.items()) for heard in run(text, [last], sent, 3, by_first_property)}) == 2 for sent in sequences)


def calls(text: str, *steps: int | tuple[str, float]) -> list[list[dict[str, Any]]]:
    """The insert stream's rows of each listener call; steps are times to go to and rows of T."""
    heard: list[list[dict[str, Any]]] = []
    runtime = Runtime()
    runtime.deploy(SCHEMA + f"@name('s') {text}", listeners={"s": lambda new, old, *_: heard.append([r.to_dict() for r in new])})
    for step in steps:
        if isinstance(step, int):
            runtime.advance_time_span(step)
        else:
            runtime.send("T", {"k": step[0], "g": 1, "x": step[1], "n": 0, "ts": 0})
    return heard


def test_order_by_sorts_rows_of_all_keys() -> None:
    text = "select k, sum(x) as s from T#time(5 msec) group by k order by sum(x) desc"
    assert [[r["k"] for r in call] for call in calls(text, ("a", 1.0), ("b", 2.0), 2, ("b", 3.0), ("a", 9.0), 5)][-1] == ["a", "b"]
    assert isinstance(verdict_of(text), Whole)


def test_idle_groups_are_looked_for_when_any_event_comes() -> None:
    """b's events have a's group dropped before a comes back."""
    text = "@Hint('reclaim_group_aged=1,reclaim_group_freq=5') select k, sum(x) as s from T group by k"
    whole = calls(text, ("b", 1.0), 3000, ("a", 1.0), 5000, ("b", 1.0), 5500, ("a", 1.0))
    alone = calls(text, 3000, ("a", 1.0), 5000, 5500, ("a", 1.0))
    assert whole[-1] == [{"k": "a", "s": 1.0}]
    assert alone[-1] == [{"k": "a", "s": 2.0}]


def test_flags_tell_of_periods_without_rows() -> None:
    text = "select k from T#time_batch(4 msec, 0L, 'FORCE_UPDATE')"
    assert calls(text, ("a", 1.0), 17) == [[{"k": "a"}], [], []]
    assert isinstance(verdict_of(text), Whole)


def test_an_interval_waits_with_other_partitions() -> None:
    """a's match takes half of the interval and is emitted at once, unless one of b that began at the same time waits (so Esper 9.0.0)."""
    text = (
        "select * from T match_recognize (partition by k measures A.k as k, count(B.x) as c pattern (A B+) interval 6 msec "
        "define B as B.x > A.x)"
    )
    a, b = [("a", 1.0), 5, ("a", 2.0)], [("b", 1.0), 1, ("b", 2.0)]
    assert calls(text, *a, 5) == [[{"k": "a", "c": 1}]]
    assert calls(text, a[0], *b, *a[1:], 5) == []


def test_rows_that_leave_out_of_order_have_all_partitions_matched_anew() -> None:
    """b's row that is replaced leaves behind an earlier one of b's: a's row that a match has taken begins another (so Esper 9.0.0)."""
    text = (
        "select * from T#unique(k, n) match_recognize (partition by k measures A.x as a, B.x as b pattern (A B) define B as B.x > A.x)"
    )
    alone: list[tuple[str, int, float]] = [("a", 1, 1.0), ("a", 2, 2.0), ("a", 3, 3.0)]
    others: list[tuple[str, int, float]] = [("b", 1, 5.0), ("b", 2, 4.0), ("b", 3, 3.0), ("b", 2, 2.0)]

    def matches(rows: list[tuple[str, int, float]]) -> list[tuple[float, float]]:
        heard: list[tuple[float, float]] = []
        runtime = Runtime()
        runtime.deploy(SCHEMA + f"@name('s') {text}", listeners={"s": lambda new, old, *_: heard.extend((r["a"], r["b"]) for r in new)})
        for k, n, x in rows:
            runtime.send("T", {"k": k, "g": 1, "x": x, "n": n, "ts": 0})
        return heard

    assert matches(alone) == [(1.0, 2.0)]
    assert matches([*alone[:2], *others, alone[2]]) == [(1.0, 2.0), (2.0, 3.0)]
