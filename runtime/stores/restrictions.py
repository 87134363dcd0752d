"""What the indexes of ``create index`` ask of rows: that a key is unique, that a place is in a region. Checked before anything changes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.java import double_text, key_text
from epl.plan.join.lookups import NamedIndex
from runtime.expressions import Environment
from runtime.stores.quadtree import Place, contains
from runtime.stores.spatial_index import place_function, region_values, values_function
from windows.event import Event

COORDINATES = ("x", "y", "width", "height")
SMALLEST = (("leafCapacity", 1), ("maxTreeHeight", 2))


class UniqueKeys(Protocol):
    """An index of which rows may have keys of their own."""

    def conflict(self, new: Iterable[Event], old: Sequence[Event]) -> Event | None: ...


Restriction = Callable[[Iterable[Event], Sequence[Event]], None]
"""restriction(new rows, rows that leave): raises EplRuntimeError where a new row is refused."""


def index_restrictions(named: NamedIndex, index: Any, environment: Environment) -> list[Restriction]:
    """Return what the index asks of rows. Raise EplDeploymentError where its region is none."""
    restrictions: list[Restriction] = []
    if named.plan.region is not None:
        restrictions.append(_places(named, environment))
    if named.plan.unique:
        restrictions.append(_unique(named, index, environment))
    return restrictions


def _places(named: NamedIndex, environment: Environment) -> Restriction:
    kind, place_of, region = named.plan.region.kind, place_function(named.plan, environment), _region(named, environment)  # type: ignore[union-attr]
    x, y, width, height = region
    columns = ",".join(COORDINATES[: len(named.plan.space)])
    box = f"{{minX={double_text(x)}, minY={double_text(y)}, maxX={double_text(x + width)}, maxY={double_text(y + height)}}}"
    expected = {
        "pointregionquadtree": "a value within index bounding box (range-end-non-inclusive)",
        "mxcifquadtree": "a value intersecting index bounding box (range-end-inclusive)",
    }[kind]

    def check(new: Iterable[Event], old: Sequence[Event]) -> None:
        for row in new:
            place = place_of(row)
            if None in place:
                column = COORDINATES[place.index(None)]
                raise EplRuntimeError(f"Invalid value for index '{named.name}' column '{column}' received null and expected non-null")
            if not contains(kind, region, place):
                raise EplRuntimeError(
                    f"Invalid value for index '{named.name}' column '({columns})' received {_place_text(place)} and expected "
                    f"{expected} {box}")

    return check


def _region(named: NamedIndex, environment: Environment) -> tuple[float, float, float, float]:
    """Return x, y, width and height; refuse a region without an area, and a tree of nothing."""
    x, y, width, height, *whole = region_values(named.plan, environment)
    for name, value in (("width", width), ("height", height)):
        if not value > 0:
            raise _region_refusal(named, name, double_text(value), ">0")
    for (name, least), number in zip(SMALLEST, whole, strict=False):
        if number < least:
            raise _region_refusal(named, name, str(number), f">={least}")
    return x, y, width, height


def _region_refusal(named: NamedIndex, parameter: str, value: str, expected: str) -> EplDeploymentError:
    return EplDeploymentError(
        f"Failed to deploy: Invalid value for index '{named.name}' parameter '{parameter}' received {value} and expected value{expected}")


def _unique(named: NamedIndex, index: UniqueKeys, environment: Environment) -> Restriction:
    def check(new: Iterable[Event], old: Sequence[Event]) -> None:
        row = index.conflict(new, old)
        if row is not None:
            values = values_function((*named.plan.hash, *named.plan.space), environment)(row)
            key = _place_text(values) if named.plan.space else key_text(values)
            raise EplRuntimeError(f"Unique index violation, index '{named.name}' is a unique index and key '{key}' already exists")

    return check


def _place_text(place: Place) -> str:
    return f"({','.join(map(double_text, place))})"


__all__ = ["Restriction", "index_restrictions"]
