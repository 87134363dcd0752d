"""Property expressions on rows, as ``EventBean.get`` of Esper takes them: ``a.b``, ``a[0].b``, ``m('key')``, ``a?.b``."""
from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import attrs

from epl.attribute_text import MOST_KEPT
from windows.event import Event

STEP = re.compile(r"""((?:\\.|[^\\.\[\]()?'"])+)(?:\[(\d{1,9})\]|\((?:'([^']*)'|"([^"]*)")\))?(\?)?(?:\.|$)""")


@attrs.frozen
class PathStep:
    """``place``: of ``a[0]``; ``key``: of ``a('key')``; ``is_dynamic``: ``a?`` is null where there is no such property."""

    name: str
    place: int | None
    key: str | None
    is_dynamic: bool


class NoProperty(KeyError):
    """A row has no such property. ``owner``: name of the type that lacks it; ``names``: those that it has."""

    def __init__(self, name: str, owner: str, names: tuple[str, ...]) -> None:
        super().__init__(name)
        self.owner, self.names = owner, names

    def __reduce__(self) -> tuple[Any, ...]:
        return NoProperty, (self.args[0], self.owner, self.names)

    def __str__(self) -> str:
        near = get_close_matches(str(self.args[0]).rpartition(".")[2], self.names, 1)
        there = f"it has {', '.join(self.names) or 'none'}" + (f"; did you mean '{near[0]}'?" if near else "")
        return f"row of type '{self.owner}' has no property '{self.args[0]}'; {there}"


@lru_cache(maxsize=MOST_KEPT)
def parse_steps(expression: str) -> tuple[PathStep, ...] | None:
    """Return the steps of a property expression; None where it is none.

    >>> [step.name for step in parse_steps("a[0].b('k')?.c")]
    ['a', 'b', 'c']
    """
    steps, at = [], 0
    while at < len(expression):
        match = STEP.match(expression, at)
        if match is None:
            return None
        name, place, single, double, dynamic = match.groups()
        key = single if single is not None else double
        steps.append(PathStep(re.sub(r"\\(.)", r"\1", name), None if place is None else int(place), key, dynamic is not None))
        at = match.end()
    return None if not steps or expression.endswith(".") else tuple(steps)


def property_of(event: Event, expression: Any) -> Any:
    """Return the value of a property, by its name or a property expression; null where something on the way is null, or an array is
    shorter. Raise NoProperty where there is no such property."""
    if not isinstance(expression, str):
        raise KeyError(expression)
    if event.has(expression):
        return event.get(expression)
    value: Any = event
    owner = event
    for step in parse_steps(expression) or (PathStep(expression, None, None, False),):
        if isinstance(value, Event):
            owner = value
        value = _take_step(value, step)
        if value is MISSING and not step.is_dynamic:
            raise NoProperty(expression, owner.type.name, (*owner.type.names, *(owner.extra or ())))
        if value is None or value is MISSING:
            return None
    return value


MISSING: Any = object()


def _take_step(value: Any, step: PathStep) -> Any:
    if isinstance(value, Event):
        if step.name not in value.type.properties and not value.has(step.name):
            return MISSING
        value = value.get(step.name)
    elif isinstance(value, dict):
        value = value.get(step.name)
    else:
        return MISSING
    if value is None:
        return None
    if step.place is not None:
        return (value[step.place] if step.place < len(value) else None) if isinstance(value, (list, tuple)) else MISSING
    if step.key is not None:
        return value.get(step.key) if isinstance(value, dict) else MISSING
    return value


__all__ = ["NoProperty", "parse_steps", "property_of"]
