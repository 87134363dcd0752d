"""A look-up gives the rows that satisfy the conditions, in Esper's order; random conditions and rows against a scan."""
from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_bench import ENVIRONMENT, Lookup, event, planned

from runtime.expressions import compile_expression
from runtime.stores.counting import counting
from runtime.stores.indexes import IndexedRows, LentRows
from runtime.stores.lookup import compile_lookup

NAN = float("nan")
WHOLE = ("i", "bi", "l", "bl")
NUMBERS = ((*WHOLE, "f", "d", "bd"), (*WHOLE, "big", "dec"))
"""Sets of numbers that can be compared with each other: NaN and BigDecimal is an error of the comparison."""
EQUATABLE = (("k", "k"), ("flag", "bflag"), ("ch", "ch"), ("o", "o"), ("ints", "ints"))

OTHERS = [
    "b.k = a.k || ''", "b.k > a.k", "b.i + 1 = a.l", "b.i = a.i or b.i = 1", "b.i = a.i or a.i = b.l", "b.k like 'x'", "a.k = 'x'",
    "b.d * 2 = a.i", "a.d < b.d + 1",
]

whole = st.integers(-2, 3)
values = {
    "k": st.sampled_from([None, "x", "y", ""]), "i": whole, "bi": st.none() | whole, "l": whole | st.just(1 << 53) | st.just((1 << 53) + 1),
    "bl": st.none() | whole, "f": st.sampled_from([None, 0.0, -0.0, 1.0, NAN, 0.5]),
    "d": st.sampled_from([0.0, -0.0, 1.0, 2.0, NAN, 2.0**53]),
    "bd": st.sampled_from([None, 0.0, -0.0, 1.0, NAN, float("inf")]), "big": st.none() | whole,
    "dec": st.sampled_from([None, Decimal("1"), Decimal("1.0"), Decimal("2"), Decimal("0"), Decimal("0.00")]),
    "flag": st.booleans(), "bflag": st.none() | st.booleans(), "ch": st.sampled_from("xy"),
    "o": st.sampled_from([None, 1, 1.0, True, "x", NAN, Decimal(1), -0.0, 0.0]),
    "ints": st.none() | st.lists(st.none() | whole, max_size=2),
}
events = st.fixed_dictionaries(values)


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """One condition between a and b."""
    numbers = draw(st.sampled_from(NUMBERS))
    one, other, third = (draw(st.sampled_from(numbers)) for _ in range(3))
    known = [f"a.{other}", f"a.{third}", "1", "a.i + 1"]
    form = draw(st.integers(0, 8))
    if form == 0:
        one, other = draw(st.sampled_from(EQUATABLE))
        return f"b.{one} {draw(st.sampled_from(['=', 'is', '!=']))} a.{other}"
    if form == 1:
        return f"b.{one} {draw(st.sampled_from(['=', 'is']))} {draw(st.sampled_from(known))}"
    if form == 2:
        return f"a.{one} = b.{other}"
    if form == 3:
        return f"b.{one} {draw(st.sampled_from(['<', '<=', '>', '>=']))} {draw(st.sampled_from(known))}"
    if form == 4:
        return f"b.{one} {draw(st.sampled_from(['', 'not ']))}between {draw(st.sampled_from(known))} and {draw(st.sampled_from(known))}"
    if form == 5:
        opening, closing = draw(st.sampled_from("[(")), draw(st.sampled_from("])"))
        return f"b.{one} {draw(st.sampled_from(['', 'not ']))}in {opening}{draw(st.sampled_from(known))}:a.{other}{closing}"
    if form == 6:
        return f"b.{one} in ({', '.join(draw(st.lists(st.sampled_from([*known, 'null']), min_size=1, max_size=3)))})"
    if form == 7:
        return f"a.{one} in (b.{other}, b.{third})"
    return draw(st.sampled_from(OTHERS))


@settings(max_examples=400, deadline=None)
@given(st.lists(conditions(), min_size=1, max_size=3), st.lists(events, max_size=12), st.lists(events, min_size=1, max_size=4), st.data())
def test_an_index_gives_the_rows_of_a_scan(texts: list[str], rows: list[dict[str, Any]], known: list[dict[str, Any]], data: Any) -> None:
    lookup = Lookup(" and ".join(texts))
    held = [event(1, **row) for row in rows]
    cut = data.draw(st.integers(0, len(held)))
    lookup.rows.update(held[:cut], [])
    gone = data.draw(st.lists(st.sampled_from(held), unique=True)) if held else []
    lookup.rows.update(held[cut:], gone)
    for each in known:
        probe = event(0, **(filled(each) if any("not " in text for text in texts) else each))
        found, expected = lookup.found(probe), lookup.scanned(probe)
        assert set(found) == set(expected) and len(found) == len(expected), lookup.plan.text()
        plan = lookup.plan
        if not (plan.listed or plan.others or plan.bounds) or plan.in_order:
            assert found == expected
        elif plan.bounds and plan.index is not None:
            key_of = compile_expression(plan.index.ranges[0], ENVIRONMENT)
            assert found == sorted(expected, key=lambda row: (key_of(row) != key_of(row), key_of(row)))


def filled(known: dict[str, Any]) -> dict[str, Any]:
    """Numbers in place of null: with a null end ``not between`` finds nothing by an index, and all by evaluation."""
    return {**known, **{name: known["i"] for name in ("bi", "bl", "big") if known[name] is None},
            **{name: known["d"] for name in ("f", "bd") if known[name] is None}, "dec": known["dec"] or Decimal(1)}  # fmt: skip


def orders(text: str, *probes: dict[str, Any]) -> list[str]:
    """The rows found for each probe among those that were recorded with Esper."""
    lookup = Lookup(text)
    numbers = [5, 1, 3, 3, 9, None, 1, 7, 4, 2]
    rows = [event(1, k="ab"[n % 2], bi=v, i=v or 0, l=n * 7 % 10) for n, v in enumerate(numbers)]
    lookup.rows.update(rows, [])
    return [" ".join(f"B{rows.index(row)}" for row in lookup.found(event(0, **probe))) for probe in probes]


RECORDED = {
    "b.l >= 0 or a.i = 1": ["B0 B1 B2 B3 B4 B5 B6 B7 B8 B9", "B0 B1 B2 B3 B4 B5 B6 B7 B8 B9"],
    "a.k = b.k": ["B0 B2 B4 B6 B8", "B1 B3 B5 B7 B9"],
    "b.i > a.i": ["B2 B3 B8 B0 B7 B4", "B7 B4"],
    "b.bi < a.l": ["B1 B6 B9 B2 B3 B8 B0", "B1 B6"],
    "b.i between a.i and a.l": ["B9 B2 B3 B8 B0", "B9 B2 B3 B8 B0"],
    "b.bi not in [a.i:a.l]": ["B1 B6 B7 B4", "B1 B6 B7 B4"],
    "b.i in (3, 1, 5)": ["B2 B3 B1 B6 B0", "B2 B3 B1 B6 B0"],
    "b.i = 5 or b.i = a.i or b.i = 1": ["B0 B9 B1 B6", "B0 B1 B6"],
    "a.i in (b.i, b.l)": ["B9 B6", "B8"],
    "a.i between b.i and b.l": ["B5 B1 B6 B9", "B1 B8"],
    "b.bi is a.bi": ["B5", "B5"],
}


@pytest.mark.parametrize("text", RECORDED)
def test_order_of_rows(text: str) -> None:
    found = orders(text, {"k": "a", "i": 2, "l": 6}, {"k": "b", "i": 6, "l": 2})
    assert found == RECORDED[text]


def test_ranges_over_expressions_are_in_order_of_arrival() -> None:
    assert orders("b.i + 1 > a.i", {"i": 2}) == ["B0 B2 B3 B4 B7 B8 B9"]


def test_rows_between_their_own_ends_come_low_end_first() -> None:
    """Ends in the other order satisfy the condition, but Esper's indexes do not find such rows; ``not between`` finds none."""
    lookup = Lookup("a.i between b.i and b.l")
    forward, backward = event(1, i=1, l=5), event(1, i=5, l=1)
    lookup.rows.update([forward, backward], [])
    assert lookup.found(event(0, i=3)) == [forward]
    assert lookup.scanned(event(0, i=3)) == [forward, backward]
    assert Lookup("a.i not between b.i and b.l").found(event(0, i=3)) == []


@pytest.mark.parametrize("text", ["b.i not between a.bi and 5", "b.i not between a.bi and 5 and b.l between 0 and 9 and b.k = a.k"])
def test_nothing_is_not_between_null(text: str) -> None:
    lookup = Lookup(text)
    lookup.rows.update([event(1, i=7, l=3, k="x")], [])
    assert lookup.found(event(0, k="x")) == []
    assert len(lookup.found(event(0, k="x", bi=1))) == 1


def test_indexes_are_shared_and_dropped() -> None:
    rows = IndexedRows()
    plan, users = planned("a.k = b.k"), [LentRows(rows), LentRows(rows)]
    for each, user in zip((plan, planned("b.k = a.k and b.i != 3")), users):
        compile_lookup(each, user, ENVIRONMENT, 3)
    assert rows.indexes == (plan.index,)
    users[0].close()
    assert rows.indexes == (plan.index,)
    users[1].close()
    assert rows.indexes == ()


def test_an_index_built_later_has_the_rows() -> None:
    rows = IndexedRows()
    held = [event(1, k="x", i=n) for n in (3, 1, 2)]
    rows.update(held, [])
    look_up = compile_lookup(planned("b.k = a.k and b.i > a.i"), rows, ENVIRONMENT, 3)
    assert list(look_up((event(0, k="x", i=1), None, None))) == [held[2], held[0]]


def test_restore_builds_indexes_again() -> None:
    lookup = Lookup("b.k = a.k")
    held = [event(1, k="x", i=n) for n in range(3)]
    lookup.rows.update(held, [])
    state = list(lookup.rows.state())
    lookup.rows.update([event(1, k="x")], held)
    lookup.rows.restore(state)
    assert lookup.found(event(0, k="x")) == held == list(lookup.rows)


def test_counts() -> None:
    with counting() as counts:
        lookup = Lookup("b.k = a.k and b.i != a.i")
    lookup.rows.update([event(1, k="xyz"[n % 3], i=n) for n in range(30)], [])
    assert len(lookup.found(event(0, k="x", i=3))) == 9
    assert (counts.rows, counts.conditions, counts.operations) == (10, 10, 20)
    counts.reset()
    assert len(lookup.scanned(event(0, k="x", i=3))) == 9
    assert counts.rows == 30


def test_buckets_that_became_small_are_iterated_fast() -> None:
    lookup = Lookup("b.k = a.k")
    held = [event(1, k="x", i=n) for n in range(20_000)]
    lookup.rows.update(held, [])
    lookup.rows.update([], held[:-3])
    bucket = lookup.look_up((event(0, k="x"), None, None))
    assert list(bucket) == held[-3:]
    assert bucket.__sizeof__() < 4096
