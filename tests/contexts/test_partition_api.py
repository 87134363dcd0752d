"""Runtime.contexts: partitions, statements, and what listeners get, in the order of Esper."""
from __future__ import annotations

import pytest

from runtime import ContextChange, EplRuntimeError, Runtime, Settings

TYPES = "create schema E(k string, v int); create schema X(k string); create schema B(k string);"


def short(change: ContextChange) -> str:
    detail = change.statement if change.statement is not None else "" if change.partition is None else str(change.partition.id)
    return f"{change.kind} {detail}".strip()


class Heard:
    def __init__(self) -> None:
        self.changes: list[str] = []

    def __call__(self, change: ContextChange) -> None:
        self.changes.append(short(change))

    def take(self) -> list[str]:
        changes, self.changes = self.changes, []
        return changes


def test_what_listeners_hear() -> None:
    runtime, heard = Runtime(), Heard()
    runtime.deploy(TYPES)
    runtime.contexts.add_listener(heard)
    context = runtime.deploy("create context C initiated by E as e terminated by X(k = e.k)")
    assert heard.take() == ["created"]
    runtime.contexts["C"].add_listener(heard)
    first = runtime.deploy("@name('s1') context C select count(*) as c from E")
    assert heard.take() == ["statement_added s1", "activated"]
    runtime.send("E", {"k": "a", "v": 1})
    assert heard.take() == ["partition_started 0"]
    second = runtime.deploy("@name('s2') context C select * from B; @name('s3') context C select * from B")
    assert heard.take() == ["statement_added s2", "statement_added s3"]
    runtime.send("E", {"k": "b", "v": 1})
    runtime.send("X", {"k": "a"})
    assert heard.take() == ["partition_started 1", "partition_ended 0"]
    second.undeploy()
    assert heard.take() == ["statement_removed s3", "statement_removed s2"]
    first.undeploy()
    assert heard.take() == ["statement_removed s1", "deactivated"]
    context.undeploy()
    assert heard.take() == ["destroyed"]


def test_partitions_that_are_there_from_the_beginning() -> None:
    runtime, heard = Runtime(), Heard()
    runtime.deploy(TYPES + "create context C group v > 0 as p, group v < 0 as n from E")
    runtime.contexts["C"].add_listener(heard)
    for _ in range(2):  # ids are counted again
        deployment = runtime.deploy("@name('s1') context C select * from E")
        assert heard.take() == ["statement_added s1", "partition_started 0", "partition_started 1", "activated"]
        deployment.undeploy()
        assert heard.take() == ["statement_removed s1", "deactivated"]


def test_a_nested_context_reports_those_that_end_with_it() -> None:
    runtime, heard = Runtime(), Heard()
    runtime.deploy(TYPES + "create context C context A partition by k from E, context D group v > 0 as p, group v < 0 as n from E")
    runtime.contexts["C"].add_listener(heard)
    deployment = runtime.deploy("@name('s1') context C select * from E")
    runtime.send("E", {"k": "a", "v": 1})
    assert heard.take() == ["statement_added s1", "activated", "partition_started 0", "partition_started 1"]
    deployment.undeploy()
    assert heard.take() == ["statement_removed s1", "partition_ended 0", "partition_ended 1", "deactivated"]


def test_listeners_go() -> None:
    runtime, heard = Runtime(), Heard()
    runtime.deploy(TYPES + "create context C partition by k from E; @name('s') context C select * from E")
    access = runtime.contexts["C"]
    access.add_listener(heard)
    runtime.contexts.add_listener(heard)
    access.remove_listener(heard)
    runtime.contexts.remove_listener(heard)
    runtime.send("E", {"k": "a", "v": 1})
    runtime.deploy("create context D partition by k from E")
    assert heard.take() == []
    with pytest.raises(ValueError, match="not in"):
        access.remove_listener(heard)


def test_what_a_listener_raises_harms_nothing() -> None:
    runtime = Runtime(on_error=lambda error, name, event: errors.append(str(error)))
    errors: list[str] = []
    runtime.deploy(TYPES + "create context C partition by k from E; @name('s') context C select * from E#keepall")

    def fails(change: ContextChange) -> None:
        raise RuntimeError("no")

    heard = Heard()
    runtime.contexts["C"].add_listener(fails)
    runtime.contexts["C"].add_listener(heard)
    runtime.send("E", {"k": "a", "v": 1})
    assert heard.take() == ["partition_started 0"] and len(runtime.statement("s").rows()) == 1 and errors


def test_what_there_is() -> None:
    runtime = Runtime(start_time=5)
    runtime.deploy(TYPES + """create context C context A initiated by E as e terminated after 10 sec,
        context H coalesce by hash_code(v) from E granularity 2 preallocate;
        create context K partition by k, v from E;
        @name('s') context C select * from E; @name('t') context K select * from E""")
    runtime.send("E", {"k": "a", "v": 7})
    assert list(runtime.contexts) == ["C", "K"] and "Nope" not in runtime.contexts
    assert runtime.context_partitions == {"C": 2, "K": 1}
    context = runtime.contexts["C"]
    assert (context.name, context.levels, context.statements, len(context), context.ids()) == ("C", ("A", "H"), ["s"], 2, [0, 1])
    second = context.partition(1)
    assert second is not None and second == context.partitions()[1] and context.partition(2) is None
    assert second.properties == {
        "name": "C", "id": 1, "A.name": "A", "A.e": {"k": "a", "v": 7}, "A.startTime": 5, "A.endTime": 10005, "H.name": "H"}
    around, own = second.identifiers
    assert (around.context, around.start_time, around.end_time, own.context, own.hash) == ("A", 5, 10005, "H", 1)
    assert own is second.identifier
    keyed = runtime.contexts["K"].partitions()[0]
    assert keyed.identifier.keys == ("a", 7) and keyed.properties == {"name": "K", "id": 0, "key1": "a", "key2": 7}
    runtime.advance_time(10005)
    assert runtime.context_partitions == {"C": 0, "K": 1}


def test_max_partitions() -> None:
    errors: list[tuple[str, str]] = []
    runtime = Runtime(
        settings=Settings(max_partitions=2), on_error=lambda error, name, event: errors.append((str(error), event.values()[0])))
    runtime.deploy(TYPES + """@name('ctx') create context C initiated by distinct(e.k) E as e terminated by X(k = e.k);
        @name('s') context C select context.id as i, v from E(k = context.e.k)#keepall""")
    for k in ("a", "b", "c", "a"):
        runtime.send("E", {"k": k, "v": 1})
    assert runtime.context_partitions == {"C": 2}
    assert [key for _, key in errors] == ["c"]
    assert "Context 'C' has reached its limit of 2 partitions: none begins" in errors[0][0]
    runtime.send("X", {"k": "a"})
    runtime.send("E", {"k": "c", "v": 2})
    assert [(row.i, row.v) for row in runtime.statement("s").rows()] == [(1, 1), (2, 2)] and len(errors) == 1


def test_it_goes_with_the_runtime() -> None:
    runtime = Runtime()
    runtime.deploy(TYPES + "create context C partition by k from E; @name('s') context C select * from E")
    runtime.send("E", {"k": "a", "v": 1})
    again = Runtime.restore(runtime.snapshot())
    assert again.contexts["C"].partitions() == runtime.contexts["C"].partitions() and again.contexts["C"].statements == ["s"]
    runtime.close()
    with pytest.raises(EplRuntimeError):
        list(runtime.contexts)
