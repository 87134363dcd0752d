"""A match_recognize clause on its own: parsed, analysed, built over a small stand-in for a statement's context."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.aggregations.functions import AGGREGATIONS
from epl.analysis.expressions.scope import ScopeStream
from epl.analysis.match_recognize import clause as row_recognition
from epl.catalog import Catalog
from epl.event_types import EventType, Property
from epl.functions.library import builtin_functions
from epl.parse import parse_statement
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.settings import Settings
from epl.syntax import Select
from epl.value_types import BOXED_INT, STRING
from runtime import match_recognize
from runtime.clock.periods import add_period
from runtime.clock.schedule import Schedule, ScheduledTimer
from runtime.event_loop.delivery import MatchStates
from runtime.event_loop.loop import Clock
from runtime.expressions import Environment, compile_expression
from windows.event import Event, event_class

ROW = EventType("T", "map", {n: Property(n, t) for n, t in (("id", STRING), ("k", STRING), ("v", BOXED_INT))})


def catalog(settings: Settings | None = None) -> Catalog:
    return Catalog({"T": ROW}, builtin_functions(), {}, aggregations=AGGREGATIONS, settings=settings or Settings())


def plan_of(clause: str, *, has_window: bool = True, iterate_only: bool = False) -> RowRecognitionPlan:
    """The plan of ``match_recognize (clause)`` over T(id string, k string, v int)."""
    statement = parse_statement(f"select * from T match_recognize ({clause})")
    assert isinstance(statement.body, Select) and statement.body.match_recognize is not None
    return row_recognition.analyse(
        statement.body.match_recognize, ScopeStream(None, ROW), catalog(),
        has_window=has_window, iterate_only=iterate_only,
    )


class Context:
    """What the operator asks of its statement."""

    def __init__(self, max_states: int | None = None, prevent_start: bool = True) -> None:
        self.clock = Clock(0)
        self.schedule = Schedule()
        self.environment = Environment(builtin_functions(), clock=self.clock)
        self.match_states = MatchStates(max_states, prevent_start)
        self._timers = 0

    def now(self) -> int:
        return self.clock.now

    def timer(self, callback: Callable[[], None]) -> ScheduledTimer:
        self._timers += 1
        return ScheduledTimer(self.schedule, (0, self._timers), "s0", callback)

    def evaluator(self, expression: TypedExpression) -> Callable[..., Any]:
        return compile_expression(expression, self.environment, 1)

    def constant(self, expression: TypedExpression) -> Any:
        return compile_expression(expression, self.environment, 0)()

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int:
        return add_period(start, period, self.constant, Settings(), times)


class Matching:
    """A running clause; ``calls`` are what its child got."""

    def __init__(self, clause: str, context: Context | None = None, **options: Any) -> None:
        self.plan = plan_of(clause, **options)
        self.context = context or Context()
        self.operator = match_recognize.build(self.plan, self.context)
        self.calls: list[Sequence[Event]] = []
        self.contents: list[Event] = []
        self._connect()

    def _connect(self) -> None:
        self.operator.child = self
        self.operator.parent_contents = lambda: iter(self.contents)

    def rebuild(self, state: Any) -> None:
        """A fresh operator goes on from a state."""
        self.operator.close()
        self.operator = match_recognize.build(self.plan, self.context, state)
        self._connect()

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        assert not old
        self.calls.append(new)

    def send(self, *rows: Event, leaving: Sequence[Event] = ()) -> list[dict[str, Any]]:
        """One delivery; gives the rows of the matches emitted."""
        self.contents = [e for e in self.contents if e not in leaving] + list(rows)
        before = len(self.calls)
        self.operator.update(rows, leaving)
        return [shown(e) for call in self.calls[before:] for e in call]

    def iterate(self) -> list[dict[str, Any]]:
        return [shown(e) for e in self.operator]


def row(name: str, v: int | None = None, k: str = "x") -> Event:
    return event_class(ROW)(name, k, v)


def shown(event: Event) -> dict[str, Any]:
    """A row of measures, with rows of the stream by their id."""
    return {n: _shown(v) for n, v in zip(event.type.names, event.values())}


def _shown(value: Any) -> Any:
    if isinstance(value, Event):
        return value.id if hasattr(value, "id") else value.get("id")
    return [_shown(v) for v in value] if isinstance(value, list) else value
