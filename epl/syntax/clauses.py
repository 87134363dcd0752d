"""The clauses of statements."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.syntax.expressions import Expression, TypeName
from epl.syntax.nodes import Node, Pattern

# ------------------------------------------------------------------ select


@attrs.frozen
class SelectItem(Node):
    """One element of a select clause: Wildcard, StreamWildcard or any expression, ``as`` a name; ``annotation``: ``@eventbean``."""

    expression: Expression
    alias: str | None = None
    annotation: str | None = None


@attrs.frozen
class InsertInto(Node):
    target: str
    columns: tuple[str, ...] = ()
    stream: Choice["istream", "rstream", "irstream"] | None = None
    precedence: Expression | None = None


# ------------------------------------------------------------------ from


@attrs.frozen
class View(Node):
    """``#time(10 sec)`` or ``.win:time(10 sec)`` (then ``namespace`` is ``win``): a data window or derived-value window."""

    name: str
    arguments: tuple[Expression, ...] = ()
    namespace: str | None = None


@attrs.frozen
class Contained(Node):
    """``[select x from items as i where …]`` or ``[items]`` after a type: contained-event selection, level by level."""

    expression: Expression
    items: tuple[SelectItem, ...] = ()
    alias: str | None = None
    type_name: str | None = None
    where: Expression | None = None


@attrs.frozen
class Source(Node):
    """What a stream reads from."""


@attrs.frozen
class TypeFilter(Source):
    """``Type(filter, filter)[contained]``; the filters hold together (and). ``parentheses``: written, perhaps empty."""

    type_name: str
    filters: tuple[Expression, ...] = ()
    contained: tuple[Contained, ...] = ()


@attrs.frozen
class PatternSource(Source):
    pattern: Pattern
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class RecognitionSource(Source):
    """``Type(filter) match_recognize (…)`` in a SQL dialect: a table, whose rows are the stream's events. ``text``: the clause, from its
    bracket on; ``start``: where that is in the module's text. ``reason``: why it is of that dialect."""

    input: Source
    text: str
    dialect: str
    start: int = attrs.field(default=0, eq=False)
    reason: str = attrs.field(default="", eq=False)


@attrs.frozen
class MethodSource(Source):
    """``method:Class.lookup(a, b) @type(T)``."""

    name: str
    arguments: tuple[Expression, ...] = ()
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class SqlSource(Source):
    """``sql:db ["select …" metadatasql "…"] @type(T)``."""

    database: str
    query: str
    metadata_query: str | None = None
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class Stream(Node):
    """One stream of a from clause."""

    source: Source
    views: tuple[View, ...] = ()
    alias: str | None = None
    unidirectional: bool = False
    retain: Choice["union", "intersection"] | None = None


@attrs.frozen
class Join(Node):
    """How stream n (from 1) is joined to those before it. ``comma``: no on clause."""

    kind: Choice["comma", "inner", "left", "right", "full"]
    on: tuple[tuple[Expression, Expression], ...] = ()


@attrs.frozen
class From(Node):
    streams: tuple[Stream, ...]
    joins: tuple[Join, ...] = ()


# ------------------------------------------------------------------ match_recognize


@attrs.frozen
class RowPattern(Node):
    """The pattern inside ``pattern ( … )``."""


@attrs.frozen
class RowVariable(RowPattern):
    name: str


@attrs.frozen
class RowConcatenation(RowPattern):
    items: tuple[RowPattern, ...]


@attrs.frozen
class RowAlternation(RowPattern):
    items: tuple[RowPattern, ...]


@attrs.frozen
class RowPermutation(RowPattern):
    """``match_recognize_permute(A, B)``."""

    items: tuple[RowPattern, ...]


@attrs.frozen
class RowRepetition(RowPattern):
    """``item quantifier {low,high}``. The quantifier (``* + ? *? +? ??``) and the braces may both occur (``A+?{2}``).

    ``{n}``: low = high = n, ``exact``; ``{n,}``: low; ``{n,m}``: both; ``{,m}``: high. A group is written in parentheses whenever it is no
    variable.
    """

    item: RowPattern
    quantifier: Choice["", "*", "+", "?", "*?", "+?", "??"] = ""
    low: Expression | None = None
    high: Expression | None = None
    exact: bool = False


@attrs.frozen
class MatchRecognize(Node):
    """``skip`` is None where no after-match clause is written (then: past last row)."""

    measures: tuple[SelectItem, ...]
    pattern: RowPattern
    partition_by: tuple[Expression, ...] = ()
    all_matches: bool = False
    skip: Choice["past last row", "to next row", "to current row"] | None = None
    interval: Expression | None = None
    or_terminated: bool = False
    defines: tuple[tuple[str, Expression], ...] = ()


# ------------------------------------------------------------------ group by, output, order by, limit


@attrs.frozen
class GroupElement(Node):
    """One element of group by: ``expression`` items of one expression; ``combination`` ``(a, b)``; ``rollup``, ``cube``, ``grouping sets``
    of elements.
    """

    kind: Choice["expression", "combination", "rollup", "cube", "grouping sets"]
    items: tuple[Expression | GroupElement, ...]


@attrs.frozen
class Output(Node):
    """The output clause.

    ``kind``: every (``every n events`` or a time period, in ``rate``; ``unit`` says which), at (``crontab``), when (``condition`` and
    ``assignments``), terminated (``when terminated [and condition] [then set]``), after (``output after …`` alone). ``and_terminated``: ``…
    and when terminated [and expr] [then set]``.
    """

    selector: Choice["all", "first", "last", "snapshot"] | None = None
    kind: Choice["every", "at", "when", "terminated", "after"] = "every"
    rate: Expression | None = None
    unit: Choice["events", "time"] | None = None
    crontab: tuple[Expression, ...] = ()
    condition: Expression | None = None
    assignments: tuple[Assignment, ...] = ()
    after: Expression | None = None
    after_unit: Choice["events", "time"] | None = None
    and_terminated: bool = False
    terminated_condition: Expression | None = None
    terminated_assignments: tuple[Assignment, ...] = ()


@attrs.frozen
class OrderItem(Node):
    expression: Expression
    descending: bool = False


@attrs.frozen
class Limit(Node):
    """``limit rows offset skip``; ``limit skip, rows`` (``comma``) is read into the same two."""

    rows: Expression
    offset: Expression | None = None
    comma: bool = False


@attrs.frozen
class ForDelivery(Node):
    """``for grouped_delivery(k)`` / ``for discrete_delivery``."""

    kind: str
    keys: tuple[Expression, ...] = ()


# ------------------------------------------------------------------ shared small pieces


@attrs.frozen
class Assignment(Node):
    """``target = value`` in set clauses; the target is a Chain. A bare call (``T.col.reset()``, ``f(x)``) has value None."""

    target: Expression
    value: Expression | None


@attrs.frozen
class Column(Node):
    """A column declaration of create schema, create table and create window (``name type``).

    For create table: ``primary_key``, an aggregation in ``expression`` instead of a type, and annotations (``@type(E)``).
    """

    name: str
    type_name: TypeName | None = None
    primary_key: bool = False
    expression: Expression | None = None
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class Annotation(Node):
    """``@Name('x')``: ``values`` are (attribute, value) in order; the single unnamed value has attribute ``value``.

    A value is str, int, float, bool, None, a tuple of values (``{a, b}``), an Annotation, or an EnumConstant (``a.B``).
    """

    name: str
    values: tuple[tuple[str, object], ...] = ()

    @property
    def attributes(self) -> dict[str, object]:
        """The values by attribute, as written."""
        return dict(self.values)

    def get(self, attribute: str = "value", default: object = None) -> object:
        """Return the value of an attribute, looked up without regard to case."""
        for name, value in self.values:
            if name.lower() == attribute.lower():
                return value
        return default


@attrs.frozen
class EnumConstant(Node):
    """An identifier as an annotation's value: ``@Audit`` targets, ``SupportEnum.ONE``."""

    name: str
