"""select, group by, having, order by, limit → ResultSetPlan; which of the output shapes it is."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import attrs

from epl.analysis.clauses.grouping import Grouping, analyse_grouping, make_level
from epl.analysis.clauses.into_table import plan_into_table, target_table
from epl.analysis.clauses.output_clause import PREFIX, analyse_output
from epl.analysis.clauses.selection import InsertTarget, Selection, analyse_selection
from epl.analysis.expressions.aggregations import GROUP_BY_AGGREGATED, Collector
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.context_values import check_variable
from epl.analysis.expressions.declared import find_alias, find_declaration
from epl.analysis.expressions.own_keys import key_replacement
from epl.analysis.expressions.properties import Read, missing, property_or_call, reads
from epl.analysis.expressions.rewriting import rewrite, rewrite_syntax, syntax_nodes
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import (
    Aggregated,
    Constant,
    GroupingCall,
    Previous,
    Prior,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
    VariableValue,
)
from epl.plan.result_set import LimitPlan, OrderKey, OutputPlan, ResultSetPlan, Shape, StreamSelector
from epl.plan.walk import plan_expressions, walk_plan
from epl.syntax import Call, Chain, Expression, Literal, Name, Select, StreamWildcard, SubstitutionParameter, Unary, Wildcard
from epl.syntax.expressions import Subquery
from epl.syntax.nodes import Node
from epl.unparse import quote_expression
from epl.value_types import INT, Scalar, is_boolean

OF_LEVELS = ("grouping", "grouping_id")
"""Functions of the levels of a rollup, which have a refusal of their own."""
NO_SUBQUERIES_IN_KEYS = "Subselects not allowed within group-by"
RECLAIM_HINTS = ("reclaim_group_aged", "disable_reclaim_group")


def analyse(
    select: Select,
    streams: tuple[ScopeStream, ...],
    catalog: Catalog,
    *,
    output_name: str,
    has_remove_stream: bool,
    is_unbound: bool,
    declarations: tuple[Any, ...] = (),
    unidirectional: bool = False,
    iterable_unbound: bool = False,
    hints: Container[str] = (),
    allow_previous: bool = True,
) -> ResultSetPlan:
    """Return the plan of what follows windows, where and match_recognize.

    ``output_name`` names the output type where the select makes one. ``has_remove_stream``: rows may leave; ``is_unbound``: no data window
    at all. Raises EplValidationError in Esper's words.
    """
    output, refused_output = _output(select, catalog, hints)
    plain = Scope(catalog, streams, declarations=declarations, allow_previous=allow_previous)
    grouping = _grouping(select, plain, output_name, has_remove_stream)
    collector = _collector(select, grouping, has_remove_stream, rows_leave=not is_unbound)
    scope = attrs.evolve(plain, aggregations=collector)
    selection, having, order_by = _clauses(select, scope, collector, grouping, output_name, hints)
    each_group = output is not None and output.selector in ("first", "last")
    shape = decide_shape(
        selection, grouping, having, order_by, tuple(collector.plans), each_group, shown=lambda read: _name_read(read, select.items, scope))
    if shape == "fully aggregated":
        order_by = _of_no_row(order_by)
    if grouping.levels is not None:
        order_by = _order_of_levels(select, scope, grouping)
    groups = _without_needless_groups(shape, grouping)
    table = target_table(select, catalog)
    into = None if table is None else plan_into_table(table, select, _columns(selection), grouping.keys, collector)
    if refused_output is not None:
        raise refused_output
    limit = _limit(select, catalog)
    if select.having is not None and having is not None and not is_boolean(having.type):
        raise StatementRefusal("The having-clause expression must return a boolean value", span=select.having.span)
    selector: StreamSelector = select.stream or catalog.settings.default_stream_selector  # type: ignore[assignment]
    return ResultSetPlan(
        shape=shape,
        output_type=selection.output_type,
        columns=selection.columns,
        arity=max(1, len(streams)),
        forward=selection.forward,
        selector=selector,
        raw=_raw(select, selector),
        distinct=select.distinct,
        group_by=groups.keys,
        levels=tuple(make_level(level, groups.keys, selection.columns, having, order_by) for level in groups.levels or ()),
        having=having,
        order_by=order_by,
        limit=limit,
        aggregations=tuple(collector.plans),
        unbound=not has_remove_stream,
        unidirectional=unidirectional,
        iterable_unbound=iterable_unbound or catalog.settings.iterable_unbound,
        output=output,
        into=into,
    )


def _grouping(select: Select, scope: Scope, output_name: str, has_remove_stream: bool) -> Grouping:
    """Return the keys and levels of group by; refuse first what Esper refuses before them."""
    key_scope = attrs.evolve(
        scope, clause="group-by-clause", aggregation_refusal=GROUP_BY_AGGREGATED, refuses_aggregations_first=True,
        subquery_refusal=NO_SUBQUERIES_IN_KEYS
    )
    try:
        grouping = analyse_grouping(select.group_by, key_scope)
    except EplValidationError:
        _refuse_before_keys(select, scope, output_name, has_remove_stream)
        raise
    return grouping


def _output(select: Select, catalog: Catalog, hints: Container[str]) -> tuple[OutputPlan | None, EplValidationError | None]:
    """Return the plan of the output clause and the refusal of its rate, which comes after those of the other clauses."""
    try:
        return analyse_output(select.output, catalog, ordered=bool(select.order_by), limited=select.limit is not None, hints=hints), None
    except EplValidationError as refusal:
        if not refusal.message.startswith(PREFIX):
            raise
        return None, refusal


def _refuse_before_keys(select: Select, scope: Scope, output_name: str, has_remove_stream: bool) -> None:
    """Refuse what Esper refuses before it looks at the names in group by: select, having and order by, and keys that are none."""
    collector = Collector(has_remove_stream=has_remove_stream)
    inner = attrs.evolve(scope, aggregations=collector)
    analyse_selection(select.items, inner, output_name)
    _having(select, inner)
    _order_keys(select, inner)
    for node in syntax_nodes(select.group_by):
        if isinstance(node, Subquery):
            raise StatementRefusal(NO_SUBQUERIES_IN_KEYS, span=node.span)
        if isinstance(node, Call) and node.name.lower() in scope.catalog.aggregations and node.name.lower() not in OF_LEVELS:
            raise StatementRefusal(GROUP_BY_AGGREGATED, span=node.span)


def _clauses(
    select: Select, scope: Scope, collector: Collector, grouping: Grouping, output_name: str, hints: Container[str]
) -> tuple[Selection, TypedExpression | None, tuple[OrderKey, ...]]:
    """select, having and order by, whose aggregations the collector has then; under a context over the partition's keys."""
    catalog, streams = scope.catalog, scope.streams
    selection = analyse_selection(select.items, scope, output_name, InsertTarget.of(select.insert_into, catalog))
    selected = len(collector.plans)
    having = _having(select, scope)
    order_by = _order_keys(select, scope)
    if collector.plans and having is not None:
        refuse_previous(having, select.having)
    if collector.plans and grouping.levels is not None and select.into_table is None and any(hint in hints for hint in RECLAIM_HINTS):
        raise StatementRefusal("Reclaim hints are not available with rollup", span=select.group_by[0].span)
    selection.accepted()
    _check_order(order_by, selected, select, collector, scope)
    if collector.plans and having is not None:
        _check_having(having, grouping, select, attrs.evolve(scope, aggregations=None))
    if collector.plans and catalog.statement_context is not None:
        return _with_own_keys(streams, catalog, grouping, selection, having, order_by)
    return selection, having, order_by


def _as_own_keys(
    streams: Sequence[ScopeStream], catalog: Catalog, grouping: Grouping
) -> Callable[[TypedExpression], TypedExpression | None]:
    grouped = {(read.stream, read.path) for read in reads(grouping.keys)} if grouping.levels is not None else frozenset()
    return key_replacement([stream.event_type for stream in streams], catalog, grouped)


def _with_own_keys(
    streams: Sequence[ScopeStream], catalog: Catalog, grouping: Grouping, selection: Selection, having: TypedExpression | None,
    order_by: tuple[OrderKey, ...]
) -> tuple[Selection, TypedExpression | None, tuple[OrderKey, ...]]:
    """Return the clauses with the partition's key in place of the properties that it is cut by."""
    replace = _as_own_keys(streams, catalog, grouping)
    return (
        attrs.evolve(selection, columns=tuple(rewrite(each, replace) for each in selection.columns),
                     expressions=tuple(rewrite(each, replace) for each in selection.expressions)),
        None if having is None else rewrite(having, replace),
        tuple(attrs.evolve(key, expression=rewrite(key.expression, replace)) for key in order_by),
    )


def _columns(selection: Selection) -> dict[str, TypedExpression]:
    """Return the columns by name; none where events are handed on as they are."""
    return dict(zip(selection.output_type.names, selection.columns))


def _check_order(order_by: tuple[OrderKey, ...], selected: int, select: Select, collector: Collector, scope: Scope) -> None:
    """Raise StatementRefusal for an aggregation after the first ``selected`` ones, those of the select clause, or of a declared expression:
    to Esper two calls of one are never equal."""
    if select.into_table is not None:  # there every aggregation is selected
        return
    slots = {n.slot for key in order_by for n in key.expression.walk() if isinstance(n, Aggregated)}
    if any(slot >= selected or _calls_to_declarations(collector.calls[slot].arguments, scope) for slot in slots):
        raise StatementRefusal(
            "Aggregate functions in the order-by clause must also occur in the select expression", span=select.order_by[0].span
        )


def _collector(select: Select, grouping: Grouping, has_remove_stream: bool, *, rows_leave: bool) -> Collector:
    return Collector(
        has_remove_stream=has_remove_stream,
        rows_leave=rows_leave,
        group_by=grouping.keys,
        rollup=grouping.levels is not None,
        omitted=grouping.omitted,
        group_by_refusal=_group_by_refusal(select, grouping),
        into_table=select.into_table is not None,
    )


def _group_by_refusal(select: Select, grouping: Grouping) -> str | None:
    if grouping.levels is not None:
        return "Roll-up and group-by parameters cannot be combined"
    return "Into-table and group-by parameters cannot be combined" if select.into_table else None


def _raw(select: Select, selector: StreamSelector) -> bool:
    """Return whether insert into routes a stream that the listeners do not get."""
    if select.insert_into is None:
        return False
    routed = select.insert_into.stream or "istream"
    return (routed != selector and selector != "irstream") or routed == "rstream"


def _without_needless_groups(shape: Shape, grouping: Grouping) -> Grouping:
    """Drop the group by of a row-per-event select without aggregations, where it changes nothing."""
    return Grouping() if shape == "un-aggregated" else grouping


# ------------------------------------------------------------------ having, order by, limit


def _having(select: Select, scope: Scope) -> TypedExpression | None:
    if select.having is None:
        return None
    try:
        bound = bind_in_clause(select.having, attrs.evolve(scope, clause="having-clause"))
    except EplValidationError as error:
        alias = next((item.alias for item in select.items if item.alias and f"named '{item.alias}'" in error.message), None)
        if alias is not None and error.hint is None:
            error.hint = f"having does not see the name '{alias}' of the select clause: write its expression"
        raise
    return bound


def refuse_previous(condition: TypedExpression, written: Expression | None) -> None:
    """Refuse prev in the where- or having-clause of a statement with aggregations, as Esper does."""
    evaluated = (condition, *_having_arguments(condition))
    previous = next((n for e in evaluated for n in e.walk() if isinstance(n, Previous)), None)
    if previous is not None:
        name = {"previous": "prev", "tail": "prevtail", "count": "prevcount", "window": "prevwindow"}[previous.kind]
        raise StatementRefusal(
            f"The '{name}' function may not occur in the where-clause or having-clause of a statement with aggregations as 'previous' does "
            "not provide remove stream data; Use the 'first','last','window' or 'count' aggregation functions instead",
            span=None if written is None else written.span,
        )


def _check_having(having: TypedExpression, grouping: Grouping, select: Select, scope: Scope) -> None:
    """Check that having, with group by, reads keys, and properties that an aggregation of the having clause reads too.

    Esper gives the latter their value on the row's own event. Events themselves it never takes.
    """
    if not grouping.keys:
        return
    assert select.having is not None
    _refuse_passed_events((select.having,), scope)
    aggregated = (read for read in reads(_having_arguments(having)) if read.path)
    absent = missing(reads((having,)), (*reads(grouping.keys), *aggregated))
    if absent is None:
        return
    written = _reading_clause(absent, select.having, scope)
    raise StatementRefusal(
        f"Non-aggregated {_name_read(absent, select.having, scope)} in the HAVING clause must occur in the group-by clause",
        span=None if written is None else written.span,
        hint="add it to group by, or aggregate it: a row of a group has no event of its own",
    )


def _calls_to_declarations(written: Sequence[Node], scope: Scope) -> list[Name | Call]:
    """Return the calls of declared expressions, and the aliases, within what is written."""
    firsts = [node.links[0] for part in written for node in walk_plan(part) if isinstance(node, Chain) and node.root is None and node.links]
    return [
        first for first in firsts
        if (isinstance(first, Call) and find_declaration(first.name, scope)) or (isinstance(first, Name) and find_alias(first.name, scope))
    ]


def _refuse_passed_events(having: Sequence[Node], scope: Scope) -> None:
    """Raise StatementRefusal for an event that a declared expression takes: as in Esper it is no key, even where it is aggregated."""
    aliases = [stream.alias for stream in scope.streams]
    for call in _calls_to_declarations(having, scope):
        for argument in call.arguments if isinstance(call, Call) else ():
            name = argument.links[0] if isinstance(argument, Chain) and len(argument.links) == 1 else None
            if isinstance(name, Name) and name.name in aliases:
                raise StatementRefusal(
                    f"Non-aggregated expression {quote_expression(argument)} against stream {aliases.index(name.name)} in the HAVING "
                    "clause must "
                    "occur in the group-by clause", span=argument.span, hint="write the body of the declared expression")


def _having_arguments(having: TypedExpression) -> list[TypedExpression]:
    """Return what the aggregations of the having clause consist of."""
    return [e for n in having.walk() if isinstance(n, Aggregated) and n.plan is not None for e in n.plan.expressions]


def _reading_clause(read: Read, clause: object, scope: Scope) -> Expression | None:
    """Return where the clause reads the property; the clause itself, if it is one expression, where a declared expression does."""
    plain = attrs.evolve(scope, aggregations=None)
    for node in walk_plan(clause):
        if isinstance(node, Chain):
            try:
                bound = bind(node, plain)
            except EplError:  # an aggregation, or the property of a lambda's parameter
                continue
            if property_or_call(bound) == read:
                return node
    return clause if isinstance(clause, Expression) else None


def _name_read(read: Read, clause: object, scope: Scope) -> str:
    """Name the read as Esper does: the property, or the expression where it is more than a property."""
    if read.path and read.chain is None:
        return str(read)
    written = _reading_clause(read, clause, scope)
    return str(read) if written is None else f"expression {quote_expression(written)} against stream {read.stream}"


def _order_of_levels(select: Select, scope: Scope, grouping: Grouping) -> tuple[OrderKey, ...]:
    """Return the order keys of the rows of a rollup, which Esper reads once more: a name is a property then, not a column."""
    inner = attrs.evolve(scope, clause="group-by-clause")
    keys = tuple(OrderKey(bind_in_clause(item.expression, inner), item.descending) for item in select.order_by)
    if scope.catalog.statement_context is None:
        return keys
    replace = _as_own_keys(scope.streams, scope.catalog, grouping)
    return tuple(attrs.evolve(key, expression=rewrite(key.expression, replace)) for key in keys)


def _order_keys(select: Select, scope: Scope) -> tuple[OrderKey, ...]:
    """Order keys; the name of a column stands for its expression."""
    columns = {i.alias: i.expression for i in select.items if i.alias and not isinstance(i.expression, (Wildcard, StreamWildcard))}

    def replace(node: Node) -> Node | None:
        if isinstance(node, Chain) and node.root is None and len(node.links) == 1 and isinstance(node.links[0], Name):
            return columns.get(node.links[0].name)
        return None

    inner = attrs.evolve(scope, clause="order-by-clause", subquery_refusal="Subselects not allowed within order-by clause")
    return tuple(OrderKey(bind_in_clause(rewrite_syntax(item.expression, replace), inner), item.descending) for item in select.order_by)


def _of_no_row(order_by: Sequence[OrderKey]) -> tuple[OrderKey, ...]:
    """Return the keys of rows that stem from no event: its properties are null. Each prev and prior looks for its event by itself."""

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, (Previous, Prior)):
            return node
        return attrs.evolve(node, optional=True, type=node.type.boxed) if isinstance(node, StreamProperty) else None

    return tuple(attrs.evolve(key, expression=rewrite(key.expression, replace)) for key in order_by)


def _limit(select: Select, catalog: Catalog) -> LimitPlan | None:
    if select.limit is None:
        return None
    rows = _limit_value(select.limit.rows, catalog)
    offset = None if select.limit.offset is None else _limit_value(select.limit.offset, catalog)
    if isinstance(offset, Constant) and offset.value < 1:
        raise StatementRefusal("Limit clause requires a positive offset", span=select.limit.offset.span if select.limit.offset else None)
    return LimitPlan(rows, offset)


def _limit_value(expression: Expression, catalog: Catalog) -> TypedExpression:
    """Return a whole number, or a variable that holds one."""
    sign = 1
    if isinstance(expression, Unary) and expression.operator == "-":
        sign, expression = -1, expression.operand
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return Constant(value=sign * expression.value, type=INT)
    if isinstance(expression, Chain) and expression.root is None and len(expression.links) == 1 and isinstance(expression.links[0], Name):
        name = expression.links[0].name
        variable = catalog.variables.get(name)
        if variable is None:
            raise StatementRefusal(f"Limit clause variable by name '{name}' has not been declared", span=expression.span)
        check_variable(variable, catalog, expression.span)
        if not isinstance(variable.type, Scalar) or variable.type.kind not in ("int", "short", "byte", "long"):
            raise StatementRefusal("Limit clause requires a variable of numeric type", span=expression.span)
        return VariableValue(name=name, type=variable.type)
    if isinstance(expression, SubstitutionParameter):
        raise EplUnsupportedError("Substitution parameters are not supported in the limit clause", span=expression.span)
    raise StatementRefusal("Limit clause requires a whole number or a variable of numeric type", span=expression.span)


# ------------------------------------------------------------------ the shape


def decide_shape(
    selection: Selection,
    grouping: Grouping,
    having: TypedExpression | None,
    order_by: Sequence[OrderKey],
    aggregations: Sequence[AggregationPlan],
    each_group: bool = False,
    shown: Callable[[Read], str] = str,
) -> Shape:
    """Return which shape a select has (Esper reference, chapter 2, "Basic Aggregated Statement Types").

    ``each_group``: output first or last, which make group by matter to a wildcard select too. ``shown``: how a refusal names a read.

    Raises EplValidationError for rollup where rows would be per event.
    """
    local = _local_groups_match(aggregations, grouping)
    if not grouping.keys and grouping.levels is None:
        if not aggregations:
            return "un-aggregated"
        looks_back = _looks_back(selection.expressions) or _has_previous(aggregations, order_by)
        of_row = reads((*selection.expressions, *((having,) if having is not None else ())), of_lambdas=True)
        only_aggregated = not of_row and not selection.whole and not selection.streams and not looks_back
        only_aggregated = only_aggregated and not _asks_of_row((*selection.expressions, *((having,) if having is not None else ())))
        return "fully aggregated" if only_aggregated and local else "aggregated"
    select_reads = reads(selection.expressions)
    of_row = select_reads if having is None else (*select_reads, *reads((having,)))
    reason = _why_not_per_group(selection, of_row, grouping, shown)
    shows = (*of_row, *_read_by_grouping((*selection.expressions, *(() if having is None else (having,))), grouping))
    ordering = [key.expression for key in order_by]
    in_select = selection.whole or missing((*reads(ordering), *_read_by_grouping(ordering, grouping)), shows) is None
    if reason is None and in_select and local:
        return "grouped fully aggregated" if grouping.levels is None else "rollup"
    if grouping.levels is not None:
        raise StatementRefusal(
            f"Group-by with rollup requires a fully-aggregated query, the query is not full-aggregated because of {reason or 'order by'}"
        )
    if not aggregations and having is None and selection.whole and not each_group:
        return "un-aggregated"
    return "grouped aggregated"


def _read_by_grouping(expressions: Sequence[TypedExpression], grouping: Grouping) -> tuple[Read, ...]:
    """Return what the arguments of ``grouping`` and ``grouping_id`` read."""
    calls = (node for each in expressions for node in each.walk() if isinstance(node, GroupingCall))
    return reads(grouping.keys[key] for call in calls for key in call.keys)


def _why_not_per_group(
    selection: Selection, select_reads: Sequence[Read], grouping: Grouping, shown: Callable[[Read], str]
) -> str | None:
    if selection.whole:
        return "wildcard select"
    if selection.streams:
        return "stream select"
    absent = missing(select_reads, reads(grouping.keys))
    return None if absent is None else shown(absent)


def _local_groups_match(aggregations: Sequence[AggregationPlan], grouping: Grouping) -> bool:
    """Return whether every ``group_by:`` takes its keys from the statement's own."""
    return all(a.group_by is None or set(a.group_by) <= set(grouping.keys) for a in aggregations)


def _asks_of_row(expressions: Sequence[TypedExpression]) -> bool:
    """Return whether a sub-query reads the row."""
    return any(isinstance(n, SubqueryValue) and n.outer for e in expressions for n in e.walk())


def _looks_back(expressions: Sequence[TypedExpression]) -> bool:
    return any(isinstance(n, (Previous, Prior)) for e in expressions for n in e.walk())


def _has_previous(*plans: Sequence[Any]) -> bool:
    """Return whether prev is anywhere in them: as in Esper it makes rows per event wherever it is, even within an aggregation."""
    return any(isinstance(n, Previous) for e in plan_expressions(plans) for n in e.walk())


__all__ = ["analyse", "decide_shape", "refuse_previous"]
