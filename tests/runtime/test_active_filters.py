"""Filters that come and go with events: which events they match, in which order, and what a change costs, counted."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.lookup import bind_filters
from epl.analysis.filters.specifications import filter_specification
from epl.event_types import EventType
from epl.parse import parse_expression
from epl.plan.filter_specifications import FilterSpecification
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.event_loop import loop as event_loop
from runtime.event_loop import range_tables
from runtime.event_loop.prepared_filters import ActiveFilter, PreparedFilter
from runtime.event_loop.range_tables import OneEndedRanges, TwoEndedRanges
from runtime.expressions import Environment

SCHEMAS = """
    @public @buseventtype create schema Began(s string, k int, n long, x double, y double);
    @public @buseventtype create schema Reading(s string, k int, n long, x double);
    @public @buseventtype create schema SubReading(more int) inherits Reading;
    @public @buseventtype create schema Other(k int);
"""


def runtime_with_types(**options: Any) -> Runtime:
    rt = Runtime(tier="row", **options)
    rt.deploy(SCHEMAS)
    return rt


def specified(rt: Runtime, condition: str, event_type: str = "Reading") -> FilterSpecification:
    """``e``: the event, ``a``: the event of type Began that an entry starts with."""
    wanted = rt.event_type(event_type)
    scope = Scope(internal_engine(rt).catalog(), (ScopeStream("e", wanted), ScopeStream("a", rt.event_type("Began"))), "filter")
    return filter_specification(wanted, bind_filters((parse_expression(condition),), scope) if condition else ())


def prepared(rt: Runtime, condition: str, *, number: int = 1, priority: int = 0, event_type: str = "Reading") -> PreparedFilter:
    specification = specified(rt, condition, event_type)
    return internal_engine(rt).core.filters.prepare(specification, Environment(), f"s{number}", (-priority, number, 0))


def start_event(rt: Runtime, **values: Any) -> Any:
    return rt.event_of("Began", {"s": None, "k": None, "n": None, "x": None, "y": None, **values})


@attrs.define(eq=False)
class Receiver:
    """Notes the events; ``then`` is called first."""

    name: Any
    received: list[tuple[Any, Any]]
    then: Callable[[], None] | None = None

    def receive(self, event: Any) -> None:
        self.received.append((self.name, event))
        if self.then is not None:
            self.then()


def activate(rt: Runtime, wanted: PreparedFilter, receiver: Any, **values: Any) -> ActiveFilter:
    return wanted.activate(wanted.values_of(start_event(rt, **values)), receiver)


class Generated:
    """Counts what is generated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.functions: list[str] = []
        for name in ("dispatcher", "intake"):
            monkeypatch.setattr(event_loop, name, self._counted(getattr(event_loop, name)))

    def _counted(self, generate: Callable[..., Any]) -> Callable[..., Any]:
        def counted(names: Any, indexes: Any, event_type: EventType, **options: Any) -> Any:
            self.functions.append(event_type.name)
            return generate(names, indexes, event_type, **options)

        return counted


# ------------------------------------------------------------------ what is looked up


@pytest.mark.parametrize("condition, looked_up", [
    ("e.s = a.s", "equal 1"),
    ("a.s = e.s and e.k = a.k", "equal 2"),
    ("e.s is a.s", "equal 1"),
    ("e.s = 'x' and e.k = a.k", "equal 2"),
    ("e.x = a.k", "equal 1"),
    ("e.k * 2 = a.k", "equal 1"),
    ("e.k in (a.k, 7)", "listed"),
    ("e.s = a.s and e.x > a.x", "equal 1, above"),
    ("e.x <= a.x", "below"),
    ("a.x < e.x", "above"),
    ("e.x between a.x and a.y", "between"),
    ("e.x in (a.x : a.y]", "between"),
    ("e.x > 5 and e.x between a.x and a.y", "between, 1 more"),
    ("e.k != a.k", "1 more"),
    ("e.k not in (a.k, 7)", "1 more"),
    ("e.x not between a.x and a.y", "1 more"),
    ("e.s like a.s", "1 more"),
    ("e.k = a.k or e.s = a.s", "1 more"),
    ("e.s = a.s and e.k in (a.k, 7)", "equal 1, 1 more"),
    ("", ""),
])
def test_what_an_index_can_find_is_looked_up(condition: str, looked_up: str) -> None:
    with runtime_with_types() as rt:
        made = specified(rt, condition)
    parts = [f"equal {len(made.equal)}"] if made.equal else ["listed"] if made.listed else []
    if made.range is not None:
        parts.append("between" if made.range.low and made.range.high else "above" if made.range.low else "below")
    if made.conditions:
        parts.append(f"{len(made.conditions)} more")
    assert ", ".join(parts) == looked_up


# ------------------------------------------------------------------ which events match

NAN = float("nan")
DOUBLES = {"0": 0.0, "-0": -0.0, "nan": NAN, "inf": math.inf, "-inf": -math.inf, "2": 2.0}
ASKED = {  # of Esper 9.0.0: event → entries that match it
    "e.x = a.x": {"0": "0", "-0": "-0", "nan": "nan", "inf": "inf", "-inf": "-inf", "2": "2"},
    "e.x is a.x": {"0": "0", "-0": "-0", "nan": "nan", "inf": "inf", "-inf": "-inf", "2": "2"},
    "e.x in (a.x, 9)": {"0": "0", "-0": "-0", "nan": "nan", "inf": "inf", "-inf": "-inf", "2": "2"},
    "e.x != a.x": {"0": "-0 inf -inf 2 nan", "-0": "0 inf -inf 2 nan", "nan": "0 -0 inf -inf 2", "2": "0 -0 inf -inf nan"},
    "e.x not in (a.x, 9)": {"0": "2 -inf nan -0 inf", "nan": "2 -inf 0 -0 inf", "2": "-inf 0 nan -0 inf"},
}


@pytest.mark.parametrize("condition", ASKED)
def test_doubles_are_equal_as_in_esper(condition: str) -> None:
    with runtime_with_types() as rt:
        wanted, received = prepared(rt, condition), []  # type: ignore[var-annotated]
        for name, value in DOUBLES.items():
            activate(rt, wanted, Receiver(name, received), x=value)
        for name, expected in ASKED[condition].items():
            received.clear()
            rt.send("Reading", {"x": DOUBLES[name]})
            assert {entry for entry, _ in received} == set(expected.split()), name


STARTS: list[tuple[float | None, float | None]] = [(0.0, 1.5), (1.5, 0.0), (None, 1.0), (1.0, None), (1.5, 1.5), (-5.0, 5.0)]
RANGES = {  # of Esper 9.0.0: event → numbers of the entries above, in the order in which they get it
    "e.x between a.x and a.y": {0.0: [5, 0, 1], 1.5: [5, 0, 1, 4], 2.0: [5], None: []},
    "e.x in [a.x:a.y]": {0.0: [5, 0, 1], 1.5: [5, 0, 1, 4], 2.0: [5], None: []},
    "e.x in (a.x:a.y)": {0.0: [5], 1.5: [5], 2.0: [5]},
    "e.x in [a.x:a.y)": {0.0: [5, 0, 1], 1.5: [5]},
    "e.x in (a.x:a.y]": {0.0: [5], 1.5: [5, 0, 1]},
    "e.x not between a.x and a.y": {0.0: [4, 2, 3], 1.5: [2, 3], 2.0: [0, 1, 4, 2, 3], None: []},
    "e.x not in (a.x:a.y)": {0.0: [0, 1, 4, 2, 3], 1.5: [0, 1, 4, 2, 3]},
    "e.x > a.x": {0.0: [5], 1.0: [5, 0], 2.0: [5, 0, 3, 1, 4], None: []},
    "e.x >= a.x": {0.0: [5, 0], -6.0: []},
    "e.x < a.x": {-6.0: [5, 0, 3, 1, 4], 1.0: [1, 4], 2.0: []},
    "e.x <= a.x": {1.0: [3, 1, 4]},
}


@pytest.mark.parametrize("condition", RANGES)
def test_ranges_match_as_in_esper_in_the_order_of_their_boundaries(condition: str) -> None:
    with runtime_with_types() as rt:
        wanted, received = prepared(rt, condition), []  # type: ignore[var-annotated]
        for number, (x, y) in enumerate(STARTS):
            activate(rt, wanted, Receiver(number, received), x=x, y=y)
        for value, expected in RANGES[condition].items():
            received.clear()
            rt.send("Reading", {"x": value})
            assert [entry for entry, _ in received] == expected, value


def test_null_equals_null_for_is_alone() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        for condition in ("e.s = a.s", "e.s is a.s", "e.s = a.s and e.k = a.k", "e.s is a.s and e.k is a.k", "e.s in (a.s, 'x')"):
            activate(rt, prepared(rt, condition), Receiver(condition, received))
        rt.send("Reading", {"s": None, "k": None})
        assert {name for name, _ in received} == {"e.s is a.s", "e.s is a.s and e.k is a.k"}


def test_integers_meet_doubles_by_their_value() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        activate(rt, prepared(rt, "e.x = a.k"), Receiver("int", received), k=3)
        activate(rt, prepared(rt, "e.x = a.n"), Receiver("long", received), n=2**53 + 1)
        activate(rt, prepared(rt, "e.n = a.x"), Receiver("double", received), x=float(2**53))
        rt.send("Reading", {"x": 3.0})
        rt.send("Reading", {"x": float(2**53)})  # 2^53 + 1 as a double
        rt.send("Reading", {"n": 2**53 + 1})
        assert [name for name, _ in received] == ["int", "long", "double"]


def test_equal_values_of_a_list_deliver_an_event_once_each() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        active = activate(rt, prepared(rt, "e.x in (a.x, a.y)"), Receiver("twice", received), x=5.0, y=5.0)
        rt.send("Reading", {"x": 5.0})
        assert [name for name, _ in received] == ["twice", "twice"] and received[0][1] is not received[1][1]
        active.deactivate()
        active = activate(rt, active.prepared, Receiver("once", received, lambda: active.deactivate()), x=5.0, y=5.0)
        received.clear()
        rt.send("Reading", {"x": 5.0})
        assert [name for name, _ in received] == ["once"], "deactivated after the first"


# ------------------------------------------------------------------ while an event is under way


def test_an_entry_that_starts_during_an_event_does_not_get_it() -> None:
    with runtime_with_types() as rt:
        wanted, received = prepared(rt, ""), []  # type: ignore[var-annotated]
        activate(rt, wanted, Receiver("first", received, lambda: activate(rt, wanted, Receiver("second", received)) and None))
        rt.send("Reading", {"k": 1})
        assert [name for name, _ in received] == ["first"]


@pytest.mark.parametrize("condition", ["", "e.k = a.k", "e.x > a.x"])
def test_an_entry_that_stops_during_an_event_does_not_get_it(condition: str) -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        first, second = prepared(rt, condition, number=1), prepared(rt, condition, number=2)
        stopped = [activate(rt, second, Receiver(n, received), k=1, x=0.0) for n in range(2)]
        activate(rt, first, Receiver("stops the others", received, lambda: [each.deactivate() for each in stopped] and None), k=1, x=0.0)
        rt.send("Reading", {"k": 1, "x": 1.0})
        rt.send("Reading", {"k": 1, "x": 1.0})
        assert [name for name, _ in received] == ["stops the others"] * 2
        stopped[0].deactivate()


def test_an_event_that_a_receiver_sends_is_matched_on_its_own() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        wanted = prepared(rt, "e.k = a.k")

        def send_another() -> None:
            activate(rt, wanted, Receiver("inner", received), k=2)
            rt.send("Reading", {"k": 2})

        activate(rt, wanted, Receiver("outer", received, send_another), k=1)
        rt.send("Reading", {"k": 1})
        assert [(name, event.get("k")) for name, event in received] == [("outer", 1), ("inner", 2)]


def test_priority_then_statement_then_what_is_looked_up_orders_receivers() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        late, early = prepared(rt, "e.x > a.x", number=9), prepared(rt, "e.k = a.k", number=2)
        plain, urgent = prepared(rt, "", number=2), prepared(rt, "e.k = a.k", number=20, priority=3)
        for name, wanted in (("plain", plain), ("late", late), ("early", early), ("urgent", urgent)):
            activate(rt, wanted, Receiver(name, received), k=1, x=0.0)
        rt.deploy("@name('s') select * from Reading(k = 1)", listeners={"s": lambda new, *_: received.append(("deployed", new[0]))})
        rt.send("Reading", {"k": 1, "x": 1.0})
        assert [name for name, _ in received] == ["urgent", "early", "plain", "late", "deployed"]


def test_entries_of_a_super_type_get_sub_types_events() -> None:
    with runtime_with_types() as rt:
        received: list[Any] = []
        for event_type in ("Reading", "SubReading"):
            for condition in ("e.k = a.k", "e.x > a.x", ""):
                activate(rt, prepared(rt, condition, event_type=event_type), Receiver((event_type, condition), received), k=1, x=0.0)
        rt.send("SubReading", {"k": 1, "x": 1.0, "more": 2})
        assert len(received) == 6
        received.clear()
        rt.send("Reading", {"k": 1, "x": 1.0})
        assert {name[0] for name, _ in received} == {"Reading"} and len(received) == 3


def test_a_failing_condition_harms_its_own_entry_alone() -> None:
    errors: list[tuple[str, str]] = []
    with runtime_with_types(on_error=lambda error, name, event: errors.append((name, str(error)))) as rt:
        def positive(value: int) -> int:
            if value < 0:
                raise ValueError("negative")
            return value

        rt.register_function("positive", positive)
        received: list[Any] = []
        streams = ScopeStream("e", rt.event_type("Reading")), ScopeStream("a", rt.event_type("Began"))
        scope = Scope(internal_engine(rt).catalog(), streams, "filter")
        bound = bind_filters((parse_expression("e.k = a.k and positive(a.n) > 0"),), scope)
        specification = filter_specification(rt.event_type("Reading"), bound)
        environment = Environment(functions=internal_engine(rt).definitions.functions)
        wanted = internal_engine(rt).core.filters.prepare(specification, environment, "failing", (0, 1, 0))
        for n in (-1, 1):
            activate(rt, wanted, Receiver(n, received), k=1, n=n)
        rt.send("Reading", {"k": 1})
        assert [name for name, _ in received] == [1]
        assert len(errors) == 1 and errors[0][0] == "failing" and "negative" in errors[0][1]


# ------------------------------------------------------------------ against a list that is scanned


def same(one: Any, other: Any) -> bool:
    """Java's equals of doubles, and of what else stands in events here."""
    if isinstance(one, float) and isinstance(other, float):
        if one != one or other != other:
            return one != one and other != other
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)


def equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and same(one, other)


def within(value: Any, low: Any, high: Any, *, low_in: bool = True, high_in: bool = True) -> bool:
    if value is None or low is None or high is None:
        return False
    low, high = (low, high) if low <= high else (high, low)
    return (low <= value if low_in else low < value) and (value <= high if high_in else value < high)


def there(*values: Any) -> bool:
    return all(value is not None for value in values)


def ascending(low: Any, high: Any) -> Any:
    """Sort ends, in order, NaN after all numbers; a null last."""
    if low is None or high is None:
        return (1,)
    return 0, *((end != end, end) for end in ((low, high) if low <= high else (high, low)))


Naive = Callable[[dict[str, Any], dict[str, Any]], bool]
FILTERS: dict[str, tuple[str, Naive, Callable[[dict[str, Any]], Any]]] = {
    # condition: what is looked up, whether an event matches an entry, by what entries of one statement are ordered
    "": ("", lambda e, a: True, lambda a: 0),
    "e.k = a.k": ("k", lambda e, a: equal(e["k"], a["k"]), lambda a: 0),
    "e.k is a.k": ("k", lambda e, a: e["k"] == a["k"], lambda a: 0),
    "e.k = a.k and e.s != a.s": ("k", lambda e, a: equal(e["k"], a["k"]) and there(e["s"], a["s"]) and e["s"] != a["s"], lambda a: 0),
    "e.s = a.s and e.k = a.k": ("sk", lambda e, a: equal(e["k"], a["k"]) and equal(e["s"], a["s"]), lambda a: 0),
    "e.x = a.k": ("x", lambda e, a: there(a["k"]) and equal(e["x"], a["k"] + 0.0), lambda a: 0),
    "e.x = a.x": ("x", lambda e, a: equal(e["x"], a["x"]), lambda a: 0),
    "e.s > a.s": ("s>", lambda e, a: there(e["s"], a["s"]) and e["s"] > a["s"], lambda a: a["s"]),
    "e.x >= a.x": ("x>=", lambda e, a: there(e["x"], a["x"]) and e["x"] >= a["x"], lambda a: a["x"]),
    "e.x < a.k": ("x<", lambda e, a: there(e["x"], a["k"]) and e["x"] < a["k"], lambda a: a["k"]),
    "e.k = a.k and e.x <= a.x": (
        "k x<=", lambda e, a: equal(e["k"], a["k"]) and there(e["x"], a["x"]) and e["x"] <= a["x"], lambda a: a["x"]),
    "e.x between a.x and a.y": ("x[]", lambda e, a: within(e["x"], a["x"], a["y"]), lambda a: sorted((a["x"], a["y"]))),
    "e.x in (a.y:a.x]": ("x(]", lambda e, a: within(e["x"], a["x"], a["y"], low_in=False), lambda a: sorted((a["x"], a["y"]))),
    "e.k in (a.k, 2)": ("k", lambda e, a: e["k"] is not None and e["k"] in (a["k"], 2), lambda a: 0),
    "e.k != a.k or e.x = a.x": (
        "", lambda e, a: (there(e["k"], a["k"]) and e["k"] != a["k"]) or equal(e["x"], a["x"]), lambda a: 0),
    "e.x not in (a.x, a.y)": (
        "", lambda e, a: there(e["x"]) and not equal(e["x"], a["x"]) and not equal(e["x"], a["y"]), lambda a: 0),
    "e.x not between a.x and a.y": (
        "x!", lambda e, a: there(e["x"]) and not within(e["x"], a["x"], a["y"]), lambda a: ascending(a["x"], a["y"])),
}

DOUBLE = st.sampled_from([None, NAN, 0.0, -0.0, 1.0, 1.5, 2.0, -2.0, math.inf])
VALUES = st.fixed_dictionaries({
    "s": st.sampled_from([None, "", "a", "b", "\u00e9"]), "k": st.sampled_from([None, -1, 0, 1, 2]), "x": DOUBLE, "y": DOUBLE})
STEP = st.one_of(
    st.tuples(st.just("activate"), st.integers(0, 5), VALUES, st.booleans()),
    st.tuples(st.just("deactivate"), st.integers(0, 30)),
    st.tuples(st.just("send"), VALUES),
)


@attrs.define(eq=False)
class Model:
    """Entries in a list; what each receives, by scanning it. Every receiver of ``meddles`` stops the oldest entry and starts a copy of
    itself."""

    conditions: Sequence[str]
    entries: list[dict[str, Any]] = attrs.field(factory=list)

    def matching(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        looked_up = list(dict.fromkeys(FILTERS[condition][0] for condition in self.conditions))
        looked_up.sort(key=lambda what: what == "")
        found = []
        for sequence, entry in enumerate(self.entries):
            what, matches, boundary = FILTERS[self.conditions[entry["statement"]]]
            if matches(event, entry["values"]):
                place = looked_up.index(what)
                found.append(((entry["statement"], place, boundary(entry["values"]) if what else 0, sequence), entry))
        return [entry for _, entry in sorted(found, key=lambda each: each[0])]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(sorted(FILTERS)), min_size=1, max_size=4), st.lists(STEP, max_size=40))
def test_entries_get_what_a_scan_of_all_entries_finds(conditions: list[str], steps: list[tuple[Any, ...]]) -> None:
    with runtime_with_types() as rt:
        wanted = [prepared(rt, condition, number=number) for number, condition in enumerate(conditions)]
        model, received = Model(conditions), []  # type: ignore[var-annotated]

        def start(entry: dict[str, Any]) -> None:
            handles[id(entry)] = activate(rt, wanted[entry["statement"]], entry["receiver"], **entry["values"])
            model.entries.append(entry)

        def stop(entry: dict[str, Any]) -> None:
            model.entries.remove(entry)
            handles.pop(id(entry)).deactivate()

        def meddle() -> None:
            entry = model.entries[0]
            stop(entry)
            start({**entry, "receiver": Receiver(-1, received)})

        handles: dict[int, ActiveFilter] = {}
        for number, step in enumerate(steps):
            if step[0] == "activate":
                start({"statement": step[1] % len(conditions), "values": step[2],
                       "receiver": Receiver(number, received, meddle if step[3] else None)})
            elif step[0] == "deactivate" and model.entries:
                stop(model.entries[step[1] % len(model.entries)])
            elif step[0] == "send":
                expected = expected_names(model, step[1])
                received.clear()
                rt.send("Reading", {name: value for name, value in step[1].items() if name != "y"})
                assert [name for name, _ in received] == expected


def expected_names(model: Model, event: dict[str, Any]) -> list[Any]:
    """Whom the event reaches, a meddling receiver stopping the oldest entry on the way."""
    names: list[Any] = []
    living = list(model.entries)
    fresh: list[dict[str, Any]] = []
    for entry in model.matching(event):
        times = 2 if model.conditions[entry["statement"]] == "e.k in (a.k, 2)" and entry["values"]["k"] == 2 else 1
        for _ in range(times):
            if any(entry is each for each in living):
                names.append(entry["receiver"].name)
                if entry["receiver"].then is not None:
                    if living:
                        living.pop(0)
                    else:
                        fresh.pop(0)
                    fresh.append(entry)
    return names


# ------------------------------------------------------------------ ranges, many of them


@pytest.mark.parametrize("fanout", [2, 32])
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_the_tree_of_ranges_finds_what_a_scan_finds(fanout: int, data: st.DataObject) -> None:
    includes = data.draw(st.tuples(st.booleans(), st.booleans()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_tables, "FANOUT", fanout)
        tree = TwoEndedRanges(include_low=includes[0], include_high=includes[1])
        items: list[tuple[tuple[int, int], int]] = []
        ends = st.tuples(st.integers(0, 30), st.integers(0, 30))
        for number, (grow, pair) in enumerate(data.draw(st.lists(st.tuples(st.booleans() | st.just(True), ends), max_size=150))):
            low, high = sorted(pair)
            if grow or not items:
                items.append(((low, high), number))
                tree.enter((low, high), number)
            else:
                tree.leave(*items.pop(low % len(items)))
        for value in range(-1, 32):
            expected = [
                number for (low, high), number in sorted(items)
                if (low <= value if includes[0] else low < value) and (value <= high if includes[1] else value < high)]
            assert (tree.find(value) or []) == expected
        while items:
            tree.leave(*items.pop())
        assert not tree and tree.find(5) is None


class Counted(float):
    """A boundary that counts how often it is compared."""

    comparisons = 0

    def _compared(name: str) -> Any:  # type: ignore[misc]
        def compare(self: float, other: Any) -> Any:
            Counted.comparisons += 1
            return getattr(float, name)(self, other)

        return compare

    __lt__, __le__, __gt__, __ge__ = _compared("__lt__"), _compared("__le__"), _compared("__gt__"), _compared("__ge__")


def counted() -> int:
    found, Counted.comparisons = Counted.comparisons, 0
    return found


@pytest.mark.parametrize("ranges, ends", [
    (lambda: OneEndedRanges(above=True, inclusive=False), lambda n: Counted(n)),
    (lambda: OneEndedRanges(above=False, inclusive=True), lambda n: Counted(n)),
    (lambda: TwoEndedRanges(include_low=True, include_high=True), lambda n: (Counted(n), Counted(n + 0.5))),
], ids=["above", "below", "between"])
def test_a_change_and_a_look_up_compare_few_boundaries(ranges: Callable[[], Any], ends: Callable[[int], Any]) -> None:
    for size in (10, 1_000, 100_000):
        table, few = ranges(), 20 * math.log2(size) + 64
        for n in range(size):
            table.enter(ends(n * 7919 % size), n)  # 7919 is prime to the sizes: all of them, mixed
        counted()
        for n in range(0, size, max(1, size // 100)):
            table.leave(ends(n * 7919 % size), n)
            assert counted() <= few
            table.enter(ends(n * 7919 % size), n)
            assert counted() <= few
            place = n * 7919 % size
            found = table.find(place + 0.25) if isinstance(table, TwoEndedRanges) else table.find(0.5 if table._above else size - 1.5)
            assert len(found) <= 2 and counted() <= few


# ------------------------------------------------------------------ what a change costs


class CountedTest:
    """A prepared filter's test that counts its calls."""

    def __init__(self, wanted: PreparedFilter) -> None:
        self.calls = 0
        self._test = wanted.test
        wanted.test = self

    def __call__(self, *arguments: Any) -> bool:
        self.calls += 1
        return self._test is None or self._test(*arguments)


@pytest.mark.parametrize("condition", [
    "e.k = a.k", "e.s = a.s and e.k = a.k and e.n != a.n", "e.k = a.k and e.x > a.x", "e.k in (a.k, -1)"])
def test_changing_100_000_filters_while_events_flow_generates_nothing(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with runtime_with_types() as rt:
        wanted = prepared(rt, condition)
        tests, generated, received = CountedTest(wanted), Generated(monkeypatch), []  # type: ignore[var-annotated]
        rt.send("Reading", {"k": 0})
        assert generated.functions == ["Reading"]
        receiver, live = Receiver("all", received), []
        changes = 100_000 if condition == "e.k = a.k" else 10_000
        for n in range(changes // 2):
            live.append(wanted.activate(wanted.values_of(start_event_of(n)), receiver))
        for n in range(changes // 2):
            live[n].deactivate()
            if n % 50 == 0:
                rt.send("Reading", {"s": "x", "k": n, "n": 1, "x": 1.0})  # just gone
                rt.send("Reading", {"s": "x", "k": n + 1, "n": 1, "x": 1.0})
        assert len(received) == changes // 2 // 50 and tests.calls == len(received), "each event asks the entry that it is for"
        activate(rt, wanted, receiver, s="x", k=0, n=7, x=0.0)  # empty, and filled again
        rt.send("Reading", {"s": "x", "k": 0, "n": 1, "x": 1.0})
        assert len(received) == changes // 2 // 50 + 1 and generated.functions == ["Reading"]


def start_event_of(k: int) -> Any:
    return Start("x", k, 0, 0.0)


@attrs.frozen
class Start:
    """What ``values_of`` reads of an event."""

    f_s: str
    f_k: int
    f_n: int
    f_x: float


def test_only_what_reads_a_changed_type_is_generated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with runtime_with_types() as rt:
        rt.deploy("select * from Other")
        generated = Generated(monkeypatch)

        def send_all() -> list[str]:
            generated.functions.clear()
            for event_type in ("Reading", "SubReading", "Other"):
                rt.send(event_type, {"k": 1})
            return generated.functions

        assert send_all() == ["Reading", "SubReading", "Other"] and send_all() == []
        deployment = rt.deploy("select * from SubReading where k > 2")
        assert send_all() == ["SubReading"]
        keyed = rt.deploy("select * from Reading(k = 1)")
        assert send_all() == ["Reading", "SubReading"]
        rt.deploy("select * from Reading(k = 2)")
        assert send_all() == [], "one more key of a table that there is"
        keyed.undeploy()
        assert send_all() == []
        deployment.undeploy()
        assert send_all() == ["SubReading"]
        wanted = prepared(rt, "e.k = a.k", event_type="SubReading")
        assert send_all() == ["SubReading"]
        prepared(rt, "e.k = a.k and e.x = 2", number=4, event_type="SubReading").close()
        assert send_all() == ["SubReading"]
        wanted.close()
        assert send_all() == ["SubReading"]


def test_filters_that_look_up_the_same_share_a_table() -> None:
    with runtime_with_types() as rt:
        first = [prepared(rt, condition, number=n) for n, condition in enumerate(("e.s = a.s and e.k = a.k", "a.k = e.k and e.s = a.s"))]
        other = prepared(rt, "e.x in [a.x:a.y)"), prepared(rt, "e.x in [a.y:a.x)"), prepared(rt, "e.x in [a.x:a.y]")
        index, = internal_engine(rt).core.filters.indexes(rt.event_type("Reading"))
        assert len(index.active) == 3
        for each in (*first, *other):
            each.close()
        assert not internal_engine(rt).core.filters.indexes(rt.event_type("Reading"))


@pytest.fixture(autouse=True)
def no_count_is_left() -> Iterator[None]:
    yield
    counted()
