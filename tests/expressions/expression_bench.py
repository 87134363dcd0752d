"""What the tests of expressions share: event types, a scope over them, and the way from syntax to a value."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from epl.analysis.expressions.bind import bind
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog, Variable
from epl.event_types import EventOf, EventType, Property
from epl.functions.registry import FunctionRegistry
from epl.plan.expressions import TypedExpression
from epl.settings import Settings
from epl.syntax import expressions as syntax
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_INT,
    BOXED_LONG,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    OBJECT,
    STRING,
    ArrayType,
    CollectionType,
    MapType,
    ValueType,
)
from runtime.expressions import Environment, compile_expression, compile_predicate
from windows.event import Event, event_class


def make_type(name: str, **columns: ValueType) -> EventType:
    return EventType(name=name, kind="map", properties={n: Property(n, t) for n, t in columns.items()})


INNER = make_type("Inner", id=STRING, n=BOXED_INT)
TICK = attrs.evolve(make_type(
    "Tick", symbol=STRING, price=BOXED_DOUBLE, volume=BOXED_LONG, i=INT, j=INT, bi=BOXED_INT, l=LONG, m=LONG, bl=BOXED_LONG,
    f=FLOAT, d=DOUBLE, e=DOUBLE,
    bd=BOXED_DOUBLE, flag=BOOLEAN, bflag=BOXED_BOOLEAN, c=CHAR, big=BIG_INTEGER, dec=BIG_DECIMAL, dec2=BIG_DECIMAL, part=EventOf(INNER),
    parts=ArrayType(EventOf(INNER)), ints=ArrayType(BOXED_INT), words=CollectionType(STRING, "List"),
    dict=MapType(STRING, OBJECT), obj=OBJECT,
), open=True)

DEFAULTS: dict[str, Any] = {"i": 0, "j": 0, "l": 0, "m": 0, "f": 0.0, "d": 0.0, "e": 0.0, "flag": False, "c": "x"}


def tick(**values: Any) -> Event:
    """A Tick event; primitives without a value are zero."""
    known = {**DEFAULTS, **values}
    event = event_class(TICK)(*[known.get(n) for n in TICK.names])
    event.extra = {k: v for k, v in values.items() if k not in TICK.properties}
    return event


def inner(**values: Any) -> Event:
    return event_class(INNER)(*[values.get(n) for n in INNER.names])


def name(*parts: str) -> syntax.Chain:
    """``a.b.c``."""
    return syntax.Chain(links=tuple(syntax.Name(name=p) for p in parts))


def literal(value: Any) -> syntax.Literal:
    kind = {bool: "boolean", int: "int", float: "double", str: "string", type(None): "null"}[type(value)]
    if kind == "int" and not -(2**31) <= value < 2**31:
        kind = "long"
    return syntax.Literal(value=value, kind=kind)  # type: ignore[arg-type]


def as_syntax(value: Any) -> syntax.Expression:
    """Strings that are names stay names: ``"i"`` is the property i; other values are literals; text is written ``("text",)``."""
    if isinstance(value, syntax.Expression):
        return value
    if isinstance(value, str):
        return name(*value.split("."))
    return literal(value[0] if isinstance(value, tuple) else value)


def binary(left: Any, operator: str, right: Any) -> syntax.Expression:
    a, b = as_syntax(left), as_syntax(right)
    if operator in ("=", "!=", "<", "<=", ">", ">=", "is", "is not"):
        return syntax.Comparison(operator=operator, left=a, right=b)  # type: ignore[arg-type]
    if operator in ("and", "or"):
        return syntax.Logical(operator=operator, operands=(a, b))  # type: ignore[arg-type]
    return syntax.Binary(operator=operator, left=a, right=b)  # type: ignore[arg-type]


def call(function: str, *arguments: Any) -> syntax.Chain:
    return syntax.Chain(links=(syntax.Call(name=function, arguments=tuple(as_syntax(a) for a in arguments)),))


class Cell:
    def __init__(self, value: Any) -> None:
        self.value = value


class FixedClock:
    now = 1000


class Bench:
    """Binds and runs expressions over one Tick stream named ``t``."""

    def __init__(self, functions: FunctionRegistry | None = None, settings: Settings | None = None, **variables: Any) -> None:
        self.functions = functions or FunctionRegistry()
        declared = {n: Variable(n, BOXED_INT) for n in variables}
        self.catalog = Catalog(
            event_types={"Tick": TICK, "Inner": INNER}, functions=self.functions, window_configs={},
            variables=declared, settings=settings or Settings())
        self.scope = Scope(catalog=self.catalog, streams=(ScopeStream(alias="t", event_type=TICK, has_window=True),))
        self.environment = Environment(
            functions=self.functions, variables={n: Cell(v) for n, v in variables.items()}, clock=FixedClock(),
            settings=self.catalog.settings)

    def bind(self, expression: syntax.Expression) -> TypedExpression:
        return bind(expression, self.scope)

    def function(self, expression: syntax.Expression) -> Callable[..., Any]:
        return compile_expression(self.bind(expression), self.environment, 1)

    def run(self, expression: Any, **values: Any) -> Any:
        """The value over one event; the test form must agree."""
        typed = self.bind(as_syntax(expression))
        result = compile_expression(typed, self.environment, 1)(tick(**values))
        if str(typed.type).lower() == "boolean":
            assert compile_predicate(typed, self.environment, 1)(tick(**values)) is (result is True), (expression, result)
        return result

    def type(self, expression: Any) -> str:
        return str(self.bind(as_syntax(expression)).type)
