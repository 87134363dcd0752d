"""Spatial indexes: their rows are those of a scan, whatever comes, goes and moves."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.functions.spatial import inside, intersects
from runtime import Runtime
from runtime.stores.quadtree import PointQuadtree, Quadtree, RectangleQuadtree

numbers = st.one_of(st.integers(0, 16).map(float), st.floats(0, 15.999), st.sampled_from([4.0, 8.0, 12.0, 0.1, 7.999999999999999]))
sizes = st.one_of(st.integers(-3, 9).map(float), st.floats(-20, 20))
rectangles = st.tuples(numbers, numbers, sizes, sizes)
MODULE = """@public create schema Place(id int, x double, y double, w double, h double);
@public create schema Area(x double, y double, w double, h double);
@public create schema Move(id int, x double, y double);
@name('w') @public create window Places#length(12) as Place; insert into Places select * from Place;
@public create window Plain#length(12) as Place; insert into Plain select * from Place;
{};
@name('d') on Area(w < 0) delete from Places where {}; @name('e') on Area(w < 0) delete from Plain where {};
on Move update Places set x = Move.x, y = Move.y where Places.id = Move.id;
on Move update Plain set x = Move.x, y = Move.y where Plain.id = Move.id;
@name('a') on Area select p.id as id from Places as p where {} order by p.id;
@name('b') on Area select p.id as id from Plain as p where {} order by p.id;
"""
POINT = "point({0}.x, {0}.y).inside(rectangle(Area.x, Area.y, Area.{1}, Area.h))"
RECTANGLE = "rectangle({0}.x, {0}.y, {0}.w, {0}.h).intersects(rectangle(Area.x, Area.y, Area.{1}, Area.h))"


@pytest.mark.parametrize("capacity, depth", [(1, 2), (1, 5), (4, 20)])
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.booleans(), rectangles), max_size=60), st.lists(rectangles, min_size=1, max_size=4))
def test_a_tree_gives_the_rows_of_a_scan(capacity: int, depth: int, steps: list[Any], sought: list[Any]) -> None:
    for tree, length, test in (
            (PointQuadtree(0, 0, 16, 16, capacity, depth), 2, inside), (RectangleQuadtree(0, 0, 16, 16, capacity, depth), 4, intersects)):
        held: dict[Any, Any] = {}
        for number, (enters, place) in enumerate(steps):
            if enters or not held:
                held[number] = place[:length]
                tree.add(number, held[number])  # type: ignore[arg-type]
            else:
                row = sorted(held)[number % len(held)]
                tree.remove(row, held.pop(row))  # type: ignore[arg-type]
        for area in sought:
            assert sorted(tree.find(*area)) == sorted(row for row, place in held.items() if test(*place, *area))  # type: ignore[type-var]
        for row, place in held.items():
            tree.remove(row, place)
        assert quadrants(tree) == 1


def quadrants(tree: Quadtree) -> int:
    waiting, count = [tree._root], 0
    while waiting:
        quadrant = waiting.pop()
        waiting += quadrant.parts
        count += 1
    return count


def test_a_look_up_costs_what_it_finds() -> None:
    tree = PointQuadtree(0, 0, 1000, 1000)
    for x in range(200):
        for y in range(200):
            tree.add((x, y), (x * 5.0, y * 5.0))  # type: ignore[arg-type]
    read = sum(len(rows) for rows in tree._reach(500.0, 500.0, 520.0, 520.0))
    assert len(tree.find(500.0, 500.0, 20.0, 20.0)) == 16 and read < 60
    assert quadrants(tree) < 40_000


def test_rectangles_that_cross_the_middle_cost_no_other_look_up() -> None:
    tree = RectangleQuadtree(0, 0, 1000, 1000)
    for number in range(2000):
        tree.add((number,), (499.9, number / 2, 0.2, 0.2))  # type: ignore[arg-type]
        tree.add((number, 0), (number / 2, 499.9, 0.2, 0.2))  # type: ignore[arg-type]
    read = sum(len(rows) for rows in tree._reach(100.0, 100.0, 110.0, 110.0))
    assert not tree.find(100.0, 100.0, 10.0, 10.0) and read < 50
    read = sum(len(rows) for rows in tree._reach(495.0, 100.0, 505.0, 101.0))
    assert len(tree.find(495.0, 100.0, 10.0, 1.0)) == 3 and read < 50


places = st.tuples(st.just("Place"), st.fixed_dictionaries(
    {"id": st.integers(0, 9), "x": numbers.filter(lambda n: n < 16), "y": numbers.filter(lambda n: n < 16),
     "w": sizes.map(abs), "h": sizes.map(abs)}))
areas = st.tuples(st.just("Area"), st.fixed_dictionaries({"x": st.none() | numbers, "y": numbers, "w": sizes, "h": sizes}))
moves = st.tuples(st.just("Move"), st.fixed_dictionaries(
    {"id": st.integers(0, 9), "x": numbers.filter(lambda n: n < 16), "y": numbers.filter(lambda n: n < 16)}))


@pytest.mark.parametrize("condition, index", [
    (POINT, "(x, y) pointregionquadtree(0, 0, 16, 16, 2, 4)"), (RECTANGLE, "(x, y, w, h) mxcifquadtree(0, 0, 16, 16, 2, 4)")])
@settings(max_examples=25, deadline=None)
@given(st.lists(places | places | areas | moves, max_size=30), st.integers(0, 30))
def test_statements_find_the_rows_of_a_scan(condition: str, index: str, events: list[Any], cut: int) -> None:
    errors: list[Any] = []
    runtime = Runtime(start_time=0, on_error=lambda error, statement, event: errors.append(error))
    where = [condition.format(name, word) for name, word in (("Places", "w * -1"), ("Plain", "w * -1"), ("p", "w"), ("p", "w"))]
    runtime.deploy(MODULE.format(f"create index Near on Places({index})", *where))
    calls: dict[str, list[Any]] = {"a": [], "b": []}

    def listen() -> None:
        for name in calls:
            runtime.statement(name).add_listener(lambda new, old, s, _: calls[s.name].append([row["id"] for row in new]))

    listen()
    for number, (name, event) in enumerate(events):
        if number == cut:
            runtime = Runtime.restore(runtime.snapshot(), on_error=lambda error, statement, event: errors.append(error))
            listen()
        runtime.send(name, event)
    assert calls["a"] == calls["b"] and not errors


def test_rows_outside_of_the_region_are_refused() -> None:
    errors: list[str] = []
    runtime = Runtime(start_time=0, on_error=lambda error, statement, event: errors.append(str(error)))
    runtime.deploy("""create schema Place(x double, y double, w double, h double); @name('w') create window Places#keepall as Place;
        insert into Places select * from Place; create unique index P on Places((x, y) pointregionquadtree(0, 0, 10, 10));
        create index R on Places((x, y, w, h) mxcifquadtree(2, 2, 5, 5)); @name('a') create window Free#keepall as Place""")
    for x, y, w in ((3, 3, 1), (3, None, 1), (10, 3, 1), (3, 3, 1), (1, 1, 1), (1.2, 1, 0.5), (1.5, 1, None)):
        runtime.send("Place", {"x": x, "y": y, "w": w, "h": 1})
    assert [row["x"] for row in runtime.statement("w")] == [3, 1]
    assert errors == [
        "Invalid value for index 'P' column 'y' received null and expected non-null",
        "Invalid value for index 'P' column '(x,y)' received (10.0,3.0) and expected a value within index bounding box "
        "(range-end-non-inclusive) {minX=0.0, minY=0.0, maxX=10.0, maxY=10.0}",
        "Unique index violation, index 'P' is a unique index and key '(3.0,3.0)' already exists",
        "Invalid value for index 'R' column '(x,y,width,height)' received (1.2,1.0,0.5,1.0) and expected a value intersecting index "
        "bounding box (range-end-inclusive) {minX=2.0, minY=2.0, maxX=7.0, maxY=7.0}",
        "Invalid value for index 'R' column 'width' received null and expected non-null",
    ]
