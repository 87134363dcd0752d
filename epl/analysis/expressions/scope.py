"""Where an expression occurs: which streams it sees, what it may call, how refusals are introduced."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from epl.catalog import Catalog
from epl.event_types import EventType
from epl.value_types import ValueType

if TYPE_CHECKING:
    from epl.plan.expressions import TypedExpression


@attrs.frozen
class ScopeStream:
    """One stream that names resolve in.

    ``alias``: how ``alias.x`` names it; ``group``: a group variable (its value is a list of events, ``alias[0].x``); ``optional``: there
    may be no event;
    ``has_window``: a data window is declared; the event type's name also names the stream, as in Esper.
    ``over_window``: it gives the rows of a named window as they are. ``without_window``: the aggregation functions that take it as a stream
    without a data window, although rows leave it.
    ``visible``: names resolve in it (inside a declared expression only its parameters are). ``outer``: it is a stream of the statement
    that a sub-query belongs to; its properties are named with the stream. ``value``: what the stream's event is in place of one of the
    row, which it is not a part of.
    """

    alias: str | None
    event_type: EventType
    group: bool = False
    optional: bool = False
    has_window: bool = False
    over_window: bool = False
    without_window: frozenset[str] = frozenset()
    visible: bool = True
    outer: bool = False
    value: TypedExpression | None = None


@attrs.frozen
class LocalName:
    """A name that ``Local`` nodes stand for; ``number``: theirs."""

    name: str
    type: ValueType
    number: int


class AggregationCollector:
    """Takes the aggregations that binding meets; analysis of the result set has the real one (epl.analysis.expressions.aggregations).

    ``bind_call`` returns the typed expression that stands for the call's value, or raises EplValidationError.
    """

    def bind_call(self, call: Any, scope: Scope) -> TypedExpression:
        raise NotImplementedError


@attrs.frozen
class Scope:
    """``clause``: the words of Esper's refusals (``select-clause``, ``filter``, ``where-clause`` …).

    ``unqualified``: whether a bare property name is looked up in the streams (not so in match_recognize). ``aggregations``: None where no
    aggregation may occur; then a refusal says ``aggregation_refusal``, after whatever else the expression is refused for, or with
    ``refuses_aggregations_first`` before it. ``locals``: lambda parameters, and names that a window brings (those
    are in ``builtin_names`` too); of equal names the first one counts. ``next_local``: the number of the next one, which grows inwards
    also where the names outside are hidden, as within a declared expression. ``allow_previous``: prev / prior may occur.
    ``substitutions``: what the parameters of a declared expression stand for. ``in_subquery``: of a sub-query, in which there is no other;
    ``in_filter``: of a stream's filter; ``moved``: of a where clause that becomes one; ``prefers_first``: a name that several streams have
    is the first one's; ``in_pattern``: of a pattern's atom or parameter; ``subquery_refusal``: the words of the refusal where no
    sub-query may occur. ``expansions``: how many calls of declared expressions have been put in place, one number that all scopes built
    from this one share.
    """

    catalog: Catalog
    streams: tuple[ScopeStream, ...] = ()
    clause: str = "select-clause"
    unqualified: bool = True
    aggregations: AggregationCollector | None = None
    aggregation_refusal: str = "Aggregation functions not allowed within filters"
    refuses_aggregations_first: bool = False
    allow_previous: bool = True
    locals: tuple[LocalName, ...] = ()
    next_local: int = 0
    builtin_names: frozenset[str] = frozenset()
    declarations: tuple[Any, ...] = ()
    expanding: tuple[str, ...] = ()
    substitutions: tuple[tuple[str, TypedExpression], ...] = ()
    in_subquery: bool = False
    in_filter: bool = False
    moved: bool = False
    prefers_first: bool = False
    in_pattern: bool = False
    subquery_refusal: str | None = None
    parameters: dict[str | int, ValueType] = attrs.field(factory=dict, eq=False)
    expansions: list[int] = attrs.field(factory=lambda: [0], eq=False)

    def with_locals(self, *names: tuple[str, ValueType]) -> Scope:
        """Return the scope that sees these names too."""
        added = tuple(LocalName(name, value_type, number) for number, (name, value_type) in enumerate(names, self.next_local))
        return attrs.evolve(self, locals=self.locals + added, next_local=self.next_local + len(added))
