"""``@Hint`` annotations: names and values, without regard to case."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from epl.analysis.expressions.binding import StatementRefusal, bind
from epl.analysis.expressions.context_values import check_variable
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType, Property
from epl.parse import parse_expression
from epl.plan.result_set import ReclaimGroups
from epl.syntax import Statement
from epl.unparse import expression_text
from epl.value_types import BOXED_INT, STRING, ArrayType, is_boolean, is_numeric

PLAIN = (
    "iterate_only", "disable_reclaim_group", "enable_window_subquery_indexshare", "disable_window_subquery_indexshare", "set_noindex",
    "force_nested_iter", "prefer_merge_join", "disable_unique_implicit_idx", "disable_whereexpr_moveto_filter", "enable_outputlimit_opt",
    "disable_outputlimit_opt", "silent_delete",
)
WITH_VALUE = ("reclaim_group_aged", "reclaim_group_freq", "max_filter_width")
WITH_PARAMETERS = ("index", "exclude_plan", "filterindex")
"""Esper's hints: words alone, ``word=value``, ``word(…)``."""
_PART = re.compile(r"[^,(]*(?:\((?:[^()]|\([^()]*\))*\)[^,(]*)*")
_SUBQUERY = re.compile(r"subquery\s*\(\s*(\d+)\s*\)", re.IGNORECASE)


def check_hints(statement: Statement) -> None:
    """Refuse hints that Esper does not have, and those without the value that they take."""
    for part in _parts(statement):
        name, equals, _ = (each.strip() for each in part.partition("="))
        word = name.partition("(")[0].strip().lower()
        if word in PLAIN:
            problem = f"Hint '{word.upper()}' does not accept a parameter value" if equals else None
        elif word in WITH_VALUE:
            problem = None if equals else f"Hint '{word.upper()}' requires a parameter value"
        elif word in WITH_PARAMETERS:
            problem = None if "(" in name else f"Hint '{word.upper()}' requires additional parameters in parentheses"
        else:
            problem = f"Hint annotation value '{part}' is not one of the known values" if not equals else (
                f"Hint annotation value '{name}' is not one of the known values")
        if problem is not None:
            raise EplValidationError(f"Failed to process statement annotations: {problem}", span=statement.span)


def _parts(statement: Statement) -> Iterator[str]:
    """Yield the hints of all annotations, apart at the commas that are in no parentheses."""
    for annotation in statement.annotations:
        if annotation.name.lower() == "hint":
            yield from (part.strip() for part in _PART.findall(str(annotation.get() or "")) if part.strip())


def read_hints(statement: Statement) -> dict[str, str]:
    """Return ``@Hint('iterate_only, reclaim_group_aged=10')`` → {"iterate_only": "", "reclaim_group_aged": "10"}."""
    hints: dict[str, str] = {}
    for annotation in statement.annotations:
        if annotation.name.lower() == "hint":
            for part in str(annotation.get()).split(","):
                name, _, value = part.partition("=")
                hints[name.strip().lower()] = value.strip()
    return hints


def index_hints(statement: Statement, subquery: int | None = None) -> tuple[str, ...]:
    """Return the names in ``@Hint('index(a, b, bust)')``; those in ``index(subquery(1), a)`` are for the sub-query of that number."""
    names: list[str] = []
    for part in _parts(statement):
        word, _, inner = part.partition("(")
        if word.strip().lower() == "index":
            inside = [each.strip() for each in inner.rpartition(")")[0].split(",")]
            of = _SUBQUERY.fullmatch(inside[0])
            if of is None or int(of[1]) == subquery:
                names += [each for each in inside[of is not None:] if each]
    return tuple(names)


EXCLUDED_PLANS = EventType("exclude_plan", "map", {
    name: Property(name, value_type) for name, value_type in (
        ("from_streamnum", BOXED_INT), ("to_streamnum", BOXED_INT), ("from_streamname", STRING), ("to_streamname", STRING),
        ("opname", STRING), ("exprs", ArrayType(STRING)))
}, is_bus=False)
"""What the expression of ``@Hint('exclude_plan(…)')`` reads: a look-up that Esper's planner may choose. None is excluded here, where no
result depends on them."""


def check_excluded_plans(statement: Statement, catalog: Catalog) -> None:
    """Check the expressions of ``@Hint('exclude_plan(opname = 'inner join')')``."""
    for part in _parts(statement):
        word, _, inner = part.partition("(")
        text = inner.rpartition(")")[0].strip()
        if word.strip().lower() != "exclude_plan" or not text:
            continue
        expression = parse_expression(text)
        try:
            bound = bind(expression, Scope(catalog, (ScopeStream(None, EXCLUDED_PLANS),), allow_previous=False))
        except EplValidationError as refusal:
            raise StatementRefusal(
                f"Failed to validate hint expression '{expression_text(expression)}': {refusal.message}", span=statement.span) from refusal
        if not is_boolean(bound.type):
            raise StatementRefusal("Expression provided for hint EXCLUDE_PLAN must return a boolean value", span=statement.span)


def reclaim_hint(hints: Mapping[str, str], catalog: Catalog) -> ReclaimGroups | None:
    """Return the reclaim hint of grouped aggregations; the frequency defaults to the age."""
    if "disable_reclaim_group" in hints:
        return ReclaimGroups(0, 0, never=True)
    aged = hints.get("reclaim_group_aged")
    if aged is None:
        return None
    return ReclaimGroups(_span(aged, catalog), _span(hints.get("reclaim_group_freq", aged), catalog))


def _span(value: str, catalog: Catalog) -> int | str:
    """Seconds as engine time units; a variable's name as it is."""
    variable = catalog.variables.get(value)
    if variable is not None:
        check_variable(variable, catalog, None)
        if not is_numeric(variable.type):
            raise StatementRefusal(f"Variable type of variable '{value}' is not numeric")
        return value
    try:
        seconds = float(value)
    except ValueError:
        raise StatementRefusal(
            f"Failed to parse hint parameter value '{value}' as a double-typed seconds value or variable name") from None
    if not 0 < seconds < LONGEST:
        raise StatementRefusal(
            f"Hint parameter value '{value}' is an invalid value, expecting a double-typed seconds value or variable name")
    return round(seconds * catalog.settings.units_per_second)


LONGEST = 1e12
"""Seconds; more than any clock counts."""
