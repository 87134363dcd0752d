"""The interval algebra as methods: ``a.before(b, 10 seconds)``, on times and on events with start (and end) timestamps."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from epl.event_types import EventOf
from epl.functions import calendars
from epl.functions.calendars import TimeSettings
from epl.functions.date_arguments import RELATION_FOOTPRINTS, TimeSource, check_arguments, time_source
from epl.functions.date_changes import interval_reader
from epl.functions.date_time import add_any_case
from epl.functions.intervals import RELATIONS, Relation, Threshold
from epl.functions.registry import NOT_CONSTANT, Bound, FunctionRegistry, FunctionSpec
from epl.value_types import BOXED_BOOLEAN, ValueType

SUMMARIES = {
    "before": "The interval ends before the other starts, at a distance.",
    "after": "The interval starts after the other ends, at a distance.",
    "coincides": "Both intervals start and end together, within a tolerance.",
    "during": "The interval lies within the other.",
    "includes": "The other interval lies within this one.",
    "finishes": "The interval starts later than the other and ends with it.",
    "finishedBy": "The other interval starts later and ends with this one.",
    "meets": "The interval ends where the other starts.",
    "metBy": "The interval starts where the other ends.",
    "overlaps": "The interval starts first and ends within the other.",
    "overlappedBy": "The other interval starts first and ends within this one.",
    "starts": "The interval starts with the other and ends first.",
    "startedBy": "The interval starts with the other, which ends first.",
}
_add_period = calendars.extend_years(calendars.add_period, "long")
NO_NEGATIVES = {
    "coincides": "start and end values", "finishes": "threshold value", "finishedBy": "threshold value", "meets": "threshold value",
    "metBy": "threshold value", "starts": "threshold value", "startedBy": "threshold value",
}


def _bind(name: str, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
    source = time_source(types[0])
    if source is None:
        return None
    check_arguments(name, RELATION_FOOTPRINTS[name], types[1:])
    other = time_source(types[1])
    if other is None:
        raise ValueError(_no_time(name, types[1]))
    for constant in constants[2:]:
        if name in NO_NEGATIVES and constant is not NOT_CONSTANT and isinstance(constant, (int, float)) and constant < 0:
            raise ValueError(f"The {name} date-time method does not allow negative {NO_NEGATIVES[name]}")
    return Bound(BOXED_BOOLEAN, (*source.constants(), *other.constants()))


def _no_time(name: str, value_type: ValueType) -> str:
    start = f"For date-time method '{name}' the first parameter"
    if isinstance(value_type, EventOf):
        return f"{start} is event type '{value_type}', however no timestamp property has been defined for this event type"
    return f"{start} expression returns '{value_type}', however requires a Date, Calendar, Long-type return value or event (with timestamp)"


def _make(name: str, settings: TimeSettings, *constants: Any) -> Callable[..., bool | None]:
    relation: Relation = RELATIONS[name]
    left_of, right_of = interval_reader(settings, TimeSource(*constants[:4])), interval_reader(settings, TimeSource(*constants[4:]))
    no_negatives = name in NO_NEGATIVES

    def call(left: Any, right: Any, *written: Any) -> bool | None:
        one, other = left_of(left), right_of(right)
        if one is None or other is None:
            return None
        if not written:
            return relation(*one, *other, ())
        limits = tuple(_threshold(w, settings) for w in written)
        if None in limits or (no_negatives and any(limit is not None and limit(one[0]) < 0 for limit in limits)):
            return None
        return relation(*one, *other, limits)  # type: ignore[arg-type]

    return call


def _threshold(written: Any, settings: TimeSettings) -> Threshold | None:
    """Return a limit: a number is engine time units; a period of months is as long as it is from its beginning. None of null."""
    if written is None:
        return None
    if not isinstance(written, (list, tuple)):
        units = int(written)
        return lambda _: units
    if None in written:
        return None
    if not any(unit in ("year", "month") for unit in written[::2]):
        length = _length(written, 0, settings)
        return lambda _: length
    return lambda reference: _length(written, reference, settings)


def _length(period: Sequence[Any], reference: int, settings: TimeSettings) -> int:
    """Parts of a fixed length are not cut to whole numbers here."""
    total = 0.0
    months: list[Any] = []
    for unit, number in zip(period[::2], period[1::2]):
        if unit in ("year", "month"):
            months += (unit, number)
        else:
            total += number * calendars.MICROSECONDS[unit]
    units = round(total * settings.units_per_millisecond / 1000)
    if not months:
        return units
    moved = _add_period(calendars.engine_moment(reference, settings), months, 1)
    assert moved is not None
    return units + calendars.epoch_units(moved, settings) - reference


def add_intervals(registry: FunctionRegistry, settings: TimeSettings) -> None:
    """Add all thirteen relations, in their own spelling and in lower case."""
    for name, summary in SUMMARIES.items():
        forms = " | ".join(f"time.{name}({', '.join(r.provides for r in f)})" for f in RELATION_FOOTPRINTS[name])
        add_any_case(registry, name, FunctionSpec(
            key=f"dt.{name}", bind=partial(_bind, name), make=partial(_make, name, settings), signature=forms,
                summary=f"Whether: {summary.lower()}"))
