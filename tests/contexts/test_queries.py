"""Fire-and-forget queries over what contexts have in partitions: selectors, refusals, and all or nothing. Rows: tests/cases/contexts."""
from __future__ import annotations

from typing import Any

import pytest

from runtime import AllPartitions, EplError, EplRuntimeError, EplUnsupportedError, PartitionsById, PartitionsByKey, Runtime

MODULE = """create schema E(k string, v int); create schema O(k string);
    create context C partition by k from E; create context D partition by k from O;
    context C create window W#keepall as E; context C insert into W select * from E;
    context C create table T(k string primary key, s sum(int), n int); context C into table T select sum(v) as s from E group by k;
    context D create window WD#keepall as O; context D insert into WD select * from O;
    create window Plain#keepall as E; insert into Plain select * from E;
    @name('s') context C select irstream context.id as i, v from W"""


def running() -> tuple[Runtime, list[Any]]:
    runtime, calls = Runtime(), []
    runtime.deploy(MODULE, listeners={"s": lambda new, old, statement, runtime: calls.append((list(map(dict, new)), list(map(dict, old))))})
    for k, v in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        runtime.send("E", {"k": k, "v": v})
        runtime.send("O", {"k": k})
    calls.clear()
    return runtime, calls


def values(rows: Any) -> list[Any]:
    return [row.v for row in rows]


def test_rows_of_the_partitions_selected() -> None:
    runtime, _ = running()
    assert values(runtime.query("select * from W", partitions=PartitionsByKey([["c"], ["a"]]))) == [1, 3, 4]
    assert values(runtime.query("select * from W", partitions=[PartitionsById([2, 0])])) == [4, 1, 3]
    assert values(runtime.query("select * from W", partitions=[None])) == [1, 3, 2, 4]
    prepared = runtime.prepare_query("context C select count(*) as v from W where v > ?::int")
    assert values(prepared.execute([1], partitions=PartitionsById([0]))) == [1]
    assert values(prepared.execute([1])) == [1, 1, 1]
    runtime.send("E", {"k": "d", "v": 9})
    assert values(prepared.execute([1])) == [1, 1, 1, 1]


def test_prepared_lookups_follow_partitions_that_come_and_go() -> None:
    runtime = Runtime()
    runtime.deploy("""create schema E(k string, v int); create schema X(k string);
        create context C partition by k from E terminated by X(k = k);
        context C create window W#keepall as E; context C insert into W select * from E;
        context C create index I on W(v)""".replace("terminated by X(k = k)", "initiated by E terminated by X"))
    prepared = runtime.prepare_query("select * from W where v = ?::int")
    for _ in range(3):
        runtime.send("E", {"k": "a", "v": 1})
        runtime.send("E", {"k": "b", "v": 1})
        assert [row.k for row in prepared.execute([1])] == ["a", "b"]
        assert [row.k for row in prepared.execute([2])] == []
        runtime.send("X", {"k": "a"})
        assert [row.k for row in prepared.execute([1])] == []


def test_one_change_is_one_delta() -> None:
    runtime, calls = running()
    assert values(runtime.query("update W set v = v + 10", partitions=PartitionsByKey([["a"], ["b"]]))) == [11, 13, 12]
    assert calls == [([{"i": 0, "v": 11}, {"i": 0, "v": 13}, {"i": 1, "v": 12}], [{"i": 0, "v": 1}, {"i": 0, "v": 3}, {"i": 1, "v": 2}])]
    assert values(runtime.query("insert into W values ('x', 5)", partitions=PartitionsById([1]))) == [5]
    assert values(runtime.query("select * from W", partitions=PartitionsById([1]))) == [12, 5]


def test_all_or_nothing_over_partitions() -> None:
    """What raises in the last partition leaves the first as it was."""
    runtime, calls = running()

    def fails(v: int) -> int:
        return 1 // (4 - v)

    runtime.register_function("fails", fails)
    before = values(runtime.query("select * from W"))
    with pytest.raises(ZeroDivisionError):
        runtime.query("update W set v = cast(fails(v), int)")
    with pytest.raises(ZeroDivisionError):
        runtime.query("context C delete from W where fails(v) > 5")
    assert values(runtime.query("select * from W")) == before and not calls
    runtime.query("insert into T(k, n) values ('q', 1)", partitions=PartitionsById([2]))
    with pytest.raises(EplRuntimeError, match="Unique index violation"):
        runtime.query("insert into T(k, n) values ('q', 1)")
    assert sorted(row.k for row in runtime.query("select k from T")) == ["a", "b", "c", "q"]


REFUSED = [
    ("select * from W", [AllPartitions(), None], "The number of context partition selectors does not match the number of named windows"),
    ("select * from W", [], "The number of context partition selectors does not match the number of named windows"),
    ("select * from W", None, "No context partition selectors provided"),
    ("context C select * from Plain", AllPartitions(), "Query target is unpartitioned"),
    ("select a.v from W as a, W as b", AllPartitions(), "Joins against named windows that are under context are not supported"),
    ("context C select a.v from W as a, W as b", AllPartitions(), "Joins in runtime queries for context partitions are not supported"),
    ("select (select count(*) from W) as c from Plain", AllPartitions(),
     "Failed to plan subquery number 1 querying W: Mismatch in context specification, the context for the named window 'W' is 'C' and the "
     "query specifies no context"),
    ("context C select (select count(*) from WD) as c from W", AllPartitions(), "'WD' is 'D' and the query specifies context 'C'"),
    ("select (select count(*) from T) as c from Plain", AllPartitions(), "the context for the table 'T' is 'C'"),
    ("context Nope select * from W", AllPartitions(), "Context by name 'Nope' could not be found"),
]


@pytest.mark.parametrize(("query", "partitions", "words"), REFUSED)
def test_refused(query: str, partitions: Any, words: str) -> None:
    runtime, _ = running()
    with pytest.raises(EplError) as refusal:
        runtime.query(query, partitions=partitions)
    assert words in str(refusal.value)


def test_another_context_reads_none_of_its_properties() -> None:
    runtime, _ = running()
    assert len(runtime.query("context C select * from WD")) == 4
    with pytest.raises(EplUnsupportedError, match="A query of context 'C' reads properties of its partitions, and 'WD' is of context 'D'"):
        runtime.query("context C select context.key1 from WD")


def test_a_selector_has_no_effect_without_a_context() -> None:
    """As in Esper."""
    runtime, _ = running()
    assert len(runtime.query("select * from Plain", partitions=PartitionsByKey([["a"]]))) == 4


def test_fill_is_refused() -> None:
    import pyarrow

    runtime, _ = running()
    with pytest.raises(EplRuntimeError, match="'W' is of a context: no rows can be filled in"):
        runtime.fill("W", pyarrow.table({"k": ["a"], "v": [1]}))


def test_no_partition() -> None:
    runtime = Runtime()
    runtime.deploy(MODULE)
    assert runtime.query("select * from W") == [] == runtime.query("context C select count(*) as c from W")
    assert [row.c for row in runtime.query("select count(*) as c from W")] == [0]  # Esper throws
    assert runtime.query("delete from W") == [] == runtime.query("insert into W values ('a', 1)")
