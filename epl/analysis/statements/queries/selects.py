"""select as a query: over named windows, tables and historical sources, or without from clause."""
from __future__ import annotations

import attrs

from epl.analysis.clauses import result_set
from epl.analysis.clauses.from_clause.historical import bind_arguments, is_historical
from epl.analysis.clauses.from_clause.join_plan import optional_streams, plan_join
from epl.analysis.clauses.from_clause.joins import bind_on_clauses
from epl.analysis.clauses.from_clause.streams import analyse_stream, source_type
from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.expressions.scope import ScopeStream
from epl.analysis.lookups.named_indexes import NO_INDEXES
from epl.analysis.statements.hints import read_hints
from epl.analysis.statements.queries.parts import NO_EVENTS, bind_where, plan_rows, refuse_wildcard, store_indexes, stream_store, together
from epl.analysis.statements.stored_rows import ever_of
from epl.analysis.statements.subquery_numbers import outer_subqueries
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.expressions import StreamEvent, StreamProperty, TypedExpression
from epl.plan.join.historical import MethodPlan, historical_plan
from epl.plan.join.joins import JoinPlan
from epl.plan.result_set import ResultSetPlan
from epl.plan.stores.queries import RowsPlan, SelectQueryPlan
from epl.plan.streams import StreamPlan
from epl.syntax import From, Select, Statement, Stream, TypeFilter

KEEPING = frozenset(("sorted",))
"""The aggregations that keep events, for which Esper asks the windows and tables of a query for a data window; ``window`` it does not."""


def analyse_select_query(statement: Statement, select: Select, catalog: Catalog) -> SelectQueryPlan:
    """Return the plan. Stream selectors have no effect: every row that is there is a row of the insert stream."""
    _refuse_clauses(select)
    from_ = select.from_
    for stream in () if from_ is None else from_.streams:
        _check_stream(stream, catalog)
    if select.output is not None:
        raise EplValidationError("Output rate limiting is not a supported feature of on-demand queries", span=select.output.span)
    if from_ is None:
        return _single_row_query(statement, select, catalog)
    streams, scopes = _streams(from_, statement, catalog)
    on = bind_on_clauses(from_, scopes, catalog, statement.declarations)
    optional = optional_streams([join.kind for join in from_.joins], on)
    scopes = tuple(
        attrs.evolve(scope, optional=number in optional, without_window=KEEPING | ever_of(stream_store(stream)))
        for number, (stream, scope) in enumerate(zip(streams, scopes, strict=True)))
    where = None if select.where is None else bind_where(select.where, scopes, statement, catalog)
    rows = _result_set(select, scopes, statement, catalog)
    if len(streams) == 1:
        store = stream_store(streams[0])
        named = NO_INDEXES if store is None else store_indexes(store, statement, catalog)
        return SelectQueryPlan(output_type=rows.output_type, streams=streams, rows=plan_rows(where, named), result_set=rows)
    join, where = _join(from_, on, where, streams, statement)
    number, own_rows = _lookup_stream(join, streams)
    return SelectQueryPlan(
        output_type=rows.output_type, streams=streams, rows=own_rows, looked_up=number, join=join, where=where, result_set=rows)


def _lookup_stream(join: JoinPlan, streams: tuple[StreamPlan, ...]) -> tuple[int, RowsPlan | None]:
    """Return the first stream of an inner join of which an index may answer what must equal constants, and its rows."""
    for drive in () if join.outer else join.drives:
        rows = plan_rows(together(rewrite(each, _over_row) for each in drive.conditions))
        if rows.lookup.index is not None and stream_store(streams[drive.stream]) is not None:
            return drive.stream, rows
    return 0, None


def _over_row(node: TypedExpression) -> TypedExpression | None:
    return attrs.evolve(node, stream=0) if isinstance(node, (StreamProperty, StreamEvent)) else None


def _refuse_clauses(select: Select) -> None:
    """Refuse what Esper ignores in a query, since its result would not be what is written."""
    refusals = (
        (select.match_recognize, "Match_recognize is not supported in fire-and-forget queries"),
        (select.into_table, "Into-table is not supported in fire-and-forget queries"),
        (select.delivery, "For-delivery is not supported in fire-and-forget queries"),
    )
    for refused, message in refusals:
        if refused:
            raise EplUnsupportedError(message, span=select.span)


def _single_row_query(statement: Statement, select: Select, catalog: Catalog) -> SelectQueryPlan:
    """Plan one row, of expressions that read no event."""
    where = None if select.where is None else bind_where(select.where, (), statement, catalog)
    refuse_wildcard(select)
    rows = _result_set(select, (), statement, catalog)
    return SelectQueryPlan(output_type=rows.output_type, streams=(), where=where, result_set=rows)


def _check_stream(stream: Stream, catalog: Catalog) -> None:
    source = stream.source
    if isinstance(source, TypeFilter) and not is_historical(source, catalog):
        if source.type_name not in catalog.named_windows and source.type_name not in catalog.tables:
            source_type(source, catalog)
            raise EplValidationError(NO_EVENTS, span=stream.span)
        if source.contained:
            raise EplUnsupportedError("Contained events are not supported in fire-and-forget queries", span=stream.span)
    elif not is_historical(source, catalog):
        raise EplValidationError(NO_EVENTS, span=stream.span)
    if stream.views and not (isinstance(source, TypeFilter) and source.type_name in catalog.tables):
        raise EplValidationError("Views are not a supported feature of on-demand queries", span=stream.views[0].span)


def _streams(from_: From, statement: Statement, catalog: Catalog) -> tuple[tuple[StreamPlan, ...], tuple[ScopeStream, ...]]:
    read = [attrs.evolve(stream, unidirectional=False) for stream in from_.streams]
    bound = [analyse_stream(stream, catalog, statement.declarations) for stream in read]
    streams, scopes = tuple(plan for plan, _ in bound), tuple(scope for _, scope in bound)
    for stream, written in zip(streams, from_.streams):
        if isinstance(historical_plan(stream), MethodPlan):
            raise EplValidationError(NO_EVENTS, span=written.span)
    if len(scopes) > 1 or not list(outer_subqueries(statement)):  # a sub-query over the same window means its own rows by that name
        scopes = tuple(attrs.evolve(scope, alias=scope.alias or _own_name(written)) for scope, written in zip(scopes, from_.streams))
    if any(_is_asked(stream) for stream in streams):
        streams = bind_arguments(from_, streams, scopes, catalog, statement.declarations)
    return streams, scopes


def _is_asked(stream: StreamPlan) -> bool:
    """Return whether the rows come from a call: not those of a table, which are there."""
    return historical_plan(stream) is not None and stream_store(stream) is None


def _own_name(stream: Stream) -> str | None:
    """Return the name of the window, which is that of the stream too."""
    return stream.source.type_name if isinstance(stream.source, TypeFilter) else None


def _result_set(select: Select, scopes: tuple[ScopeStream, ...], statement: Statement, catalog: Catalog) -> ResultSetPlan:
    return result_set.analyse(
        attrs.evolve(select, stream="istream"), scopes, catalog, output_name="query_out", has_remove_stream=True, is_unbound=False,
        declarations=statement.declarations, allow_previous=False)


def _join(
    from_: From, on: tuple[tuple[TypedExpression, ...], ...], where: TypedExpression | None, streams: tuple[StreamPlan, ...],
    statement: Statement,
) -> tuple[JoinPlan, TypedExpression | None]:
    asked = {number: historical_plan(stream) for number, stream in enumerate(streams) if _is_asked(stream)}
    reads = {number: call.reads for number, call in asked.items() if call is not None}
    return plan_join([join.kind for join in from_.joins], on, where, (), read_hints(statement), reads)


__all__ = ["analyse_select_query"]
