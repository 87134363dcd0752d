"""Properties of events that their types do not declare, as misspelt ones are: refused, or warned of once for each type and name."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from epl.errors import EplRuntimeError, EplWarning
from epl.event_types import EventOf, EventType
from epl.value_types import ArrayType, CollectionType
from runtime.conversion.from_json import read_json


def find_undeclared(event_type: EventType, value: Any) -> Iterator[tuple[EventType, str]]:
    """Yield each property that the type, or the type of an event within it, does not declare, with the type. ``value``: as for
    ``to_event``."""
    if isinstance(value, str) and event_type.kind == "json":
        value = read_json(value)
    if not isinstance(value, Mapping):
        return
    declared = event_type.properties
    if not value.keys() <= declared.keys():
        yield from ((event_type, str(name)) for name in value if name not in declared)
    for name, inner in value.items():
        kind = declared[name].type if name in declared else None
        if isinstance(kind, EventOf):
            yield from find_undeclared(kind.event_type, inner)
        elif isinstance(kind, (ArrayType, CollectionType)) and isinstance(kind.element, EventOf):
            for each in inner if isinstance(inner, (list, tuple)) else ():
                yield from find_undeclared(kind.element.event_type, each)


def check_known(event_type: EventType, value: Any) -> None:
    """Raise EplRuntimeError for a property that is not declared (``Settings(unknown_properties="refuse")``)."""
    for within, name in find_undeclared(event_type, value):
        raise EplRuntimeError(f"Event type '{within.name}' has no property '{name}'", hint=_offer(within, name) or None)


class UndeclaredNames:
    """Reports undeclared properties, each type and name once. A variant stream of any type has no undeclared ones."""

    def __init__(self, report: Callable[[str], object]) -> None:
        self._report = report
        self._noted: set[tuple[str, str]] = set()

    def check(self, event_type: EventType, value: Any) -> None:
        """Report the properties that have not been reported before. ``value``: as for ``to_event``."""
        for within, name in list(find_undeclared(event_type, value)):
            if not within.any_type and (within.name, name) not in self._noted:
                self._noted.add((within.name, name))
                offer = _offer(within, name)
                self._report(f"{within.name} has no property '{name}'" + (f" ({offer})" if offer else ""))


def _warn(text: str) -> None:
    """Warn at the caller of ``Runtime.send``, which is above its own call, the function that reads the event, and the check."""
    warnings.warn(text, EplWarning, stacklevel=5)


def build_check(unknown_properties: str, report: Callable[[str], object] = _warn) -> Callable[[EventType, Any], None] | None:
    """Return what is called with each event before it is read, as the setting says; None for nothing. ``report`` gets the warnings."""
    if unknown_properties == "refuse":
        return check_known
    return UndeclaredNames(report).check if unknown_properties == "warn" else None


def _offer(event_type: EventType, name: str) -> str:
    close = get_close_matches(name, event_type.properties, 1)
    return f"did you mean '{close[0]}'?" if close else ""


__all__ = ["UndeclaredNames", "build_check", "check_known", "find_undeclared"]
