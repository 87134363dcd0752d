"""``output after`` and ``output when`` in kernels against the row tier."""
from __future__ import annotations

from tests.batch.two_tiers import same_in_both_tiers

STATEMENTS = [
    "select k from T output after 3 events",
    "select n from T output after 3 msec",
    "select irstream k, sum(n) as s from T#length(2) group by k output after 2 events every 3 events",
    "select irstream k, x from T#time(3 msec) output after 3 msec every 2 msec",
    "select sum(n) as s from T#keepall output after 4 events last every 2 events",
    "select k, sum(n) as s from T group by k output after 3 msec all every 2 events",
    "select k, x from T output after 2 events first every 3 events",
    "select k, x from T#length(3) output after 5 msec snapshot every 3 events",
    "select irstream k from T#length(2) output when count_insert >= 3",
    "select irstream k, sum(n) as s from T#length_batch(2) group by k output when count_remove > 2 or count_insert_total > 9",
    "select k, d from T output when current_timestamp - last_output_timestamp >= 4",
    "select irstream k, sum(n) as s from T#time(3 msec) group by k output last when count_insert + count_remove > 3",
    "select sum(x) as s from T output after 2 events when count_insert > 1",
    "select * from T#unique(k) output first every 3 events",
    "select * from T#time_batch(3 msec) output snapshot every 2 msec",
    "select k, x from T output snapshot every 2 msec",
    "select k, x, sum(n) as s from T group by k output snapshot every 2 events",
]


test_both_tiers_do_the_same = same_in_both_tiers(STATEMENTS, 12)
