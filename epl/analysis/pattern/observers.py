"""Observers: ``timer:interval(…)``, ``timer:at(…)``, ``timer:schedule(…)``."""
from __future__ import annotations

import attrs

from epl.analysis.expressions.crontab import analyse_crontab
from epl.analysis.expressions.paths import is_integer
from epl.analysis.expressions.scope import Scope
from epl.analysis.pattern.parameters import bind_parameters, object_text
from epl.analysis.pattern.tags import Tags
from epl.errors import EplUnsupportedError, EplValidationError
from epl.iso_schedules import IsoError, parse_date, parse_schedule
from epl.plan.expressions import Constant, TimeSpan, TypedExpression
from epl.plan.patterns.pattern import CrontabNode, IntervalNode, PatternNode, ScheduleNode
from epl.syntax import NamedArgument, Wildcard
from epl.syntax.expressions import CronPart
from epl.syntax.patterns import Observer
from epl.unparse import unparse
from epl.value_types import LONG, STRING, ClassType, Scalar, ValueType, is_numeric

ONE_PERIOD = "Timer-interval observer requires a single numeric or time period parameter"
NO_SUBQUERY = "Subselects are not allowed within pattern observer parameters, please consider using a variable instead"
PARTS = ("iso", "repetitions", "date", "period")
DATES = "string,Calendar,Date,long,LocalDateTime,ZonedDateTime"
DATE_KINDS = ("Calendar", "Date", "LocalDateTime", "ZonedDateTime")


def analyse_observer(observer: Observer, tags: Tags) -> PatternNode:
    """Return the node of an observer."""
    name = observer.name if observer.namespace == "timer" else ""
    scope = attrs.evolve(tags.scope("pattern observer"), subquery_refusal=NO_SUBQUERY)
    try:
        return _observer_node(name, observer, scope)
    except EplValidationError as error:
        if error.message.endswith(NO_SUBQUERY):
            raise EplValidationError(NO_SUBQUERY, span=error.span) from error
        raise


def _observer_node(name: str, observer: Observer, scope: Scope) -> PatternNode:
    if name == "interval":
        return _interval(observer, scope)
    if name == "at":
        return _crontab(observer, scope)
    if name == "schedule":
        return _schedule(observer, scope)
    raise EplValidationError(
        f"Failed to resolve pattern observer '{object_text(observer)}': Pattern observer name '{observer.name}' is not a known pattern "
        "object name", span=observer.span)


def _observer_refusal(observer: Observer, message: str) -> EplValidationError:
    return EplValidationError(f"Invalid parameter for pattern observer '{object_text(observer)}': {message}", span=observer.span)


def _interval(observer: Observer, scope: Scope) -> IntervalNode:
    arguments = bind_parameters(observer.arguments, scope)
    if any(isinstance(argument, NamedArgument) for argument in observer.arguments):
        raise _observer_refusal(observer, "Timer-interval observer does not allow named parameters")
    if len(arguments) != 1 or len(observer.arguments) != 1 or not is_numeric(arguments[0].type):
        raise _observer_refusal(observer, ONE_PERIOD)
    return IntervalNode(period=arguments[0])


def _crontab(observer: Observer, scope: Scope) -> CrontabNode:
    if not 5 <= len(observer.arguments) <= 9:
        bind_parameters(observer.arguments, scope)
        raise _observer_refusal(observer, "Invalid number of parameters for timer:at")
    text = unparse(observer)
    try:
        crontab = analyse_crontab(observer.arguments, scope, most=9)
        zone = crontab.fields[6] if len(crontab.fields) > 6 else None
        if zone is not None and zone.kind != "any" and (zone.value is None or zone.value.type != STRING):
            shown = f" '{zone.value.value}'" if isinstance(zone.value, Constant) and zone.value.value is not None else " 'null'"
            raise _observer_refusal(
                observer, f"Error computing crontab schedule specification: Invalid timezone parameter{shown} for timer:at, expected a "
                "string-type value")
        return CrontabNode(crontab=crontab, text=text)
    except EplUnsupportedError:
        raise
    except EplValidationError as error:
        message = error.message.replace("Failed to validate output limit expression", "Failed to validate pattern observer expression", 1)
        raise EplValidationError(message, span=error.span, hint=error.hint) from error


# ------------------------------------------------------------------ timer:schedule


def _schedule(observer: Observer, scope: Scope) -> ScheduleNode:
    written = [each for each in observer.arguments if not isinstance(each, (Wildcard, CronPart))]
    bound = zip(written, bind_parameters(written, scope))
    named = {each.name.lower(): value for each, value in bound if isinstance(each, NamedArgument)}
    unknown = next((each.name for each in observer.arguments if isinstance(each, NamedArgument) and each.name.lower() not in PARTS), None)
    if unknown is not None:
        raise _observer_refusal(
            observer, f"Unexpected named parameter '{unknown}', expecting any of the following: [{', '.join(PARTS)}]")
    names = [each.name.lower() for each in observer.arguments if isinstance(each, NamedArgument)]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise _observer_refusal(observer, f"Duplicate parameter '{twice}'")
    if not named:
        raise _observer_refusal(observer, "No parameters provided")
    if "iso" in named and len(named) > 1:
        raise _observer_refusal(observer, "The 'iso' parameter is exclusive of other parameters")
    if "iso" not in named and not {"date", "period"} & named.keys():
        raise _observer_refusal(observer, "Either the date or period parameter is required")
    for name, part in named.items():
        expected = _missing_part(name, part)
        if expected is not None:
            raise _observer_refusal(observer,
                f"Failed to validate named parameter '{name}', expected a single expression returning {expected}")
    _check_constant(observer, named)
    return ScheduleNode(iso=named.get("iso"), date=named.get("date"), repetitions=named.get("repetitions"), period=named.get("period"))


def _missing_part(name: str, part: TypedExpression) -> str | None:
    """Return what the part should be, where it is something else."""
    if name == "iso":
        return None if part.type == STRING else "a string-typed value"
    if name == "repetitions":
        return None if _is_whole(part.type) else "any of the following types: int,long"
    if name == "period":
        return None if isinstance(part, TimeSpan) else "a TimePeriod-typed value"
    return None if _is_date(part.type) else f"any of the following types: {DATES}"


def _is_whole(value_type: ValueType) -> bool:
    return is_integer(value_type) or value_type.boxed == LONG.boxed


def _is_date(value_type: ValueType) -> bool:
    if value_type == STRING or value_type.boxed == LONG.boxed:
        return True
    name = value_type.name if isinstance(value_type, ClassType) else value_type.kind if isinstance(value_type, Scalar) else ""
    return name.rsplit(".", 1)[-1] in DATE_KINDS


def _check_constant(observer: Observer, parts: dict[str, TypedExpression]) -> None:
    """Raise for a text that is not a schedule, where it is known."""
    iso = parts.get("iso")
    if isinstance(iso, Constant) and isinstance(iso.value, str):
        try:
            parse_schedule(iso.value)
        except IsoError as error:
            raise _observer_refusal(observer, str(error)) from error
    date = parts.get("date")
    if isinstance(date, Constant) and isinstance(date.value, str):
        try:
            parse_date(date.value)
        except IsoError as error:
            raise _observer_refusal(observer, str(error)) from error


__all__ = ["analyse_observer"]
