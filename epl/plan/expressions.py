"""Typed expressions: what analysis makes of syntax, with every Java rule explicit. Back ends print them and decide nothing.

Conversions are nodes (``Convert``), operand types are equal where an operation needs them equal, null rules are those of each node's
docstring. Every value but those of primitive type may be null (None).
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from typing import Literal as Choice

import attrs

from epl.event_types import EventOf, EventType
from epl.value_types import ArrayType, ValueType


@attrs.frozen(kw_only=True)
class TypedExpression:
    """``type`` is the static type of the value."""

    type: ValueType

    def children(self) -> Iterator[TypedExpression]:
        """Yield the operands, in order of evaluation."""
        kind: Any = type(self)
        for name in _names(kind):
            value = getattr(self, name)
            if isinstance(value, TypedExpression):
                yield value
            elif isinstance(value, tuple):
                yield from _inner_expressions(value)

    def walk(self) -> Iterator[TypedExpression]:
        """Yield this node and all below it, depth first."""
        pending: list[TypedExpression] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed([*node.children()]))

    @property
    def streams(self) -> frozenset[int]:
        """Numbers of the streams whose events are read anywhere below."""
        return frozenset(n.stream for n in self.walk() if isinstance(n, (StreamProperty, StreamEvent, StreamEvents, Previous, Prior)))


@lru_cache(maxsize=1024)
def _names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields that may hold operands."""
    return tuple(field.name for field in attrs.fields(kind) if field.name != "type")


def _inner_expressions(value: object) -> Iterator[TypedExpression]:
    if isinstance(value, TypedExpression):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _inner_expressions(item)


# ------------------------------------------------------------------ leaves


@attrs.frozen(kw_only=True)
class Constant(TypedExpression):
    """``written``: the type before an operator widened it, None where none did."""

    value: Any
    written: ValueType | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class Parameter(TypedExpression):
    """A substitution parameter, by name or position (from 1); a value is bound at deploy."""

    key: str | int


@attrs.frozen(kw_only=True)
class StreamProperty(TypedExpression):
    """A declared top-level property of one stream's event. Null where the stream has no event (outer join, match variable: ``optional``).
    ``computed``: as of the property.
    """

    stream: int
    name: str
    optional: bool = False
    computed: Any = None


@attrs.frozen(kw_only=True)
class StreamEvent(TypedExpression):
    """A stream's event itself; ``type`` is EventOf."""

    stream: int


@attrs.frozen(kw_only=True)
class StreamEvents(TypedExpression):
    """All events of a group variable (match_recognize, pattern repetition), in order; ``type`` is ArrayType(EventOf)."""

    stream: int


@attrs.frozen(kw_only=True)
class PropertyOf(TypedExpression):
    """A declared property of an event-typed value; null of null."""

    operand: TypedExpression
    name: str


@attrs.frozen(kw_only=True)
class DynamicProperty(TypedExpression):
    """``x?``: a property that the event's own type or its undeclared values may have; null where it has none. Type Object.

    ``index`` / ``key``: ``x[1]?``, ``x('k')?``.
    """

    operand: TypedExpression
    name: str
    index: int | None = None
    key: str | None = None


@attrs.frozen(kw_only=True)
class DynamicExists(TypedExpression):
    """``exists(a.x?)``."""

    operand: TypedExpression
    name: str
    index: int | None = None
    key: str | None = None


@attrs.frozen(kw_only=True)
class Element(TypedExpression):
    """``array[index]``: null of null, null beyond the end."""

    operand: TypedExpression
    index: TypedExpression


@attrs.frozen(kw_only=True)
class Single(TypedExpression):
    """The operand as a list of one, for enumeration methods; null of null."""

    operand: TypedExpression


@attrs.frozen(kw_only=True)
class MapValue(TypedExpression):
    """``mapped('key')``: null of null, null without the key."""

    operand: TypedExpression
    key: TypedExpression


@attrs.frozen(kw_only=True)
class VariableValue(TypedExpression):
    """The current value of a variable."""

    name: str


@attrs.frozen(kw_only=True)
class ContextValue(TypedExpression):
    """``context.name``, ``context.key1``, ``context.a.x``: a property of the context partition; ``path`` as written after ``context.``."""

    path: tuple[str, ...]


@attrs.frozen(kw_only=True)
class CurrentTime(TypedExpression):
    """Engine time, type long."""


@attrs.frozen(kw_only=True)
class Local(TypedExpression):
    """A lambda's parameter, or a value that a clause brings under a name of its own. ``number`` says which one it is: no other that may be
    read at the same place has it. ``name``: as written.
    """

    number: int
    name: str


@attrs.frozen(kw_only=True)
class IsInsertStream(TypedExpression):
    """``istream()``: whether the row is in the insert stream."""


# ------------------------------------------------------------------ numbers, text, logic


@attrs.frozen(kw_only=True)
class Convert(TypedExpression):
    """Numeric widening (or boxing) to ``type``; null of null."""

    operand: TypedExpression


@attrs.frozen(kw_only=True)
class Arithmetic(TypedExpression):
    """Both operands have the kind of ``type``; integers wrap; null if either is null.

    ``/``: on double unless integer division is configured; by zero Infinity / NaN, or null if ``zero_division_null``; an integer division
    by zero gives null. ``math_context``: precision and rounding of BigDecimal division.
    """

    operator: Choice["+", "-", "*", "/", "%"]
    left: TypedExpression
    right: TypedExpression
    zero_division_null: bool = False
    math_context: tuple[int, str] | None = None


@attrs.frozen(kw_only=True)
class Bitwise(TypedExpression):
    """On booleans or integers of one type; null if either is null."""

    operator: Choice["&", "|", "^"]
    left: TypedExpression
    right: TypedExpression


@attrs.frozen(kw_only=True)
class Concatenation(TypedExpression):
    """Null if any part is null; parts are turned into text as Java does."""

    parts: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class Negation(TypedExpression):
    """``-x``; null of null."""

    operand: TypedExpression


@attrs.frozen(kw_only=True)
class Not(TypedExpression):
    operand: TypedExpression


@attrs.frozen(kw_only=True)
class Logic(TypedExpression):
    """Three-valued and / or; stops at the first operand that decides."""

    operator: Choice["and", "or"]
    operands: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class Equality(TypedExpression):
    """``=`` / ``!=``: null if either is null. ``null_safe`` (``is`` / ``is not``): never null. Arrays compare by elements where Esper's do
    (``arrays``).
    """

    left: TypedExpression
    right: TypedExpression
    negated: bool = False
    null_safe: bool = False
    arrays: bool = False


@attrs.frozen(kw_only=True)
class Order(TypedExpression):
    """``< <= > >=`` on operands of one type; null if either is null."""

    operator: Choice["<", "<=", ">", ">="]
    left: TypedExpression
    right: TypedExpression


@attrs.frozen(kw_only=True)
class Range(TypedExpression):
    """between and in-ranges. ``swap``: between accepts its ends in either order. False if any operand is null; true if it is negated and
    only an end is null.
    """

    value: TypedExpression
    low: TypedExpression
    high: TypedExpression
    include_low: bool = True
    include_high: bool = True
    swap: bool = False
    negated: bool = False


@attrs.frozen(kw_only=True)
class Membership(TypedExpression):
    """``in``: items are values of the operand's type, or (``spread`` at that place) collections, arrays and maps whose elements / keys
    count.

    ``sought``: the operand's type as written: numbers of another type in a collection or map are never equal to it.
    """

    value: TypedExpression
    items: tuple[TypedExpression, ...]
    spread: tuple[bool, ...]
    sought: ValueType
    negated: bool = False


@attrs.frozen(kw_only=True)
class Quantified(TypedExpression):
    """``value op any|all (items)``; ``spread`` as for Membership."""

    operator: str
    quantifier: Choice["any", "all"]
    value: TypedExpression
    items: tuple[TypedExpression, ...]
    spread: tuple[bool, ...]


@attrs.frozen(kw_only=True)
class LikeMatch(TypedExpression):
    """Null if value or pattern is null. Numbers are matched by their text."""

    value: TypedExpression
    pattern: TypedExpression
    escape: TypedExpression | None = None
    negated: bool = False


@attrs.frozen(kw_only=True)
class RegexpMatch(TypedExpression):
    """The whole text must match."""

    value: TypedExpression
    pattern: TypedExpression
    negated: bool = False


@attrs.frozen(kw_only=True)
class Conditional(TypedExpression):
    """case: the value of the first pair whose condition is true, else ``otherwise`` (null if None). The operand form is bound to equalities
    (null-safe).
    """

    pairs: tuple[tuple[TypedExpression, TypedExpression], ...]
    otherwise: TypedExpression | None = None


@attrs.frozen(kw_only=True)
class Coalesce(TypedExpression):
    operands: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class Extreme(TypedExpression):
    """``min(a, b, …)`` / ``max(a, b, …)`` of one row; operands have one number type; null if any is null."""

    function: Choice["min", "max"]
    operands: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class SameEvent(TypedExpression):
    """event_identity_equals: whether both are the same event; null if either is null."""

    left: TypedExpression
    right: TypedExpression


# ------------------------------------------------------------------ types, construction, calls


@attrs.frozen(kw_only=True)
class Cast(TypedExpression):
    """``cast(x, type)`` to a number, boolean, char or text: null of null and of values that Esper does not cast; text is parsed or is an
    error.
    """

    operand: TypedExpression


@attrs.frozen(kw_only=True)
class TypeTest(TypedExpression):
    """instanceof: whether the value (or event) is of one of the types."""

    operand: TypedExpression
    targets: tuple[ValueType, ...]


@attrs.frozen(kw_only=True)
class TypeNameOf(TypedExpression):
    """typeof: the event type's name or the value's simple class name; null of null."""

    operand: TypedExpression


@attrs.frozen(kw_only=True)
class NewArrayOf(TypedExpression):
    """``{a, b}`` or ``new T[]{…}`` (items)."""

    items: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class ItemsOf(TypedExpression):
    """What an enumeration method reads of ``{a, b}``, the operand: the items that are not null."""

    operand: NewArrayOf


@attrs.frozen(kw_only=True)
class NewArraySized(TypedExpression):
    """``new T[n][m]``: filled with the element type's default."""

    sizes: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class NewStructOf(TypedExpression):
    """``new {a = 1}``: a value of the anonymous event type ``event_type``."""

    event_type: EventType
    values: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class Function(TypedExpression):
    """``parameters => body`` handed to an enumeration method; ``type`` is the body's. ``parameters``: the numbers of its Local nodes."""

    parameters: tuple[int, ...]
    body: TypedExpression


@attrs.frozen(kw_only=True)
class Applied(TypedExpression):
    """The value of a function's body; its ``arguments`` are evaluated once, before it."""

    function: Function
    arguments: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class Invoke(TypedExpression):
    """A call of a Python function of the registry with evaluated arguments.

    ``function`` is the registry's key (module-level data: looked up again by name after a restore); ``bound`` is extra constant data that
    the function's factory asked for at bind (see epl.functions.registry). ``null_propagates``: the call is omitted and null given if an
    argument is null; ``null_receiver``: if the first is null (a method's receiver). ``once``: its first result holds for good.
    """

    function: str
    arguments: tuple[TypedExpression, ...]
    bound: tuple[Any, ...] = ()
    null_propagates: bool = False
    null_receiver: bool = False
    once: bool = False


@attrs.frozen(kw_only=True)
class HashNumber(TypedExpression):
    """The number of a hash partition of a context, from 0 to below ``granularity``: the absolute remainder of ``hash_code`` or
    ``consistent_hash_crc32`` of the arguments, or of the number that a ``function`` of the application gives (the only argument); 0 of
    null, but null where a null number alone is the argument of ``consistent_hash_crc32``.
    """

    function: Choice["hash_code", "consistent_hash_crc32", "number"]
    arguments: tuple[TypedExpression, ...]
    granularity: int


@attrs.frozen(kw_only=True)
class Previous(TypedExpression):
    """prev (``kind`` previous), prevtail, prevcount, prevwindow over a stream's data window; ``value`` is evaluated on the event found.

    ``counted``: what prevcount names, a path or the event ("", as everywhere else). It reads no value of it.
    """

    kind: Choice["previous", "tail", "count", "window"]
    stream: int
    index: TypedExpression | None
    value: TypedExpression | None
    counted: str = ""


@attrs.frozen(kw_only=True)
class Prior(TypedExpression):
    """prior: the event ``index`` before in order of arrival, whatever the window.

    ``newest``: of a named window, as Esper has it: before the newest row, whatever the row; null in the remove stream.
    """

    stream: int
    index: int
    value: TypedExpression
    newest: bool = False


@attrs.frozen(kw_only=True)
class Aggregated(TypedExpression):
    """The value of aggregation number ``slot`` of the statement, for the current group; ``plan`` is its
    epl.plan.result_set.AggregationPlan.
    """

    slot: int
    plan: Any = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class AggregationMethodCall(TypedExpression):
    """A method of an aggregation that keeps events; ``method`` is the Python name in epl.aggregations.methods.

    ``operand``: an aggregation, of the statement or in a table. ``written``: what a Function among the arguments was
    built from. It is not evaluated, but its properties count as selected.
    """

    operand: TypedExpression
    method: str
    arguments: tuple[TypedExpression, ...]
    written: tuple[TypedExpression, ...] = ()


@attrs.frozen(kw_only=True)
class GroupingCall(TypedExpression):
    """``grouping(x)`` / ``grouping_id(x, y)``: ``keys`` are positions in the group-by list."""

    keys: tuple[int, ...]


@attrs.frozen(kw_only=True)
class SubqueryValue(TypedExpression):
    """What a sub-query gives; ``plan`` is its epl.plan.join.subqueries.SubqueryPlan. ``operand``: what ``in``, any and all compare.

    ``outer``: the events of the statement's own streams that the sub-query reads, which are its streams 1, 2, … in this order.
    """

    plan: Any = attrs.field(repr=False)
    operand: TypedExpression | None = None
    outer: tuple[TypedExpression, ...] = ()


@attrs.frozen(kw_only=True)
class TimeSpan(TypedExpression):
    """A time period: months (of the calendar) and parts in engine time units. ``type`` is double seconds when used as a number."""

    parts: tuple[tuple[str, TypedExpression], ...]


def stream_event(stream: int, event_type: EventType) -> StreamEvent:
    return StreamEvent(stream=stream, type=EventOf(event_type))


def stream_events(stream: int, event_type: EventType) -> StreamEvents:
    return StreamEvents(stream=stream, type=ArrayType(EventOf(event_type)))
