"""Rows by where they are in a region: the spatial indexes of ``create index``.

A quadrant that has more rows than its capacity is divided, up to a depth, and joined again when rows have left. Points are in one part.
A rectangle that reaches into several parts stays with the quadrant that is divided, as in Esper, unless many do: then one that reaches only
a little beyond the part that has its middle is there. So small rectangles do not crowd a quadrant whose middle they cross. A look-up passes
over parts that the rectangle sought does not reach: it costs about as many steps as it finds rows.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from windows.buckets import Bucket, put, take
from windows.event import Event

Place = tuple[float, ...]
"""x and y of a point; x, y, width and height of a rectangle."""
CAPACITY, DEPTH = 4, 20
"""Rows at which a quadrant is divided, and how many levels there are at most, where ``create index`` does not say."""
CROWDED = 16
"""Places at which a quadrant that is divided lets rectangles go to its parts that reach beyond them."""
REACH = 1 / 16
"""How far they may reach, in halves of a quadrant. With less, rows stay in large quadrants; with more, look-ups pass fewer parts over:
measured."""


class Quadrant:
    """Part of a region around ``x``, ``y``. ``rows``: by place; ``parts``: in the order northwest, northeast, southwest, southeast (north
    is where y is small), empty while it is not divided. ``count``: of the rows in it and in its parts."""

    __slots__ = ("x", "y", "width", "height", "depth", "rows", "parts", "count")

    def __init__(self, x: float, y: float, width: float, height: float, depth: int) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        """Its middle, and half of its size."""
        self.depth = depth
        self.rows: dict[Place, Bucket] = {}
        self.parts: tuple[Quadrant, ...] = ()
        self.count = 0

    def divide(self) -> None:
        width, height = self.width / 2, self.height / 2
        self.parts = tuple(
            Quadrant(self.x + dx * width, self.y + dy * height, width, height, self.depth - 1) for dy in (-1, 1) for dx in (-1, 1))

    def everything(self) -> Iterator[tuple[Place, Bucket]]:
        yield from self.rows.items()
        for part in self.parts:
            yield from part.everything()

    def join(self) -> None:
        """Take the rows of the parts."""
        rows: dict[Place, Bucket] = {}
        for place, bucket in self.everything():
            for row in bucket:
                put(rows, place, row)
        self.rows, self.parts = rows, ()


class Quadtree:
    """All rows of a region. ``capacity``, ``depth``: see the module. ``reach``: how far rows of a part may reach into other parts."""

    reach = 0.0

    def __init__(self, x: float, y: float, width: float, height: float, capacity: int = CAPACITY, depth: int = DEPTH) -> None:
        self._new: Callable[[], Quadrant] = lambda: Quadrant(x + width / 2, y + height / 2, width / 2, height / 2, depth)
        self._root = self._new()
        self._capacity = capacity

    def quadrant_part(self, quadrant: Quadrant, place: Place, reach: float) -> Quadrant | None:
        """Return the part that has the middle of a place, where the place reaches no further beyond it; else None."""
        raise NotImplementedError

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        """Return the rows that the rectangle holds or reaches; none where a coordinate is null."""
        raise NotImplementedError

    def add(self, row: Event, place: Place) -> None:
        quadrant = self._root
        quadrant.count += 1
        while quadrant.parts and place not in quadrant.rows:
            part = self.quadrant_part(quadrant, place, self.reach if len(quadrant.rows) >= CROWDED else 0.0)
            if part is None:
                break
            quadrant = part
            quadrant.count += 1
        put(quadrant.rows, place, row)
        while not quadrant.parts and quadrant.count > self._capacity and quadrant.depth > 1 and len(quadrant.rows) > 1:
            quadrant = self._divide(quadrant)

    def _divide(self, quadrant: Quadrant) -> Quadrant:
        """Let the rows go to the parts; return the part that has most, where the rows may still be too many."""
        rows, quadrant.rows = quadrant.rows, {}
        quadrant.divide()
        for place, bucket in rows.items():
            part = self.quadrant_part(quadrant, place, self.reach if len(quadrant.rows) >= CROWDED else 0.0)
            if part is None:
                quadrant.rows[place] = bucket
            else:
                part.rows[place] = bucket
                part.count += sum(1 for _ in bucket)
        return max(quadrant.parts, key=lambda part: part.count)

    def remove(self, row: Event, place: Place) -> None:
        """Remove a row that is there."""
        quadrant, joined = self._root, None
        while True:
            quadrant.count -= 1
            if row in quadrant.rows.get(place, ()):
                break
            if joined is None and quadrant.count <= self._capacity // 2:
                joined = quadrant
            part = self.quadrant_part(quadrant, place, self.reach)
            assert part is not None
            quadrant = part
        take(quadrant.rows, place, row)
        if joined is None and quadrant.parts and quadrant.count <= self._capacity // 2:
            joined = quadrant
        if joined is not None:
            joined.join()

    def clear(self) -> None:
        self._root = self._new()

    def _reach(self, x: float, y: float, right: float, bottom: float) -> Iterator[dict[Place, Bucket]]:
        """Yield the rows of the quadrants that a rectangle reaches."""
        waiting, reach = [self._root], self.reach
        while waiting:
            quadrant = waiting.pop()
            if quadrant.rows:
                yield quadrant.rows
            if quadrant.parts:
                dx, dy = quadrant.width * reach, quadrant.height * reach
                west, east = x <= quadrant.x + dx, right >= quadrant.x - dx
                parts = quadrant.parts
                if bottom >= quadrant.y - dy:
                    if east and parts[3].count:
                        waiting.append(parts[3])
                    if west and parts[2].count:
                        waiting.append(parts[2])
                if y <= quadrant.y + dy:
                    if east and parts[1].count:
                        waiting.append(parts[1])
                    if west and parts[0].count:
                        waiting.append(parts[0])


class PointQuadtree(Quadtree):
    """``pointregionquadtree``."""

    def quadrant_part(self, quadrant: Quadrant, place: Place, reach: float) -> Quadrant:
        x, y = place
        return quadrant.parts[2 * (y >= quadrant.y) + (x >= quadrant.x)]

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        if x is None or y is None or width is None or height is None:
            return []
        right, bottom = x + width, y + height
        return [
            row for rows in self._reach(x, y, right, bottom) for (px, py), bucket in rows.items()
            if x <= px < right and y <= py < bottom for row in bucket]


class RectangleQuadtree(Quadtree):
    """``mxcifquadtree``."""

    reach = REACH

    def quadrant_part(self, quadrant: Quadrant, place: Place, reach: float) -> Quadrant | None:
        x, y, width, height = place
        dx, dy = quadrant.width * reach, quadrant.height * reach
        east, south = x + width / 2 >= quadrant.x, y + height / 2 >= quadrant.y
        if not (x > quadrant.x - dx if east else x + width < quadrant.x + dx):
            return None
        if not (y > quadrant.y - dy if south else y + height < quadrant.y + dy):
            return None
        return quadrant.parts[2 * south + east]

    def find(self, x: float | None, y: float | None, width: float | None, height: float | None) -> list[Event]:
        if x is None or y is None or width is None or height is None:
            return []
        right, bottom = x + width, y + height
        return [
            row for rows in self._reach(x, y, right, bottom) for (rx, ry, w, h), bucket in rows.items()
            if right >= rx and rx + w >= x and bottom >= ry and ry + h >= y for row in bucket]


def contains(kind: Literal["pointregionquadtree", "mxcifquadtree"], region: Sequence[float], place: Place) -> bool:
    """Return whether a region has room for a point, or intersects a rectangle."""
    x, y, width, height = region
    if kind == "pointregionquadtree":
        return x <= place[0] < x + width and y <= place[1] < y + height
    rx, ry, w, h = place
    return x + width >= rx and rx + w >= x and y + height >= ry and ry + h >= y


TREES: dict[str, Callable[..., Any]] = {"pointregionquadtree": PointQuadtree, "mxcifquadtree": RectangleQuadtree}

__all__ = ["TREES", "PointQuadtree", "Quadtree", "RectangleQuadtree", "contains"]
