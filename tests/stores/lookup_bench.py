"""What the tests of look-ups share: two event types, conditions from EPL text, and rows found in two ways."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epl.analysis.expressions.bind import bind
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.lookups.planner import conjuncts, plan_lookup
from epl.catalog import Catalog
from epl.event_types import EventType, Property
from epl.functions.registry import FunctionRegistry
from epl.parse import parse_expression
from epl.plan.expressions import TypedExpression
from epl.plan.join.lookups import LookupPlan
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    CHAR,
    DOUBLE,
    INT,
    LOCAL_DATE,
    LONG,
    OBJECT,
    STRING,
    ArrayType,
    ValueType,
)
from runtime.expressions import Environment, compile_predicate
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import compile_lookup
from windows.event import Event, event_class

COLUMNS: dict[str, ValueType] = {
    "k": STRING, "i": INT, "bi": BOXED_INT, "l": LONG, "bl": BOXED_LONG, "f": BOXED_FLOAT, "d": DOUBLE, "bd": BOXED_DOUBLE,
    "big": BIG_INTEGER, "dec": BIG_DECIMAL, "flag": BOOLEAN, "bflag": BOXED_BOOLEAN, "ch": CHAR, "day": LOCAL_DATE, "o": OBJECT,
    "ints": ArrayType(BOXED_INT),
}
TYPES = [EventType(name, "map", {n: Property(n, t) for n, t in COLUMNS.items()}) for name in ("A", "B", "C")]
ALIASES = ("a", "b", "c")


class Clock:
    now = 0


ENVIRONMENT = Environment(functions=FunctionRegistry(), clock=Clock())


def bound(text: str) -> tuple[TypedExpression, ...]:
    """The conjuncts of a where clause over streams a, b and c."""
    catalog = Catalog(event_types={t.name: t for t in TYPES}, functions=ENVIRONMENT.functions, window_configs={})
    streams = tuple(ScopeStream(alias=alias, event_type=t, has_window=True) for alias, t in zip(ALIASES, TYPES))
    return conjuncts(bind(parse_expression(text), Scope(catalog=catalog, streams=streams, clause="where-clause")))


def planned(text: str, sought: int = 1, known: Sequence[int] = (0,)) -> LookupPlan:
    return plan_lookup(bound(text), sought, known)


DEFAULTS: dict[str, Any] = {"i": 0, "l": 0, "d": 0.0, "flag": False, "ch": "x"}


def event(number: int, **values: Any) -> Event:
    """An event of stream ``number``; primitives without a value are zero."""
    return event_class(TYPES[number])(*[values.get(name, DEFAULTS.get(name)) for name in COLUMNS])


class Lookup:
    """Rows of stream b, sought for events of stream a."""

    def __init__(self, text: str) -> None:
        self.plan = planned(text)
        self.rows = IndexedRows()
        self.look_up = compile_lookup(self.plan, self.rows, ENVIRONMENT, 3)
        self._tests = [compile_predicate(condition, ENVIRONMENT, 3) for condition in self.plan.applied]

    def found(self, known: Event) -> list[Event]:
        return list(self.look_up((known, None, None)))

    def scanned(self, known: Event) -> list[Event]:
        """The rows that satisfy each condition, in order of arrival."""
        return [row for row in self.rows if all(test(known, row, None) for test in self._tests)]
