"""match_recognize → plan. Refusals are Esper 9.0.0's (suite rowrecog, class RowRecogInvalid)."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.match_recognize.measures import NO_SUBQUERY, MeasureBinder
from epl.analysis.match_recognize.operands import row_condition
from epl.analysis.match_recognize.pattern import group_variables, normalise, variable_names, visible_variables
from epl.analysis.match_recognize.program import compile_program
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.match_recognize import Condition, RowRecognitionPlan
from epl.syntax import Expression, MatchRecognize
from epl.value_types import ArrayType, is_boolean, is_null

NO_AGGREGATIONS = "An aggregate function may not appear in a DEFINE clause"


@attrs.frozen
class Variables:
    """The pattern's variables by number: names, which are groups, which each define may name."""

    names: tuple[str, ...]
    groups: tuple[bool, ...]
    visible: tuple[tuple[int, ...], ...]

    def event_type(self, name: str, row_type: EventType, numbers: Sequence[int]) -> EventType:
        """Return a type whose properties are variables: an event, or for a group an array of events."""
        row = EventOf(row_type)
        properties = {
            self.names[n]: Property(self.names[n], ArrayType(row) if self.groups[n] else row) for n in numbers
        }
        return EventType(name, "map", properties, is_bus=False)


def analyse(
    clause: MatchRecognize, stream: ScopeStream, catalog: Catalog, *, has_window: bool, iterate_only: bool
) -> RowRecognitionPlan:
    """Return the plan of a clause over ``stream``. Raise EplValidationError in Esper's words."""
    names = variable_names(clause.pattern)
    pattern = normalise(clause.pattern, {name: n for n, name in enumerate(names)})
    groups = group_variables(pattern)
    variables = Variables(names, tuple(n in groups for n in range(len(names))), visible_variables(pattern, len(names)))
    row_type = stream.event_type
    conditions = _conditions(clause, variables, row_type, catalog)
    match_type = variables.event_type("match_recognize variables", row_type, range(len(names)))
    measures = MeasureBinder(catalog, match_type, variables.names, variables.groups, row_type, has_window)
    columns = [_measure(item.expression, item.alias, measures, clause) for item in clause.measures]
    output = {name: Property(name, typed.type) for name, typed in columns}
    offsets = [o.number for c in conditions if c is not None for o in c.operands if o.kind == "previous"]
    group_readers = frozenset(n for n, c in enumerate(conditions) if c is not None and any(o.kind == "groups" for o in c.operands))
    return RowRecognitionPlan(
        event_type=row_type,
        match_type=measures.extend_match_type(),
        output_type=EventType("match_recognize measures", "row", output, is_bus=False),
        variables=names,
        groups=variables.groups,
        pattern=pattern,
        program=compile_program(pattern, group_readers),
        conditions=conditions,
        measures=tuple(dict(columns).values()),
        partition_by=_partition_keys(clause, stream, catalog),
        aggregations=measures.aggregations,
        all_matches=clause.all_matches,
        skip=clause.skip or "past last row",
        interval=_interval(clause, catalog),
        or_terminated=clause.or_terminated,
        has_window=has_window,
        iterate_only=iterate_only,
        lookback=max(offsets, default=0),
    )


def _measure(expression: Expression, alias: str | None, measures: MeasureBinder, clause: MatchRecognize) -> tuple[str, TypedExpression]:
    if alias is None:
        if measures.aggregates(expression):
            measures.bind(expression)  # for its refusal: Esper looks at aggregations first
        raise EplValidationError(
            "The measures clause requires that each expression utilizes the AS keyword to assign a column name", span=clause.span
        )
    return alias, measures.bind(expression)


def _partition_keys(clause: MatchRecognize, stream: ScopeStream, catalog: Catalog) -> tuple[TypedExpression, ...]:
    scope = Scope(
        catalog, (stream,), clause="match-recognize partition", allow_previous=False, subquery_refusal=NO_SUBQUERY,
        aggregation_refusal="Aggregation functions are not supported in the partition-by of match-recognize",
    )
    return tuple(bind_in_clause(e, scope) for e in clause.partition_by)


def _interval(clause: MatchRecognize, catalog: Catalog) -> TypedExpression | None:
    if clause.interval is None:
        return None
    scope = Scope(catalog, clause="match-recognize interval", allow_previous=False, subquery_refusal=NO_SUBQUERY)
    return bind_in_clause(clause.interval, scope)


# ------------------------------------------------------------------ define


def _conditions(clause: MatchRecognize, variables: Variables, row_type: EventType, catalog: Catalog) -> tuple[Condition | None, ...]:
    conditions: list[Condition | None] = [None] * len(variables.names)
    defined: set[str] = set()
    for name, expression in clause.defines:
        if name in defined:
            raise EplValidationError(f"Variable '{name}' has already been defined", span=expression.span)
        defined.add(name)
        if name not in variables.names:
            raise EplValidationError(f"Variable '{name}' does not occur in pattern", span=expression.span)
        number = variables.names.index(name)
        conditions[number] = _condition(number, expression, variables, row_type, catalog)
    return tuple(conditions)


def _condition(number: int, expression: Expression, variables: Variables, row_type: EventType, catalog: Catalog) -> Condition:
    """Return a define sees its own variable as the row being tested, other variables as far as they may have been matched before."""
    single = [n for n in variables.visible[number] if n == number or not variables.groups[n]]
    several = [n for n in variables.visible[number] if n != number and variables.groups[n]]
    streams = [ScopeStream(variables.names[n], row_type, optional=n != number) for n in single]
    groups_type = variables.event_type("match_recognize groups", row_type, several) if several else None
    if groups_type is not None:
        streams.append(ScopeStream(None, groups_type))
    scope = Scope(
        catalog, tuple(streams), clause="match-recognize define", aggregation_refusal=NO_AGGREGATIONS, subquery_refusal=NO_SUBQUERY
    )
    try:
        bound = bind_in_clause(expression, scope)
        condition = row_condition(bound, number, single, groups_type)
    except StatementRefusal as refusal:
        if refusal.message != NO_AGGREGATIONS:
            raise
        raise _in_define(refusal, variables.names[number]) from None
    except EplValidationError as refusal:
        raise _in_define(refusal, variables.names[number]) from None
    if not is_boolean(condition.expression.type) and not is_null(condition.expression.type):
        raise EplUnsupportedError(
            f"the define of variable '{variables.names[number]}' gives no boolean, which is not supported", span=expression.span
        )
    return condition


def _in_define(refusal: EplValidationError, name: str) -> EplValidationError:
    message = f"Failed to validate condition expression for variable '{name}': {refusal.message}"
    return EplValidationError(message, span=refusal.span, hint=refusal.hint)
