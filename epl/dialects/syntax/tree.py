"""Syntax of the dialects: expressions, queries, the clause and its pattern. ``at``: the offset that messages of Trino name."""
from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class SqlNode:
    """A piece of a text."""

    at: int


class SqlExpression(SqlNode):
    """Something that has a value."""


@attrs.frozen
class Name(SqlExpression):
    """A name. ``canonical``: as it is compared (quotes and case applied); ``written``: without its quotes."""

    written: str
    quoted: bool
    canonical: str


@attrs.frozen
class Path(SqlExpression):
    """``base.field``."""

    base: SqlExpression
    field: Name


@attrs.frozen
class Literal(SqlExpression):
    """``kind``: integer, decimal, double, text, boolean, null, interval, or the name of a type (``date '…'``)."""

    kind: str
    value: Any
    written: str


@attrs.frozen
class Unary(SqlExpression):
    """``-``, ``+``, ``~`` or ``not``."""

    sign: str
    operand: SqlExpression


@attrs.frozen
class Binary(SqlExpression):
    """Arithmetic, concatenation or comparison; ``at`` is the sign."""

    sign: str
    left: SqlExpression
    right: SqlExpression


@attrs.frozen
class Logical(SqlExpression):
    """``and``, ``or``."""

    sign: str
    operands: tuple[SqlExpression, ...]


@attrs.frozen
class Between(SqlExpression):
    """``value [not] between low and high``."""

    value: SqlExpression
    low: SqlExpression
    high: SqlExpression
    negated: bool


@attrs.frozen
class InList(SqlExpression):
    """``value [not] in (items)``; ``items``: expressions, or one query."""

    value: SqlExpression
    items: tuple[SqlExpression, ...]
    query: SqlQuery | None
    negated: bool


@attrs.frozen
class Like(SqlExpression):
    """``value [not] like pattern [escape escape]``."""

    value: SqlExpression
    pattern: SqlExpression
    escape: SqlExpression | None
    negated: bool


@attrs.frozen
class IsNull(SqlExpression):
    """``value is [not] null``."""

    value: SqlExpression
    negated: bool


@attrs.frozen
class IsDistinct(SqlExpression):
    """``left is [not] distinct from right``."""

    left: SqlExpression
    right: SqlExpression
    negated: bool


@attrs.frozen
class Case(SqlExpression):
    """``case [operand] when … then … [else …] end``."""

    operand: SqlExpression | None
    whens: tuple[tuple[SqlExpression, SqlExpression], ...]
    otherwise: SqlExpression | None


@attrs.frozen
class SqlTypeName(SqlNode):
    """``varchar(7)``, ``array(bigint)``, ``timestamp(3)``. ``fields``: names of a row's fields."""

    name: str
    arguments: tuple[SqlTypeName | int, ...]
    fields: tuple[str | None, ...] = ()


@attrs.frozen
class Cast(SqlExpression):
    """``cast(value as type)``; ``safe``: ``try_cast``."""

    value: SqlExpression
    type_name: SqlTypeName
    safe: bool


@attrs.frozen
class Lambda(SqlExpression):
    """``x -> body``."""

    names: tuple[str, ...]
    body: SqlExpression


@attrs.frozen
class ArrayOf(SqlExpression):
    """``array[items]``."""

    items: tuple[SqlExpression, ...]


@attrs.frozen
class Subquery(SqlExpression):
    """A query that has one value."""

    query: SqlQuery


@attrs.frozen
class ComparedAll(SqlExpression):
    """``value sign all (query)``; ``is_all`` False: ``any``."""

    sign: str
    value: SqlExpression
    query: SqlQuery
    is_all: bool


@attrs.frozen
class Exists(SqlExpression):
    """``exists (query)``."""

    query: SqlQuery


@attrs.frozen
class Tuple(SqlExpression):
    """``(a, b)``."""

    items: tuple[SqlExpression, ...]


@attrs.frozen
class LabelStar(SqlExpression):
    """``A.*`` as an argument; ``label`` None: ``*``."""

    label: Name | None


@attrs.frozen
class SortItem(SqlNode):
    """``key [asc | desc] [nulls first | last]``."""

    key: SqlExpression
    descending: bool
    nulls_first: bool | None


@attrs.frozen
class WindowSpec(SqlNode):
    """What stands between the brackets of ``over (…)``; ``name``: of another window."""

    name: Name | None = None
    partition_by: tuple[SqlExpression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    frame: WindowFrame | None = None


@attrs.frozen
class WindowFrame(SqlNode):
    """``rows between … and …`` with the pattern that may stand around it. ``start``, ``end``: the words, or an expression and its word."""

    kind: str
    start: tuple[str, SqlExpression | None]
    end: tuple[str, SqlExpression | None] | None
    measures: tuple[MeasureItem, ...] = ()
    skip: Skip | None = None
    search: str | None = None
    search_at: int = 0
    pattern: SqlPattern | None = None
    subsets: tuple[Subset, ...] = ()
    defines: tuple[Define, ...] = ()


@attrs.frozen
class Call(SqlExpression):
    """A function's call. ``mode``: running or final."""

    names: tuple[Name, ...]
    arguments: tuple[SqlExpression, ...]
    star: bool = False
    distinct: bool = False
    mode: str | None = None
    mode_at: int = 0
    order_by: tuple[SortItem, ...] = ()
    filter: SqlExpression | None = None
    over: WindowSpec | None = None

    @property
    def name(self) -> str:
        """The name in lower case."""
        return ".".join(name.written.lower() for name in self.names)

    @property
    def is_plain(self) -> bool:
        """Whether the name is one word without quotes."""
        return len(self.names) == 1 and not self.names[0].quoted


@attrs.frozen
class OverMeasure(SqlExpression):
    """``measure over window``."""

    name: Name
    over: WindowSpec


@attrs.frozen
class Subscript(SqlExpression):
    """``base[index]``."""

    base: SqlExpression
    index: SqlExpression


class SqlPattern(SqlNode):
    """A row pattern."""


@attrs.frozen
class PatternVariable(SqlPattern):
    """A variable of the pattern."""

    name: Name


@attrs.frozen
class Sequence(SqlPattern):
    """Parts one after the other; none: the empty pattern."""

    parts: tuple[SqlPattern, ...]


@attrs.frozen
class PatternAlternation(SqlPattern):
    """``a | b``."""

    choices: tuple[SqlPattern, ...]


@attrs.frozen
class Permutation(SqlPattern):
    """``permute(a, b)``."""

    parts: tuple[SqlPattern, ...]


@attrs.frozen
class PatternGroup(SqlPattern):
    """``(pattern)``: kept, since some dialects refuse it."""

    pattern: SqlPattern


@attrs.frozen
class Anchor(SqlPattern):
    """``^`` or ``$``."""

    sign: str


@attrs.frozen
class Exclusion(SqlPattern):
    """``{- pattern -}``."""

    pattern: SqlPattern


@attrs.frozen
class NotNext(SqlPattern):
    """``[^A]``."""

    name: Name


@attrs.frozen
class QuantifiedPattern(SqlPattern):
    """``at`` is the quantifier. ``marks``: how many ``?`` are behind it; ``until``: ``A+{B}``; ``braces``: written ``{n,m}``."""

    pattern: SqlPattern
    least: int
    most: int | None
    marks: int
    braces: bool
    written: str
    until: Name | None = None

    @property
    def greedy(self) -> bool:
        """Whether more rows are preferred."""
        return self.marks == 0


@attrs.frozen
class MeasureItem(SqlNode):
    """``expression as name``."""

    expression: SqlExpression
    name: Name


@attrs.frozen
class Define(SqlNode):
    """``name as condition``."""

    name: Name
    condition: SqlExpression


@attrs.frozen
class Subset(SqlNode):
    """``name = (members)``."""

    name: Name
    members: tuple[Name, ...]


@attrs.frozen
class Skip(SqlNode):
    """``kind``: past last, next, first, last, none."""

    kind: str
    target: Name | None = None
    written: str = ""


class Relation(SqlNode):
    """What stands in a from clause."""


@attrs.frozen
class TableName(Relation):
    """A table of the catalog, or a common table expression."""

    names: tuple[Name, ...]


@attrs.frozen
class DerivedTable(Relation):
    """``(query)``."""

    query: SqlQuery
    lateral: bool = False


@attrs.frozen
class Aliased(Relation):
    """``relation [as] alias [(columns)]``."""

    relation: Relation
    alias: Name
    columns: tuple[Name, ...]


@attrs.frozen
class JoinedRelation(Relation):
    """``kind``: cross, inner, left, right, full."""

    kind: str
    left: Relation
    right: Relation
    on: SqlExpression | None
    using: tuple[Name, ...]


@attrs.frozen
class TableFunction(Relation):
    """``table(function(…))``."""

    call: Call


@attrs.frozen
class Unnest(Relation):
    """``unnest(arrays) [with ordinality]``."""

    arrays: tuple[SqlExpression, ...]
    is_numbered: bool


@attrs.frozen
class Sampled(Relation):
    """``relation tablesample …``."""

    relation: Relation


@attrs.frozen
class RecognitionClause(Relation):
    """The clause. ``rows``: one, all, or None where the text does not say; ``empties``: show, omit, unmatched or None."""

    input: Relation
    partition_by: tuple[tuple[SqlExpression, Name | None], ...]
    order_by: tuple[SortItem, ...]
    measures: tuple[MeasureItem, ...]
    rows: str | None
    empties: str | None
    timeouts: bool
    skip: Skip | None
    search: str | None
    search_at: int
    pattern: SqlPattern
    within: SqlExpression | None
    subsets: tuple[Subset, ...]
    defines: tuple[Define, ...]


@attrs.frozen
class SelectOutput(SqlNode):
    """An expression, or ``*`` (``expression`` None), ``t.*`` (``of``)."""

    expression: SqlExpression | None
    alias: Name | None
    of: SqlExpression | None = None


class QueryBody(SqlNode):
    """What gives rows: a select, values, a union."""


@attrs.frozen
class SqlSelect(QueryBody):
    """``select … from …``. ``sets``: of GROUPING SETS, ROLLUP, CUBE; None without."""

    items: tuple[SelectOutput, ...]
    distinct: bool
    relation: Relation | None
    where: SqlExpression | None
    group_by: tuple[SqlExpression, ...]
    grouped: bool
    sets: tuple[tuple[SqlExpression, ...], ...] | None
    having: SqlExpression | None
    windows: tuple[tuple[Name, WindowSpec], ...]


@attrs.frozen
class Values(QueryBody):
    """``values (…), …``."""

    rows: tuple[SqlExpression, ...]


@attrs.frozen
class SetOperation(QueryBody):
    """``kind``: union, except, intersect."""

    kind: str
    keeps_all: bool
    left: QueryBody
    right: QueryBody


@attrs.frozen
class Nested(QueryBody):
    """A query in brackets."""

    query: SqlQuery


@attrs.frozen
class WithQuery(SqlNode):
    """``name [(columns)] as (query)``."""

    name: Name
    columns: tuple[Name, ...]
    query: SqlQuery


@attrs.frozen
class SqlQuery(SqlNode):
    """``with … body order by … offset … limit …``."""

    withs: tuple[WithQuery, ...]
    recursive: bool
    body: QueryBody
    order_by: tuple[SortItem, ...]
    offset: int | None
    limit: int | None
    ties: bool = False


def children(node: Any) -> list[SqlNode]:
    """Return the nodes that a node consists of, in the order of its fields."""
    listed: list[SqlNode] = []

    def take(value: Any) -> None:
        if isinstance(value, SqlNode):
            listed.append(value)
        elif isinstance(value, tuple):
            for each in value:
                take(each)

    for field in attrs.fields(type(node)):
        take(getattr(node, field.name))
    return listed


def descendants(node: SqlNode) -> list[SqlNode]:
    """Return the node and all that it consists of, outermost first."""
    listed = [node]
    for child in children(node):
        listed.extend(descendants(child))
    return listed
