"""A select clause alone: deltas in, rows out, without filters, windows and runtime."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from epl.aggregations.functions import AGGREGATIONS
from epl.analysis.clauses import result_set as analysis
from epl.analysis.expressions.scope import ScopeStream
from epl.catalog import Catalog, Variable
from epl.event_types import EventType, Property
from epl.functions.registry import FunctionRegistry
from epl.parse import parse_statement
from epl.syntax import Select
from epl.value_types import BOXED_BOOLEAN, BOXED_DOUBLE, BOXED_INT, BOXED_LONG, STRING
from runtime.expressions import Environment
from runtime.result_set import build
from windows.event import Event, event_class

T = EventType("T", "map", {
    name: Property(name, kind)
    for name, kind in {"k": STRING, "g": BOXED_INT, "v": BOXED_INT, "d": BOXED_DOUBLE, "l": BOXED_LONG, "b": BOXED_BOOLEAN}.items()
})


class Clock:
    now = 0


class Cell:
    def __init__(self, value: Any) -> None:
        self.value = value


class SelectClause:
    """``select`` is the text from ``select`` on; a stream with a view has a remove stream. Deltas come from the test."""

    def __init__(self, select: str, variables: dict[str, Any] | None = None) -> None:
        body = parse_statement(select).body
        assert isinstance(body, Select) and body.from_ is not None
        known = {name: Variable(name, BOXED_INT) for name in variables or {}}
        streams = tuple(ScopeStream(s.alias, T, has_window=bool(s.views)) for s in body.from_.streams)
        windowed = all(bool(s.views) for s in body.from_.streams)
        self.plan = analysis.analyse(
            body, streams, Catalog({"T": T}, FunctionRegistry(), {}, variables=known, aggregations=AGGREGATIONS), output_name="out",
            has_remove_stream=windowed, is_unbound=not windowed,
        )
        self.clock = Clock()
        self.cells = {name: Cell(value) for name, value in (variables or {}).items()}
        self._environment = Environment(clock=self.clock, variables=self.cells)
        self.emitted: list[tuple[Sequence[Event], Sequence[Event]]] = []
        self._make()

    def _make(self) -> None:
        self.result_set = build(self.plan, self._environment)
        self.result_set.child = self

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.emitted.append((new, old))

    @staticmethod
    def event(**values: Any) -> Event:
        return event_class(T)(*[values.get(name) for name in T.names])

    def delta(self, new: Sequence[Any], old: Sequence[Any] = ()) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] | None:
        """The rows emitted as tuples of values; None where the child gets nothing."""
        self.emitted = []
        self.result_set.update(new, old)
        assert len(self.emitted) <= 1
        if not self.emitted:
            return None
        return [e.values() for e in self.emitted[0][0]], [e.values() for e in self.emitted[0][1]]

    def rows(self, contents: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [e.values() for e in self.result_set.iterate(contents)]

    def restart(self) -> None:
        """Go on with a new result set that has the old one's state."""
        state = self.result_set.state()
        self._make()
        self.result_set.restore(state)


@pytest.fixture
def clause() -> Callable[..., SelectClause]:
    """clause("select … from T#length(2) …"): a SelectClause over T(k, g, v, d, l, b)."""
    return SelectClause
