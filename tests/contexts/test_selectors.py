"""Selectors of partitions: whose rows iterators and queries give, and what they refuse. Orders and words are Esper's."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import (
    AllPartitions,
    EplRuntimeError,
    NestedPartitions,
    PartitionsByCategory,
    PartitionsByHash,
    PartitionsById,
    PartitionsByKey,
    PartitionSelector,
    PartitionsWhere,
    Runtime,
)
from runtime.context.selector_states import selector_of_state, selector_state

KINDS = {
    "keyed": "partition by k from E",
    "two keys": "partition by k, v from E",
    "hash": "coalesce by hash_code(v) from E granularity 4",
    "category": "group v > 0 as pos, group v < 0 as neg from E",
    "lifetime": "initiated by E as e terminated by X(k = e.k)",
    "nested": "context A partition by k from E, context D group v > 0 as pos, group v < 0 as neg from E",
}
OF_NESTED = "[ContextPartitionSelectorAll, ContextPartitionSelectorById, ContextPartitionSelectorNested] interfaces but received"
ONE_LEVEL = "ContextPartitionSelectorAll, ContextPartitionSelectorFiltered, ContextPartitionSelectorById"


def running(kind: str) -> Runtime:
    runtime = Runtime()
    runtime.deploy(f"""create schema E(k string, v int); create schema X(k string);
        create context C {KINDS[kind]};
        @name('s') context C select context.id as i, v from E#keepall;
        context C create window W#keepall as E; context C insert into W select * from E""")
    for k, v in (("b", 1), ("a", -2), ("b", 3)):
        runtime.send("E", {"k": k, "v": v})
    return runtime


ROWS: list[tuple[str, PartitionSelector, list[tuple[int, int]]]] = [
    ("keyed", AllPartitions(), [(0, 1), (0, 3), (1, -2)]),
    ("keyed", PartitionsById([1, 0]), [(1, -2), (0, 1), (0, 3)]),
    ("keyed", PartitionsById([7]), []),
    ("keyed", PartitionsById(None), []),
    ("keyed", PartitionsByKey([["b"], ["zz"], ["a"]]), [(0, 1), (0, 3), (1, -2)]),
    ("keyed", PartitionsWhere(lambda partition: partition.identifier.keys == ("a",)), [(1, -2)]),
    ("two keys", PartitionsByKey([("b", 3), ("a", 1)]), [(2, 3)]),
    ("hash", PartitionsByHash([1, 0]), [(0, 1)]),
    ("hash", PartitionsWhere(lambda partition: partition.identifier.hash == 3), [(2, 3)]),
    ("category", PartitionsByCategory(["neg"]), [(1, -2)]),
    ("category", PartitionsByCategory(None), []),
    ("lifetime", PartitionsById([2]), [(2, 3)]),
    ("lifetime", PartitionsWhere(lambda partition: partition.properties["e"]["v"] == -2), [(1, -2), (1, 3)]),
    ("nested", NestedPartitions([[PartitionsByKey([["b"]]), AllPartitions()]]), [(0, 3)]),
    ("nested", NestedPartitions([[AllPartitions(), PartitionsByCategory(["neg"])]]), []),
    ("nested", NestedPartitions([[PartitionsWhere(lambda branch: branch.id is None), AllPartitions()]] * 2), [(0, 3)]),
    ("nested", NestedPartitions([]), []),
]


@pytest.mark.parametrize(("kind", "selector", "expected"), ROWS)
def test_rows(kind: str, selector: PartitionSelector, expected: list[tuple[int, int]]) -> None:
    runtime = running(kind)
    rows = runtime.statement("s").rows(selector)
    assert [(row.i, row.v) for row in rows] == expected
    context = runtime.contexts["C"]
    assert [each.id for each in context.partitions(selector)] == context.ids(selector)
    assert [row.i for row in runtime.query("context C select context.id as i", partitions=selector)] == context.ids(selector)


REFUSED: list[tuple[str, Any, str]] = [
    ("keyed", PartitionsByHash([1]), f"{ONE_LEVEL}, ContextPartitionSelectorSegmented] interfaces but received ContextPartitionSelectorH"),
    ("hash", PartitionsByKey([["a"]]), f"{ONE_LEVEL}, ContextPartitionSelectorHash] interfaces but"),
    ("category", PartitionsByKey([["a"]]), f"{ONE_LEVEL}, ContextPartitionSelectorCategory] interfaces but"),
    ("lifetime", PartitionsByKey([["a"]]), f"{ONE_LEVEL}] interfaces but"),
    ("lifetime", "a", "but received str"),
    ("keyed", NestedPartitions([]), OF_NESTED),
    ("nested", PartitionsByKey([["a"]]), OF_NESTED),
    ("nested", PartitionsWhere(bool), OF_NESTED),
    ("nested", NestedPartitions([[AllPartitions()]]), "a path of NestedPartitions has 1 selectors, and context 'C' 2 levels"),
    ("nested", NestedPartitions([[PartitionsById([0]), AllPartitions()]]), "but received ContextPartitionSelectorById"),
    ("two keys", PartitionsByKey([["a"]]), "A key of PartitionsByKey has 1 values, and 'partition by' of context 'C' 2"),
    ("keyed", None, "No selector provided"),
]


@pytest.mark.parametrize(("kind", "selector", "words"), REFUSED)
def test_refused(kind: str, selector: Any, words: str) -> None:
    runtime = running(kind)
    with pytest.raises(EplRuntimeError) as of_rows:
        runtime.statement("s").rows(selector)
    assert words in str(of_rows.value)
    if selector is not None:
        with pytest.raises(EplRuntimeError) as of_query:
            runtime.query("select * from W", partitions=selector)
        assert words in str(of_query.value)


def test_a_statement_without_a_context_has_no_partitions() -> None:
    runtime = Runtime()
    statement = runtime.deploy("create schema E(k string); select * from E")[1]
    with pytest.raises(EplRuntimeError, match="Iterator with context selector is only supported for statements under context"):
        statement.rows(AllPartitions())


def test_keys_are_looked_up() -> None:
    """A key of many is not searched for."""
    runtime = running("keyed")
    for number in range(2000):
        runtime.send("E", {"k": f"k{number}", "v": number})
    context = runtime.contexts["C"]
    assert context.ids(PartitionsByKey([["k1999"], ["k5"]])) == [2 + 5, 2 + 1999]
    compared = 0

    class Counted(str):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    assert context.ids(PartitionsByKey([[Counted("k7")]])) == [9] and compared < 10


@pytest.mark.parametrize("selector", [
    AllPartitions(), PartitionsById([2, 1]), PartitionsByKey([["a", 1], [None, 2]]), PartitionsByHash([3]), PartitionsByCategory(["x"]),
    NestedPartitions([[AllPartitions(), PartitionsByHash([1])]]),
])
def test_plain_values(selector: PartitionSelector) -> None:
    assert selector_of_state(selector_state(selector)) == selector


def test_code_is_not_logged() -> None:
    with pytest.raises(EplRuntimeError, match="PartitionsWhere cannot be logged"):
        selector_state(PartitionsWhere(bool))
