"""What Esper refuses of a statement before all else: the filters of its sub-queries, its own, then a context that lists none of its
types. Only a statement that is refused in any case is looked through for them."""
from __future__ import annotations

from collections.abc import Iterator

import attrs

from epl.analysis.clauses.from_clause.historical import is_historical
from epl.analysis.clauses.from_clause.streams import analyse_stream, type_named
from epl.analysis.context.statements import check_read
from epl.analysis.expressions.rewriting import syntax_nodes
from epl.analysis.statements.subquery_numbers import outer_subqueries
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.context.contexts import Context
from epl.syntax import (
    OnDelete,
    OnMerge,
    OnSelect,
    OnSet,
    OnSplit,
    OnUpdate,
    PatternSource,
    Select,
    Statement,
    Stream,
    TypeFilter,
    UpdateIstream,
)
from epl.syntax.nodes import Body
from epl.syntax.patterns import FilterAtom

TRIGGERED = (OnDelete, OnMerge, OnSelect, OnSet, OnSplit, OnUpdate)


def refuse_filters_first(statement: Statement, catalog: Catalog, refusal: EplValidationError) -> None:
    """Raise the refusal of a filter, or of the types that the filters name; return where there is none. ``refusal``: that of the
    statement; a where clause that is moved into the filter is refused as one."""
    body = statement.body
    streams = [stream for stream in (*_of_subqueries(body), *_own(body)) if _has_filters(stream, catalog)]
    for stream in streams:
        analyse_stream(_without_views(stream), catalog, statement.declarations)
    if catalog.statement_context is not None and not refusal.message.startswith("Failed to validate filter expression"):
        own_first = [*_own(body), *_of_subqueries(body)]
        read = [each for stream in own_first for each in _types(stream, catalog.statement_context, catalog)]
        check_read(read, catalog.statement_context, body.span)


def _own(body: Body) -> tuple[Stream, ...]:
    if isinstance(body, TRIGGERED):
        return (body.trigger.source,)
    if isinstance(body, UpdateIstream):
        return (Stream(TypeFilter(body.type_name, span=body.span), span=body.span),)
    return body.from_.streams if isinstance(body, Select) and body.from_ is not None else ()


def _of_subqueries(body: Body) -> Iterator[Stream]:
    """Yield the streams of sub-queries, but for those in patterns and in selections of contained events, where none may stand."""
    if isinstance(body, Select) and body.from_ is not None:
        streams = tuple(_without_views(stream) for stream in body.from_.streams if not isinstance(stream.source, PatternSource))
        body = attrs.evolve(body, order_by=(), from_=attrs.evolve(body.from_, streams=streams))
    for subquery in outer_subqueries(body):
        if isinstance(subquery.select, Select) and subquery.select.from_ is not None:
            yield from subquery.select.from_.streams


def _has_filters(stream: Stream, catalog: Catalog) -> bool:
    return isinstance(stream.source, (TypeFilter, PatternSource)) and not is_historical(stream.source, catalog)


def _without_views(stream: Stream) -> Stream:
    source = stream.source
    bare = attrs.evolve(source, contained=()) if isinstance(source, TypeFilter) else source
    return attrs.evolve(stream, source=bare, views=())


def _types(stream: Stream, context: Context, catalog: Catalog) -> Iterator[EventType]:
    """Yield the event types that a stream's filters name; for a named window of the context's that of its events."""
    for node in syntax_nodes(stream.source):
        if not isinstance(node, (TypeFilter, FilterAtom)) or node.type_name in catalog.tables:
            continue
        window = catalog.named_windows.get(node.type_name)
        if window is not None and window.context is context and window.source is not None:
            yield window.source
        elif window is None:
            yield type_named(node.type_name, node, catalog)


__all__ = ["refuse_filters_first"]
