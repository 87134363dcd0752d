"""Measures: expressions over a match, whose variables are properties; aggregations over the rows of one group variable."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.rewriting import rewrite, syntax_nodes
from epl.analysis.expressions.scope import AggregationCollector, Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType, Property
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Aggregated, StreamEvent, StreamEvents, StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import GroupAggregation
from epl.syntax import Call, Expression

ONE_GROUP = (
    "Aggregation functions in the measure-clause must only refer to properties of exactly one group variable "
    "returning multiple events"
)
SOME_GROUP = (
    "Aggregation functions in the measure-clause must refer to one or more properties of exactly one group variable "
    "returning multiple events"
)
NO_GROUP_BY = "Match-recognize does not allow aggregation functions to specify a group-by"


NO_SUBQUERY = "Subselects not allowed within match_recognize"


class MeasureBinder:
    """Binds measures one after the other; their aggregations come together in ``aggregations``."""

    def __init__(
        self, catalog: Catalog, match_type: EventType, names: Sequence[str], groups: Sequence[bool], row_type: EventType, has_window: bool
    ) -> None:
        self._match_type = match_type
        self._collector = _GroupCollector(catalog, names, groups, row_type, has_window)
        self._scope = Scope(
            catalog, (ScopeStream(None, match_type),), clause="match-recognize measure", aggregations=self._collector, allow_previous=False,
            subquery_refusal=NO_SUBQUERY
        )

    def bind(self, expression: Expression) -> TypedExpression:
        return bind_in_clause(expression, self._scope)

    def aggregates(self, expression: Expression) -> bool:
        """Return whether the expression calls an aggregation."""
        known = self._scope.catalog.aggregations
        return any(isinstance(node, Call) and node.name.lower() in known for node in syntax_nodes(expression))

    @property
    def aggregations(self) -> tuple[GroupAggregation, ...]:
        return tuple(self._collector.aggregations)

    def extend_match_type(self) -> EventType:
        """Return the match type with a property after the variables for each aggregation's value, which measures read like any other."""
        values = {column_name(n): Property(column_name(n), a.plan.type) for n, a in enumerate(self.aggregations)}
        return EventType(self._match_type.name, self._match_type.kind, {**self._match_type.properties, **values}, is_bus=False)


def column_name(slot: int) -> str:
    """Return the property of a match that holds an aggregation's value: no variable can have that name."""
    return f"aggregation {slot}"


class _GroupCollector(AggregationCollector):
    """Aggregations of measures: their arguments see each variable as a stream.

    A name finds the single variables first, then the groups: where the type is called like a group variable, ``A.v`` is a single
    variable's, which cannot be aggregated.
    """

    def __init__(self, catalog: Catalog, names: Sequence[str], groups: Sequence[bool], row_type: EventType, has_window: bool) -> None:
        self._groups = groups
        self._order = sorted(range(len(names)), key=lambda n: groups[n])
        self._scope = Scope(
            catalog, tuple(ScopeStream(names[n], row_type, optional=not groups[n]) for n in self._order),
            clause="match-recognize measure", unqualified=False, allow_previous=False, subquery_refusal=NO_SUBQUERY,
        )
        self._has_window = has_window
        self.aggregations: list[GroupAggregation] = []

    def bind_call(self, call: Any, scope: Scope) -> TypedExpression:
        """Raise StatementRefusal for an aggregation that is refused: in Esper no clause precedes its words."""
        assert isinstance(call, Call)
        plans = Collector(has_remove_stream=self._has_window, group_by_refusal=NO_GROUP_BY)
        scope = attrs.evolve(self._scope, aggregations=plans)
        try:
            self._refuse_window_of_none(call, [bind_argument_first(argument, scope) for argument in call.arguments])
            value = plans.bind_call(call, self._scope)
        except EplValidationError as error:
            if not call.arguments:
                raise
            raise StatementRefusal(error.message, span=error.span or call.span, hint=error.hint) from error
        assert isinstance(value, Aggregated)
        plan = _over_variables(plans.plans[value.slot], self._order)
        aggregation = GroupAggregation(plan, self._variable(plan))
        if aggregation not in self.aggregations:
            self.aggregations.append(aggregation)
        return StreamProperty(type=plan.type, stream=0, name=column_name(self.aggregations.index(aggregation)))

    def _refuse_window_of_none(self, call: Call, arguments: Sequence[TypedExpression | None]) -> None:
        """Refuse window(…) of no group variable before its other rules."""
        read = {n.stream for e in arguments if e is not None for n in e.walk() if isinstance(n, StreamProperty)}
        if call.name.lower() == "window" and not any(self._groups[self._order[stream]] for stream in read):
            raise StatementRefusal(SOME_GROUP)

    def _variable(self, plan: AggregationPlan) -> int:
        """Return the group variable whose rows are aggregated."""
        read = {n.stream for e in plan.expressions for n in e.walk() if isinstance(n, (StreamProperty, StreamEvent))}
        several = [n for n in read if self._groups[n]]
        whole = any(isinstance(e, StreamEvent) for e in plan.arguments)
        if len(several) > 1:
            raise StatementRefusal(ONE_GROUP)
        if not several or whole or not plan.arguments:
            raise StatementRefusal(SOME_GROUP)
        return several[0]


def _over_variables(plan: AggregationPlan, order: Sequence[int]) -> AggregationPlan:
    """Number the streams of a plan, which was bound in this order of the variables, like the variables."""
    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, (StreamProperty, StreamEvent, StreamEvents)):
            return attrs.evolve(node, stream=order[node.stream])
        return None

    return attrs.evolve(
        plan,
        arguments=tuple(rewrite(a, replace) for a in plan.arguments),
        filter=None if plan.filter is None else rewrite(plan.filter, replace),
        stream=None if plan.stream is None else order[plan.stream],
    )


def bind_argument_first(argument: Expression, scope: Scope) -> TypedExpression | None:
    """Bind an argument, which is refused in the words for an expression of its own, as in Esper; None for one that is no expression."""
    if isinstance(argument, Expression) and type(argument).__name__ not in ("Wildcard", "StreamWildcard", "NamedArgument", "Ordered"):
        return bind_in_clause(argument, scope)
    return None
