"""Syntax of the dialects: expressions, queries, the clause and its pattern. ``at``: the offset that messages of Trino name."""
from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class Node:
    """A piece of a text."""

    at: int


class Expression(Node):
    """Something that has a value."""


@attrs.frozen
class Name(Expression):
    """A name. ``canonical``: as it is compared (quotes and case applied); ``written``: without its quotes."""

    written: str
    quoted: bool
    canonical: str


@attrs.frozen
class Path(Expression):
    """``base.field``."""

    base: Expression
    field: Name


@attrs.frozen
class Literal(Expression):
    """``kind``: integer, decimal, double, text, boolean, null, interval, or the name of a type (``date '…'``)."""

    kind: str
    value: Any
    written: str


@attrs.frozen
class Unary(Expression):
    """``-``, ``+``, ``~`` or ``not``."""

    sign: str
    operand: Expression


@attrs.frozen
class Binary(Expression):
    """Arithmetic, concatenation or comparison; ``at`` is the sign."""

    sign: str
    left: Expression
    right: Expression


@attrs.frozen
class Logical(Expression):
    """``and``, ``or``."""

    sign: str
    operands: tuple[Expression, ...]


@attrs.frozen
class Between(Expression):
    """``value [not] between low and high``."""

    value: Expression
    low: Expression
    high: Expression
    negated: bool


@attrs.frozen
class InList(Expression):
    """``value [not] in (items)``; ``items``: expressions, or one query."""

    value: Expression
    items: tuple[Expression, ...]
    query: Query | None
    negated: bool


@attrs.frozen
class Like(Expression):
    """``value [not] like pattern [escape escape]``."""

    value: Expression
    pattern: Expression
    escape: Expression | None
    negated: bool


@attrs.frozen
class IsNull(Expression):
    """``value is [not] null``."""

    value: Expression
    negated: bool


@attrs.frozen
class IsDistinct(Expression):
    """``left is [not] distinct from right``."""

    left: Expression
    right: Expression
    negated: bool


@attrs.frozen
class Case(Expression):
    """``case [operand] when … then … [else …] end``."""

    operand: Expression | None
    whens: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@attrs.frozen
class TypeName(Node):
    """``varchar(7)``, ``array(bigint)``, ``timestamp(3)``. ``fields``: names of a row's fields."""

    name: str
    arguments: tuple[TypeName | int, ...]
    fields: tuple[str | None, ...] = ()


@attrs.frozen
class Cast(Expression):
    """``cast(value as type)``; ``safe``: ``try_cast``."""

    value: Expression
    type_name: TypeName
    safe: bool


@attrs.frozen
class Lambda(Expression):
    """``x -> body``."""

    names: tuple[str, ...]
    body: Expression


@attrs.frozen
class ArrayOf(Expression):
    """``array[items]``."""

    items: tuple[Expression, ...]


@attrs.frozen
class Subquery(Expression):
    """A query that has one value."""

    query: Query


@attrs.frozen
class ComparedAll(Expression):
    """``value sign all (query)``; ``is_all`` False: ``any``."""

    sign: str
    value: Expression
    query: Query
    is_all: bool


@attrs.frozen
class Exists(Expression):
    """``exists (query)``."""

    query: Query


@attrs.frozen
class Tuple(Expression):
    """``(a, b)``."""

    items: tuple[Expression, ...]


@attrs.frozen
class LabelStar(Expression):
    """``A.*`` as an argument; ``label`` None: ``*``."""

    label: Name | None


@attrs.frozen
class SortItem(Node):
    """``key [asc | desc] [nulls first | last]``."""

    key: Expression
    descending: bool
    nulls_first: bool | None


@attrs.frozen
class WindowSpec(Node):
    """What stands between the brackets of ``over (…)``; ``name``: of another window."""

    name: Name | None = None
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    frame: Frame | None = None


@attrs.frozen
class Frame(Node):
    """``rows between … and …`` with the pattern that may stand around it. ``start``, ``end``: the words, or an expression and its word."""

    kind: str
    start: tuple[str, Expression | None]
    end: tuple[str, Expression | None] | None
    measures: tuple[Measure, ...] = ()
    skip: Skip | None = None
    search: str | None = None
    search_at: int = 0
    pattern: Pattern | None = None
    subsets: tuple[Subset, ...] = ()
    defines: tuple[Define, ...] = ()


@attrs.frozen
class Call(Expression):
    """A function's call. ``mode``: running or final."""

    names: tuple[Name, ...]
    arguments: tuple[Expression, ...]
    star: bool = False
    distinct: bool = False
    mode: str | None = None
    mode_at: int = 0
    order_by: tuple[SortItem, ...] = ()
    filter: Expression | None = None
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
class OverMeasure(Expression):
    """``measure over window``."""

    name: Name
    over: WindowSpec


@attrs.frozen
class Subscript(Expression):
    """``base[index]``."""

    base: Expression
    index: Expression


class Pattern(Node):
    """A row pattern."""


@attrs.frozen
class Variable(Pattern):
    """A variable of the pattern."""

    name: Name


@attrs.frozen
class Sequence(Pattern):
    """Parts one after the other; none: the empty pattern."""

    parts: tuple[Pattern, ...]


@attrs.frozen
class Alternation(Pattern):
    """``a | b``."""

    choices: tuple[Pattern, ...]


@attrs.frozen
class Permutation(Pattern):
    """``permute(a, b)``."""

    parts: tuple[Pattern, ...]


@attrs.frozen
class Group(Pattern):
    """``(pattern)``: kept, since some dialects refuse it."""

    pattern: Pattern


@attrs.frozen
class Anchor(Pattern):
    """``^`` or ``$``."""

    sign: str


@attrs.frozen
class Exclusion(Pattern):
    """``{- pattern -}``."""

    pattern: Pattern


@attrs.frozen
class NotNext(Pattern):
    """``[^A]``."""

    name: Name


@attrs.frozen
class Quantified(Pattern):
    """``at`` is the quantifier. ``marks``: how many ``?`` are behind it; ``until``: ``A+{B}``; ``braces``: written ``{n,m}``."""

    pattern: Pattern
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
class Measure(Node):
    """``expression as name``."""

    expression: Expression
    name: Name


@attrs.frozen
class Define(Node):
    """``name as condition``."""

    name: Name
    condition: Expression


@attrs.frozen
class Subset(Node):
    """``name = (members)``."""

    name: Name
    members: tuple[Name, ...]


@attrs.frozen
class Skip(Node):
    """``kind``: past last, next, first, last, none."""

    kind: str
    target: Name | None = None
    written: str = ""


class Relation(Node):
    """What stands in a from clause."""


@attrs.frozen
class TableName(Relation):
    """A table of the catalog, or a common table expression."""

    names: tuple[Name, ...]


@attrs.frozen
class Derived(Relation):
    """``(query)``."""

    query: Query
    lateral: bool = False


@attrs.frozen
class Aliased(Relation):
    """``relation [as] alias [(columns)]``."""

    relation: Relation
    alias: Name
    columns: tuple[Name, ...]


@attrs.frozen
class Join(Relation):
    """``kind``: cross, inner, left, right, full."""

    kind: str
    left: Relation
    right: Relation
    on: Expression | None
    using: tuple[Name, ...]


@attrs.frozen
class TableFunction(Relation):
    """``table(function(…))``."""

    call: Call


@attrs.frozen
class Unnest(Relation):
    """``unnest(arrays) [with ordinality]``."""

    arrays: tuple[Expression, ...]
    is_numbered: bool


@attrs.frozen
class Sampled(Relation):
    """``relation tablesample …``."""

    relation: Relation


@attrs.frozen
class Recognition(Relation):
    """The clause. ``rows``: one, all, or None where the text does not say; ``empties``: show, omit, unmatched or None."""

    input: Relation
    partition_by: tuple[tuple[Expression, Name | None], ...]
    order_by: tuple[SortItem, ...]
    measures: tuple[Measure, ...]
    rows: str | None
    empties: str | None
    timeouts: bool
    skip: Skip | None
    search: str | None
    search_at: int
    pattern: Pattern
    within: Expression | None
    subsets: tuple[Subset, ...]
    defines: tuple[Define, ...]


@attrs.frozen
class SelectItem(Node):
    """An expression, or ``*`` (``expression`` None), ``t.*`` (``of``)."""

    expression: Expression | None
    alias: Name | None
    of: Expression | None = None


class Body(Node):
    """What gives rows: a select, values, a union."""


@attrs.frozen
class Select(Body):
    """``select … from …``. ``sets``: of GROUPING SETS, ROLLUP, CUBE; None without."""

    items: tuple[SelectItem, ...]
    distinct: bool
    relation: Relation | None
    where: Expression | None
    group_by: tuple[Expression, ...]
    grouped: bool
    sets: tuple[tuple[Expression, ...], ...] | None
    having: Expression | None
    windows: tuple[tuple[Name, WindowSpec], ...]


@attrs.frozen
class Values(Body):
    """``values (…), …``."""

    rows: tuple[Expression, ...]


@attrs.frozen
class SetOperation(Body):
    """``kind``: union, except, intersect."""

    kind: str
    keeps_all: bool
    left: Body
    right: Body


@attrs.frozen
class Nested(Body):
    """A query in brackets."""

    query: Query


@attrs.frozen
class WithQuery(Node):
    """``name [(columns)] as (query)``."""

    name: Name
    columns: tuple[Name, ...]
    query: Query


@attrs.frozen
class Query(Node):
    """``with … body order by … offset … limit …``."""

    withs: tuple[WithQuery, ...]
    recursive: bool
    body: Body
    order_by: tuple[SortItem, ...]
    offset: int | None
    limit: int | None
    ties: bool = False


def children(node: Any) -> list[Node]:
    """Return the nodes that a node consists of, in the order of its fields."""
    listed: list[Node] = []

    def take(value: Any) -> None:
        if isinstance(value, Node):
            listed.append(value)
        elif isinstance(value, tuple):
            for each in value:
                take(each)

    for field in attrs.fields(type(node)):
        take(getattr(node, field.name))
    return listed


def descendants(node: Node) -> list[Node]:
    """Return the node and all that it consists of, outermost first."""
    listed = [node]
    for child in children(node):
        listed.extend(descendants(child))
    return listed
