"""Collects the aggregations that binding meets: each different call gets a slot, equal calls share one."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.aggregations.functions import AggregationCall, AggregationSpec, whole_event
from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.properties import reads
from epl.analysis.expressions.scope import AggregationCollector, Scope
from epl.analysis.expressions.table_access import EVENT_AGGREGATIONS
from epl.errors import EplValidationError
from epl.event_types import EventOf
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Aggregated, Constant, GroupingCall, StreamEvent, TypedExpression, stream_event
from epl.syntax import Call, Expression, NamedArgument, Ordered, Row, StreamWildcard, Wildcard
from epl.unparse import expression_text
from epl.value_types import BOXED_INT, NULL, ArrayType, is_boolean

EVER = ("firstever", "lastever", "countever", "nth")
"""Aggregations that refuse a wildcard over several streams before they are looked at."""

GROUP_BY_AGGREGATED = "Group-by expressions cannot contain aggregate functions"


class Collector(AggregationCollector):
    """The aggregations of one result set (or expr window, or match_recognize measure).

    ``plans`` grows while expressions are bound with this collector in their scope. ``group_by``: the statement's keys, which
    ``grouping()`` names;
    ``rollup``: whether it may occur at all; ``omitted``: those of the keys that some level leaves out. ``group_by_refusal``: the words of
    refusal for ``group_by:``, or None where it may occur.
    ``into_table``: they are kept in a table. ``calls``: how each of ``plans`` is written first.
    """

    def __init__(
        self,
        *,
        has_remove_stream: bool,
        rows_leave: bool | None = None,
        group_by: Sequence[TypedExpression] = (),
        rollup: bool = False,
        omitted: Sequence[TypedExpression] = (),
        group_by_refusal: str | None = None,
        into_table: bool = False,
    ) -> None:
        self.plans: list[AggregationPlan] = []
        self.calls: list[Call] = []
        self._into_table = into_table
        self._has_remove_stream = has_remove_stream
        self._rows_leave = has_remove_stream if rows_leave is None else rows_leave
        self._group_by = tuple(group_by)
        self._rollup = rollup
        self._omitted = frozenset(reads(omitted))
        self._group_by_refusal = group_by_refusal

    def bind_call(self, call: Call, scope: Scope) -> TypedExpression:
        """Return the value of an aggregation (or of grouping / grouping_id) for the current group; raise EplValidationError in Esper's
        words."""
        name = call.name.lower()
        if name in ("grouping", "grouping_id"):
            return self._grouping(call, scope)
        spec: AggregationSpec = scope.catalog.aggregations[name]
        spec.refuse_elsewhere("with into-table" if self._into_table else "")
        typed = self._bind_call(call, name, scope)
        if self._omitted and name in EVENT_AGGREGATIONS:
            typed = attrs.evolve(typed, arguments=tuple(map(self._in_all_levels, typed.arguments)))
        plan = _of_table_events(typed, call) if self._into_table and name in EVENT_AGGREGATIONS else spec.bind(typed)
        if plan.group_by is not None and self._group_by_refusal is not None:
            raise StatementRefusal(self._group_by_refusal, span=call.span)
        return Aggregated(slot=self._slot(plan, call), type=plan.type, plan=plan)

    def _slot(self, plan: AggregationPlan, call: Call) -> int:
        """Equal calls share a slot, but each column of a table has its own (with rollup having must find it, as in Esper)."""
        if plan in self.plans and (self._rollup or not self._into_table):
            return self.plans.index(plan)
        self.plans.append(plan)
        self.calls.append(call)
        return len(self.plans) - 1

    def _bind_call(self, call: Call, name: str, scope: Scope) -> AggregationCall:
        positional = [a for a in call.arguments if not isinstance(a, NamedArgument)]
        if name in EVER and len(scope.streams) != 1 and any(isinstance(a, Wildcard) for a in positional):
            raise StatementRefusal(
                "Invalid use of wildcard (*) for stream selection in a join or an empty from-clause, please use the stream-alias syntax to "
                "select a specific stream instead",
                span=call.span,
            )
        inner = attrs.evolve(scope, aggregations=self)
        arguments: list[TypedExpression | None] = []
        descending: list[bool] = []
        for argument in positional:
            direction = isinstance(argument, Ordered) and argument.descending
            value = argument.value if isinstance(argument, Ordered) else argument
            arguments.append(None if isinstance(value, Wildcard) else self._argument(value, inner))
            descending.append(direction)
        condition, groups = self._bind_parameters_by_name(call, inner)
        return AggregationCall(
            name,
            tuple(arguments),
            tuple(s.event_type for s in scope.streams),
            call.distinct,
            condition,
            groups,
            tuple(descending),
            self._has_remove_stream,
            scope.catalog.settings.units_per_second,
            tuple(s.has_window for s in scope.streams),
            tuple(name in s.without_window for s in scope.streams),
            self._rows_leave,
        )

    def _in_all_levels(self, argument: TypedExpression | None) -> TypedExpression | None:
        """Return the argument as Esper takes it: null where it reads keys that some level leaves out, and nothing else."""
        if argument is None or not argument.streams or not self._omitted.issuperset(reads((argument,))):
            return argument
        return Constant(type=NULL, value=None)

    def _argument(self, value: Expression, scope: Scope) -> TypedExpression:
        if isinstance(value, StreamWildcard):
            for number, stream in enumerate(scope.streams):
                if value.stream == stream.alias:
                    return stream_event(number, stream.event_type)
            raise EplValidationError(f"Stream by name '{value.stream}' could not be found among all streams", span=value.span)
        return bind(value, scope)

    def _bind_parameters_by_name(self, call: Call, scope: Scope) -> tuple[TypedExpression | None, tuple[TypedExpression, ...] | None]:
        condition: TypedExpression | None = None
        groups: tuple[TypedExpression, ...] | None = None
        for argument in call.arguments:
            if not isinstance(argument, NamedArgument):
                continue
            if argument.name.lower() == "filter":
                condition = self._filter(argument, attrs.evolve(scope, subquery_refusal="Subselects not allowed within group-by"))
            elif argument.name.lower() == "group_by":
                items = argument.value.items if isinstance(argument.value, Row) else (argument.value,)
                without = attrs.evolve(scope, aggregations=None, aggregation_refusal=GROUP_BY_AGGREGATED,
                                       subquery_refusal="Subselects not allowed within group-by")
                try:
                    groups = tuple(bind(item, without) for item in items)
                except StatementRefusal as refusal:
                    raise EplValidationError(refusal.message, span=refusal.span) from refusal
            else:
                raise EplValidationError(
                    f"Invalid named parameter '{argument.name}' (did you mean 'group_by' or 'filter'?)", span=argument.span
                )
        return condition, groups

    @staticmethod
    def _filter(argument: NamedArgument, scope: Scope) -> TypedExpression:
        items = argument.value.items if isinstance(argument.value, Row) else (argument.value,)
        bound = [bind(item, scope) for item in items]
        if len(bound) != 1 or not is_boolean(bound[0].type):
            raise EplValidationError(
                "Filter named parameter requires a single expression returning a boolean-typed value", span=argument.span
            )
        return bound[0]

    def _grouping(self, call: Call, scope: Scope) -> TypedExpression:
        if not self._rollup:
            raise EplValidationError(
                f"The {call.name.lower()} function requires the group-by clause to specify rollup, cube or grouping sets, and may only be "
                "used in the select-clause, having-clause or order-by-clause",
                span=call.span,
            )
        keys: list[int] = []
        for argument in call.arguments:
            bound = bind(argument, scope)
            if bound not in self._group_by:
                raise StatementRefusal(
                    f"Failed to find expression '{expression_text(argument)}' among group-by expressions", span=call.span
                )
            keys.append(self._group_by.index(bound))
        if len(set(keys)) < len(keys):
            twice = next(a for a, k in zip(call.arguments, keys) if keys.count(k) > 1)
            raise StatementRefusal(f"Duplicate expression '{expression_text(twice)}' among grouping function parameters", span=call.span)
        return GroupingCall(keys=tuple(keys), type=BOXED_INT)


def _of_table_events(typed: AggregationCall, call: Call) -> AggregationPlan:
    """Return an aggregation of events that a table keeps: which of them, and in which order, the table's column says."""
    if typed.name in ("first", "last"):
        raise EplValidationError("For into-table use 'window(*)' or 'window(stream.*)' instead", span=call.span)
    event = typed.arguments[0] if typed.arguments else None
    if event is None and (typed.arguments or typed.name != "window"):
        event = whole_event(typed)
    if not isinstance(event, StreamEvent) or not isinstance(event.type, EventOf) or len(typed.arguments) > 1:
        words = "For into-table use 'window(*)' or 'window(stream.*)' instead"
        if typed.name != "window":
            words = "When specifying into-table a sort expression cannot be provided"
        raise EplValidationError(words, span=call.span)
    result = ArrayType(event.type, raw=True) if typed.name in ("window", "sorted") else event.type
    return attrs.evolve(typed, distinct=False).plan(typed.name, (event,), result, stream=event.stream)
