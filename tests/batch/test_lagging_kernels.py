"""Output clauses after windows of all kinds, and where after windows, against the row tier."""
from __future__ import annotations

import pytest

from tests.batch.test_group_kernels import many
from tests.batch.two_tiers import assert_same, same_in_both_tiers

WINDOWS = [
    "length(3)", "time(3 msec)", "ext_timed(m, 5 msec)", "length_batch(3)", "time_batch(3 msec)", "time_length_batch(4 msec, 3)",
    "keepall", "lastevent", "firstlength(3)", "time_accum(2 msec)",
]
KEYED = ["unique(k)", "unique(n, k, x)", "firstunique(k, b)", "unique(x)"]
SELECTS = [
    "select irstream k, x from {} output every 3 msec",
    "select * from {} output every 2 events",
    "select irstream sum(n) as s, max(x) as hi, first(k) as f from {} output every 3 msec",
    "select sum(n) as s, count(*) as c from {} having count(*) > 1 output every 3 events",
    "select irstream k, x, min(n) as lo from {} output every 2 msec",
    "select irstream k, sum(n) as s, max(x) as hi from {} group by k output every 4 msec",
    "select irstream k, x, sum(n) as s, last(x) as l from {} group by k output every 3 events",
    "select irstream k, sum(n) as s, min(x) as lo from {} where x > 0 group by k output every 3 msec",
    "select sum(n) as s from {} where b output every 3 msec",
]
OTHERS = [
    "select irstream k, x from {} output all every 3 msec",
    "select irstream k, n, sum(x) as s from {} group by k output last every 3 events",
    "select k, sum(x) as s from {} group by k output last every 3 msec",
    "select k, sum(x) as s from {} where n > 0 group by k output first every 3 msec",
    "select irstream sum(n) as s from {} where b output last every 3 msec",
]
SNAPSHOTS = [
    "select k, x, sum(n) as s from {} group by k output snapshot every 3 msec",
    "select k, sum(n) as s from {} where b group by k output snapshot every 2 msec",
]
FILTERED = [
    "select irstream k, sum(n) as s from {} where x > 0 group by k",
    "select k, x, max(n) as hi, first(x) as f from {} where b group by k",
    "select irstream n, count(*) as c from {} where k != 'a' group by n having count(*) > 0",
]
STATEMENTS = [
    *(text.format(f"T#{window}") for number, text in enumerate(SELECTS) for window in WINDOWS),
    *(text.format(f"T#{window}") for text in OTHERS for window in [*WINDOWS[2:6], "unique(k)", "firstunique(n)"]),
    *(text.format(f"T#{window}") for text in SNAPSHOTS for window in [*WINDOWS[2:], *KEYED]),
    *(text.format(f"T#{window}") for text in FILTERED for window in [*WINDOWS, "unique(k)"]),
]


test_both_tiers_do_the_same = same_in_both_tiers(STATEMENTS, 6)


@pytest.mark.parametrize("text", ["select m, sum(n) as s from T#unique(m) group by m output snapshot every 300 msec",
                                  "select k, m from T#unique(m, k) output snapshot every 200 msec"])
def test_many_keys(text: str) -> None:
    assert_same(text, many(900, 300), 2_000)
