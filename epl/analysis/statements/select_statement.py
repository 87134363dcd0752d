"""select → plan: the compiler's table of contents is SELECT_PASSES.

Each pass takes the facts known so far and returns them with its own added; none changes anything.
"""
from __future__ import annotations

from collections.abc import Callable

import attrs

from epl.analysis.clauses import result_set
from epl.analysis.clauses.delivery import bind_delivery
from epl.analysis.clauses.from_clause.historical import bind_arguments, check_prior
from epl.analysis.clauses.from_clause.join_plan import optional_streams, plan_join
from epl.analysis.clauses.from_clause.joins import bind_on_clauses, check_joined_wildcard, check_streams, unidirectional_streams
from epl.analysis.clauses.from_clause.streams import analyse_stream
from epl.analysis.clauses.inserts import insert_columns, is_whole, plan_insert
from epl.analysis.clauses.into_table import refuse_reading, target_table
from epl.analysis.clauses.precedence import bind_precedence
from epl.analysis.clauses.previous import check_previous
from epl.analysis.clauses.transpose import check_transposed, plan_transposed, without_transpose
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import SubqueryRefusal, bind_subquery
from epl.analysis.expressions.context_values import ContextRefusal
from epl.analysis.expressions.own_keys import of_rows_without_events
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.lookup import bind_filters, plan_filter
from epl.analysis.lookups.named_indexes import NamedIndexes, catalog_indexes
from epl.analysis.match_recognize import clause as row_recognition
from epl.analysis.statements.hints import check_excluded_plans, index_hints, read_hints, reclaim_hint
from epl.analysis.statements.subquery_numbers import has_subqueries, outer_subqueries
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import Previous, Prior, SubqueryValue, TypedExpression
from epl.plan.join.historical import historical_plan, table_stream_plan
from epl.plan.join.joins import JoinPlan
from epl.plan.join.subqueries import every_node
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.patterns.pattern import stream_pattern
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import DeliveryPlan, InsertPlan, SelectPlan
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.streams import FilterPlan, StorePlan, StreamPlan, only_stream, stream_filter, stream_store_plan, unique_properties
from epl.syntax import Expression, Select, Statement, StreamWildcard, TypeFilter, Wildcard

NOT_MOVED = (Previous, Prior, SubqueryValue)
"""What a where clause is evaluated after windows for, though there is none."""


@attrs.frozen
class SelectFacts:
    """What is known of a select statement between two passes."""

    statement: Statement
    select: Select
    catalog: Catalog
    name: str
    streams: tuple[StreamPlan, ...] = ()
    scopes: tuple[ScopeStream, ...] = ()
    on: tuple[tuple[TypedExpression, ...], ...] = ()
    join: JoinPlan | None = None
    row_recognition: RowRecognitionPlan | None = None
    where: TypedExpression | None = None
    conditions: tuple[TypedExpression, ...] = ()
    """Those of where, as long as it may be moved into the filter."""
    result_set: ResultSetPlan | None = None
    insert: InsertPlan | None = None
    delivery: DeliveryPlan | None = None
    transposed: int | None = None


def find_table(facts: SelectFacts) -> SelectFacts:
    """Refuse ``into table`` without such a table."""
    target_table(facts.select, facts.catalog)
    return facts


KEEPING = frozenset(("window", "sorted"))
"""The aggregations that keep events, for which Esper asks joined tables for a data window."""


def bind_streams(facts: SelectFacts) -> SelectFacts:
    """Bind event types, filters and data windows of the from clause."""
    assert facts.select.from_ is not None
    hints = read_hints(facts.statement)
    bound = [analyse_stream(s, facts.catalog, facts.statement.declarations, hints) for s in facts.select.from_.streams]
    scopes = (attrs.evolve(s, without_window=KEEPING) if table_stream_plan(p) is not None else s for p, s in bound)
    return attrs.evolve(facts, streams=tuple(p for p, _ in bound), scopes=tuple(scopes))


def bind_historical(facts: SelectFacts) -> SelectFacts:
    """Bind the arguments of methods and database queries, which may read any other stream."""
    from_ = facts.select.from_
    assert from_ is not None
    if all(historical_plan(stream) is None for stream in facts.streams):
        return facts
    if facts.select.match_recognize is not None and table_stream_plan(facts.streams[0]) is not None:
        raise EplValidationError("Tables cannot be used with match-recognize", span=facts.select.match_recognize.span)
    if facts.select.match_recognize is not None and len(facts.streams) == 1:
        raise EplValidationError("match_recognize over a historical stream is not allowed", span=facts.select.match_recognize.span)
    return attrs.evolve(
        facts, streams=bind_arguments(from_, facts.streams, facts.scopes, facts.catalog, facts.statement.declarations)
    )


def check_join(facts: SelectFacts) -> SelectFacts:
    """Check, for several streams, what Esper asks of each of them."""
    from_ = facts.select.from_
    assert from_ is not None
    check_streams(from_, facts.streams)
    if len(facts.streams) > 1 and facts.select.match_recognize is not None:
        raise EplValidationError("Joins are not allowed when using match-recognize", span=facts.select.match_recognize.span)
    if len(facts.streams) > 1:
        check_excluded_plans(facts.statement, facts.catalog)
    return facts


def bind_outer_joins(facts: SelectFacts) -> SelectFacts:
    """Bind the on clauses, which say of which streams rows may have no event."""
    from_ = facts.select.from_
    assert from_ is not None
    try:
        on = bind_on_clauses(from_, facts.scopes, facts.catalog, facts.statement.declarations)
    except EplValidationError:
        _refuse_where(facts)
        raise
    optional = optional_streams([join.kind for join in from_.joins], on)
    scopes = tuple(attrs.evolve(scope, optional=number in optional) for number, scope in enumerate(facts.scopes))
    return attrs.evolve(facts, on=on, scopes=scopes)


def bind_match_recognize(facts: SelectFacts) -> SelectFacts:
    """Bind match_recognize, which turns the stream into one of its measures; what follows it sees only those."""
    clause = facts.select.match_recognize
    if clause is None:
        return facts
    windows = only_stream(facts.streams).windows
    plan = row_recognition.analyse(
        clause, facts.scopes[0], facts.catalog,
        has_window=stream_store_plan(only_stream(facts.streams)) is not None or any(w.is_data_window for w in windows),
        iterate_only="iterate_only" in read_hints(facts.statement),
    )
    return attrs.evolve(facts, row_recognition=plan)


def bind_where(facts: SelectFacts) -> SelectFacts:
    """Bind where: ``conditions`` may be moved into the filter of a stream without window, else ``where`` is evaluated after the windows.
    ``place_where`` binds it where what the statement reads elsewhere decides."""
    where = facts.select.where
    undecided = facts.row_recognition is not None or facts.catalog.tables or _keeps_where(facts)
    if where is None or (_moves_where(facts) and undecided):
        return facts
    return _bind_where(where, facts, _visible(facts) if any(stream.retains for stream in facts.streams) else facts.scopes)


def _keeps_where(facts: SelectFacts) -> bool:
    return "disable_whereexpr_moveto_filter" in read_hints(facts.statement)


def _bind_where(where: Expression, facts: SelectFacts, scopes: tuple[ScopeStream, ...], *, stays: bool = False) -> SelectFacts:
    """Return the facts with where bound to these streams. ``stays``: it is not moved, whatever it reads."""
    refusal = "An aggregate function may not appear in a WHERE clause (use the HAVING clause)"
    scope = Scope(
        facts.catalog, scopes, clause="filter", aggregation_refusal=refusal, declarations=facts.statement.declarations,
        moved=_moves_where(facts) and not stays)
    conditions = _where_conditions(where, scope, facts, stays=stays)
    if _moves_where(facts) and not stays and not any(isinstance(node, NOT_MOVED) for node in every_node(conditions)):
        return attrs.evolve(facts, conditions=conditions)
    return attrs.evolve(facts, where=bind_in_clause(where, scope))


def _refuse_where(facts: SelectFacts) -> None:
    """Raise the refusal of a where clause that is not bound yet: Esper looks at it before on clauses and columns."""
    where = facts.select.where
    if where is not None and facts.where is None and not facts.conditions and facts.row_recognition is None:
        _bind_where(where, facts, facts.scopes)


def place_where(facts: SelectFacts) -> SelectFacts:
    """Move where into the filter of a stream without window, where that changes nothing but the cost.

    As in Esper it is not moved where a hint says so, nor in a statement that reads a table's column: a statement with a filter gets an
    event before those without, which may write the table. After match_recognize it then sees the measures.
    """
    where = facts.select.where
    if where is None:
        return facts
    if facts.where is None:
        facts = _place_where(where, facts)
    assert facts.result_set is not None
    if facts.result_set.aggregations and facts.where is not None:
        result_set.refuse_previous(facts.where, where)
    return _at_consumer(facts)


def _at_consumer(facts: SelectFacts) -> SelectFacts:
    """Test where as the rows of a named window come, by the same rules as in a filter: prior then counts those that pass, which is all
    that shows."""
    stream, where = facts.streams[0], facts.where
    if where is None or len(facts.streams) > 1 or not isinstance(stream.source, StorePlan) or facts.row_recognition is not None:
        return facts
    counts = any(isinstance(node, Prior) for node in every_node(facts.result_set))
    if not counts or stream.windows or stream.contained is not None or _keeps_where(facts) or _reads_tables(facts):
        return facts
    if any(isinstance(node, (*NOT_MOVED, TableValue, TableKeys)) for node in every_node((where,))):
        return facts
    return attrs.evolve(facts, where=None, streams=(_with_conditions(facts, (where,)),))


def _place_where(where: Expression, facts: SelectFacts) -> SelectFacts:
    stays = _keeps_where(facts) or _reads_tables(facts) or _reads_more_than_events(where, facts)
    if stays or not facts.conditions:
        facts = _bind_where(where, facts, _visible(facts) if stays else facts.scopes, stays=stays)
    if facts.where is not None:
        return facts
    return attrs.evolve(facts, conditions=(), streams=(_with_conditions(facts, facts.conditions),))


def _reads_tables(facts: SelectFacts) -> bool:
    """Return whether any expression reads a table's column, those of sub-queries among them; a table in a from clause does not count."""
    if not facts.catalog.tables:
        return False
    nodes = every_node(facts.streams, facts.row_recognition, facts.result_set)
    return any(isinstance(node, (TableValue, TableKeys)) for node in nodes)


def _reads_more_than_events(where: Expression, facts: SelectFacts) -> bool:
    """Return whether the where clause itself reads what keeps it from the filter, be it one over the events or over measures."""
    if facts.conditions:
        return False
    for scopes in {facts.scopes: None, _visible(facts): None}:
        scope = Scope(facts.catalog, scopes, clause="filter", declarations=facts.statement.declarations)
        try:
            nodes = tuple(every_node(bind_in_clause(where, scope)))
        except EplValidationError:  # as one over these it is refused, by what binds it in the end
            continue
        if any(isinstance(node, (*NOT_MOVED, TableValue, TableKeys)) for node in nodes):
            return True
    return False


def _moves_where(facts: SelectFacts) -> bool:
    """Return whether where may be moved to the source: the rows are the events of one stream as they come (no join, no window, no
    contained events, no call), or match_recognize gets those of a named window, where it shows."""
    if len(facts.streams) != 1:
        return False
    stream = facts.streams[0]
    moves = FilterPlan if facts.row_recognition is None else (FilterPlan, StorePlan)
    return isinstance(stream.source, moves) and not stream.windows and stream.contained is None


def _with_conditions(facts: SelectFacts, conditions: tuple[TypedExpression, ...]) -> StreamPlan:
    """Return the only stream, its source tests these conditions too."""
    stream = only_stream(facts.streams)
    if isinstance(stream.source, StorePlan):
        return attrs.evolve(stream, source=attrs.evolve(stream.source, conditions=(*stream.source.conditions, *conditions)))
    planned = plan_filter(stream_filter(stream).event_type, (*_filter_conditions(stream, facts), *conditions), facts.catalog)
    return attrs.evolve(stream, source=planned)


def _where_conditions(where: Expression, scope: Scope, facts: SelectFacts, *, stays: bool) -> tuple[TypedExpression, ...]:
    try:
        return bind_filters((where,), scope)
    except (SubqueryRefusal, ContextRefusal):
        raise
    except EplValidationError as error:
        retains = not _moves_where(facts) and any(stream.retains and table_stream_plan(stream) is None for stream in facts.streams)
        alone = len(
            facts.streams) == 1 and not (stays or retains) and not has_subqueries(where) and stream_pattern(facts.streams[0]) is None
        if error.message == scope.aggregation_refusal and alone:
            raise EplValidationError("Aggregation functions not allowed within filters", span=error.span, hint=error.hint) from error
        if alone:
            raise
        if error.message.startswith("Filter expression not"):
            raise EplValidationError(
                "Failed to validate expression: The where-clause filter expression must return a boolean value", span=error.span
            ) from error
        raise EplValidationError(f"Failed to validate expression: {error.message}", span=error.span, hint=error.hint) from error


def _filter_conditions(stream: StreamPlan, facts: SelectFacts) -> tuple[TypedExpression, ...]:
    """Return the only stream's filter conditions as written, the one that is looked up included."""
    assert facts.select.from_ is not None
    written = [s.source for s in facts.select.from_.streams if isinstance(s.source, TypeFilter)]
    scope = Scope(
        facts.catalog, (ScopeStream(stream.alias, stream_filter(stream).event_type),), clause="filter",
        declarations=facts.statement.declarations, allow_previous=False, in_filter=True,
    )
    return tuple(condition for source in written for condition in bind_filters(source.filters, scope))


def _visible(facts: SelectFacts) -> tuple[ScopeStream, ...]:
    """Return what select, having, order by see: the measures after match_recognize, else the streams."""
    if facts.row_recognition is None:
        return facts.scopes
    return (ScopeStream(facts.scopes[0].alias, facts.row_recognition.output_type),)


def unwrap_transpose(facts: SelectFacts) -> SelectFacts:
    """Select ``transpose(x)`` as ``x``; insert into makes of it what it is for."""
    select, place = without_transpose(facts.select)
    return facts if place is None else attrs.evolve(facts, select=select, transposed=place)


def bind_result_set(facts: SelectFacts) -> SelectFacts:
    """Bind columns, aggregations, group by, having, order by, limit."""
    try:
        plan = _result_set(facts)
    except EplValidationError:
        _refuse_where(facts)
        raise
    reclaim = None if plan.levels else reclaim_hint(read_hints(facts.statement), facts.catalog)
    return attrs.evolve(facts, result_set=attrs.evolve(plan, reclaim=reclaim))


def _result_set(facts: SelectFacts) -> ResultSetPlan:
    retained = any(stream.retains for stream in facts.streams)
    asked = all(historical_plan(stream) is not None for stream in facts.streams)
    hints = read_hints(facts.statement)
    return result_set.analyse(
        facts.select, _visible(facts), facts.catalog, output_name=f"{facts.name}_out",
        has_remove_stream=any(stream.has_data_window for stream in facts.streams) and not asked, is_unbound=not (retained or asked),
        declarations=facts.statement.declarations,
        hints=hints,
        iterable_unbound=facts.statement.annotation("IterableUnbound") is not None,
        unidirectional=_unidirectional(facts),
    )


def _unidirectional(facts: SelectFacts) -> bool:
    assert facts.select.from_ is not None
    return bool(unidirectional_streams(facts.select.from_, facts.streams))


def bind_insert(facts: SelectFacts) -> SelectFacts:
    """Bind insert into: the target type and how rows fill it."""
    clause = facts.select.insert_into
    assert facts.result_set is not None
    row_type = facts.result_set.output_type
    if facts.transposed is not None:
        return _transpose(facts, row_type, facts.transposed)
    if clause is None:
        return facts
    check_joined_wildcard(facts.select, facts.scopes, facts.catalog.event_types.get(clause.target))
    wild = any(isinstance(i.expression, (Wildcard, StreamWildcard)) for i in facts.select.items)
    columns = insert_columns(facts.select, row_type, wild)
    own_event = wild and len(facts.select.items) == 1
    plan = plan_insert(clause, row_type, columns, facts.catalog, own_event=own_event, expressions=facts.result_set.columns,
                       wild=wild and len(facts.streams) == 1, whole=is_whole(facts.select))
    return attrs.evolve(facts, insert=plan)


def _transpose(facts: SelectFacts, row_type: EventType, place: int) -> SelectFacts:
    clause = facts.select.insert_into
    if clause is None:
        check_transposed(row_type.properties[row_type.names[place]].type)
        return facts
    plan = plan_transposed(clause, row_type, place, facts.catalog)
    return attrs.evolve(facts, insert=attrs.evolve(plan, precedence=bind_precedence(clause, plan.target, facts.catalog)))


def bind_delivery_clause(facts: SelectFacts) -> SelectFacts:
    """Bind ``for grouped_delivery`` and ``for discrete_delivery``."""
    assert facts.result_set is not None
    output = facts.insert.target if facts.insert else facts.result_set.output_type
    return attrs.evolve(facts, delivery=bind_delivery(facts.select.delivery, output, facts.catalog))


def bind_join(facts: SelectFacts) -> SelectFacts:
    """Plan how rows of several streams are found; where keeps what is evaluated on the rows."""
    from_ = facts.select.from_
    assert from_ is not None
    if len(facts.streams) == 1:
        return facts
    driving = unidirectional_streams(from_, facts.streams)
    reads = {number: call.reads for number, stream in enumerate(facts.streams) if (call := historical_plan(stream)) is not None}
    plan, where = plan_join(
        [join.kind for join in from_.joins], facts.on, facts.where, driving, read_hints(facts.statement), reads,
        indexes_of_streams(facts))
    return attrs.evolve(facts, join=plan, where=where)


def indexes_of_streams(facts: SelectFacts) -> dict[int, NamedIndexes]:
    """Return the indexes of the streams that are joined; those that were created on named windows are not used, as in Esper."""
    preferred = index_hints(facts.statement)
    indexes: dict[int, NamedIndexes] = {}
    for number, stream in enumerate(facts.streams):
        table = table_stream_plan(stream)
        indexes[number] = (
            NamedIndexes(unique=unique_properties(stream)) if table is None else catalog_indexes(table.table, facts.catalog, preferred))
    return indexes


def check_looking_back(facts: SelectFacts) -> SelectFacts:
    """Check that the windows answer prev and its relatives."""
    assert facts.result_set is not None
    check_previous(facts.select, facts.streams, facts.where, facts.result_set, recognized=facts.row_recognition is not None)
    check_prior(facts.streams, (facts.where, facts.result_set), facts.select.span)
    return facts


def check_tables(facts: SelectFacts) -> SelectFacts:
    """Check where tables may be read, and what one that is written asks of the statement."""
    into = facts.result_set.into if facts.result_set is not None else None
    if into is None:
        return facts
    if _unidirectional(facts):
        raise EplValidationError("Into-table does not allow unidirectional joins", span=facts.select.span)
    if facts.row_recognition is not None:
        raise EplUnsupportedError("Into-table with match_recognize is not supported", span=facts.select.span)
    refuse_reading(into.table, (facts.streams, facts.where, facts.join, facts.result_set), facts.select)
    return facts


def read_own_keys(facts: SelectFacts) -> SelectFacts:
    """Read a partition's key where its event may be lacking."""
    if facts.catalog.statement_context is None or facts.row_recognition is not None:
        return facts
    assert facts.result_set is not None
    plan, where = of_rows_without_events(facts.result_set, facts.where, facts.streams, facts.catalog)
    return attrs.evolve(facts, result_set=plan, where=where)


SELECT_PASSES: tuple[Callable[[SelectFacts], SelectFacts], ...] = (
    find_table,
    bind_streams,
    bind_historical,
    check_join,
    bind_outer_joins,
    bind_match_recognize,
    bind_where,
    unwrap_transpose,
    bind_result_set,
    place_where,
    bind_insert,
    bind_delivery_clause,
    check_looking_back,
    bind_join,
    check_tables,
    read_own_keys,
)


def _refuse_subqueries(facts: SelectFacts) -> None:
    """Raise the first refusal of a sub-query: Esper plans them in order after the from clause, of which a where clause that is moved into
    the filter is a part, and before all clauses but ``order by``."""
    select = facts.select
    subqueries = sorted(outer_subqueries((select.items, select.where, select.having)), key=lambda each: each.number)
    if not subqueries or not facts.scopes or facts.row_recognition is not None or select.from_ is None:
        return
    check_streams(select.from_, facts.streams)
    if select.where is not None and _moves_where(facts) and not has_subqueries(select.where) and not _keeps_where(facts):
        _bind_where(select.where, facts, facts.scopes)
    scope = Scope(facts.catalog, facts.scopes, declarations=facts.statement.declarations)
    for subquery in subqueries:
        bind_subquery(subquery, scope, "exists" if subquery.exists else "value")


def analyse_select(statement: Statement, select: Select, catalog: Catalog, name: str) -> SelectPlan:
    """Return the plan of a select statement."""
    facts = SelectFacts(statement, select, catalog, name)
    for run in SELECT_PASSES:
        try:
            facts = run(facts)
        except EplValidationError:
            _refuse_subqueries(facts)
            raise
    assert facts.result_set is not None
    output = facts.insert.target if facts.insert else facts.result_set.output_type
    return SelectPlan(
        output_type=output, streams=facts.streams, join=facts.join, result_set=facts.result_set, where=facts.where,
        row_recognition=facts.row_recognition,
        insert=facts.insert, delivery=facts.delivery,
    )
