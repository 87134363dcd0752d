"""Typed expressions: what an expression computes, in terms of columns by their place."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from epl.dialects.aggregates import Aggregate
from epl.dialects.types import SqlType


@attrs.frozen
class Typed:
    """An expression with the type of its values."""

    type: SqlType


@attrs.frozen
class ConstantValue(Typed):
    """A value that the text has."""

    value: Any


@attrs.frozen
class ColumnValue(Typed):
    """A column of the row at hand."""

    index: int


@attrs.frozen
class Apply(Typed):
    """A function's value. ``takes_null``: it is called with nulls; else a null argument gives null. ``operation``: which one it is, of
    those that may be computed for whole columns. ``at``: where it is in the text, for the error of a row; None where it is not written."""

    function: Callable[..., Any]
    arguments: tuple[Typed, ...]
    takes_null: bool = False
    operation: str | None = None
    at: int | None = attrs.field(default=None, eq=False)


@attrs.frozen
class Junction(Typed):
    """All of, or any of (``is_all``), in three-valued logic."""

    operands: tuple[Typed, ...]
    is_all: bool


@attrs.frozen
class Choice(Typed):
    """The value of the first condition that holds."""

    whens: tuple[tuple[Typed, Typed], ...]
    otherwise: Typed


@attrs.frozen
class Coalesced(Typed):
    """The first value that is not null."""

    operands: tuple[Typed, ...]


@attrs.frozen
class MembershipTest(Typed):
    """Whether the value is one of the items."""

    value: Typed
    items: tuple[Typed, ...]


@attrs.frozen
class Tried(Typed):
    """The operand's value; null where it fails."""

    operand: Typed


@attrs.frozen
class ListOf(Typed):
    """An array of the items."""

    items: tuple[Typed, ...]


@attrs.frozen
class Outer(Typed):
    """A column of the row of a query around this one: ``depth`` queries further out, the next one being 1."""

    depth: int
    index: int


@attrs.frozen
class LambdaParameter(Typed):
    """A parameter of a lambda; ``cell`` has its value while the lambda runs."""

    name: str
    cell: list[Any] = attrs.field(eq=False)


@attrs.frozen
class LambdaOf(Typed):
    """A function of its parameters; ``type`` is that of its result."""

    parameters: tuple[LambdaParameter, ...]
    body: Typed


@attrs.frozen
class QueryValue(Typed):
    """The value of a query. ``kind``: scalar, exists, member (of ``value``), all or any (compared with ``value`` by ``compare``).
    ``is_correlated``: it refers to the row at hand, or to rows further out, and is run for each. ``at``: where it is in the text."""

    kind: str
    plan: Any
    value: Typed | None = None
    compare: Callable[[Any, Any], bool | None] | None = None
    is_correlated: bool = False
    at: int | None = attrs.field(default=None, eq=False)


@attrs.frozen
class Navigation:
    """Which row of a match is meant: the first or last one with one of the labels (None: any), ``offset`` rows from it among them, then
    ``shift`` rows on in the partition. ``final``: of the whole match, not up to the row at hand."""

    labels: frozenset[str] | None
    first: bool = False
    offset: int = 0
    final: bool = False
    shift: int = 0


@attrs.frozen
class Navigated(Typed):
    """A column of a row of the match; ``column`` None: the variable that the row is mapped to."""

    navigation: Navigation
    column: int | None


@attrs.frozen
class MatchNumber(Typed):
    """The number of the match in its partition."""


@attrs.frozen
class MatchTime(Typed):
    """The time of the match's last row: the column that the rows are ordered by."""

    column: int


@attrs.frozen
class RowLabel(Typed):
    """In an aggregate's argument: the variable that the row is mapped to."""


@attrs.frozen
class AggregateValue(Typed):
    """An aggregate over the rows with one of the labels (None: all rows of the match). ``past``: without the row that is tested."""

    aggregate: Aggregate
    arguments: tuple[Typed, ...]
    labels: frozenset[str] | None
    final: bool


def parts(typed: Typed) -> list[Typed]:
    """Return the expressions that a typed expression consists of."""
    listed: list[Typed] = []

    def take(value: Any) -> None:
        if isinstance(value, Typed):
            listed.append(value)
        elif isinstance(value, tuple):
            for each in value:
                take(each)

    for field in attrs.fields(type(typed)):
        take(getattr(typed, field.name))
    return listed


def walk(typed: Typed) -> list[Typed]:
    """Return the expression and all it consists of."""
    listed = [typed]
    for part in parts(typed):
        listed.extend(walk(part))
    return listed
