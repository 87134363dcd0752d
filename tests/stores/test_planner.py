"""Which conditions an index answers, and what is evaluated on each row: texts of plans, as Esper 9.0.0 chooses them."""
from __future__ import annotations

import pytest
from lookup_bench import bound, planned

from epl.analysis.lookups.planner import plan_lookup
from epl.plan.expression_text import of

PLANS = {
    "a.k = b.k": "hash (k) by a.k = b.k",
    "b.k = a.k and a.i = b.i": "hash (k, i) by b.k = a.k and a.i = b.i",
    "b.k = a.k and b.k = a.k || 'x'": "hash (k) by b.k = a.k, where b.k = a.k || 'x'",
    "b.k is a.k": "hash (k) by b.k is a.k",
    "b.k = 'x'": "hash (k) by b.k = 'x'",
    "b.i + 1 = a.l": "hash (i + 1) by (b.i + 1) = a.l",
    "b.o = a.o": "hash (o), where b.o = a.o",
    "b.ints = a.ints": "hash (ints), where b.ints = a.ints",
    "b.i < a.l": "sorted (i) by b.i < a.l",
    "a.i >= b.d": "sorted (d) by a.i >= b.d",
    "b.k > a.k": "sorted (k) by b.k > a.k",
    "b.i + 1 > a.i": "sorted (i + 1) by (b.i + 1) > a.i",
    "b.i + 1 > a.i and b.k = a.k": "hash (k) by b.k = a.k, where (b.i + 1) > a.i",
    "b.i + 1 > a.i and b.i > a.l": "sorted (i) by b.i > a.l, where (b.i + 1) > a.i",
    "b.i + 1 > a.i and b.i in (a.i, 3)": "hash (i) by b.i in (a.i, 3), where (b.i + 1) > a.i",
    "b.i between a.i and a.l": "sorted (i) by b.i between a.i and a.l",
    "b.i in (a.i:5]": "sorted (i) by b.i in (a.i:5]",
    "b.i not in [a.i:5]": "sorted (i) by b.i not between a.i and 5",
    "b.i > a.i and b.d > 1 and b.d < a.d": "sorted (d) by b.d > 1.0 and b.d < a.d, where b.i > a.i",
    "b.i > a.i and b.i > 5 and b.i < 7": "sorted (i) by b.i > a.i and b.i < 7, where b.i > 5",
    "b.k = a.k and b.i > a.i": "hash (k) sorted (i) by b.k = a.k and b.i > a.i",
    "b.i > a.i and b.i in (1, 2)": "sorted (i) by b.i > a.i, where b.i in (1, 2)",
    "b.i in (a.i, 5, a.bi)": "hash (i) by b.i in (a.i, 5, a.bi)",
    "b.i = a.i or b.i = 5 or 7 = b.i": "hash (i) by (b.i = a.i) or (b.i = 5) or (7 = b.i)",
    "a.i in (b.i, b.bi)": "hash (i) and hash (bi) by a.i in (b.i, b.bi)",
    "a.i = b.i or b.bi = a.i": "hash (i) and hash (bi) by (a.i = b.i) or (b.bi = a.i)",
    "b.k = a.k and b.i in (1, 2)": "hash (k) by b.k = a.k, where b.i in (1, 2)",
    "b.i != a.i": "all rows, where b.i != a.i",
    "b.i = a.i or b.bi = a.bi": "all rows, where (b.i = a.i) or (b.bi = a.bi)",
    "b.i = b.bi": "all rows, where b.i = b.bi",
    "b.i in (a.ints)": "all rows, where b.i in (a.ints)",
    "a.i = 5": "all rows, where a.i = 5",
    "b.i = null": "all rows, where b.i = null",
    "b.k = a.k and c.k = a.k": "hash (k) by b.k = a.k",
    "prev(1, b.i) = a.i": "all rows, where prev(1, b.i) = a.i",
}


@pytest.mark.parametrize("text", PLANS)
def test_plan(text: str) -> None:
    assert planned(text).text([of("a"), of("b"), of("c")]) == PLANS[text]


def test_rows_between_their_own_ends_are_found_by_one_of_them() -> None:
    plan = planned("a.i between b.i and b.bi")
    assert plan.text([of("a"), of("b")]) == "sorted (i) by a.i between b.i and b.bi, where a.i <= b.bi"
    assert plan.applied == bound("a.i between b.i and b.bi")


def test_conditions_of_other_streams_are_not_used() -> None:
    conditions = bound("b.k = a.k and b.i > c.i and c.l = a.l")
    assert plan_lookup(conditions, 1, {0}).applied == conditions[:1]
    assert plan_lookup(conditions, 1, {0, 2}).applied == conditions
    assert plan_lookup(conditions, 2, {0}).applied == conditions[2:]


def test_equal_indexes_of_two_statements_are_equal() -> None:
    assert planned("a.k = b.k and b.i < a.d").index == planned("b.i > a.l and b.i < 4 and b.k = 'x'").index != planned("b.k = 'x'").index
