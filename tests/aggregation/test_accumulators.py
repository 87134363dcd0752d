"""Every accumulator, given random rows that come and go, equals the function recomputed over the rows that are there."""
from __future__ import annotations

import math
import statistics
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from epl.event_types import EventOf, EventType, Property
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Constant, Order, StreamEvent, StreamProperty
from epl.value_types import BIG_DECIMAL, BOOLEAN, BOXED_DOUBLE, BOXED_FLOAT, BOXED_INT, BOXED_LONG, INT, STRING, ArrayType
from runtime.aggregation import GroupFactory, evaluate_rows
from runtime.expressions import Environment
from windows.event import Event, event_class

TYPES = {"i": BOXED_INT, "l": BOXED_LONG, "d": BOXED_DOUBLE, "f": BOXED_FLOAT, "b": BIG_DECIMAL, "s": STRING}
T = EventType("T", "map", {name: Property(name, kind) for name, kind in TYPES.items()})


def prop(name: str) -> StreamProperty:
    return StreamProperty(stream=0, name=name, type=TYPES[name])


def event(**values: Any) -> Event:
    return event_class(T)(*[values.get(name) for name in TYPES])


def plan(function: str, *names: str, **more: Any) -> AggregationPlan:
    more.setdefault("stream", 0)
    return AggregationPlan(function=function, arguments=tuple(prop(n) for n in names), type=BOXED_DOUBLE, **more)


def values(rows: list[Event], name: str) -> list[Any]:
    return [v for v in (row.get(name) for row in rows) if v is not None]


def wrapped(total: int, bits: int) -> int:
    return (total + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def mean_deviation(numbers: list[float]) -> float | None:
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    return sum(abs(n - mean) for n in numbers) / len(numbers)


def keyed(row: Event) -> tuple[bool, int]:
    return row.get("i") is not None, row.get("i") or 0


EVENT = StreamEvent(stream=0, type=EventOf(T))
ABOVE_ZERO = Order(operator=">", left=prop("i"), right=Constant(value=0, type=INT), type=BOOLEAN.boxed)

CASES: dict[str, tuple[AggregationPlan, Any]] = {
    "count(*)": (plan("count"), len),
    "count(i)": (plan("count", "i"), lambda rows: len(values(rows, "i"))),
    "count(distinct i)": (plan("count", "i", distinct=True), lambda rows: len(set(values(rows, "i")))),
    "count(*, filter)": (plan("count", filter=ABOVE_ZERO), lambda rows: sum(v > 0 for v in values(rows, "i"))),
    "sum(i)": (plan("sum", "i"), lambda rows: wrapped(sum(values(rows, "i")), 32) if values(rows, "i") else None),
    "sum(l)": (plan("sum", "l"), lambda rows: wrapped(sum(values(rows, "l")), 64) if values(rows, "l") else None),
    "sum(distinct i)": (
        plan("sum", "i", distinct=True), lambda rows: wrapped(sum(set(values(rows, "i"))), 32) if values(rows, "i") else None
    ),
    "sum(b)": (plan("sum", "b"), lambda rows: sum(values(rows, "b")) if values(rows, "b") else None),
    "sum(d)": (plan("sum", "d"), lambda rows: math.fsum(values(rows, "d")) if values(rows, "d") else None),
    "avg(d)": (plan("avg", "d"), lambda rows: math.fsum(values(rows, "d")) / len(values(rows, "d")) if values(rows, "d") else None),
    "min(i)": (plan("min", "i"), lambda rows: min(values(rows, "i"), default=None)),
    "max(i)": (plan("max", "i"), lambda rows: max(values(rows, "i"), default=None)),
    "max(s)": (plan("max", "s"), lambda rows: max(values(rows, "s"), default=None)),
    "min(i, filter)": (plan("min", "i", filter=ABOVE_ZERO), lambda rows: min((v for v in values(rows, "i") if v > 0), default=None)),
    "median(d)": (plan("median", "d"), lambda rows: statistics.median(values(rows, "d")) if values(rows, "d") else None),
    "avedev(d)": (plan("avedev", "d"), lambda rows: mean_deviation(values(rows, "d"))),
    "stddev(i)": (plan("stddev", "l"), lambda rows: statistics.stdev(values(rows, "l")) if len(values(rows, "l")) > 1 else None),
    "first(i)": (plan("first", "i"), lambda rows: rows[0].get("i") if rows else None),
    "last(i)": (plan("last", "i"), lambda rows: rows[-1].get("i") if rows else None),
    "window(i)": (plan("window", "i"), lambda rows: [r.get("i") for r in rows] or None),
    "window(*)": (
        AggregationPlan(function="window", arguments=(EVENT,), type=ArrayType(EventOf(T)), stream=0), lambda rows: list(rows) or None
    ),
    "minby(i)": (plan("minby", "i", descending=(False,)), lambda rows: min(rows, key=keyed, default=None)),
    "maxby(i)": (plan("maxby", "i", descending=(False,)), lambda rows: max(rows, key=keyed, default=None)),
    "sorted(i)": (plan("sorted", "i", descending=(False,)), lambda rows: sorted(rows, key=keyed) or None),
    "sorted(s desc)": (
        plan("sorted", "s", descending=(True,)),
        lambda rows: sorted(rows, key=lambda r: (r.get("s") is not None, r.get("s") or ""), reverse=True) or None,
    ),
}

rows_of = st.builds(
    event,
    i=st.none() | st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)]),
    l=st.none() | st.integers(-1000, 1000),
    d=st.none() | st.integers(-50, 50).map(lambda n: n / 4),
    b=st.none() | st.decimals("-100", "100", places=2),
    s=st.none() | st.text("abc", max_size=2),
)
"""One row; the doubles are quarters, so that sums are exact."""


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equals_recomputation(name: str, data: st.DataObject) -> None:
    aggregation, expected = CASES[name]
    factory = GroupFactory([aggregation], Environment(), 1)
    group = factory()
    retained: list[Event] = []
    largest = 0.0
    for _ in range(data.draw(st.integers(1, 12))):
        if retained and data.draw(st.booleans()):
            leaving = retained.pop(data.draw(st.integers(0, len(retained) - 1)))
            group.leave(leaving)
        else:
            row = data.draw(rows_of)
            retained.append(row)
            group.enter(row)
            largest = max([largest, *(abs(value) for value in row.values() if isinstance(value, (int, float)))])
        if data.draw(st.booleans()):
            saved = group.state()
            group = factory()
            group.restore(saved)
        got, wanted = group.readers[0].value(), expected(retained)
        # a deviation of zero may have the root of what rounding left of the variance: of 105, 105, -1 without the last, 1.4e-6
        nearly = 1e-6 * (1 + largest) if name == "stddev(i)" else 1e-6
        if name == "stddev(i)" and wanted is not None and wanted < nearly and got != got:
            continue  # rounding left a variance below zero, whose root is NaN in Esper too: 5, 0, 5, then 0 leaves
        assert got == pytest.approx(wanted, abs=nearly) if isinstance(wanted, float) else got == wanted
    group.clear()
    assert group.readers[0].value() == expected([])


@example([1, None, 5, 5, 2])
@given(st.lists(st.none() | st.integers(-5, 5), max_size=12))
def test_ever_functions_never_forget(numbers: list[int | None]) -> None:
    rows = [event(i=n) for n in numbers]
    group = GroupFactory(
        [plan("min", "i", ever=True), plan("max", "i", ever=True), plan("firstever", "i", ever=True), plan("lastever", "i", ever=True),
         plan("count", "i", ever=True), plan("leaving")], Environment(), 1,
    )()
    for row in rows:
        group.enter(row)
    for row in rows:
        group.leave(row)
    seen = [n for n in numbers if n is not None]
    assert [r.value() for r in group.readers] == [
        min(seen, default=None), max(seen, default=None), seen[0] if seen else None, seen[-1] if seen else None, len(seen), bool(rows),
    ]


def test_nth_counts_values_that_are_there() -> None:
    """As recorded: nulls are not counted, and the values before those that left are gone."""
    group = GroupFactory([plan("nth", "i", constants=(n,)) for n in (0, 1, 2)], Environment(), 1)()
    window: list[Event] = []
    got = []
    for number in (1, None, 3, 3, 1, 1, None, None):
        row = event(i=number)
        window.append(row)
        group.enter(row)
        if len(window) > 2:
            group.leave(window.pop(0))
        got.append([r.value() for r in group.readers])
    assert got == [
        [1, None, None], [1, None, None], [3, None, None], [3, 3, None], [1, 3, None], [1, 1, None], [1, None, None], [None, None, None],
    ]


def test_int_average_wraps_as_its_sum_does() -> None:
    readers = evaluate_rows(GroupFactory([plan("avg", "i")], Environment(), 1), [event(i=1), event(i=2**31 - 1)])
    assert readers[0].value() == -1073741824.0


def test_average_of_big_decimals_is_exact_or_zero() -> None:
    factory = GroupFactory([plan("avg", "b")], Environment(), 1)
    assert evaluate_rows(factory, [event(b=Decimal("1.10")), event(b=Decimal("2.2"))])[0].value() == Decimal("1.65")
    assert evaluate_rows(factory, [event(b=Decimal(n)) for n in ("1.10", "2.2", "2")])[0].value() == 0


def test_nan_is_the_greatest_number_and_no_median() -> None:
    group = GroupFactory([plan("max", "d"), plan("min", "d"), plan("median", "d")], Environment(), 1)()
    nan = event(d=math.nan)
    group.enter(nan)
    group.enter(event(d=1.0))
    assert math.isnan(group.readers[0].value()) and [r.value() for r in group.readers[1:]] == [1.0, 1.0]
    group.leave(nan)
    assert [r.value() for r in group.readers] == [1.0, 1.0, 1.0]


class Clock:
    now = 0


def test_rate_by_clock_is_null_until_an_event_is_too_old() -> None:
    clock = Clock()
    group = GroupFactory([plan("rate", constants=(Constant(value=1, type=INT),), ever=True)], Environment(clock=clock), 1)()
    got = []
    for clock.now in (100, 400, 1000, 1100, 1101, 2100, 2101, 5000, 5900):
        group.enter(event())
        got.append(group.readers[0].value())
    assert got == [None, None, None, 3.0, 4.0, 2.0, 2.0, 1.0, 2.0]


def test_rate_by_timestamp() -> None:
    """Events in the window by the time since the one that left last."""
    group = GroupFactory(
        [plan("rate by timestamp", "l", constants=(1000,)), plan("rate by timestamp", "l", "i", constants=(1000,))], Environment(), 1
    )()
    rows = [event(l=1000 + 300 * n, i=n) for n in range(5)]
    got = []
    for n, row in enumerate(rows):
        group.enter(row)
        if n >= 3:
            group.leave(rows[n - 3])
        got.append([r.value() for r in group.readers])
    assert got[:3] == [[None, None]] * 3
    assert got[3:] == [[pytest.approx(10 / 3), pytest.approx(20 / 3)], [pytest.approx(10 / 3), pytest.approx(10)]]


def test_best_ever_forgets_a_null_criterion() -> None:
    rows = [event(i=n) for n in (1, None, 3, 3, 1, None)]
    plans = [plan("minbyever", "i", descending=(False,), ever=True), plan("minby", "i", descending=(False,), ever=True)]
    group = GroupFactory(plans, Environment(), 1)()
    got = []
    for row in rows:
        group.enter(row)
        got.append([rows.index(r.value()) for r in group.readers])
    assert got == [[0, 0], [1, 1], [2, 1], [2, 1], [4, 1], [5, 1]]


def test_joined_rows_bring_an_event_once() -> None:
    """Rows of two streams: an event stays until its last partner goes."""
    second = StreamProperty(stream=1, name="i", type=BOXED_INT)
    plans = [
        AggregationPlan(function="window", arguments=(second,), type=BOXED_INT, stream=1),
        AggregationPlan(function="sum", arguments=(second,), type=BOXED_INT),
    ]
    group = GroupFactory(plans, Environment(), 2)()
    one, two, right = event(i=1), event(i=2), event(i=7)
    group.enter((one, right))
    group.enter((two, right))
    assert [r.value() for r in group.readers] == [[7], 14]
    group.leave((one, right))
    assert [r.value() for r in group.readers] == [[7], 7]
    group.leave((two, right))
    assert [r.value() for r in group.readers] == [None, None]
