"""``point(x, y).inside(rectangle(x, y, width, height))`` and ``rectangle(…).intersects(rectangle(…))``.

A rectangle's left and upper edge are inside of it, its right and lower are not; rectangles that touch intersect. Null gives null.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.functions.registry import Bound, FunctionRegistry, FunctionSpec
from epl.value_types import BOXED_BOOLEAN, ValueType


@attrs.frozen
class SpatialMethod:
    """``function(…).method(rectangle(…))``: the number of coordinates on the left, the registry's key, and the index for filters."""

    function: str
    method: str
    coordinates: int
    index: str

    @property
    def key(self) -> str:
        return f"{self.function}.{self.method}"


METHODS = (
    SpatialMethod("point", "inside", 2, "pointregionquadtree"),
    SpatialMethod("rectangle", "intersects", 4, "mxcifquadtree"),
)
RECTANGLE = 4
"""The number of a rectangle's coordinates: x, y, width, height."""


def inside(px: float, py: float, x: float, y: float, width: float, height: float) -> bool:
    """Return whether the point is in the rectangle.

    >>> inside(0, 0, 0, 0, 10, 10), inside(10, 0, 0, 0, 10, 10)
    (True, False)
    """
    return x <= px < x + width and y <= py < y + height


def intersects(x: float, y: float, width: float, height: float, *other: float) -> bool:
    """Return whether two rectangles have a point in common, edges included.

    >>> intersects(0, 0, 5, 5, 5, 5, 1, 1), intersects(0, 0, 5, 5, 5.1, 5, 1, 1)
    (True, False)
    """
    ox, oy, other_width, other_height = other
    return x + width >= ox and ox + other_width >= x and y + height >= oy and oy + other_height >= y


def _bind(_types: Sequence[ValueType], _constants: Sequence[Any]) -> Bound:
    return Bound(BOXED_BOOLEAN, null_propagates=True)


def _maker(function: Callable[..., bool]) -> Callable[[], Callable[..., bool]]:
    return lambda: function


def add_spatial(registry: FunctionRegistry) -> None:
    """Register by key alone: the analysis knows the pair of calls that stands for each."""
    functions: tuple[Callable[..., bool], ...] = (inside, intersects)
    for method, function in zip(METHODS, functions, strict=True):
        registry.by_key[method.key] = FunctionSpec(key=method.key, bind=_bind, make=_maker(function))
