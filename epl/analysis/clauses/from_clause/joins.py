"""Joins: what their streams must have and what their on clauses may say."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.clauses.from_clause.streams import refuse_pattern_annotations
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.properties import property_read
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.join.historical import historical_plan, table_stream_plan
from epl.plan.streams import FilterPlan, StreamPlan, stream_filter, stream_store_plan
from epl.syntax import Comparison, Declaration, Expression, From, Join, Select, StreamWildcard, Wildcard
from epl.unparse import expression_text


def check_streams(from_: From, plans: Sequence[StreamPlan]) -> None:
    """Check that each stream of a join keeps events unless one is unidirectional; refuse in Esper's words."""
    if len(plans) < 2:
        return
    driving = [number for number, stream in enumerate(from_.streams) if stream.unidirectional]
    if len(driving) > 1 and any(join.kind != "full" for join in from_.joins):
        raise EplValidationError("The unidirectional keyword can only apply to one stream in a join", span=from_.span)
    if 1 < len(driving) < len(plans):
        raise EplValidationError(
            "The unidirectional keyword must either apply to a single stream or all streams in a full outer join", span=from_.span
        )
    for number, plan in enumerate(plans):
        refuse_pattern_annotations(plan, from_.streams[number])
        if plan.contained is not None and number not in driving and stream_store_plan(plan) is not None:
            raise EplValidationError(
                "Failed to validate named window use in join, contained-event is only allowed for named windows when marked as "
                "unidirectional",
                span=from_.streams[number].span,
            )
        if number in driving and plan.windows:
            raise EplValidationError(
                f"The unidirectional keyword requires that no views are declared onto the stream (applies to stream {number})",
                span=from_.streams[number].span,
            )
    for number, plan in enumerate(plans):
        table = table_stream_plan(plan)
        if table is not None and table.conditions:
            raise EplValidationError(
                "Joins with tables do not allow table filter expressions, please add table filters to the where-clause instead",
                span=from_.streams[number].span)
    calls = {number for number, plan in enumerate(plans) if historical_plan(plan) is not None}
    if len(calls) >= len(plans) - 1:
        return  # the events of the only other stream are looked up as they come
    meeting = [plan for number, plan in enumerate(plans) if number not in calls and (number in driving or not driving)]
    for number, plan in enumerate(plans):
        if number not in driving and number not in calls and not plan.retains and not _meets_itself(plan, meeting):
            name = plan.alias or (plan.source.event_type if isinstance(plan.source, FilterPlan) else plan.event_type).name
            raise EplValidationError(
                f"Joins require that at least one view is specified for each stream, no view was specified for {name}",
                span=from_.streams[number].span, hint="add a data window, such as #keepall or #lastevent",
            )


def unidirectional_streams(from_: From, plans: Sequence[StreamPlan]) -> tuple[int, ...]:
    """Return the streams that drive a join alone and keep no events: those marked so, and the only one beside historical streams where no
    window is declared, be it over a named window. The mark has no effect on a historical stream.
    """
    if len(plans) < 2:
        return ()
    events = [number for number, plan in enumerate(plans) if historical_plan(plan) is None]
    marked = tuple(number for number in events if from_.streams[number].unidirectional)
    if not marked and len(events) == 1 and not plans[events[0]].windows:
        return (events[0],)
    return marked


def _meets_itself(plan: StreamPlan, others: Sequence[StreamPlan]) -> bool:
    """Return whether a stream needs no data window: the events that drive the join are the ones that it joins with. All events of one type
    come in this stream and in ``others``: the unidirectional one, or all streams. """
    if any(not isinstance(each.source, FilterPlan) for each in (plan, *others)):
        return False
    event_type = stream_filter(plan).event_type
    alike = all(not each.retains and _takes_all(each) and stream_filter(each).event_type is event_type for each in others)
    return alike and _takes_all(plan)


def _takes_all(plan: StreamPlan) -> bool:
    taken = stream_filter(plan)
    return not taken.conditions and taken.key is None


def bind_on_clauses(
    from_: From, streams: Sequence[ScopeStream], catalog: Catalog, declarations: tuple[Declaration, ...] = ()
) -> tuple[tuple[TypedExpression, ...], ...]:
    """Return for each joined stream the comparisons of its on clause: each of a property of the stream with one of a stream before it,
    the same one for all. Refuse others in Esper's words.
    """
    scope = Scope(catalog, tuple(streams), clause="on-clause join", declarations=declarations)
    return tuple(_bind_on_clause(joined, join, scope) for joined, join in enumerate(from_.joins, 1))


def _bind_on_clause(joined: int, join: Join, scope: Scope) -> tuple[TypedExpression, ...]:
    pairs = []
    for left, right in join.on:
        try:
            one, other = _bind_pair(left, right, left, scope), _bind_pair(left, right, right, scope)
            pairs.append(_bind_pair(left, right, Comparison(operator="=", left=left, right=right, span=left.span), scope))
            _check_pair(joined, one, other, left)
            if pairs[-1].streams != pairs[0].streams:
                raise EplValidationError(
                    "Outer join ON-clause columns must refer to properties of the same joined streams when using multiple columns in the "
                    "on-clause", span=left.span
                )
        except EplValidationError as error:
            raise EplValidationError(
                f"Failed to validate outer-join expression: {error.message}", span=error.span, hint=error.hint
            ) from error
    return tuple(pairs)


def _bind_pair(left: Expression, right: Expression, part: Expression, scope: Scope) -> TypedExpression:
    """``part`` of the pair, or its comparison, bound; refusals name the pair as a whole."""
    try:
        return bind_in_clause(part, scope)
    except EplValidationError as error:
        cause = error.message.split("': ", 1)[-1]
        whole = f"{expression_text(left)}={expression_text(right)}"
        raise EplValidationError(
            f"Failed to validate on-clause join expression '{whole}': {cause}", span=error.span, hint=error.hint
        ) from error


def _check_pair(joined: int, left: TypedExpression, right: TypedExpression, where: Expression) -> None:
    sides = [(next(iter(side.streams)), side) for side in (left, right) if len(side.streams) == 1]
    numbers = {stream for stream, _ in sides}
    if len(numbers) == 1:
        raise EplValidationError("Outer join ON-clause cannot refer to properties of the same stream", span=where.span)
    if joined not in numbers:
        raise EplValidationError(
            f"Outer join ON-clause must refer to at least one property of the joined stream for stream {joined}", span=where.span
        )
    later = next((side for stream, side in sides if stream > joined), None)
    if later is not None:
        path = property_read(later)
        raise EplValidationError(
            f"Outer join ON-clause invalid scope for property '{path.path if path else ''}', expecting the current or a prior stream scope",
            span=where.span
        )


def check_joined_wildcard(select: Select, streams: Sequence[ScopeStream], target: EventType | None) -> None:
    """Check ``insert into T select *`` of a join: T needs a property for the events of one stream at least."""
    if target is None or target.kind == "variant" or len(streams) < 2 or not any(isinstance(i.expression, Wildcard) for i in select.items):
        return
    named = [i.alias or expression_text(i.expression) for i in select.items if not isinstance(i.expression, (Wildcard, StreamWildcard))]
    for name in named:
        if target.property(name) is None:
            raise EplValidationError(
                f"Column '{name}' could not be assigned to any of the properties of the underlying type (missing column names, event "
                "property, setter method or constructor?)",
                span=select.span,
            )
    names = [stream.alias or f"stream_{number}" for number, stream in enumerate(streams)]
    if not any(target.property(name) is not None for name in names):
        raise EplValidationError(
            f"Stream underlying object for stream '{names[0]}' could not be assigned to any of the properties of the underlying type "
            "(missing column names, event property or setter method?)",
            span=select.span,
        )
