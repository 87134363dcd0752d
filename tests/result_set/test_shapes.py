"""Each output shape against a reference that looks at the full history, over random deltas and restarts; and recorded single cases."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epl.plan.result_set import Shape

Rows = list[tuple[Any, ...]]
Pair = tuple[Any, ...]
KEYS = ("a", "b", "c", None)
"""In the order of a Java HashMap their rows come null, a, b, c."""


def total(events: list[Any]) -> int | None:
    numbers = [e.get("v") for e in events if e.get("v") is not None]
    return sum(numbers) if numbers else None


def of_key(events: list[Any], key: str | None) -> list[Any]:
    return [e for e in events if e.get("k") == key]


def fully_aggregated(before: list[Any], after: list[Any], new: list[Any], old: list[Any]) -> tuple[Rows, Rows]:
    return [(len(after), total(after))], [(len(before), total(before))]


def aggregated(before: list[Any], after: list[Any], new: list[Any], old: list[Any]) -> tuple[Rows, Rows]:
    return [(e.get("k"), total(after)) for e in new], [(e.get("k"), total(after)) for e in old]


def per_group(before: list[Any], after: list[Any], new: list[Any], old: list[Any]) -> tuple[Rows, Rows]:
    touched = sorted({e.get("k") for e in [*new, *old]}, key=lambda k: k or "")
    return [(k, total(of_key(after, k))) for k in touched], [(k, total(of_key(before, k))) for k in touched]


def grouped_aggregated(before: list[Any], after: list[Any], new: list[Any], old: list[Any]) -> tuple[Rows, Rows]:
    def row(event: Any) -> Pair:
        return event.get("k"), event.get("g"), total(of_key(after, event.get("k")))

    return [row(e) for e in new], [row(e) for e in old]


def having_above_two(reference: Callable[..., tuple[Rows, Rows]]) -> Callable[..., tuple[Rows, Rows]]:
    def filtered(*history: list[Any]) -> tuple[Rows, Rows]:
        new, old = reference(*history)
        return [r for r in new if r[-1] is not None and r[-1] > 2], [r for r in old if r[-1] is not None and r[-1] > 2]

    return filtered


SHAPES: dict[str, tuple[Shape, Callable[..., tuple[Rows, Rows]]]] = {
    "count(*), sum(v) from T#keepall": ("fully aggregated", fully_aggregated),
    "k, sum(v) from T#keepall": ("aggregated", aggregated),
    "k, sum(v) from T#keepall group by k": ("grouped fully aggregated", per_group),
    "k, g, sum(v) from T#keepall group by k": ("grouped aggregated", grouped_aggregated),
    "count(*), sum(v) from T#keepall having sum(v) > 2": ("fully aggregated", having_above_two(fully_aggregated)),
    "k, sum(v) from T#keepall having sum(v) > 2": ("aggregated", having_above_two(aggregated)),
    "k, sum(v) from T#keepall group by k having sum(v) > 2": ("grouped fully aggregated", having_above_two(per_group)),
    "k, g, sum(v) from T#keepall group by k having sum(v) > 2": ("grouped aggregated", having_above_two(grouped_aggregated)),
}


@pytest.mark.parametrize("select", SHAPES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_equals_reference(select: str, data: st.DataObject, clause: Any) -> None:
    shape, reference = SHAPES[select]
    both, insert, remove = (clause(f"select {s} {select}") for s in ("irstream", "istream", "rstream"))
    assert both.plan.shape == shape
    retained: list[Any] = []
    for _ in range(data.draw(st.integers(1, 6))):
        new = [both.event(k=k, g=g, v=v) for k, g, v in data.draw(st.lists(
            st.tuples(st.sampled_from(KEYS), st.integers(0, 2), st.none() | st.integers(0, 3)), max_size=4))]
        count = data.draw(st.integers(0, len(retained)))
        old, before = retained[:count], list(retained)
        if not new and not old:
            continue
        retained = retained[count:] + new
        wanted = reference(before, retained, new, old)
        assert both.delta(new, old) == (wanted if any(wanted) else None)
        got = insert.delta(new, old)
        if len(new) == len(old) == 1 and got:
            got[0].sort(key=repr)
            wanted[0].sort(key=repr)
        assert got == ((wanted[0], []) if wanted[0] else None)
        assert remove.delta(new, old) == ((wanted[1], []) if wanted[1] else None)
        if data.draw(st.booleans()):
            both.restart()


def length_two(statement: Any, rows: list[tuple[Any, ...]]) -> list[Any]:
    """What a length(2) window gives for (k, v) events, delta by delta."""
    window: list[Any] = []
    out = []
    for k, v in rows:
        event = statement.event(k=k, v=v)
        window.append(event)
        out.append(statement.delta([event], [window.pop(0)] if len(window) > 2 else []))
    return out


def test_basic_concepts_irstream_begins_with_zero_and_null(clause: Any) -> None:
    """Basic concepts: the remove stream's first row is that of no events."""
    out = length_two(clause("select irstream count(*), sum(v) from T#length(2)"), [("a", 500), ("b", 100), ("c", 200)])
    assert out == [([(1, 500)], [(0, None)]), ([(2, 600)], [(1, 500)]), ([(2, 300)], [(2, 600)])]


def test_one_in_one_out_without_remove_stream_puts_the_new_group_first(clause: Any) -> None:
    rows = [("A", 1), ("B", 2), ("A", 3), ("C", 4)]
    assert length_two(clause("select k, sum(v) from T#length(2) group by k"), rows)[-1] == ([("C", 4), ("B", None)], [])
    assert length_two(clause("select irstream k, sum(v) from T#length(2) group by k"), rows)[-1] == (
        [("B", None), ("C", 4)], [("B", 2), ("C", None)])


def test_an_emptied_group_is_forgotten_when_the_next_row_enters(clause: Any) -> None:
    """Recorded: firstever of a group can be read in the delta that empties it, and starts again later."""
    out = length_two(clause("select irstream k, firstever(v), count(v) from T#length(2) group by k"),
                     [("A", 1), ("B", 2), ("A", 3), ("C", 4), ("B", 5)])
    assert out[3] == ([("B", 2, 0), ("C", 4, 1)], [("B", 2, 1), ("C", None, 0)])
    assert out[4] == ([("A", 1, 0), ("B", 5, 1)], [("A", 1, 1), ("B", 2, 0)])


def test_groups_come_in_the_order_of_a_hash_map(clause: Any) -> None:
    statement = clause("select k, count(*) from T#keepall group by k")
    keys = ["zeta", "B", "Hello", "A", "zeta", "E1", "E20", "abc", None, "B"]
    out = statement.delta([statement.event(k=k) for k in keys])
    assert [k for k, _ in out[0]] == ["zeta", None, "A", "B", "E20", "abc", "Hello", "E1"]


def test_order_limit_and_distinct_apply_to_each_batch(clause: Any) -> None:
    statement = clause("select irstream distinct k, v from T#keepall order by k desc, v limit 3 offset 1")
    rows = [("b", 2), ("a", 1), ("b", 1), (None, 5), ("b", 1)]
    events = [statement.event(k=k, v=v) for k, v in rows]
    assert statement.delta(events, events[:2]) == ([("b", 1), ("b", 2), ("a", 1)], [("a", 1)])
    assert statement.rows(events) == [("b", 1), ("b", 2), ("a", 1)]


def test_limit_by_variables(clause: Any) -> None:
    """Null and negative numbers are no limit, a null offset none."""
    statement = clause("select v from T#keepall limit n offset o", {"n": 2, "o": 1})
    events = [statement.event(v=v) for v in range(4)]
    for n, o, wanted in ((2, 1, [1, 2]), (None, 1, [1, 2, 3]), (-1, 1, [1, 2, 3]), (-1, None, [0, 1, 2, 3]), (0, -3, [])):
        statement.cells["n"].value, statement.cells["o"].value = n, o
        assert (statement.delta(events) or ([], []))[0] == [(v,) for v in wanted]


def test_iterating_each_shape(clause: Any) -> None:
    def iterated(select: str) -> Rows:
        statement = clause(f"select {select}")
        events = [statement.event(k=k, v=v) for k, v in (("b", 1), ("a", 2), ("b", 3))]
        statement.delta(events)
        rows: Rows = statement.rows(events)
        return rows

    assert iterated("sum(v) from T#keepall") == [(6,)]
    assert iterated("sum(v) from T#keepall having sum(v) > 9") == []
    assert iterated("k, sum(v) from T#keepall") == [("b", 6), ("a", 6), ("b", 6)]
    assert iterated("k, sum(v) from T#keepall group by k") == [("b", 4), ("a", 2)]
    assert iterated("k, sum(v) from T#keepall group by k order by sum(v) limit 1") == [("a", 2)]
    assert iterated("k, v, sum(v) from T#keepall group by k") == [("b", 1, 4), ("a", 2, 2), ("b", 3, 4)]
    assert clause("select sum(v) from T#keepall").rows([]) == [(None,)]


def test_rollup_levels_and_grouping(clause: Any) -> None:
    statement = clause("select k, g, sum(v), grouping(k), grouping_id(k, g) from T#keepall group by rollup(k, g)")
    assert statement.plan.shape == "rollup"
    out = statement.delta([statement.event(k="a", g=1, v=2), statement.event(k="b", g=1, v=5), statement.event(k="a", g=1, v=3)])
    assert out[0] == [("a", 1, 5, 0, 0), ("b", 1, 5, 0, 0), ("a", None, 5, 0, 1), ("b", None, 5, 0, 1), (None, None, 10, 1, 3)]
    statement.restart()
    out = statement.delta([statement.event(k="b", g=2, v=1)])
    assert out[0] == [("b", 2, 1, 0, 0), ("b", None, 6, 0, 1), (None, None, 11, 1, 3)]


@pytest.mark.parametrize(("group_by", "levels"), [
    ("cube(k, g, v)", ["kgv", "kg", "kv", "k", "gv", "g", "v", ""]),
    ("rollup((k, g), v)", ["kgv", "kg", ""]),
    ("k, rollup(g, v)", ["kgv", "kg", "k"]),
    ("grouping sets((k, g), rollup(v))", ["kg", "v", ""]),
    ("grouping sets(k, g), grouping sets(v, ())", ["kv", "k", "gv", "g"]),
])
def test_levels_of_grouping(group_by: str, levels: list[str], clause: Any) -> None:
    plan = clause(f"select k, g, v, count(*) from T#keepall group by {group_by}").plan
    names = [k.name for k in plan.group_by]
    assert ["".join(sorted((names[i] for i in level.keys), key="kgv".index)) for level in plan.levels] == levels


def test_local_groups(clause: Any) -> None:
    statement = clause("select k, sum(v), sum(v, group_by: k), count(*, group_by: ()), count(*, group_by: g) from T#keepall")
    assert statement.plan.shape == "aggregated"
    out = []
    for k, g, v in (("a", 1, 1), ("a", 2, 2), ("b", 1, 4)):
        out += statement.delta([statement.event(k=k, g=g, v=v)])[0]
        statement.restart()
    assert out == [("a", 1, 1, 1, 1), ("a", 3, 3, 2, 1), ("b", 7, 4, 3, 2)]


def test_aggregations_inside_aggregations(clause: Any) -> None:
    """Recorded: the outer one takes the inner one's value at the moment a row enters or leaves."""
    out = length_two(clause("select sum(v), max(sum(v)), sum(max(v)) from T#length(2)"), [("A", v) for v in (1, 5, 2, 9, 1, 1)])
    assert [o[0][0] for o in out] == [(1, 1, 1), (6, 6, 6), (7, 8, 6), (11, 16, 6), (10, 16, 6), (2, 16, 14)]


def test_joined_rows(clause: Any) -> None:
    statement = clause("select irstream x.k, count(*), sum(y.v) from T#length(2) as x, T#length(2) as y group by x.k")
    left, right = statement.event(k="x"), statement.event(v=4)
    assert statement.delta([(left, right)]) == ([("x", 1, 4)], [("x", 0, None)])
    assert statement.rows([(left, right)]) == [("x", 1, 4)]
    assert statement.delta([], [(left, right)]) == ([("x", 0, None)], [("x", 1, 4)])


def test_an_error_in_an_argument_keeps_the_other_rows_counted(clause: Any) -> None:
    statement = clause("select count(*), max(k) from T#keepall")
    bad = statement.event(k=3)
    with pytest.raises(TypeError):
        statement.delta([statement.event(k="a"), bad, statement.event(k="b")])
    assert statement.rows([]) == [(3, "b")]
