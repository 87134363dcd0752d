"""``@Hint`` annotations: names and values, without regard to case."""
from __future__ import annotations

from collections.abc import Mapping

from epl.plan.result_set import ReclaimGroups
from epl.syntax import Statement


def hints_of(statement: Statement) -> dict[str, str]:
    """Return ``@Hint('iterate_only, reclaim_group_aged=10')`` → {"iterate_only": "", "reclaim_group_aged": "10"}."""
    hints: dict[str, str] = {}
    for annotation in statement.annotations:
        if annotation.name.lower() == "hint":
            for part in str(annotation.get()).split(","):
                name, _, value = part.partition("=")
                hints[name.strip().lower()] = value.strip()
    return hints


def reclaim_of(hints: Mapping[str, str], units_per_second: int) -> ReclaimGroups | None:
    """Return the reclaim hint of grouped aggregations; the frequency defaults to the age."""
    aged = hints.get("reclaim_group_aged")
    if aged is None:
        return None
    return ReclaimGroups(_span(aged, units_per_second), _span(hints.get("reclaim_group_freq", aged), units_per_second))


def _span(value: str, units_per_second: int) -> int | str:
    """Seconds as engine time units; a variable's name as it is."""
    try:
        return round(float(value) * units_per_second)
    except ValueError:
        return value
