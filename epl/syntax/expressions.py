"""Expressions as written. Nothing is resolved here: whether ``a.b('x')`` is a property, a method or a function is analysis."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.syntax.nodes import Body, Node


@attrs.frozen
class Expression(Node):
    """Anything that may occur where a value is asked for."""


LiteralKind = Choice["null", "boolean", "byte", "int", "long", "float", "double", "string"]


@attrs.frozen
class Literal(Expression):
    """``null true 1 1L 1f 1.5 'text'``. A string holds its unescaped characters; a whole number too large for int is kind long, ``0x1F`` is
    a byte.

    A sign directly before a number belongs to it: ``-1`` is a Literal, ``-a`` a Unary. ``double_quotes``: the text was written in them;
    the names of columns show it.
    """

    value: bool | int | float | str | None
    kind: LiteralKind
    double_quotes: bool = attrs.field(default=False, eq=False)


# ------------------------------------------------------------------ names, calls, chains


@attrs.frozen
class Link(Node):
    """One element of a chain. ``optional``: a ``?`` follows (a dynamic property)."""


@attrs.frozen
class Name(Link):
    """``.name`` or ``.name?``; backticks and backslash-escaped dots are taken off (``a\\.b`` is one name ``a.b``)."""

    name: str
    optional: bool = False


@attrs.frozen
class Call(Link):
    """``.name(arguments)``; also ``name('key')`` and ``name(0)``, which may turn out to be mapped or indexed properties.

    Built-in functions and aggregations are calls too: ``count(*)``, ``sum(distinct x, filter: y)``, ``prev(1, x)``. ``named``: the name is
    in backquotes or follows a minus, where it is no word of the language.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    distinct: bool = False
    optional: bool = False
    named: bool = attrs.field(default=False, eq=False, repr=False)

    @property
    def is_by_name(self) -> bool:
        """Whether a word of the language is called as if it were the name of a function: there is none of that name."""
        return self.named and self.name.lower() in WORDS


WORDS = frozenset({
    "avedev", "avg", "cast", "coalesce", "count", "exists", "grouping", "grouping_id", "instanceof", "istream", "median", "prev",
    "prevcount", "prevtail", "prevwindow", "prior", "stddev", "sum", "typeof",
})
"""Functions and aggregations that are words of the language."""


@attrs.frozen
class Index(Link):
    """``[expression]`` or ``[e1, e2]`` after a name: array element, indexed property, table key."""

    arguments: tuple[Expression, ...]
    optional: bool = False


@attrs.frozen
class Chain(Expression):
    """``a``, ``a.b[0].c('k')?.d``, ``Math.abs(x)``, ``(expression).method()``: links from left to right, after a root expression or none.
    """

    links: tuple[Link, ...]
    root: Expression | None = None


@attrs.frozen
class Wildcard(Expression):
    """``*`` as an argument: ``count(*)``, ``window(*)``."""


@attrs.frozen
class StreamWildcard(Expression):
    """``s0.*`` as an argument or select item."""

    stream: str


@attrs.frozen
class NamedArgument(Expression):
    """``filter: expression``, ``group_by: (a, b)``, ``dateformat: x``."""

    name: str
    value: Expression


@attrs.frozen
class Ordered(Expression):
    """``expression asc`` / ``expression desc`` as an argument of windows and sorted aggregations; only when a direction is written."""

    value: Expression
    descending: bool


@attrs.frozen
class Row(Expression):
    """``(a, b)``, ``()``: a parenthesised list of none or several expressions, as in ``group_by: (a, b)``."""

    items: tuple[Expression, ...]


@attrs.frozen
class Lambda(Expression):
    """``x => body``, ``(x, i) => body``."""

    parameters: tuple[str, ...]
    body: Expression


@attrs.frozen
class SubstitutionParameter(Expression):
    """``?``, ``?:name``, ``?:name:type``. Analysis gives those without a name their ``number`` in the statement, from 1."""

    name: str | None = None
    type_name: TypeName | None = None
    number: int | None = attrs.field(default=None, eq=False, repr=False)


# ------------------------------------------------------------------ operators


@attrs.frozen
class Unary(Expression):
    """``-x`` or ``not x``."""

    operator: Choice["-", "not"]
    operand: Expression


@attrs.frozen
class Binary(Expression):
    """Arithmetic ``+ - * / %``, bitwise ``& | ^``, concatenation ``||``; left-associative."""

    operator: Choice["+", "-", "*", "/", "%", "&", "|", "^", "||"]
    left: Expression
    right: Expression


@attrs.frozen
class Logical(Expression):
    """``a and b and c`` is one node of three operands."""

    operator: Choice["and", "or"]
    operands: tuple[Expression, ...]


Comparator = Choice["=", "!=", "<", "<=", ">", ">=", "is", "is not"]


@attrs.frozen
class Comparison(Expression):
    """``<>`` is read as ``!=``."""

    operator: Comparator
    left: Expression
    right: Expression


@attrs.frozen
class QuantifiedComparison(Expression):
    """``x = any (a, b)``, ``x > all (select …)``; ``some`` is read as any. One operand of kind Subquery: the subquery form."""

    operator: Comparator
    quantifier: Choice["any", "all"]
    left: Expression
    operands: tuple[Expression, ...]


@attrs.frozen
class Between(Expression):
    value: Expression
    low: Expression
    high: Expression
    negated: bool = False


@attrs.frozen
class In(Expression):
    """``x in (a, b)``; one item of kind Subquery: ``x in (select …)``."""

    value: Expression
    items: tuple[Expression, ...]
    negated: bool = False


@attrs.frozen
class InRange(Expression):
    """``x in [low:high)``: a round bracket leaves its end out."""

    value: Expression
    low: Expression
    high: Expression
    include_low: bool
    include_high: bool
    negated: bool = False


@attrs.frozen
class Like(Expression):
    value: Expression
    pattern: Expression
    escape: Expression | None = None
    negated: bool = False


@attrs.frozen
class Regexp(Expression):
    value: Expression
    pattern: Expression
    negated: bool = False


@attrs.frozen
class Case(Expression):
    """``case when c then v … else e end``, and with ``operand``: ``case x when v then …``."""

    whens: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    operand: Expression | None = None


# ------------------------------------------------------------------ types in expressions, construction


@attrs.frozen
class TypeName(Node):
    """A type as written: ``int``, ``java.util.Date``, ``string[]``, ``int[primitive]``, ``java.util.List<String>``."""

    name: str
    parameters: tuple[TypeName, ...] = ()
    dimensions: int = 0
    primitive: bool = False


@attrs.frozen
class Cast(Expression):
    """``cast(x, type, dateformat: 'yyyy')``."""

    value: Expression
    type_name: TypeName
    arguments: tuple[Expression, ...] = ()


@attrs.frozen
class InstanceOf(Expression):
    value: Expression
    type_names: tuple[TypeName, ...]


@attrs.frozen
class TypeOf(Expression):
    value: Expression


@attrs.frozen
class Exists(Expression):
    """``exists(property?)``."""

    value: Expression


@attrs.frozen
class ArrayLiteral(Expression):
    """``{a, b}``."""

    items: tuple[Expression, ...]


@attrs.frozen
class JsonObject(Expression):
    """``{name: constant, 'other': [1, 2]}``: values are Literals, ArrayLiterals and JsonObjects of constants."""

    fields: tuple[tuple[str, Expression], ...]


@attrs.frozen
class NewStruct(Expression):
    """``new {a = 1, b}``: a column without a value takes the property of its name (value None)."""

    columns: tuple[tuple[str, Expression | None], ...]


@attrs.frozen
class NewInstance(Expression):
    """``new Type(a)``."""

    type_name: TypeName
    arguments: tuple[Expression, ...] = ()


@attrs.frozen
class NewArray(Expression):
    """``new int[3]``, ``new int[3][]`` (sizes then open dimensions), ``new int[] {1, 2}`` (initializer)."""

    type_name: TypeName
    sizes: tuple[Expression | None, ...] = ()
    initializer: ArrayLiteral | None = None


# ------------------------------------------------------------------ time, schedules


TimeUnit = Choice["year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"]


@attrs.frozen
class TimePeriod(Expression):
    """``1 day 2 hours``: parts from the largest unit to the smallest."""

    parts: tuple[tuple[TimeUnit, Expression], ...]


@attrs.frozen
class CurrentTimestamp(Expression):
    """``current_timestamp`` or ``current_timestamp()``; links after it are in a Chain whose root it is."""


@attrs.frozen
class CronPart(Expression):
    """One element of a crontab that is not a plain expression.

    ``kind``: any ``*``; every ``*/n`` (value); range ``a:b`` or ``a-b`` (value, high); last ``last`` or ``n last`` (value or None);
    weekday ``n weekday``; lastweekday ``lastweekday``; list ``[a, b, …]`` (items).
    """

    kind: Choice["any", "every", "range", "last", "weekday", "lastweekday", "list"]
    value: Expression | None = None
    high: Expression | None = None
    items: tuple[Expression, ...] = ()


# ------------------------------------------------------------------ subqueries


@attrs.frozen
class Subquery(Expression):
    """``(select …)`` as a value, an operand of any / all / in, or (``exists``) of exists. ``select``: a ``Select``. ``number``: which one
    of the statement it is, from 1, in order of the text. ``shares_indexes``, ``preferred``: what the statement's hints say of the indexes
    of a named window: whether they are used, and which of those that were created come first.
    """

    select: Body
    exists: bool = False
    number: int = attrs.field(default=1, eq=False)
    shares_indexes: bool = attrs.field(default=True, eq=False)
    preferred: tuple[str, ...] = attrs.field(default=(), eq=False)
