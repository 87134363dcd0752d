"""What a query does, as frozen data. Every plan has ``columns``."""
from __future__ import annotations

import attrs

from epl.dialects.aggregates import Aggregate
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t
from epl.dialects.typed import Typed


@attrs.frozen
class Plan:
    """Something that gives rows."""

    columns: tuple[SqlColumn, ...]
    is_open: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class SqlTablePlan(Plan):
    """A table of the catalog."""

    name: str


@attrs.frozen
class UnknownPlan(Plan):
    """A table that the catalog does not have."""

    name: str


@attrs.frozen
class ValuesPlan(Plan):
    """Rows that the text has."""

    rows: tuple[tuple[Typed, ...], ...]


@attrs.frozen
class RenamedPlan(Plan):
    """The rows of another plan, its columns with other names."""

    input: Plan


@attrs.frozen
class UnnestPlan(Plan):
    """The elements of arrays, one array a column (or two: of a map); ``is_numbered``: with their places as the last column."""

    arrays: tuple[Typed, ...]
    is_numbered: bool


@attrs.frozen
class SqlJoinPlan(Plan):
    """``condition`` over the columns of both; ``is_lateral``: the right side refers to the row of the left one."""

    kind: str
    left: Plan
    right: Plan
    condition: Typed | None
    is_lateral: bool = False


@attrs.frozen
class SqlOrderKey:
    """``place``: of an output column, or ``typed`` over the row behind it."""

    place: int | None
    typed: Typed | None
    descending: bool
    nulls_first: bool


@attrs.frozen
class AggregateCall:
    """An aggregate of a group's rows; ``condition``: of those that count; ``order``: of the rows before they are counted."""

    aggregate: Aggregate
    arguments: tuple[Typed, ...]
    condition: Typed | None
    order: tuple[SqlOrderKey, ...] = ()


@attrs.frozen
class SqlSelectPlan(Plan):
    """``input`` None: one row without columns. ``keys`` None: rows are not grouped; else projections, having and order are over the row of
    keys and aggregates. ``sets``: places of the keys of each grouping set; the last key then is the number of the set. ``ties``: rows that
    are equal to the last one by the order are shown too."""

    input: Plan | None
    where: Typed | None
    keys: tuple[Typed, ...] | None
    aggregates: tuple[AggregateCall, ...]
    having: Typed | None
    projections: tuple[Typed, ...]
    distinct: bool
    order: tuple[SqlOrderKey, ...] = ()
    offset: int | None = None
    limit: int | None = None
    ties: bool = False
    sets: tuple[tuple[int, ...], ...] | None = None


@attrs.frozen
class SetPlan(Plan):
    """``kind``: union, except, intersect."""

    kind: str
    keeps_all: bool
    left: Plan
    right: Plan
    order: tuple[SqlOrderKey, ...] = ()
    offset: int | None = None
    limit: int | None = None
    ties: bool = False


@attrs.frozen
class SkipTo:
    """``kind``: past last, next, first, last, none; ``labels``: of the row that is skipped to; ``name``: as it is written."""

    kind: str
    labels: frozenset[str] = frozenset()
    name: str = ""


@attrs.frozen
class RecognitionPlan(Plan):
    """The clause over the rows of ``input``. ``partition``, ``order``: places of its columns, of the latter with direction and where nulls
    are. ``computed``: keys that are expressions (YDB), appended to the input's columns. ``shown``: places of the input's columns that
    ALL ROWS shows after the measures. ``empties``: show, omit, unmatched. ``within``: milliseconds, None without."""

    dialect: str
    input: Plan
    computed: tuple[Typed, ...]
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    measures: tuple[Typed, ...]
    all_rows: bool
    empties: str
    shows_order: bool
    shown: tuple[int, ...]
    pattern: t.SqlPattern
    labels: tuple[str, ...]
    defines: dict[str, Typed]
    skip: SkipTo
    within: int | None
    timeouts: bool
    time: int | None


__all__ = [
    "AggregateCall",
    "Plan",
    "RecognitionPlan",
    "RenamedPlan",
    "SetPlan",
    "SkipTo",
    "SqlJoinPlan",
    "SqlOrderKey",
    "SqlSelectPlan",
    "SqlTablePlan",
    "UnknownPlan",
    "UnnestPlan",
    "ValuesPlan",
]  # fmt: skip
