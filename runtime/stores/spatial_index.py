"""A spatial index over rows: quadtree, and the places by which rows leave it."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from epl.plan.expressions import TypedExpression
from epl.plan.join.lookups import IndexPlan
from runtime.expressions import Environment, compile_expression
from runtime.expressions.compiled import compile_row
from runtime.stores.quadtree import TREES, Place
from windows.event import Event


class SpatialIndex:
    """Rows by their places in a region, which ``Restrictions`` has checked. ``find(x, y, width, height)``: those that a rectangle holds or
    reaches, by quadrant."""

    __slots__ = ("place_of", "_places", "_taken", "_tree", "find")

    def __init__(self, plan: IndexPlan, environment: Environment) -> None:
        assert plan.region is not None
        self.place_of = place_function(plan, environment)
        self._places: dict[Event, Place] = {}
        self._taken: dict[Place, Event] | None = {} if plan.unique else None
        self._tree = TREES[plan.region.kind](*region_values(plan, environment))
        self.find: Callable[..., list[Event]] = self._tree.find

    def update(self, new: Iterable[Event], old: Sequence[Event]) -> None:
        """Remove the rows ``old``, then add the rows ``new`` that are not among them.

        In that order, as in Esper: a changed copy is the last of its quadrant, and a quadrant is not divided because of rows that leave.
        """
        places, tree, taken = self._places, self._tree, self._taken
        for row in old:
            place = places.pop(row, None)
            if place is not None:
                tree.remove(row, place)
                if taken is not None and taken.get(place) is row:
                    del taken[place]
        gone = frozenset(old)
        for row in new:
            if row not in places and row not in gone:
                place = places[row] = self.place_of(row)
                tree.add(row, place)
                if taken is not None:
                    taken[place] = row

    def clear(self) -> None:
        self._places.clear()
        self._tree.clear()
        if self._taken is not None:
            self._taken.clear()

    def conflict(self, new: Iterable[Event], old: Sequence[Event]) -> Event | None:
        """Return the first new row whose place another row has; None where places need not differ."""
        return None if self._taken is None else first_taken(self._taken.get, self.place_of, new, old)


def place_function(plan: IndexPlan, environment: Environment) -> Callable[[Event], Any]:
    """Return what gives the coordinates of a row, some of which may be null."""
    return values_function(plan.space, environment)


def values_function(expressions: Sequence[TypedExpression], environment: Environment) -> Callable[[Event], Any]:
    """Return what gives the expressions' values of a row."""
    values = compile_row(tuple(expressions), environment, 1)
    return lambda row: values(row, True, ())


def region_values(plan: IndexPlan, environment: Environment) -> tuple[Any, ...]:
    assert plan.region is not None
    return tuple(compile_expression(parameter, environment, 0)() for parameter in plan.region.parameters)


def first_taken(
    holder: Callable[[Any], Event | None], key_of: Callable[[Event], Any], new: Iterable[Event], old: Sequence[Event]
) -> Event | None:
    """Return the first of the new rows whose key another row has that stays, or another of the new rows; None where there is none.

    ``holder``: of a key.
    """
    if type(new) is tuple and len(new) == 1 and not old:  # so is what most events bring
        other = holder(key_of(new[0]))
        return None if other is None or other is new[0] else new[0]
    leaving = dict.fromkeys(old)
    entering: dict[Any, Event] = {}
    for row in new:
        if row in leaving:
            continue
        key = key_of(row)
        other = holder(key)
        if (other is not None and other is not row and other not in leaving) or entering.setdefault(key, row) is not row:
            return row
    return None


__all__ = ["SpatialIndex", "first_taken", "place_function", "region_values", "values_function"]
