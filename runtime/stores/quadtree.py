"""Rows by where they are in a region: the spatial indexes of ``create index``.

A quadrant that has more rows than its capacity is divided, up to a depth, and joined again when rows have left. A rectangle is in the part
that has its middle, and may reach a little into the others; one that reaches further stays with the quadrant that is divided. So small
rectangles do not crowd quadrants whose middle they cross. A look-up passes over parts that the rectangle sought does not reach: it costs
about as many steps as it finds rows.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from windows.event import Event

Place = tuple[float, ...]
"""x and y of a point; x, y, width and height of a rectangle."""
CAPACITY, DEPTH = 4, 20
"""Rows at which a quadrant is divided, and how many levels there are at most, where ``create index`` does not say."""


class Quadrant:
    """Part of a region around ``x``, ``y``. ``rows``: with their places; ``parts``: in the order northwest, northeast, southwest, southeast
    (north is where y is small), empty while it is not divided. ``count``: of the rows in it and in its parts."""

    __slots__ = ("x", "y", "width", "height", "depth", "rows", "parts", "count")

    def __init__(self, x: float, y: float, width: float, height: float, depth: int) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        """Its middle, and half of its size."""
        self.depth = depth
        self.rows: dict[Event, Place] = {}
        self.parts: tuple[Quadrant, ...] = ()
        self.count = 0

    def divide(self) -> None:
        width, height = self.width / 2, self.height / 2
        self.parts = tuple(
            Quadrant(self.x + dx * width, self.y + dy * height, width, height, self.depth - 1) for dy in (-1, 1) for dx in (-1, 1))

    def everything(self) -> Iterator[tuple[Event, Place]]:
        yield from self.rows.items()
        for part in self.parts:
            yield from part.everything()


class Quadtree:
    """All rows of a region. ``capacity``, ``depth``: see the module. ``reach``: how far the rows of a part may reach into other parts, in
    halves of a quadrant."""

    reach = 0.0

    def __init__(self, x: float, y: float, width: float, height: float, capacity: int = CAPACITY, depth: int = DEPTH) -> None:
        self._new: Callable[[], Quadrant] = lambda: Quadrant(x + width / 2, y + height / 2, width / 2, height / 2, depth)
        self._root = self._new()
        self._capacity = capacity

    def part_of(self, quadrant: Quadrant, place: Place) -> Quadrant | None:
        """Return the part that a place is in as a whole; None where there is none."""
        raise NotImplementedError

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        """Return the rows that the rectangle holds or reaches; none where a coordinate is null."""
        raise NotImplementedError

    def add(self, row: Event, place: Place) -> None:
        quadrant = self._root
        quadrant.count += 1
        while quadrant.parts:
            part = self.part_of(quadrant, place)
            if part is None:
                break
            quadrant = part
            quadrant.count += 1
        quadrant.rows[row] = place
        while not quadrant.parts and quadrant.count > self._capacity and quadrant.depth > 1:
            quadrant = self._divide(quadrant)

    def _divide(self, quadrant: Quadrant) -> Quadrant:
        """Let the rows go to the parts; return the part that has most, where the rows may still be too many."""
        rows, quadrant.rows = quadrant.rows, {}
        quadrant.divide()
        for row, place in rows.items():
            part = self.part_of(quadrant, place) or quadrant
            part.rows[row] = place
            if part is not quadrant:
                part.count += 1
        return max(quadrant.parts, key=lambda part: part.count)

    def remove(self, row: Event, place: Place) -> None:
        """Remove a row that is there."""
        quadrant, joined = self._root, None
        quadrant.count -= 1
        while quadrant.parts:
            if joined is None and quadrant.count <= self._capacity // 2:
                joined = quadrant
            part = self.part_of(quadrant, place)
            if part is None:
                break
            quadrant = part
            quadrant.count -= 1
        del quadrant.rows[row]
        if joined is not None:
            joined.rows, joined.parts = dict(joined.everything()), ()

    def clear(self) -> None:
        self._root = self._new()

    def _reached(self, x: float, y: float, right: float, bottom: float) -> Iterator[dict[Event, Place]]:
        """Yield the rows of the quadrants that a rectangle reaches."""
        waiting, reach = [self._root], self.reach
        while waiting:
            quadrant = waiting.pop()
            if quadrant.rows:
                yield quadrant.rows
            if quadrant.parts:
                dx, dy = quadrant.width * reach, quadrant.height * reach
                west, east = x <= quadrant.x + dx, right >= quadrant.x - dx
                north, south = y <= quadrant.y + dy, bottom >= quadrant.y - dy
                parts = quadrant.parts
                if south:
                    if east and parts[3].count:
                        waiting.append(parts[3])
                    if west and parts[2].count:
                        waiting.append(parts[2])
                if north:
                    if east and parts[1].count:
                        waiting.append(parts[1])
                    if west and parts[0].count:
                        waiting.append(parts[0])


class PointQuadtree(Quadtree):
    """``pointregionquadtree``."""

    def part_of(self, quadrant: Quadrant, place: Place) -> Quadrant:
        x, y = place
        return quadrant.parts[2 * (y >= quadrant.y) + (x >= quadrant.x)]

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        if x is None or y is None or width is None or height is None:
            return []
        right, bottom = x + width, y + height
        return [
            row for rows in self._reached(x, y, right, bottom) for row, (px, py) in rows.items()
            if x <= px < right and y <= py < bottom]


class RectangleQuadtree(Quadtree):
    """``mxcifquadtree``."""

    reach = 1 / 16
    """With less, rows stay in large quadrants; with more, look-ups pass fewer parts over: measured."""

    def part_of(self, quadrant: Quadrant, place: Place) -> Quadrant | None:
        x, y, width, height = place
        dx, dy = quadrant.width * self.reach, quadrant.height * self.reach
        east, south = x + width / 2 >= quadrant.x, y + height / 2 >= quadrant.y
        if not (x >= quadrant.x - dx if east else x + width <= quadrant.x + dx):
            return None
        if not (y >= quadrant.y - dy if south else y + height <= quadrant.y + dy):
            return None
        return quadrant.parts[2 * south + east]

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        if x is None or y is None or width is None or height is None:
            return []
        right, bottom = x + width, y + height
        return [
            row for rows in self._reached(x, y, right, bottom) for row, (rx, ry, w, h) in rows.items()
            if right >= rx and rx + w >= x and bottom >= ry and ry + h >= y]


def contains(kind: Literal["pointregionquadtree", "mxcifquadtree"], region: Sequence[float], place: Place) -> bool:
    """Return whether a region has room for a point, or intersects a rectangle."""
    x, y, width, height = region
    if kind == "pointregionquadtree":
        return x <= place[0] < x + width and y <= place[1] < y + height
    rx, ry, w, h = place
    return x + width >= rx and rx + w >= x and y + height >= ry and ry + h >= y


TREES: dict[str, Callable[..., Any]] = {"pointregionquadtree": PointQuadtree, "mxcifquadtree": RectangleQuadtree}

__all__ = ["TREES", "PointQuadtree", "Quadtree", "RectangleQuadtree", "contains"]
