"""Random sub-queries over random events equal a slow oracle, which recomputes each answer from the full history; also across restores."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime import Runtime

SCHEMAS = "create schema O(k string, x integer);\ncreate schema I(k string, x integer, y integer);\n"
Row = dict[str, Any]


# ------------------------------------------------------------------ windows


def unique(rows: list[Row]) -> list[Row]:
    newest = {row["k"]: number for number, row in enumerate(rows)}
    return [row for number, row in enumerate(rows) if newest[row["k"]] == number]


WINDOWS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "#keepall": lambda rows: rows,
    "#length(3)": lambda rows: rows[-3:],
    "#lastevent": lambda rows: rows[-1:],
    "#unique(k)": unique,
    "(y > 1)#keepall": lambda rows: [row for row in rows if row["y"] is not None and row["y"] > 1],
    "#groupwin(k)#length(1)": unique,
    "#firstevent": lambda rows: rows[:1],
}


# ------------------------------------------------------------------ conditions


def equal(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a == b


def above(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a > b


def both(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def member(value: Any, *items: Any) -> bool | None:
    return None if value is None else True if value in items else None if None in items else False


@attrs.frozen
class Condition:
    """``strict``: three-valued. ``indexed``: what an index gives, for which the null of a key finds null; None: there is none. ``order``:
    the sort key in which it gives rows, None for order of arrival. ``bucket``: what has the equal keys, where a range is below them.
    """

    text: str
    strict: Callable[[Row, Row], bool | None]
    indexed: Callable[[Row, Row], bool] | None = None
    order: Callable[[Row, Row], Any] | None = None
    bucket: Callable[[Row, Row], bool] | None = None


CONDITIONS = (
    Condition("i.k = o.k", lambda i, o: equal(i["k"], o["k"]), lambda i, o: i["k"] == o["k"]),
    Condition("i.x > o.x", lambda i, o: above(i["x"], o["x"]), lambda i, o: above(i["x"], o["x"]) is True, lambda i, o: i["x"]),
    Condition("i.x > 1", lambda i, o: above(i["x"], 1), lambda i, o: above(i["x"], 1) is True, lambda i, o: i["x"]),
    Condition(
        "i.k = o.k and o.x < i.x", lambda i, o: both(equal(i["k"], o["k"]), above(i["x"], o["x"])),
        lambda i, o: i["k"] == o["k"] and above(i["x"], o["x"]) is True, lambda i, o: i["x"], lambda i, o: i["k"] == o["k"]),
    Condition("i.x + 0 = o.x", lambda i, o: equal(i["x"], o["x"])),
    Condition("i.y != o.x", lambda i, o: None if equal(i["y"], o["x"]) is None else i["y"] != o["x"]),
    Condition(
        "i.x in (o.x, 1)", lambda i, o: member(i["x"], o["x"], 1),
        lambda i, o: i["x"] in (o["x"], 1), lambda i, o: 0 if i["x"] == o["x"] else 1),
)


def over(window: str, condition: Condition | None) -> Condition | None:
    """The condition as it is looked up in a window: where that holds one row of each key, by the key alone."""
    if condition is None or condition.bucket is None or window != "#unique(k)":
        return condition
    return attrs.evolve(condition, indexed=condition.bucket, order=None)


def candidates(rows: list[Row], condition: Condition | None, o: Row) -> list[Row]:
    if condition is None or condition.indexed is None:
        return rows
    found = [row for row in rows if condition.indexed(row, o)]
    return found if condition.order is None else sorted(found, key=lambda row: condition.order(row, o))  # type: ignore[misc]


def strict(rows: list[Row], condition: Condition | None, o: Row) -> list[Row]:
    return [row for row in candidates(rows, condition, o) if condition is None or condition.strict(row, o) is True]


def lenient(rows: list[Row], condition: Condition | None, o: Row) -> list[Row]:
    """Those that a value, in, any and all count: where that is null passes."""
    return [row for row in candidates(rows, condition, o) if condition is None or condition.strict(row, o) is not False]


# ------------------------------------------------------------------ uses


def only(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else None


def compared(value: Any, values: list[Any], compare: Callable[[Any, Any], bool], every: bool, relational: bool) -> bool | None:
    if not values:
        return every
    if value is None:
        return None
    results = [None if each is None else compare(value, each) for each in values]
    if (not every) in results:
        return not every
    if None not in results or (relational and not every and any(r is not None for r in results)):
        return every
    return None


def summed(rows: list[Row]) -> int | None:
    values = [row["y"] for row in rows if row["y"] is not None]
    return sum(values) if values else None


def groups(rows: list[Row]) -> list[Row]:
    """Sums by key, as a Java HashMap has the keys: null, then one letter after the other."""
    keys = sorted({row["k"] for row in rows}, key=lambda k: (k is not None, k))
    return [{"k": k, "s": summed([row for row in rows if row["k"] == k])} for k in keys]


def listed(rows: list[Row], condition: Condition | None, o: Row) -> list[Any] | None:
    """Values: rows that where rejects leave an empty collection."""
    return [row["y"] for row in strict(rows, condition, o)] if candidates(rows, condition, o) else nothing(rows, condition, o)


def selected(rows: list[Row], condition: Condition | None, o: Row) -> list[Any] | None:
    """Events: rows that where rejects are null."""
    found = strict(rows, condition, o)
    if found:
        return [row["y"] for row in found if row["y"] is not None]
    return None if candidates(rows, condition, o) else nothing(rows, condition, o)


def nothing(rows: list[Row], condition: Condition | None, o: Row) -> list[Any] | None:
    """What an index gives that finds no row: for a range an empty collection if the keys above it are there, without keys if its end is
    null."""
    if condition is None or condition.order is None or " in " in condition.text:
        return None
    end_is_null = "o.x" in condition.text and o["x"] is None
    if condition.bucket is None:
        return [] if end_is_null else None
    return [] if not end_is_null and any(condition.bucket(row, o) for row in rows) else None


Answer = Callable[[list[Row], "Condition | None", Row], Any]
USES: dict[str, Answer] = {
    "(select y {q})": lambda rows, c, o: only([row["y"] for row in lenient(rows, c, o)]),
    "(select i.y + o.x {q})": lambda rows, c, o: only(
        [None if None in (row["y"], o["x"]) else row["y"] + o["x"] for row in lenient(rows, c, o)]),
    "(select k, y {q})": lambda rows, c, o: only([{"k": row["k"], "y": row["y"]} for row in lenient(rows, c, o)]) or {"k": None, "y": None},
    "exists (select * {q})": lambda rows, c, o: bool(strict(rows, c, o)),
    "not exists (select y {q})": lambda rows, c, o: not strict(rows, c, o),
    "x in (select y {q})": lambda rows, c, o: compared(o["x"], [r["y"] for r in lenient(rows, c, o)], lambda a, b: a == b, False, False),
    "x != all (select y {q})": lambda rows, c, o: compared(o["x"], [r["y"] for r in lenient(rows, c, o)], lambda a, b: a != b, True, False),
    "x = all (select y {q})": lambda rows, c, o: compared(o["x"], [r["y"] for r in lenient(rows, c, o)], lambda a, b: a == b, True, False),
    "x > any (select y {q})": lambda rows, c, o: compared(o["x"], [r["y"] for r in lenient(rows, c, o)], lambda a, b: a > b, False, True),
    "x <= all (select y {q})": lambda rows, c, o: compared(o["x"], [r["y"] for r in lenient(rows, c, o)], lambda a, b: a <= b, True, True),
    "(select sum(y) {q})": lambda rows, c, o: summed(strict(rows, c, o)),
    "(select count(*) {q})": lambda rows, c, o: len(strict(rows, c, o)),
    "(select sum(y) {q} having sum(y) > 2)": lambda rows, c, o: s if (s := summed(strict(rows, c, o))) is not None and s > 2 else None,
    "(select sum(y) {q} group by k)": lambda rows, c, o: only([g["s"] for g in groups(strict(rows, c, o))]),
    "(select k, sum(y) as s {q} group by k).take(9)": lambda rows, c, o: groups(strict(rows, c, o)) or None,
    "(select * {q}).selectFrom(r => r.y)": selected,
    "(select y {q}).take(9)": listed,
}


# ------------------------------------------------------------------ drawing

KEYS, NUMBERS = st.sampled_from(["a", "b", "c", None]), st.sampled_from([0, 1, 2, 3, None])
EVENTS = st.one_of(
    st.tuples(st.just("I"), st.fixed_dictionaries({"k": KEYS, "x": NUMBERS, "y": NUMBERS})),
    st.tuples(st.just("O"), st.fixed_dictionaries({"k": KEYS, "x": NUMBERS})),
)
SUBQUERIES = st.tuples(st.sampled_from(sorted(USES)), st.sampled_from(sorted(WINDOWS)), st.sampled_from([None, *CONDITIONS]))


def text(use: str, window: str, condition: Condition | None) -> str:
    where = "" if condition is None else f" where {condition.text}"
    return use.format(q=f"from I{window} as i{where}")


@settings(max_examples=60, deadline=None)
@given(st.lists(SUBQUERIES, min_size=1, max_size=4), st.lists(EVENTS, min_size=2, max_size=14), st.integers(0, 14))
@example([("(select y {q})", "#keepall", CONDITIONS[4])], [("I", {"k": "a", "x": None, "y": 1}), ("O", {"k": "a", "x": 1})], 1)
@example([("x in (select y {q})", "#keepall", None)], [("I", {"k": "a", "x": 1, "y": None}), ("O", {"k": "a", "x": 1})], 1)
def test_answers_equal_those_over_the_full_history(
    subqueries: list[tuple[str, str, Condition | None]], events: list[tuple[str, Row]], cut: int
) -> None:
    columns = ", ".join(f"{text(*each)} as c{number}" for number, each in enumerate(subqueries))
    rows: list[Row] = []

    def listen(new: Any, old: Any, *rest: Any) -> None:
        rows.extend(dict(row) for row in new)

    runtime = Runtime(tier="row")
    runtime.deploy(f"{SCHEMAS}@name('s') select {columns} from O as o", listeners={"s": listen})
    inner: list[Row] = []
    expected: list[Row] = []
    for number, (kind, event) in enumerate(events):
        if number == cut:
            runtime = Runtime.restore(runtime.snapshot())
            next(s for d in runtime.deployments.values() for s in d if s.name == "s").add_listener(listen)
        runtime.send(kind, event)
        if kind == "I":
            inner.append(event)
        else:
            expected.append({
                f"c{place}": USES[use](WINDOWS[window](inner), over(window, condition), event)
                for place, (use, window, condition) in enumerate(subqueries)
            })
    assert [plain(row) for row in rows] == expected


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in value.items()} if hasattr(value, "items") else value
