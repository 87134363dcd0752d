"""Contexts as frozen data: how a declaration cuts the statements that name it into partitions, and when partitions begin and end.

Expressions of a context read the event that is looked at as stream 0, and what is known of the partition as ContextValue: of the end of
``initiated by A as a terminated by B(id = a.id)`` the tag ``a`` is ``ContextValue(path=("a",))``, of a nested context with the name of its
level in front.
"""
from __future__ import annotations

from typing import ClassVar

import attrs

from epl.event_types import EventType
from epl.plan.crontab import CrontabPlan
from epl.plan.expressions import TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.patterns.pattern import PatternPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.value_types import ValueType

Path = tuple[str, ...]
"""A property as written after ``context.``: ``("key1",)``, and below a nested context ``("ByUser", "key1")``."""


# ------------------------------------------------------------------ conditions


@attrs.frozen(kw_only=True)
class ContextCondition:
    """What begins or ends partitions: a closed family."""

    kind: ClassVar[str]


@attrs.frozen(kw_only=True)
class FilterCondition(ContextCondition):
    """An event. ``tag``: the property that holds it, None without one."""

    kind = "filter"
    filter: FilterSpecification
    tag: str | None = None


@attrs.frozen(kw_only=True)
class PatternCondition(ContextCondition):
    """A match of a pattern, whose tags are properties, as is the whole match with the name ``tag``. ``inclusive``: its events count for the
    statements."""

    kind = "pattern"
    pattern: PatternPlan
    tag: str | None = None
    inclusive: bool = False


@attrs.frozen(kw_only=True)
class CrontabCondition(ContextCondition):
    """The next time that one of the crontabs gives."""

    kind = "crontab"
    crontabs: tuple[CrontabPlan, ...]


@attrs.frozen(kw_only=True)
class AfterCondition(ContextCondition):
    """The end of a time period."""

    kind = "after"
    period: TypedExpression


@attrs.frozen(kw_only=True)
class NeverCondition(ContextCondition):
    """An end that is not written."""

    kind = "never"


# ------------------------------------------------------------------ levels


@attrs.frozen(kw_only=True)
class ContextLevel:
    """One declaration of a context, or of those of a nested one. ``name``: the context's own, or that of the nested declaration;
    ``prefix``: what precedes its properties in a ContextValue's path, ``(name,)`` in a nested context and empty otherwise."""

    name: str
    prefix: Path = ()


@attrs.frozen(kw_only=True)
class KeyedItem:
    """``keys from Type(filter) as alias``: ``filter`` has the filter's conditions and no key; ``keys`` read the event."""

    event_type: EventType
    filter: FilterSpecification
    conditions: tuple[TypedExpression, ...]
    keys: tuple[TypedExpression, ...]
    alias: str | None = None


@attrs.frozen(kw_only=True)
class KeyedLevel(ContextLevel):
    """``partition by``. ``initiated_by``: the events that alone begin a partition, each with the ``keys`` of its type (a ``KeyedItem``
    whose conditions are its own, with its tag as alias); empty: any event of ``items``. ``terminated_by``: reads the keys as the
    partition's properties; a filter's specification has the equality of its keys in it."""

    items: tuple[KeyedItem, ...]
    key_types: tuple[ValueType, ...]
    initiated_by: tuple[KeyedItem, ...] = ()
    terminated_by: ContextCondition | None = None


@attrs.frozen(kw_only=True)
class HashItem:
    """``function(x) from Type(filter)``: ``number`` is the number of the partition, from 0 to below the granularity."""

    event_type: EventType
    filter: FilterSpecification
    conditions: tuple[TypedExpression, ...]
    number: TypedExpression


@attrs.frozen(kw_only=True)
class HashLevel(ContextLevel):
    """``coalesce by``. ``preallocate``: all partitions are there from the beginning."""

    items: tuple[HashItem, ...]
    granularity: int
    preallocate: bool = False


@attrs.frozen(kw_only=True)
class CategoryLevel(ContextLevel):
    """``group … as label``: a partition for each label, from the beginning. ``conditions``: the filter of the events' type, which Esper
    checks and does not apply."""

    event_type: EventType
    conditions: tuple[TypedExpression, ...]
    labels: tuple[str, ...]
    tests: tuple[TypedExpression, ...]


@attrs.frozen(kw_only=True)
class LifetimeLevel(ContextLevel):
    """``start … end`` (one partition at a time) or ``initiated by … terminated by`` (``overlapping``).

    ``now``: the first partition begins at once. ``start`` is None where nothing but ``@now`` is written. ``distinct``: of the start's
    properties (read as ContextValue): while a partition with these values lives, no other begins.
    """

    start: ContextCondition | None
    end: ContextCondition
    now: bool = False
    overlapping: bool = False
    distinct: tuple[TypedExpression, ...] = ()


# ------------------------------------------------------------------ the context


@attrs.frozen(eq=False)
class Context:
    """What a catalog knows of a context; equal only to itself. ``levels``: one, or those of a nested context, outermost first.
    ``properties``: path → type of all that statements may read."""

    name: str
    levels: tuple[ContextLevel, ...]
    properties: tuple[tuple[Path, ValueType], ...]

    @property
    def is_nested(self) -> bool:
        return len(self.levels) > 1

    @property
    def names(self) -> tuple[str, ...]:
        """What may follow ``context.``: the properties, of a nested context ``name``, ``id`` and the names of its levels."""
        return tuple(dict.fromkeys(path[0] for path, _ in self.properties))


def constant_paths(context: Context) -> frozenset[Path]:
    """Return properties that a partition has unchanged as long as its statements run: names, id, keys and labels."""
    paths: set[Path] = {("name",), ("id",)}
    ending: set[Path] = set()
    for level in context.levels:
        keys = len(level.key_types) if isinstance(level, KeyedLevel) else 0
        names = ["name", *(f"key{n}" for n in range(1, keys + 1)), *(["label"] if isinstance(level, CategoryLevel) else [])]
        paths |= {(*level.prefix, name) for name in names}
        end = level.terminated_by if isinstance(level, KeyedLevel) else level.end if isinstance(level, LifetimeLevel) else None
        ending |= {(*level.prefix, tag) for tag in _condition_tags(end)}
    return frozenset(paths - ending)


def _condition_tags(condition: ContextCondition | None) -> list[str]:
    """Return what a condition brings, by name."""
    if not isinstance(condition, (FilterCondition, PatternCondition)):
        return []
    tags = [tag.name for tag in condition.pattern.tags] if isinstance(condition, PatternCondition) else []
    return tags if condition.tag is None else [*tags, condition.tag]


def store_context(store: NamedWindow | Table) -> Context | None:
    """Return the context of which each partition has such a named window or table."""
    return store.context if isinstance(store.context, Context) else None


def full_path(level: ContextLevel, name: str) -> Path:
    """Return the path of a level's own property."""
    return (*level.prefix, name)


HASH = "#hash"
"""The hidden property of a hash partition: its number, which the filters of statements compare with HashItem.number."""
CATEGORY = "#category"
"""The hidden property of a category partition: the place of its label."""

__all__ = [
    "CATEGORY",
    "HASH",
    "AfterCondition",
    "CategoryLevel",
    "Context",
    "ContextCondition",
    "ContextLevel",
    "CrontabCondition",
    "FilterCondition",
    "HashItem",
    "HashLevel",
    "KeyedItem",
    "KeyedLevel",
    "LifetimeLevel",
    "NeverCondition",
    "Path",
    "PatternCondition",
    "full_path",
    "store_context",
]
