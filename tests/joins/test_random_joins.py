"""Random joins over random events equal nested loops over the full history: insert and remove stream and iterator, also across restores.

The oracle recomputes what each stream's window holds from all events so far. An inner join's rows are the combinations that meet its
conditions; an outer join's rows are those that are found, from the events that enter or leave, along its on clauses, as Esper finds them
(docs/design/joins.md). Only the order of rows is left open: tests/drawn and tests/cases/joins have it as recorded.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime import Runtime

Event = dict[str, Any]
Held = list[tuple[int, Event]]
"""What a stream has taken so far, or what its window holds: the times and the events."""
JoinedRow = tuple[Any, ...]
"""Names of the events of a row; None for an event that is not there."""

SCHEMAS = "".join(f"create schema {name}(id string, k integer, v integer);\n" for name in "AB")


def unique(held: Held, now: int) -> Held:
    newest = {event["k"]: number for number, (_, event) in enumerate(held)}
    return [each for number, each in enumerate(held) if newest[each[1]["k"]] == number]


def batch(held: Held, now: int) -> Held:
    released = len(held) // 2 * 2
    return held[max(0, released - 2) : released]


WINDOWS: dict[str, Callable[[Held, int], Held]] = {
    "#keepall": lambda held, now: held,
    "#length(2)": lambda held, now: held[-2:],
    "#lastevent": lambda held, now: held[-1:],
    "#firstlength(2)": lambda held, now: held[:2],
    "#unique(k)": unique,
    "#time(2 sec)": lambda held, now: [(at, event) for at, event in held if at + 2000 > now],
    "#length_batch(2)": batch,
    "(v > 0)#keepall": lambda held, now: [each for each in held if each[1]["v"] is not None and each[1]["v"] > 0],
}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one == other, "<=": lambda one, other: one <= other, ">": lambda one, other: one > other,
    "!=": lambda one, other: one != other, "is": lambda one, other: one is other or one == other,
}  # fmt: skip
KINDS = ("left outer", "right outer", "full outer", "inner")


@attrs.frozen
class Condition:
    """``operator`` between properties of two streams."""

    streams: tuple[int, int]
    operator: str
    properties: tuple[str, str]

    @property
    def text(self) -> str:
        (one, other), (left, right) = self.streams, self.properties
        return f"s{one}.{left} {self.operator} s{other}.{right}"

    def holds(self, row: list[Event]) -> bool:
        left, right = (row[stream][name] for stream, name in zip(self.streams, self.properties))
        return (self.operator == "is" or None not in (left, right)) and OPERATORS[self.operator](left, right)


@attrs.frozen
class Program:
    """``kinds`` and ``on`` are of the streams but the first, empty for a comma join; ``where`` only then."""

    types: str
    windows: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    on: tuple[tuple[int, str], ...] = ()
    where: tuple[Condition, ...] = ()

    @property
    def text(self) -> str:
        streams = [f"{name}{window} as s{n}" for n, (name, window) in enumerate(zip(self.types, self.windows))]
        joined = ", ".join(streams)
        if self.kinds:
            parts = zip(self.kinds, streams[1:], self.on)
            clauses = [f"{kind} join {stream} on s{i}.{p} = s{n}.{p}" for n, (kind, stream, (i, p)) in enumerate(parts, 1)]
            joined = " ".join([streams[0], *clauses])
        where = f" where {' and '.join(c.text for c in self.where)}" if self.where else ""
        columns = ", ".join(f"s{n}.id as c{n}" for n in range(len(streams)))
        return f"{SCHEMAS}@name('s') select irstream {columns} from {joined}{where}"


# ------------------------------------------------------------------ the oracle


class Oracle:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.taken: list[Held] = [[] for _ in program.types]
        self.now = 0

    def windows(self) -> list[list[Event]]:
        return [[event for _, event in WINDOWS[w](taken, self.now)] for w, taken in zip(self.program.windows, self.taken)]

    def delta(self, change: Callable[[], None]) -> tuple[Counter[JoinedRow], Counter[JoinedRow]]:
        """The rows that a step emits, by how often."""
        before = self.windows()
        change()
        after = self.windows()
        return self._rows(after, before), self._rows(before, after)

    def send(self, event_type: str, event: Event) -> tuple[Counter[JoinedRow], Counter[JoinedRow]]:
        def take() -> None:
            for name, taken in zip(self.program.types, self.taken):
                if name == event_type:
                    taken.append((self.now, event))

        return self.delta(take)

    def advance(self, now: int) -> tuple[Counter[JoinedRow], Counter[JoinedRow]]:
        return self.delta(lambda: setattr(self, "now", now))

    def contents(self) -> Counter[JoinedRow]:
        return self._rows(self.windows(), [[] for _ in self.program.types])

    def _rows(self, windows: list[list[Event]], others: list[list[Event]]) -> Counter[JoinedRow]:
        """The rows over the windows that have an event which the other windows do not hold."""
        drives = [(n, e) for n, (mine, theirs) in enumerate(zip(windows, others)) for e in mine if not any(e is each for each in theirs)]
        find = self._outer if any(kind != "inner" for kind in self.program.kinds) else self._inner
        return Counter({tuple(None if e is None else e["id"] for e in row) for n, event in drives for row in find(n, event, windows)})

    def _inner(self, stream: int, event: Event, windows: list[list[Event]]) -> Iterator[list[Any]]:
        on = [Condition((i, n), "=", (p, p)) for n, (i, p) in enumerate(self.program.on, 1)]
        for row in product(*(window if n != stream else [event] for n, window in enumerate(windows))):
            if all(condition.holds(list(row)) for condition in (*self.program.where, *on)):
                yield list(row)

    def _outer(self, stream: int, event: Event, windows: list[list[Event]]) -> Iterator[list[Any]]:
        required = {n for joined, (kind, (i, _)) in enumerate(zip(self.program.kinds, self.program.on), 1) if kind == "inner"
                    for n in (joined, i)}  # fmt: skip
        for row in self._from(stream, event, None, windows):
            if required <= row.keys():
                yield [row.get(n) for n in range(len(windows))]

    def _from(self, stream: int, event: Event, came_from: int | None, windows: list[list[Event]]) -> list[dict[int, Event]]:
        """What a stream's event is continued by; nothing where an event is missing that it needs. Null equals null."""
        rows = [{stream: event}]
        for joined, (kind, (earlier, name)) in enumerate(zip(self.program.kinds, self.program.on), 1):
            if stream not in (joined, earlier) or came_from in (joined, earlier):
                continue
            other = joined if stream == earlier else earlier
            optional = kind in (("left outer", "full outer") if other == joined else ("right outer", "full outer"))
            parts = [part for e in windows[other] if e[name] == event[name] for part in self._from(other, e, stream, windows)]
            if not parts and not optional:
                return []
            rows = [{**row, **part} for row in rows for part in parts or [{}]]
        return rows


# ------------------------------------------------------------------ drawing


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.sampled_from((2, 2, 3, 4)))
    types = "".join(draw(st.sampled_from("AAB")) for _ in range(count))
    windows = tuple(draw(st.sampled_from(sorted(WINDOWS))) for _ in range(count))
    if draw(st.booleans()):
        kinds = tuple(draw(st.sampled_from(KINDS)) for _ in range(count - 1))
        on = tuple((draw(st.integers(0, n - 1)), draw(st.sampled_from("kv"))) for n in range(1, count))
        return Program(types, windows, kinds, on)
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] != pair[1])
    names = st.tuples(st.sampled_from("kv"), st.sampled_from("kv"))
    where = draw(st.lists(st.builds(Condition, pairs, st.sampled_from(sorted(OPERATORS)), names), max_size=3))
    return Program(types, windows, where=tuple(where))


VALUES = st.sampled_from((0, 0, 1, 1, None))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("AB"), VALUES, VALUES), st.tuples(st.just("time"), st.integers(0, 1500), st.none()),
        st.just(("restore", None, None)),
    ),
    min_size=10, max_size=20,
)  # fmt: skip


def emitted(rows: list[Any], count: int) -> Counter[JoinedRow]:
    return Counter(tuple(row[f"c{n}"] for n in range(count)) for row in rows)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(programs(), STEPS)
@example(Program("AB", ("#keepall", "#keepall"), ("left outer",), ((0, "k"),)), [("A", 1, 1), ("restore", None, None), ("B", 1, 1)])
@example(Program("AA", ("#length(2)", "#lastevent")), [("A", 1, 1), ("A", 1, 2), ("A", 1, 3)])
@example(Program("AA", ("#time(2 sec)", "#time(2 sec)")), [("A", 1, 1), ("time", 2000, None)])
def test_joins_equal_nested_loops(program: Program, steps: list[tuple[str, Any, Any]]) -> None:
    check(program, steps)


@settings(max_examples=15, deadline=None)
@given(programs(), STEPS)
def test_some_joins_equal_nested_loops(program: Program, steps: list[tuple[str, Any, Any]]) -> None:
    check(program, steps)


def check(program: Program, steps: list[tuple[str, Any, Any]]) -> None:
    oracle, count = Oracle(program), len(program.types)
    new: list[Any] = []
    old: list[Any] = []

    def listen(inserted: Any, removed: Any, statement: Any, runtime: Any) -> None:
        new.extend(inserted)
        old.extend(removed)

    runtime = Runtime(tier="row")
    runtime.deploy(program.text, listeners={"s": listen})
    for number, (kind, first, second) in enumerate(steps):
        new.clear()
        old.clear()
        if kind == "restore":
            runtime = Runtime.restore(runtime.snapshot())
            statement(runtime).add_listener(listen)
            continue
        if kind == "time":
            expected = oracle.advance(oracle.now + first)
            runtime.advance_time(oracle.now)
        else:
            event = {"id": f"e{number}", "k": first, "v": second}
            expected = oracle.send(kind, event)
            runtime.send(kind, event)
        assert (emitted(new, count), emitted(old, count)) == expected, (program.text, number)
        assert emitted(list(statement(runtime)), count) == oracle.contents(), (program.text, number)


def statement(runtime: Runtime) -> Any:
    return next(each for deployment in runtime.deployments.values() for each in deployment if each.name == "s")
