"""Sub-queries: ``(select …)`` in an expression → a typed node with its plan. Rules and refusals are Esper 9.0.0's (tests/cases/subqueries).

A sub-query's own row is its stream 0; the streams of the statement that it belongs to follow.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from epl.analysis.clauses.from_clause.historical import is_historical
from epl.analysis.clauses.from_clause.streams import NO_DATA_WINDOW, analyse_stream
from epl.analysis.clauses.grouping import names_a_property
from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import bind, bind_in_clause, column_name
from epl.analysis.expressions.binding import StatementRefusal, SubqueryRefusal, SubqueryUse, bind_subquery
from epl.analysis.expressions.context_values import ContextRefusal, check_store, subquery_mismatch
from epl.analysis.expressions.conversions import comparison_type, convert, is_array, is_opaque, require_numeric, wrapper_name
from epl.analysis.expressions.operators import equatable
from epl.analysis.expressions.properties import Read, missing, property_read, reads
from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.lookups.conditions import as_list_finds
from epl.analysis.lookups.named_indexes import NO_INDEXES, NamedIndexes, catalog_indexes, in_order_of_store
from epl.analysis.lookups.planner import conjuncts, key_property, plan_lookup
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf
from epl.plan.aggregations import AggregationPlan
from epl.plan.context.contexts import store_context
from epl.plan.expressions import (
    Aggregated,
    Arithmetic,
    Concatenation,
    Constant,
    Equality,
    Invoke,
    Local,
    Logic,
    Negation,
    Previous,
    Prior,
    StreamEvent,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
    stream_event,
)
from epl.plan.join.historical import table_stream_plan
from epl.plan.join.lookups import LookupPlan
from epl.plan.join.subqueries import SubqueryPlan, not_false, plan_subqueries, row_type, value_type
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow, StorePlan, StreamPlan, stream_filter, stream_store_plan, unique_properties
from epl.plan.windows import unique_key
from epl.spans import Span
from epl.syntax import Expression, GroupElement, RecognitionSource, Select, SelectItem, Stream, StreamWildcard, TypeFilter, Wildcard
from epl.syntax.expressions import Subquery
from epl.unparse import subquery_title
from epl.value_types import BOXED_BOOLEAN, NULL, STRING, CollectionType, MapType, ValueType, is_boolean, is_null, is_numeric

ADD_WINDOW = "add a data window, such as #keepall or #lastevent"
NO_WINDOW = "Subqueries require one or more views to limit the stream, consider declaring a length or time window"
ORDERLESS = ("sum", "count", "avg", "min", "max", "minever", "maxever", "median", "stddev", "avedev")
"""Aggregations that the order of rows makes no difference to."""
NO_AGGREGATION = (
    "Aggregation functions are not supported within subquery filters, consider using a having-clause or insert-into instead"
)
TESTS: tuple[SubqueryUse, ...] = ("exists", "in", "any", "all")


@bind_subquery.register
def _bind(
    node: Subquery, scope: Scope, use: SubqueryUse, compared: Expression | None = None, operator: str = "="
) -> TypedExpression:
    if scope.subquery_refusal is not None:
        kind = StatementRefusal if scope.clause in ("group-by-clause", "order-by-clause") else EplValidationError
        raise kind(scope.subquery_refusal, span=node.span)
    if scope.in_subquery:
        raise _nesting_refusal(node.span)
    return _Subquery(node, scope, use, operator).bind_node(compared)


class _WholeRefusal(SubqueryRefusal):
    """A refusal that does not say which sub-query it is."""


def _nesting_refusal(span: Span | None) -> SubqueryRefusal:
    return _WholeRefusal("Invalid nested subquery, subquery-within-subquery is not supported", span=span)


class _Subquery:
    """One sub-query while it is analysed."""

    def __init__(self, node: Subquery, scope: Scope, use: SubqueryUse, operator: str) -> None:
        assert isinstance(node.select, Select)
        self.node = node
        self.select: Select = node.select
        self.scope = scope
        self.use = use
        self.operator = operator
        self.title = subquery_title(node)
        self.stream, own = self._stream()
        self.collector = Collector(
            has_remove_stream=self.stream.retains, group_by_refusal="Subselect aggregations functions cannot specify a group-by")
        outer = tuple(attrs.evolve(stream, outer=True) for stream in scope.streams)
        self.inner = attrs.evolve(
            scope, streams=(own, *outer), clause="select-clause", unqualified=True, in_subquery=True, allow_previous=True,
            aggregations=None, aggregation_refusal=NO_AGGREGATION, refuses_aggregations_first=True, locals=(), substitutions=(),
            next_local=max(scope.next_local, len(self.select.group_by)))

    def _stream(self) -> tuple[StreamPlan, ScopeStream]:
        """Return the only stream. Its refusals are those of a from clause: nothing precedes them."""
        from_ = self.select.from_
        assert from_ is not None
        source = from_.streams[0]
        if isinstance(source.source, RecognitionSource):
            return self._recognition_stream(source)
        if not isinstance(source.source, TypeFilter):
            raise EplUnsupportedError("Sub-queries read streams of events only", span=source.span)
        if is_historical(source.source, self.scope.catalog) and source.source.type_name not in self.scope.catalog.tables:
            name = source.source.type_name
            raise EplUnsupportedError(
                f"A sub-query over the static table '{name}' is not supported", span=source.span, hint=f"join it: from …, {name} as d"
            )
        table = self.scope.catalog.tables.get(source.source.type_name)
        if table is not None:
            try:
                self._check_context(table, source.span)
            except EplValidationError as error:
                raise self._refuse(error) from error
        try:
            stream, own = analyse_stream(source, self.scope.catalog, self.scope.declarations)
        except EplValidationError as error:
            if error.message == NO_DATA_WINDOW:
                raise self._refuse(error) from error
            raise SubqueryRefusal(error.message, span=error.span, hint=error.hint) from error
        if any(True for _ in plan_subqueries(stream)):
            raise _nesting_refusal(source.span)
        if stream_store_plan(stream) is None and table_stream_plan(stream) is None:
            stream_filter(stream, lambda title: EplUnsupportedError(f"A sub-query over {title} is not supported", span=source.span))
        return stream, own

    def _recognition_stream(self, source: Stream) -> tuple[StreamPlan, ScopeStream]:
        """Return the rows of a SQL dialect's match_recognize; its refusals are those of the dialect."""
        stream, own = analyse_stream(source, self.scope.catalog, self.scope.declarations)
        if any(True for _ in plan_subqueries(stream)):
            raise _nesting_refusal(source.span)
        return stream, own

    def _check_context(self, store: NamedWindow | Table, span: Span | None) -> None:
        """Refuse partitions of another context, of which the sub-query would read the rows as they are."""
        mismatch = subquery_mismatch(store, self.scope.catalog)
        if mismatch is not None:
            raise EplValidationError(mismatch, span=span)

    # ------------------------------------------------------------------ the whole

    def bind_node(self, compared: Expression | None) -> TypedExpression:
        """Return the node. ``compared``: what in, any and all compare with its rows."""
        try:
            plan = self._plan()
        except (_WholeRefusal, ContextRefusal):
            raise
        except EplValidationError as refusal:
            raise self._refuse(refusal) from refusal
        operand = None
        if compared is not None:
            operand, plan = self._comparison_operands(compared, plan)
        read = sorted({s for e in (*plan.columns, plan.where, plan.having) if e is not None for s in e.streams if s > 0})
        outer = tuple(stream_event(s - 1, self.inner.streams[s].event_type) for s in read)
        plan = self._finish_plan(plan, read)
        value = value_type(plan) if self.use == "value" else BOXED_BOOLEAN
        self._check_partitions()
        return SubqueryValue(type=value, plan=plan, operand=operand, outer=outer)

    def _check_partitions(self) -> None:
        """Refuse the rows of a named window of a context outside of any context."""
        source = stream_store_plan(self.stream)
        declared = None if source is None else store_context(source.window)
        if source is None or declared is None or self.scope.catalog.statement_context is not None:
            return
        if self.scope.in_filter:
            try:
                check_store(source.window, self.scope.catalog, self.node.span)
            except EplValidationError as refusal:
                raise self._refuse(refusal) from refusal
        name, context = source.window.name, declared.name
        raise ContextRefusal(
            f"Failed to deploy: Named window '{name}' is associated to context '{context}' that is not available for querying",
            span=self.node.span, hint=f"write context {context} before the statement")

    def _refuse(self, refusal: EplValidationError) -> SubqueryRefusal:
        verb = "validate" if self.scope.in_filter else "plan"
        return SubqueryRefusal(f"Failed to {verb} {self.title}: {refusal.message}", span=refusal.span, hint=refusal.hint)

    def _plan(self) -> SubqueryPlan:
        select = self.select
        group_by = self._grouping(select.group_by)
        names, columns = self._columns()
        having = self._having()
        where = self._where()
        aggregations = tuple(self.collector.plans)
        aggregated = bool(aggregations or group_by)
        if having is not None and not _is_aggregated(having):
            where, having = _both(where, having), None  # so does Esper: it is evaluated on each row
        if having is not None and any(read.stream == 0 and read.path for read in reads(_without_receivers(having))):
            raise EplValidationError(
                "Subselect having-clause requires that all properties are under aggregation, consider using the 'first' aggregation "
                "function instead", span=self.node.span)
        where = self._where_with_filter(where)
        if self.stream.contained is not None and stream_store_plan(self.stream) is not None and _is_correlated(where):
            raise EplValidationError(
                "Failed to validate named window use in subquery, contained-event is only allowed for named windows when not correlated",
                span=self.node.span)
        self._check_previous((*columns, where, having))
        self._check_aggregations(aggregations)
        if aggregated:
            self._check_columns(columns, group_by)
        self._check_window(columns, where, aggregated)
        columns, having = self._over_groups(columns, having, group_by, aggregated)
        source = stream_store_plan(self.stream)
        if source is not None and self._shares(source, (*columns, where, having)):
            self._check_context(source.window, self.node.span)
            self.stream = attrs.evolve(self.stream, source=attrs.evolve(source, shared=True))
        running = aggregated and not _is_correlated(where) and not _is_shared(self.stream)
        return SubqueryPlan(
            use=self.use, stream=self.stream, columns=columns, names=names, row_type=row_type(names, columns) if len(columns) > 1 else None,
            outer=tuple(s.alias or s.event_type.name for s in self.inner.streams[1:]), where=where,
            lookup=None if running else LookupPlan(sought=0),
            having=having, aggregations=aggregations, group_by=group_by, operator=self.operator)

    def _shares(self, source: StorePlan, expressions: Sequence[TypedExpression | None]) -> bool:
        """Return whether the sub-query reads the rows of a named window by the window's own indexes."""
        if not (source.window.shares_indexes and self.node.shares_indexes):
            return False
        if source.conditions or self.stream.windows or self.stream.contained is not None:
            return False
        return not any(isinstance(node, (Previous, Prior)) for each in expressions if each is not None for node in each.walk())

    def _where_with_filter(self, where: TypedExpression | None) -> TypedExpression | None:
        """Return the where clause with the filter of a table, which has no other place."""
        table = table_stream_plan(self.stream)
        for condition in () if table is None else table.conditions:
            where = _both(where, condition)
        return where

    def _finish_plan(self, plan: SubqueryPlan, read: Sequence[int]) -> SubqueryPlan:
        """Return the plan with only those outer streams that it reads, and its look-up."""
        numbers = {0: 0, **{stream: place for place, stream in enumerate(read, 1)}}

        def replace(node: TypedExpression) -> TypedExpression | None:
            if isinstance(node, (StreamProperty, StreamEvent)):
                return attrs.evolve(node, stream=numbers[node.stream])
            return None

        where = None if plan.where is None else rewrite(plan.where, replace)
        columns = tuple(rewrite(column, replace) for column in plan.columns)
        source, table = stream_store_plan(plan.stream), table_stream_plan(plan.stream)
        store = table.table if table is not None else source.window if source is not None and source.shared else None
        named = NO_INDEXES if store is None else catalog_indexes(store, self.scope.catalog, self.node.preferred)
        try:
            lookup = None if plan.running else _lookup(plan, where, 1 + len(read), named)
        except StatementRefusal as refusal:
            raise self._refuse(refusal) from refusal
        if lookup is not None and store is not None and _shows_order(plan):
            lookup = in_order_of_store(lookup, named)
        return attrs.evolve(
            plan, columns=columns, where=where, having=None if plan.having is None else rewrite(plan.having, replace),
            membership=_membership(plan, columns[0], where, 1 + len(read)), lookup=lookup,
            outer=tuple(plan.outer[stream - 1] for stream in read))

    # ------------------------------------------------------------------ clauses

    def _columns(self) -> tuple[tuple[str, ...], tuple[TypedExpression, ...]]:
        items = self.select.items
        scope = attrs.evolve(self.inner, aggregations=self.collector)
        wild = any(isinstance(item.expression, (Wildcard, StreamWildcard)) for item in items)
        if len(items) > 1 and wild:
            raise EplValidationError(
                "Subquery multi-column select does not allow wildcard or stream wildcard when selecting multiple columns.",
                span=items[0].span)
        if len(items) > 1 and (self.use in TESTS or self.scope.in_filter):
            raise EplValidationError("Subquery multi-column select is not allowed in this context.", span=items[0].span)
        names = tuple(self._name(item, scope) for item in items)
        twice = next((place for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise _WholeRefusal(f"Column {twice} in subquery does not have a unique column name assigned", span=items[twice].span)
        return names, tuple(self._column(item, scope) for item in items)

    def _name(self, item: SelectItem, scope: Scope) -> str:
        if item.alias is not None:
            return item.alias
        if isinstance(item.expression, (Wildcard, StreamWildcard)):
            return f"subselect_{self.node.number}"
        return column_name(item.expression, scope)

    def _column(self, item: SelectItem, scope: Scope) -> TypedExpression:
        if isinstance(item.expression, (Wildcard, StreamWildcard)):
            if isinstance(item.expression, StreamWildcard):
                bind(item.expression, scope)  # for its refusal: as in Esper, whatever stream it names, the row is the sub-query's own
            return stream_event(0, scope.streams[0].event_type)
        clause = "subquery select-clause" if self.scope.in_filter else "select-clause"
        return bind_in_clause(item.expression, attrs.evolve(scope, clause=clause))

    def _where(self) -> TypedExpression | None:
        if self.select.where is None:
            return None
        where = bind_in_clause(self.select.where, attrs.evolve(self.inner, clause="filter"))
        if not is_boolean(where.type):
            raise EplValidationError("Subselect filter expression must return a boolean value", span=self.select.where.span)
        return where

    def _having(self) -> TypedExpression | None:
        if self.select.having is None:
            return None
        having = bind_in_clause(self.select.having, attrs.evolve(self.inner, clause="having-clause", aggregations=self.collector))
        if not is_boolean(having.type):
            raise EplValidationError("Subselect having-clause expression must return a boolean value", span=self.select.having.span)
        return having

    def _grouping(self, elements: tuple[GroupElement, ...]) -> tuple[TypedExpression, ...]:
        scope = attrs.evolve(
            self.inner, clause="group-by-clause",
            aggregation_refusal="Group-by expressions in a subselect may not have an aggregation function")
        keys: list[TypedExpression] = []
        for element in elements:
            if element.kind != "expression" or not isinstance(element.items[0], Expression):
                raise EplValidationError("Group-by expressions in a subselect may not have rollups", span=self.node.span)
            key = bind_in_clause(element.items[0], scope)
            if not names_a_property(key, scope):
                raise EplValidationError("Group-by expressions must refer to property names", span=self.node.span)
            if any(isinstance(part, (Previous, Prior)) for part in key.walk()):
                raise EplValidationError(
                    "Group-by expressions in a subselect may not have a function that requires view resources (prior, prev)",
                    span=self.node.span)
            for read in reads((key,)):
                if read.stream > 0:
                    raise EplValidationError(
                        "Subselect with group-by requires that group-by properties are provided by the subselect stream only "
                        f"({self._name_read(read, element.items[0], scope)} is not)", span=self.node.span)
            keys.append(key)
        return tuple(keys)

    @staticmethod
    def _name_read(read: Read, key: Expression, scope: Scope) -> str:
        name = read.path.rsplit(".", 1)[-1]
        return f"property '{name}'" if name else f"expression '{column_name(key, scope)}' against stream {read.stream}"

    # ------------------------------------------------------------------ rules of aggregation

    def _check_previous(self, expressions: Sequence[TypedExpression | None]) -> None:
        nodes = (node for e in expressions if e is not None for node in e.walk() if isinstance(node, (Previous, Prior)))
        if any(node.stream > 0 for node in nodes):
            raise EplValidationError(
                "The prev and prior functions of a sub-query look back on its own stream", span=self.node.span)

    def _check_aggregations(self, aggregations: Sequence[AggregationPlan]) -> None:
        if any(stream > 0 for plan in aggregations for e in plan.expressions for stream in e.streams):
            raise EplValidationError("Subselect aggregation functions cannot aggregate across correlated properties", span=self.node.span)

    def _check_columns(self, columns: Sequence[TypedExpression], group_by: Sequence[TypedExpression]) -> None:
        """Check which properties a select clause has beside aggregations."""
        own = [[read for read in reads((column,)) if read.stream == 0] for column in columns]
        if any(read and _is_aggregated(column) for read, column in zip(own, columns)):
            raise EplValidationError("Subselect properties must all be within aggregation functions", span=self.node.span)
        if group_by:
            if missing(reads(columns), reads(group_by)) is not None:
                raise EplValidationError(
                    "Subselect with group-by requires non-aggregated properties in the select-clause to also appear in the group-by clause",
                    span=self.node.span)
        elif len(columns) > 1 and any(own) and any(map(_is_aggregated, columns)):
            raise EplValidationError(
                "Subquery with multi-column select requires that either all or none of the selected columns are under aggregation, unless "
                "a group-by clause is also specified", span=self.node.span)

    def _check_window(self, columns: Sequence[TypedExpression], where: TypedExpression | None, aggregated: bool) -> None:
        """Refuse a stream without a window, whose rows never leave, unless the answer depends on aggregations alone, or on whether there
        are rows."""
        if self.stream.retains and table_stream_plan(self.stream) is None:
            return
        if self.scope.in_filter and not self.stream.retains:
            raise EplValidationError(NO_WINDOW, span=self.node.span, hint=ADD_WINDOW)
        previous = next((n for e in (*columns, where) if e is not None for n in e.walk() if isinstance(n, Previous)), None)
        if previous is not None:
            raise EplValidationError(
                "Required data window not found for the 'prev' function, specify a data window for which previous events are retained",
                span=self.node.span)
        if table_stream_plan(self.stream) is not None:
            return
        wildcard = isinstance(self.select.items[0].expression, Wildcard)
        plain = not aggregated and not wildcard and any(read.stream == 0 for read in reads(columns))
        if _is_correlated(where) or plain:
            raise EplValidationError(
                f"{NO_WINDOW} (applies to correlated or non-fully-aggregated subqueries)", span=self.node.span, hint=ADD_WINDOW)

    def _over_groups(
        self, columns: Sequence[TypedExpression], having: TypedExpression | None, group_by: Sequence[TypedExpression], aggregated: bool
    ) -> tuple[tuple[TypedExpression, ...], TypedExpression | None]:
        """Columns and having as they are evaluated: of a group, properties are its keys; of all rows they are null."""
        if not aggregated:
            return tuple(columns), having

        def replace(node: TypedExpression) -> TypedExpression | None:
            if node in group_by:
                number = group_by.index(node)
                return Local(type=node.type.boxed, number=number, name=f"key {number}")
            read = property_read(node)
            if read is not None and read.stream == 0:
                if group_by:
                    raise EplUnsupportedError(
                        "A sub-query with group by that reads a part of a key is not supported", span=self.node.span)
                return Constant(type=node.type.boxed, value=None)
            return None

        return tuple(rewrite(column, replace) for column in columns), None if having is None else rewrite(having, replace)

    # ------------------------------------------------------------------ in, any, all

    def _comparison_operands(self, compared: Expression, plan: SubqueryPlan) -> tuple[TypedExpression, SubqueryPlan]:
        """Return the value and the column in the type in which they are compared."""
        value = bind(compared, self.scope)
        column = plan.columns[0]
        target = self._common_type(value, column)
        if target is None:
            return value, plan
        return convert(value, target, whole=True), attrs.evolve(plan, columns=(convert(column, target, whole=True),))

    def _common_type(self, value: TypedExpression, column: TypedExpression) -> ValueType | None:
        if is_null(value.type) or is_array(value.type) or isinstance(value.type, (CollectionType, MapType)):
            raise EplValidationError(
                "Collection or array comparison and null-type values are not allowed for the IN, ANY, SOME or ALL keywords")
        if self.operator in ("<", "<=", ">", ">=") and not (value.type == STRING and column.type == STRING):
            for side in (value, column):
                require_numeric(side)
        if is_numeric(value.type) and is_numeric(column.type):
            return comparison_type(value.type, column.type)
        if is_opaque(value.type) or is_opaque(column.type) or column.type == NULL:
            return None
        if not equatable(value.type, column.type):
            raise EplValidationError(
                f"Implicit conversion from datatype '{wrapper_name(column)}' to '{wrapper_name(value)}' is not allowed")
        return None


def _shows_order(plan: SubqueryPlan) -> bool:
    """Return whether what a sub-query gives may depend on the order of its rows."""
    return plan.use in ("value", "rows") and not (
        plan.aggregated and all(each.function in ORDERLESS for each in plan.aggregations) and not plan.group_by)


def _is_shared(stream: StreamPlan) -> bool:
    """Return whether rows are read by the indexes of the named window or table itself."""
    source = stream_store_plan(stream)
    return table_stream_plan(stream) is not None or (source is not None and source.shared)


def _lookup(plan: SubqueryPlan, where: TypedExpression | None, arity: int, named: NamedIndexes) -> LookupPlan:
    """Return how rows are found: those for which where is true; with ``counts_null`` also those for which it is null."""
    named = attrs.evolve(named, unique=unique_properties(plan.stream))
    if not plan.counts_null:
        return plan_lookup(conjuncts(where), 0, range(1, arity), named)
    conditions = conjuncts(where)
    lookup = plan_lookup(_lookup_conditions(plan.stream, conditions, arity), 0, range(1, arity), named)
    evaluated = [*lookup.conditions, *(condition for condition in conditions if condition not in lookup.applied)]
    return attrs.evolve(
        lookup, conditions=tuple(map(not_false, evaluated)), applied=conditions, null_safe=(True,) * len(lookup.null_safe))


def _membership(plan: SubqueryPlan, column: TypedExpression, where: TypedExpression | None, arity: int) -> LookupPlan | None:
    """Return how those of the same rows are found whose column equals a value; None where that is not all that is asked of them."""
    equals = {"in": ("=",), "any": ("=", "is"), "all": ("!=", "is not")}.get(plan.use, ())
    if plan.operator not in equals or plan.aggregated or column.streams != {0} or isinstance(column.type, EventOf):
        return None
    same = Equality(type=BOXED_BOOLEAN, left=column, right=StreamProperty(type=column.type.boxed, stream=arity, name="value"))
    conditions = conjuncts(where)
    known = _lookup_conditions(plan.stream, conditions, arity)
    named = NamedIndexes(unique=unique_properties(plan.stream))
    all_rows, lookup = plan_lookup(known, 0, range(1, arity), named), plan_lookup([*known, same], 0, range(1, arity + 1), named)
    evaluated = [condition for condition in lookup.conditions if condition != same]
    looked_up = [condition for condition in evaluated if condition not in all_rows.conditions]
    null_passes = [*(c for c in evaluated if c not in looked_up), *(c for c in conditions if c not in lookup.applied)]
    return attrs.evolve(
        lookup, conditions=(*(as_list_finds(c, 0) for c in looked_up), *map(not_false, null_passes)), applied=(*conditions, same),
        null_safe=(True,) * len(lookup.null_safe))


def _lookup_conditions(stream: StreamPlan, conditions: Sequence[TypedExpression], arity: int) -> list[TypedExpression]:
    """Return the conditions that Esper has an index for, in which null finds null and no other row: over properties as they are; where a
    window holds one row of each key, and the key is given, over that alone.
    """
    known = [condition for condition in conditions if not _computes_key(condition)]
    key = unique_key(stream.windows) if stream.retain != "union" else ()
    names = {key_property(part) for part in key}
    if not key or None in names:
        return known
    asked = [(condition, plan_lookup([condition], 0, range(1, arity)).index) for condition in known]
    equal = [(c, key_property(index.hash[0])) for c, index in asked if index is not None and isinstance(c, Equality)]
    chosen: list[TypedExpression] = [condition for condition, name in equal if name in names]
    return chosen if {name for _, name in equal} >= names else known


def _computes_key(condition: TypedExpression) -> bool:
    """Return whether a part that reads the row is not a property."""
    return any(isinstance(node, (Arithmetic, Concatenation, Negation)) and 0 in node.streams for node in condition.walk())


def _is_correlated(condition: TypedExpression | None) -> bool:
    return condition is not None and any(stream > 0 for stream in condition.streams)


def _without_receivers(expression: TypedExpression) -> Iterator[TypedExpression]:
    """Yield the parts of an expression that Esper's rules of aggregation look into: not what a method is called on."""
    if not isinstance(expression, Invoke):
        parts = tuple(expression.children())
        if not parts or property_read(expression) is not None:
            yield expression
            return
    else:
        parts = expression.arguments[expression.null_receiver:]
    for part in parts:
        yield from _without_receivers(part)


def _both(where: TypedExpression | None, having: TypedExpression) -> TypedExpression:
    return having if where is None else Logic(type=BOXED_BOOLEAN, operator="and", operands=(where, having))


def _is_aggregated(expression: TypedExpression) -> bool:
    return any(isinstance(node, Aggregated) for node in expression.walk())


__all__ = ["NO_WINDOW"]
