"""A value of the wrong kind, size or number anywhere in a snapshot: EplRuntimeError on restore, or a runtime that works.

A sample by a fixed seed; ``EPL_LONG=1`` puts every hostile value into every place.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from epl.errors import EplError
from runtime.batch.available import is_available
from tests.restarts.drawn_modules import KINDS, KINDS_IN_COLUMNS, ColumnsDrawn, Drawn, steps
from tests.restarts.hostile import changed, changes, outcome, pages_of, snapshot_of

LONG = bool(os.environ.get("EPL_LONG"))
EVENTS, AFTER = 16, 8
"""Steps before the snapshot, and those that the restored runtime takes."""

Kind = Callable[[Drawn], str]
CASES = [
    *(pytest.param("row", kind, id=f"row-{kind.__name__}") for kind in dict.fromkeys(KINDS)),
    *(
        pytest.param(
            "batch", kind, id=f"batch-{kind.__name__}", marks=pytest.mark.skipif(not is_available(), reason="numba is not installed")
        )
        for kind in dict.fromkeys(KINDS_IN_COLUMNS)
    ),
]
MODULES = {"row": 4, "batch": 3}
SAMPLE = {"row": 80, "batch": 60}


@pytest.mark.parametrize(("tier", "kind"), CASES)
def test_a_hostile_value_is_refused_or_harmless(tier: str, kind: Kind) -> None:
    counts: Counter[str] = Counter()
    modules = 0
    for number in range(1000):
        of = Random(f"{tier} {kind.__name__} {number}")
        text = kind((ColumnsDrawn if tier == "batch" else Drawn)(of))
        happens = steps(of, EVENTS + AFTER, columns=tier == "batch")
        try:
            blob = snapshot_of([text], happens[:EVENTS], tier)
        except EplError:  # what Esper refuses too, or what columns do not take
            continue
        after = happens[EVENTS:]
        if outcome(blob, after, tier)[0] != "ran":  # an expression that raises of itself
            continue
        pages = pages_of(blob)
        every = list(changes(pages))
        for change in every if LONG else of.sample(every, min(SAMPLE[tier], len(every))):
            made, shown = changed(pages, change)
            found, why = outcome(made, after, tier)
            assert found != "raw", f"{why}\n{text}{shown}"
            counts[found] += 1
        modules += 1
        if modules == (1 if LONG else MODULES[tier]):
            break
    assert counts["refused"] > counts["ran"] / 2


ROW_PATTERNS = {
    "epl": "@name('s') select * from E#length(4) match_recognize (measures A.n as a, last(B.n) as z pattern (A B+) define B as B.v > A.v);",
    **{
        dialect: f"@name('s') @Dialect('{dialect}') select * from E match_recognize "
        "(order by ts measures first(A.n) as a, last(B.n) as z pattern (A B+ C) define B as B.v > 2, C as C.v < 2) as m;"
        for dialect in ("sql", "flink", "ydb")
    },
}


@pytest.mark.parametrize("name", ROW_PATTERNS)
def test_rows_of_partial_matches_fit_one_another(name: str) -> None:
    """Every list of a state that is cut or doubled, and every number that is none of a row."""
    happens = [("send", "E", {"k": "a", "g": 1, "v": value, "n": n, "b": True, "ts": n}) for n, value in enumerate((1.0, 3.0, 4.0, 5.0))]
    after = [("send", "E", {"k": "a", "g": 1, "v": value, "n": n, "b": True, "ts": n}) for n, value in enumerate((6.0, 1.0, 4.0), 4)]
    pages = pages_of(snapshot_of([ROW_PATTERNS[name]], happens, "row"))
    counts: Counter[str] = Counter()
    for change in changes(pages):
        if change.how != "leaf" or (type(change.value) is int and change.key.startswith("state/")):
            blob, shown = changed(pages, change)
            found, why = outcome(blob, after, "row")
            assert found != "raw", f"{why}\n{shown}"
            counts[found] += 1
    assert counts["refused"] > 20


@pytest.mark.skipif(not is_available(), reason="numba is not installed")
def test_events_that_a_window_holds_once_are_not_linked_in_a_circle() -> None:
    of = Random(1)
    blob = snapshot_of(["@name('s') select first(v) as a, last(v) as b from E#length(4);"], steps(of, EVENTS, columns=True), "batch")
    pages = pages_of(blob)
    longer = [change for change in changes(pages) if change.how == "longer" and change.key.startswith("state/")]
    assert longer
    for change in longer:
        assert outcome(changed(pages, change)[0], steps(of, AFTER, columns=True), "batch")[0] != "raw"
