"""One runtime with all rows beside several with a share each; all of them are notified of all of the time."""
from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from epl.analysis.partitioning import AnySplit, Path, SplitBy, Whole, analyse_partitioning
from epl.plan.statements import ModulePlan
from runtime import Runtime
from runtime.api.statement import Statement
from tests.partitioning.catalogue import SCHEMA

END = 200
"""When time ends: behind all timers of all rows."""

Row = tuple[str, int, float, int, int, int, int]
"""k, g, x, n, ts (beside the clock), the time since the row before, which type."""

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", None]), st.integers(1, 2), st.sampled_from([0.0, 1.0, 2.0, -1.0, None]), st.integers(0, 3),
        st.integers(-6, 6), st.sampled_from([0, 0, 1, 1, 2, 5]), st.integers(0, 2),
    ),
    max_size=20,
)

Heard = Counter[tuple[int, str, str, str]]
"""How often each row came: engine time, statement, stream, row."""


@cache
def compiled(text: str) -> ModulePlan:
    return Runtime().compile(SCHEMA + text)


@cache
def verdict_of(text: str) -> SplitBy | AnySplit | Whole:
    """Of the last statement."""
    plan = compiled(text)
    return analyse_partitioning(plan.statements, plan.statements[-1])


class Engine:
    """A runtime with the module, which notes what its statements emit."""

    def __init__(self, plan: ModulePlan, statements: Iterable[str], heard: Heard) -> None:
        self.runtime = Runtime(tier="row")
        self.heard = heard
        deployment = self.runtime.deploy(plan)
        for statement in deployment:
            if statement.name in statements and statement.plan.body.output_type is not None:
                statement.add_listener(self._hear)

    def _hear(self, new: Any, old: Any, statement: Statement, runtime: Runtime) -> None:
        for stream, rows in (("new", new), ("old", old)):
            for row in rows:
                self.heard[runtime.now, statement.name, stream, repr(row.to_dict())] += 1


def events(rows: Iterable[Row], types: tuple[str, ...]) -> Iterable[tuple[int, str, dict[str, Any]]]:
    """(time, type, event)."""
    now = 0
    for number, (k, g, x, n, ts, step, which) in enumerate(rows):
        now += step
        name = types[which % len(types)]
        yield now, name, {
            "T": {"k": k, "g": g, "x": x, "n": n, "ts": now + ts},
            "U": {"u": k, "g": g, "y": x},
            "V": {"place": {"city": k, "zone": g}, "v": n},
            "Base": {"k": k, "b": number},
            "Sub": {"k": k, "b": number, "c": n},
            "Basket": {"owner": k, "items": [{"id": str(i), "q": n + i} for i in range(n)]},
        }[name]


def value_at(event: dict[str, Any], path: Path) -> Any:
    value: Any = event
    for name in path:
        value = value[name]
    return value


def by_key(verdict: SplitBy, engines: int, salt: int) -> Callable[[str, dict[str, Any]], int]:
    """Where rows go, by the properties that the verdict names."""

    def place(name: str, event: dict[str, Any]) -> int:
        paths = verdict.keys["Base" if name == "Sub" else name]
        return zlib.crc32(repr((salt, [value_at(event, p) for p in paths])).encode()) % engines

    return place


Place = Callable[[str, dict[str, Any]], int]
"""Which engine an event of a type goes to."""


def run(
    text: str, statements: Iterable[str], sent: list[tuple[int, str, dict[str, Any]]], engines: int, place: Place
) -> tuple[Heard, Heard]:
    """What one engine emits, and what several do."""
    return run_plan(compiled(text), statements, sent, engines, place)


def run_plan(
    plan: ModulePlan, statements: Iterable[str], sent: list[tuple[int, str, dict[str, Any]]], engines: int, place: Place
) -> tuple[Heard, Heard]:
    """See ``run``."""
    names = frozenset(statements)
    whole, split = Heard(), Heard()
    one = Engine(plan, names, whole)
    shards = [Engine(plan, names, split) for _ in range(engines)]
    for now, name, event in sent:
        for engine in (one, *shards):
            engine.runtime.advance_time_span(now)
        one.runtime.send(name, event)
        shards[place(name, event)].runtime.send(name, event)
    for engine in (one, *shards):
        engine.runtime.advance_time_span(END)
    return whole, split


def by_first_property(name: str, event: dict[str, Any]) -> int:
    """Where a row would go that is split by ``k`` all the same (three engines)."""
    return zlib.crc32(repr(next(iter(event.values()))).encode()) % 3


def random_rows(seed: int) -> list[Row]:
    """Rows without nulls."""
    random = Random(seed)
    return [
        (
            random.choice("abcd"), random.randint(1, 2), random.choice([0.0, 1.0, 2.0, -1.0]), random.randint(0, 3), random.randint(-6, 6),
            random.choice([0, 0, 1, 1, 2, 5]), random.randint(0, 2),
        )
        for _ in range(12)
    ]
