"""What begins and ends partitions, as written → plans. The end sees the events of the start by their tags."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.clauses.from_clause.pattern_streams import analyse_pattern
from epl.analysis.clauses.from_clause.streams import type_named
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.crontab import analyse_crontab
from epl.analysis.expressions.rewriting import syntax_nodes
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.lookup import bind_filters, check_strict_coercion
from epl.analysis.filters.partitions import partition_conditions, partition_filter
from epl.analysis.pattern.tags import Around
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.plan.context.contexts import (
    AfterCondition,
    ContextCondition,
    ContextLevel,
    CrontabCondition,
    FilterCondition,
    NeverCondition,
    Path,
    PatternCondition,
)
from epl.plan.expressions import Constant, ContextValue, PropertyOf, TimeSpan, TypedExpression
from epl.plan.patterns.pattern import PatternPlan
from epl.syntax import ContextCondition as Written
from epl.syntax import Declaration, Expression, PatternSource, TypeFilter
from epl.syntax.expressions import Subquery
from epl.syntax.patterns import FilterAtom
from epl.unparse import expression_text
from epl.value_types import ValueType

NO_TABLE = "Tables cannot be used in a context declaration"
CLAUSE = "context condition"


@attrs.frozen
class Declaring:
    """Where a condition or an item is written: the context's name and the ``prefix`` of its properties, ``outer``: the levels around whose
    conditions are added, and what its expressions see by the names of tags: ``known``. ``assigned``: those that no other may have.
    """

    context: str
    catalog: Catalog
    declarations: tuple[Declaration, ...]
    prefix: Path = ()
    outer: tuple[ContextLevel, ...] = ()
    known: tuple[ScopeStream, ...] = ()
    assigned: tuple[str, ...] = ()

    def value(self, name: str, value_type: ValueType) -> ContextValue:
        """Return a property of the partition."""
        return ContextValue(type=value_type, path=(*self.prefix, name))

    def with_event(self, tag: str | None, event_type: EventType) -> Declaring:
        """Return it with an event that conditions after it see by its tag."""
        if tag is None:
            return self
        stream = ScopeStream(tag, event_type, optional=True, outer=True, value=self.value(tag, EventOf(event_type)))
        return attrs.evolve(self, known=(*self.known, stream), assigned=(*self.assigned, tag))

    def event_type(self, source: TypeFilter, named_window: str | None = None) -> EventType:
        """Return the type that a context names."""
        if source.type_name in self.catalog.tables:
            raise EplValidationError(NO_TABLE, span=source.span)
        if source.type_name in self.catalog.named_windows:
            if named_window is not None:
                raise EplValidationError(named_window, span=source.span)
            raise EplUnsupportedError("Named windows in a context declaration are not supported", span=source.span)
        return type_named(source.type_name, source, self.catalog)

    def scope(self, own: ScopeStream, clause: str = "filter") -> Scope:
        """Return what a filter sees: its event, and by their names the tags."""
        return Scope(
            self.catalog, (own, *self.known), clause=clause, declarations=self.declarations, allow_previous=False, in_filter=True)

    def conditions(self, filters: Sequence[Expression], own: ScopeStream) -> tuple[TypedExpression, ...]:
        """Return the conditions of a filter."""
        for written in filters:
            refuse_subqueries(written)
        bound = bind_filters(filters, self.scope(own))
        for condition in bound:
            check_strict_coercion(condition)
        return bound


def refuse_subqueries(written: Expression) -> None:
    """Refuse sub-queries, which no declaration of a context has."""
    subquery = next((node for node in syntax_nodes(written) if isinstance(node, Subquery)), None)
    if subquery is not None:
        raise EplValidationError("Subselect is unassigned", span=subquery.span)


Tagged = tuple[tuple[str, ValueType], ...]
"""Properties that a condition brings, by name."""


def analyse_condition(written: Written, where: Declaring, *, is_end: bool = False) -> tuple[ContextCondition, Tagged, Declaring]:
    """Return the plan, the properties that it brings, and what conditions after it see."""
    if written.kind == "filter":
        return _filter(written, where)
    if written.kind == "pattern":
        return _pattern(written, where, is_end)
    if written.kind == "crontab":
        scope = Scope(where.catalog, clause=CLAUSE, declarations=where.declarations, allow_previous=False)
        return CrontabCondition(crontabs=tuple(analyse_crontab(parts, scope, clause=CLAUSE) for parts in written.crontabs)), (), where
    if written.kind == "after":
        return _after(written, where), (), where
    return NeverCondition(), (), where


def _filter(written: Written, where: Declaring) -> tuple[ContextCondition, Tagged, Declaring]:
    source = written.filter
    assert source is not None
    event_type = where.event_type(source)
    check_tag(written.tag, event_type, where, written)
    conditions = where.conditions(source.filters, ScopeStream(written.tag, event_type))
    plan = FilterCondition(filter=partition_filter(event_type, conditions, where.outer), tag=written.tag)
    tagged = () if written.tag is None else ((written.tag, EventOf(event_type)),)
    return plan, tagged, where.with_event(written.tag, event_type)


def check_tag(tag: str | None, event_type: EventType, where: Declaring, written: Written) -> None:
    """Refuse a tag that is there already."""
    if tag is not None and tag in where.assigned:
        raise EplValidationError(f"Tag '{tag}' for event '{event_type.name}' is already assigned", span=written.span)


def _pattern(written: Written, where: Declaring, is_end: bool) -> tuple[ContextCondition, Tagged, Declaring]:
    assert written.pattern is not None

    def atom_type(atom: FilterAtom) -> EventType:
        if atom.type_name in where.catalog.tables:
            raise EplValidationError("Tables cannot be used in pattern filter atoms", span=atom.span)
        return type_named(atom.type_name, atom, where.catalog)

    source = PatternSource(written.pattern, span=written.span)
    pattern = analyse_pattern(
        source, where.catalog, where.declarations, atom_type,
        Around(where.known, where.assigned, lambda event_type: partition_conditions(event_type, where.outer)))
    if written.tag is not None:
        check_tag(written.tag, pattern.row_type, where, written)
        if is_end and any(tag.name == written.tag for tag in pattern.tags):
            raise EplValidationError(f"The stream or tag name '{written.tag}' is already declared", span=written.span)
    plan = PatternCondition(pattern=pattern, tag=written.tag, inclusive=written.inclusive)
    return plan, _find_tag(pattern, written.tag), _after_pattern(pattern, written.tag, where)


def _find_tag(pattern: PatternPlan, tag: str | None) -> Tagged:
    if tag is not None:
        return ((tag, EventOf(pattern.row_type)),)
    return tuple((each.name, EventOf(each.event_type)) for each in pattern.tags if not each.repeated)


def _after_pattern(pattern: PatternPlan, tag: str | None, where: Declaring) -> Declaring:
    """Declare the tags of a match by their own names, also where the whole match has a name."""
    single = [each for each in pattern.tags if not each.repeated]
    if tag is None:
        for each in single:
            where = where.with_event(each.name, each.event_type)
        return where
    whole = where.value(tag, EventOf(pattern.row_type))
    parts = tuple(
        ScopeStream(each.name, each.event_type, optional=True, outer=True,
                    value=PropertyOf(type=EventOf(each.event_type), operand=whole, name=each.name))
        for each in single if each.name != tag)
    where = where.with_event(tag, pattern.row_type)
    return attrs.evolve(where, known=(*where.known, *parts))


def _after(written: Written, where: Declaring) -> AfterCondition:
    assert written.after is not None
    scope = Scope(where.catalog, clause=CLAUSE, declarations=where.declarations, allow_previous=False)
    period = bind_in_clause(written.after, scope)
    if isinstance(period, TimeSpan) and any(isinstance(value, Constant) and (value.value or 0) < 0 for _, value in period.parts):
        raise EplValidationError(f"Invalid negative time period expression '{expression_text(written.after)}'", span=written.span)
    return AfterCondition(period=period)


__all__ = ["Declaring", "Tagged", "analyse_condition", "check_tag", "refuse_subqueries"]
