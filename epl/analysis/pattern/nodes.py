"""A pattern as written → its nodes: operators and atoms, from left to right, since a tag is known from its declaration on."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.scope import ScopeStream
from epl.analysis.filters.lookup import bind_filters, check_strict_coercion
from epl.analysis.filters.specifications import filter_specification
from epl.analysis.pattern.guards import analyse_guard
from epl.analysis.pattern.observers import analyse_observer
from epl.analysis.pattern.tags import Around, Tags
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.patterns import pattern as plan
from epl.syntax import Annotation, Declaration, Expression, TimePeriod
from epl.syntax import patterns as syntax
from epl.syntax.clauses import Contained
from epl.syntax.nodes import Pattern
from epl.value_types import is_numeric

NO_BOUNDS = "Incorrect range specification, a bounds value of zero or negative value is not allowed"
NO_KEYS = "Every-distinct node requires one or more distinct-value expressions that each return non-constant result values"

NO_SUBQUERY = "sub-selects are not allowed within the expression"
NO_EXPIRY = "Invalid parameter for every-distinct, expected number of seconds constant (constant not considered for distinct)"


@attrs.frozen
class Atoms:
    """What the analysis of streams knows of filters: ``type_of`` a name, and the ``contained`` events of a type."""

    type_of: Callable[[syntax.FilterAtom], EventType]
    contained: Callable[[Sequence[Contained], ScopeStream], ContainedPlan]


def analyse_nodes(
    pattern: Pattern, catalog: Catalog, declarations: tuple[Declaration, ...], atoms: Atoms, around: Around
) -> tuple[plan.PatternNode, Tags]:
    """Return the tree and its tags."""
    tags = Tags(catalog, declarations, around)
    return _Nodes(tags, atoms, around.added).node(pattern), tags


class _Nodes:
    def __init__(self, tags: Tags, atoms: Atoms, added: Callable[[EventType], tuple[TypedExpression, ...]]) -> None:
        self._tags = tags
        self._atoms = atoms
        self._added = added

    def node(self, pattern: Pattern) -> plan.PatternNode:
        if isinstance(pattern, syntax.FilterAtom):
            return self._filter(pattern)
        if isinstance(pattern, syntax.Every):
            return plan.EveryNode(item=self.node(pattern.item))
        if isinstance(pattern, syntax.EveryDistinct):
            return self._every_distinct(pattern)
        if isinstance(pattern, syntax.FollowedBy):
            items = tuple(self.node(item) for item in pattern.items)
            return plan.FollowedByNode(items=items, limits=tuple(map(self._limit, pattern.limits)))
        if isinstance(pattern, syntax.And):
            return plan.AndNode(items=tuple(self.node(item) for item in pattern.items))
        if isinstance(pattern, syntax.Or):
            return plan.OrNode(items=tuple(self.node(item) for item in pattern.items))
        if isinstance(pattern, syntax.Not):
            return plan.NotNode(item=self.node(pattern.item))
        if isinstance(pattern, syntax.MatchUntil):
            return self._until(pattern)
        if isinstance(pattern, syntax.Guard):
            return analyse_guard(pattern, self.node(pattern.item), self._tags)
        assert isinstance(pattern, syntax.Observer)
        return analyse_observer(pattern, self._tags)

    # ------------------------------------------------------------------ atoms

    def _filter(self, atom: syntax.FilterAtom) -> plan.FilterNode:
        event_type = self._atoms.type_of(atom)
        conditions = bind_filters(atom.filters, self._tags.filter_scope(ScopeStream(atom.tag, event_type)))
        for condition in conditions:
            check_strict_coercion(condition)
        contained = self._atoms.contained(atom.contained, ScopeStream(atom.tag, event_type)) if atom.contained else None
        comes = event_type if contained is None else contained.output_type
        place = None if atom.tag is None else self._tags.declare(atom.tag, comes, atom.span, repeated=contained is not None)
        return plan.FilterNode(
            filter=filter_specification(event_type, (*conditions, *self._added(event_type))), conditions=conditions, place=place,
            tag=atom.tag, contained=contained, consume=_consume_level(atom.annotations))

    # ------------------------------------------------------------------ operators

    def _every_distinct(self, pattern: syntax.EveryDistinct) -> plan.EveryDistinctNode:
        item = self.node(pattern.item)
        scope = self._tags.scope("pattern every-distinct", item.places())
        written = list(pattern.arguments)
        bound = [bind_in_clause(argument, scope) for argument in written]
        expiry = bound.pop() if isinstance(written[-1], TimePeriod) else None
        last = bound[-1] if bound else None
        if expiry is None and isinstance(last, Constant):
            bound.pop()
            if not is_numeric(last.type):
                raise EplValidationError(NO_EXPIRY, span=pattern.span)
            expiry = last if last.value > 0 else None  # as in Esper: else for ever, where a period of no time is none at all
        keys = tuple(key for key in bound if not isinstance(key, Constant))
        if not keys:
            raise EplValidationError(NO_KEYS, span=pattern.span)
        return plan.EveryDistinctNode(item=item, keys=keys, expiry=expiry)

    def _limit(self, written: Expression | None) -> TypedExpression | None:
        if written is None:
            return None
        try:
            scope = attrs.evolve(self._tags.scope("pattern followed-by max"), subquery_refusal=NO_SUBQUERY)
            bound = bind_in_clause(written, scope)
        except EplValidationError as error:
            cause = NO_SUBQUERY if error.message.endswith(NO_SUBQUERY) else error.message
            raise EplValidationError(
                f"Invalid maximum expression in followed-by, {cause}", span=written.span, hint=error.hint) from error
        if bound.streams:
            raise EplValidationError(
                "Invalid maximum expression in followed-by, event properties are not allowed within the expression", span=written.span)
        if not is_numeric(bound.type):
            raise EplValidationError(
                "Invalid maximum expression in followed-by, the expression must return an integer value", span=written.span)
        return bound

    def _until(self, pattern: syntax.MatchUntil) -> plan.UntilNode:
        item = self.node(pattern.item)
        self._tags.repeat(item.places())
        low, high = self._bind_expression(pattern.low), self._bind_expression(pattern.high)
        exact = pattern.bounds == "exact" or (isinstance(low, Constant) and low == high)
        if pattern.until is None and not exact and pattern.bounds != "none":
            raise EplValidationError("Variable bounds repeat operator requires an until-expression", span=pattern.span)
        _check_bounds(pattern, low, high)
        until = None if pattern.until is None else self.node(pattern.until)
        return plan.UntilNode(item=item, until=until, low=low, high=None if exact else high, exact=exact)

    def _bind_expression(self, written: Expression | None) -> TypedExpression | None:
        if written is None:
            return None
        bound = bind_in_clause(written, self._tags.scope("pattern match-until bounds"))
        if not is_numeric(bound.type):
            raise EplValidationError("Match-until bounds value expressions must return a numeric value", span=written.span)
        return bound


def _check_bounds(pattern: syntax.MatchUntil, low: TypedExpression | None, high: TypedExpression | None) -> None:
    """Check the bounds that are constants."""
    at_least, at_most = (bound.value if isinstance(bound, Constant) else None for bound in (low, high))
    message = None
    if at_least is not None and at_most is not None and at_least > at_most:
        message = f"Incorrect range specification, lower bounds value '{at_least}' is higher then higher bounds '{at_most}'"
    elif (at_most is not None and at_most <= 0) or (at_least is not None and at_least <= 0 and pattern.bounds != "both"):
        message = NO_BOUNDS
    elif at_least is not None and at_least < 0:
        message = "Incorrect range specification, a bounds value of negative value is not allowed"
    if message is not None:
        raise EplValidationError(message, span=pattern.span)


def _consume_level(annotations: Sequence[Annotation]) -> int:
    for annotation in annotations:
        value = annotation.attributes.get("value", 1)
        return value if isinstance(value, int) else 1
    return 0


__all__ = ["Atoms", "analyse_nodes"]
