"""Statements and modules."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.syntax.clauses import (
    Annotation,
    Assignment,
    Column,
    ForDelivery,
    From,
    GroupElement,
    InsertInto,
    Limit,
    MatchRecognize,
    OrderItem,
    Output,
    SelectItem,
    Stream,
    TypeFilter,
    View,
)
from epl.syntax.expressions import Expression, TypeName
from epl.syntax.nodes import Body, Node, Pattern


@attrs.frozen
class Select(Body):
    """``from_`` is None for select without from. ``into_table``: ``into table T``."""

    items: tuple[SelectItem, ...]
    from_: From | None = None
    distinct: bool = False
    stream: Choice["istream", "rstream", "irstream"] | None = None
    into_table: str | None = None
    insert_into: InsertInto | None = None
    match_recognize: MatchRecognize | None = None
    where: Expression | None = None
    group_by: tuple[GroupElement, ...] = ()
    having: Expression | None = None
    output: Output | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: Limit | None = None
    delivery: ForDelivery | None = None


# ------------------------------------------------------------------ create …


@attrs.frozen
class CreateSchema(Body):
    """``create [variant] [map|objectarray|json|xml|avro] schema N (columns) | as Class`` with inherits, copyfrom and timestamps.

    ``types``: the member types of a variant (``*`` is the name ``*``), or the one class after ``as``. ``qualifiers`` are other
    ``name value`` pairs, lower-case names: inherits, copyfrom, starttimestamp, endtimestamp → tuple of names.
    """

    name: str
    representation: str | None = None
    variant: bool = False
    columns: tuple[Column, ...] = ()
    types: tuple[TypeName, ...] = ()
    inherits: tuple[str, ...] = ()
    copy_from: tuple[str, ...] = ()
    start_timestamp: str | None = None
    end_timestamp: str | None = None


@attrs.frozen
class CreateWindow(Body):
    """``create window W#views [as] select … from T | as T | (columns) [insert [where expr]]``."""

    name: str
    views: tuple[View, ...] = ()
    retain: Choice["union", "intersection"] | None = None
    items: tuple[SelectItem, ...] = ()
    from_type: str | None = None
    columns: tuple[Column, ...] = ()
    insert: bool = False
    insert_where: Expression | None = None


@attrs.frozen
class CreateTable(Body):
    name: str
    columns: tuple[Column, ...] = ()


@attrs.frozen
class IndexColumn(Node):
    """``a hash``, ``b btree``, ``(x, y) pointregionquadtree(…)``."""

    expressions: tuple[Expression, ...]
    kind: str | None = None
    arguments: tuple[Expression, ...] = ()


@attrs.frozen
class CreateIndex(Body):
    name: str
    target: str
    columns: tuple[IndexColumn, ...] = ()
    unique: bool = False


@attrs.frozen
class CreateVariable(Body):
    name: str
    type_name: TypeName
    constant: bool = False
    value: Expression | None = None


@attrs.frozen
class CreateExpression(Body):
    declaration: Declaration


@attrs.frozen
class CreateClass(Body):
    """``create inlined_class ''' java '''``: parsed, refused."""

    source: str


@attrs.frozen
class CreateDataflow(Body):
    """Parsed, refused: the operators' text is kept as written."""

    name: str
    source: str


# ------------------------------------------------------------------ contexts


@attrs.frozen
class ContextCondition(Node):
    """A start or end of context partitions.

    ``kind``: now ``@now``, immediate (``@now and …``), filter, pattern, crontab, after (time period), never (no condition written).
    """

    kind: Choice["now", "filter", "pattern", "crontab", "after", "never"]
    filter: TypeFilter | None = None
    tag: str | None = None
    pattern: Pattern | None = None
    inclusive: bool = False
    crontabs: tuple[tuple[Expression, ...], ...] = ()
    after: Expression | None = None
    now: bool = False


@attrs.frozen
class KeyedItem(Node):
    """``partition by a and b from T(filter) as t``."""

    keys: tuple[Expression, ...]
    source: TypeFilter
    alias: str | None = None


@attrs.frozen
class HashItem(Node):
    """``coalesce by consistent_hash_crc32(x) from T``."""

    function: Expression
    source: TypeFilter
    alias: str | None = None


@attrs.frozen
class ContextSpec(Node):
    pass


@attrs.frozen
class KeyedContext(ContextSpec):
    items: tuple[KeyedItem, ...]
    initiated_by: tuple[ContextCondition, ...] = ()
    terminated_by: ContextCondition | None = None


@attrs.frozen
class HashContext(ContextSpec):
    items: tuple[HashItem, ...]
    granularity: Expression | None = None
    preallocate: bool = False


@attrs.frozen
class CategoryContext(ContextSpec):
    categories: tuple[tuple[Expression, str], ...]
    source: TypeFilter


@attrs.frozen
class LifetimeContext(ContextSpec):
    """``start … end …`` (one partition at a time) or ``initiated by … terminated by …`` (``overlapping``), ``distinct(keys)``."""

    start: ContextCondition
    end: ContextCondition
    overlapping: bool = False
    distinct: tuple[Expression, ...] = ()


@attrs.frozen
class NestedContext(ContextSpec):
    contexts: tuple[tuple[str, ContextSpec], ...]


@attrs.frozen
class CreateContext(Body):
    name: str
    context: ContextSpec


# ------------------------------------------------------------------ on …, update


@attrs.frozen
class OnTrigger(Node):
    """``on T(filter) as t`` / ``on pattern [ … ] as p``."""

    source: Stream


@attrs.frozen
class OnSelect(Body):
    """``on T select [and delete] … from W``; ``select.from_`` holds the window as its only stream."""

    trigger: OnTrigger
    select: Select
    delete: bool = False


@attrs.frozen
class OnDelete(Body):
    trigger: OnTrigger
    target: str
    alias: str | None = None
    where: Expression | None = None


@attrs.frozen
class OnUpdate(Body):
    trigger: OnTrigger
    target: str
    assignments: tuple[Assignment, ...]
    alias: str | None = None
    where: Expression | None = None


@attrs.frozen
class OnSet(Body):
    trigger: OnTrigger
    assignments: tuple[Assignment, ...]


@attrs.frozen
class MergeAction(Node):
    """``insert [into X] [(columns)] select … [where]``, ``update set … [where] [delete where]``, ``delete [where]``."""

    kind: Choice["insert", "update", "delete"]
    where: Expression | None = None
    target: str | None = None
    columns: tuple[str, ...] = ()
    items: tuple[SelectItem, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    precedence: Expression | None = None


@attrs.frozen
class MergeBranch(Node):
    """``when [not] matched [and condition] then actions``; ``matched`` None: the merge's direct ``insert``."""

    matched: bool | None
    actions: tuple[MergeAction, ...]
    condition: Expression | None = None


@attrs.frozen
class OnMerge(Body):
    trigger: OnTrigger
    target: str
    branches: tuple[MergeBranch, ...]
    alias: str | None = None
    where: Expression | None = None


@attrs.frozen
class SplitBranch(Node):
    """``insert into X select … [from [select …] ] [where …]`` of a split-stream statement; ``insert_into.target`` etc. in select."""

    select: Select


@attrs.frozen
class OnSplit(Body):
    trigger: OnTrigger
    branches: tuple[SplitBranch, ...]
    output: Choice["first", "all"] | None = None


@attrs.frozen
class UpdateIstream(Body):
    """``update istream T as t set … where …``."""

    type_name: str
    assignments: tuple[Assignment, ...]
    alias: str | None = None
    where: Expression | None = None


# ------------------------------------------------------------------ fire-and-forget


@attrs.frozen
class InsertValues(Body):
    """``insert into W(a, b) values (1, 2), (3, 4)`` (fire-and-forget; also in on-merge)."""

    insert_into: InsertInto
    rows: tuple[tuple[Expression, ...], ...]


@attrs.frozen
class FafUpdate(Body):
    target: str
    assignments: tuple[Assignment, ...]
    alias: str | None = None
    where: Expression | None = None


@attrs.frozen
class FafDelete(Body):
    target: str
    alias: str | None = None
    where: Expression | None = None


# ------------------------------------------------------------------ declarations, statements, modules


@attrs.frozen
class Declaration(Node):
    """``expression [return type] name [(listed)] { [lambda] body }``, ``expression name alias for { body }``, or a script ``js:name(p) [ …
    ]``.

    ``parameters`` are the lambda's names; a script (``dialect`` is set) keeps its text in ``script``. ``listed`` are the names behind the
    expression's own: the parameters of a script; in front of braces they have no effect, as in Esper.
    """

    name: str
    body: Expression | None = None
    parameters: tuple[str, ...] = ()
    alias: bool = False
    return_type: TypeName | None = None
    dialect: str | None = None
    script: str | None = None
    listed: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class Statement(Node):
    """One statement of a module. ``text`` is its source without surrounding space and comments before it."""

    body: Body
    annotations: tuple[Annotation, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    classes: tuple[str, ...] = ()
    context: str | None = None
    text: str = attrs.field(default="", eq=False, repr=False)

    def annotation(self, name: str) -> Annotation | None:
        """Return the first annotation of that name, without regard to case."""
        return next((a for a in self.annotations if a.name.lower() == name.lower()), None)

    @property
    def name(self) -> str | None:
        """The trimmed text of ``@name``, or None where there is none."""
        annotation = self.annotation("name")
        value = annotation.get() if annotation else None
        return value.strip() if isinstance(value, str) else None


@attrs.frozen
class Module(Node):
    """A module file. ``imports`` are class or package names as written."""

    statements: tuple[Statement, ...]
    name: str | None = None
    uses: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    text: str = attrs.field(default="", eq=False, repr=False)
